#include "ir/update.h"

namespace pando::ir {

void infer_update(Inference& in, std::string_view scalar, bool required) {
  if (in.shape(0) != in.shape(1)) {
    in.refuse("different-shapes", "t has shape {}, X {}; they are not broadcast", to_string(in.shape(0)), to_string(in.shape(1)));
  }
  check_scalars(in, 2, {scalar});
  if (required && in.operands() == 2 && !in.attributes().has(scalar)) in.refuse("scalar-missing", "it needs {}", scalar);
  same_as_first(in);
}

void update_elements(Evaluation& e, const std::function<double(double, double)>& f) {
  HostTensor out = e.fresh();
  for (std::int64_t i = 0; i < out.elements(); ++i) out.set(i, f(e.operand(0).number(i), e.operand(1).number(i)));
  e.result(std::move(out));
}

std::vector<Sample> update_samples(std::string_view scalar) {
  std::vector<Sample> all;
  for (const DType x : {DType::float32, DType::float16}) {
    Sample number;
    number.operands = {{DType::float32, {3, 4}, -2, 2, {}}, {x, {3, 4}, -2, 2, {}}};
    number.attributes.set(scalar, 0.25);
    Sample tensor = number;
    tensor.operands.push_back({DType::float32, {}, 0.25, 2, {}});
    tensor.attributes = {{"scalars", Strings{std::string(scalar)}}};
    all.push_back(number);
    all.push_back(tensor);
  }
  return all;
}

}  // namespace pando::ir
