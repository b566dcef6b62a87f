#include "ir/meaning/elements.h"
#include "ir/rows/define.h"

#include <cmath>

namespace pando::ir {

extern const OpRow op_increment_mod;
constexpr OpRow op_increment_mod = checked({
    .name = "increment_mod",
    .doc = "The remainder (as in C) of t + increment over modulus, element by element: a counter that begins again. Of integers the sum "
           "wraps around, "
           "and increment and modulus are truncated to their type.",
    .signature = "increment_mod(t: Tensor, increment: float, modulus: float) -> Tensor",
    .operands = {{{"t", any_numeric}}},
    .attributes = {{{"increment", AttributeKind::number}, {"modulus", AttributeKind::number}}},
    .infer =
        [](Inference& in) {
          same_as_first(in);
          const double modulus = in.attributes().number("modulus");
          if (is_integer(in.dtype(0)) && HostTensor::filled(in.dtype(0), {}, modulus).integer(0) == 0) {
            in.reject("modulus-zero", "the modulus {} of integers", modulus);
          }
        },
    .reference =
        [](Evaluation& e) {
          const double increment = e.attributes().number("increment"), modulus = e.attributes().number("modulus");
          const DType t = e.result_type().dtype;
          HostTensor sum(t, {});
          const std::int64_t step = HostTensor::filled(t, {}, increment).integer(0), end = HostTensor::filled(t, {}, modulus).integer(0);
          map_numbers(
              e, [=](double x) { return std::fmod(x + increment, modulus); },
              [&](std::int64_t x) -> std::int64_t {
                sum.set_integer(0, wrapping(std::plus<>(), x, step));
                if (t == DType::uint64)
                  return static_cast<std::int64_t>(static_cast<std::uint64_t>(sum.integer(0)) % static_cast<std::uint64_t>(end));
                return end == -1 ? 0 : sum.integer(0) % end;
              });
        },
    .samples =
        [] {
          std::vector<Sample> all;
          for (DType t : {DType::int32, DType::uint32, DType::float32}) {
            Sample s;
            s.operands = {{t, {7}, 0, 10, {}}};
            s.attributes = {{"increment", 3.0}, {"modulus", 5.0}};
            all.push_back(s);
          }
          Sample wraps;
          wraps.operands = {{DType::uint32, {4}, 0, 0, {4294967295.0, 4294967293.0, 4294967290.0, 2147483648.0}}};
          wraps.attributes = {{"increment", 3.0}, {"modulus", 5.0}};
          wraps.smooth = false;
          all.push_back(wraps);
          return all;
        },
    .elementwise = true,
    .has_in_place = true,
    .popart_type = "IncrementMod",
    .popart_in_place_type = "IncrementModInplace",
});

}  // namespace pando::ir
