#include "ir/meaning/seeds.h"

#include "ir/error.h"

namespace pando::ir {

void check_seed(const Inference& in, std::size_t operand) {
  if (in.dtype(operand) == DType::uint32 && in.shape(operand) == Shape{2}) return;
  reject(ErrorClass::value, "seed-type", "{}: the seed is {} of shape {}; expected uint32 of shape (2)", in.row().name,
         name_of(in.dtype(operand)), to_string(in.shape(operand)));
}

void check_ratio(const Inference& in, std::string_view attribute) {
  const double p = in.attributes().number(attribute);
  if (!(p >= 0 && p < 1)) in.reject("dropout-ratio", "the probability to drop is {}; expected at least 0 and less than 1", p);
}

void infer_random(Inference& in) {
  const DType dtype = in.attributes().dtype("dtype");
  if (!is_differentiable(dtype))
    in.reject("random-type", "random numbers of {}; float16, float32 and float64 are possible", name_of(dtype));
  for (std::int64_t d : in.attributes().ints("shape")) {
    if (d < 0) in.reject("random-shape", "a shape of {}", to_string(in.attributes().ints("shape")));
  }
  in.result(dtype, in.attributes().ints("shape"));
}

void evaluate_dropout(Evaluation& e, const Shape& mask, double ratio) {
  const HostTensor& t = e.operand(0);
  HostTensor out = e.fresh();
  const RandomKey key = key_of(e.operand(1), kDropoutStream);
  const double keep = 1 - ratio, scale = 1 / keep;
  // Tiles multiply floats by floats, halves too.
  const auto scaled = [&](double x) {
    if (t.dtype() == DType::float64) return x * scale;
    return static_cast<double>(static_cast<float>(x * static_cast<float>(scale)));
  };
  for (std::int64_t i = 0; i < out.elements(); ++i) {
    const auto at = static_cast<std::uint64_t>(broadcast_index(mask, out.shape(), i));
    out.set(i, random_keep(key, at, keep) ? scaled(t.number(i)) : 0);
  }
  e.result(std::move(out));
}

RandomKey key_of(const HostTensor& seed, std::uint32_t stream) {
  return {{static_cast<std::uint32_t>(seed.integer(0)), static_cast<std::uint32_t>(seed.integer(1))}, stream};
}

HostTensor seed_at(HostTensor out, const RandomKey& key, std::uint64_t first) {
  for (std::int64_t i = 0; i < 2; ++i) out.set_integer(i, random_bits(key, first + static_cast<std::uint64_t>(i)));
  return out;
}

}  // namespace pando::ir
