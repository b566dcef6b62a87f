#include "ir/shared/windows/pooling.h"

#include <algorithm>

namespace pando::ir {

Pooling pooling_of(const Attributes& attributes, const Shape& shape) {
  Pooling p;
  p.windows = windows_of(attributes, spatial(shape), attributes.ints("kernel_size"));
  p.images = shape[0] * shape[1];
  p.ins = elements_of(ins_of(p.windows));
  p.outs = elements_of(outs_of(p.windows));
  return p;
}

Shape pooled_shape(const Attributes& attributes, const Shape& shape) {
  Shape out{shape[0], shape[1]};
  for (const WindowAxis& w : pooling_of(attributes, shape).windows) out.push_back(w.out);
  return out;
}

Shape pooled_shape(const Inference& in, const Shape& shape) {
  const Attributes& a = in.attributes();
  if (shape.size() < 3 || shape.size() > 5)
    in.reject("pool-rank", "data of shape {}; they need a batch, channels and one to three more dimensions", to_string(shape));
  if (a.ints("kernel_size").size() != shape.size() - 2) {
    in.reject("pool-kernel", "a kernel of {} dimensions for data with {}", a.ints("kernel_size").size(), shape.size() - 2);
  }
  for (std::int64_t p : a.ints("out_pads")) {
    if (p != 0) in.reject("pool-out-pads", "out_pads has the entry {}; only 0 is possible", p);
  }
  windows_of(in, a, spatial(shape), a.ints("kernel_size"));
  return pooled_shape(a, shape);
}

void check_pooled(const Inference& in, std::size_t operand, const Shape& y) {
  if (in.shape(operand) != y)
    in.reject("pool-gradient", "the result has shape {}, operand {} has {}", to_string(y), operand, to_string(in.shape(operand)));
}

std::vector<Sample> pooling_samples() {
  std::vector<Sample> all;
  const auto add = [&](Shape shape, Attributes a, DType t = DType::float32) {
    Sample s;
    s.operands = {{t, std::move(shape), -2, 2, {}}};
    s.attributes = std::move(a);
    all.push_back(s);
  };
  add({2, 3, 5, 6}, {{"kernel_size", Ints{2, 3}}});
  add({1, 2, 7, 7}, {{"kernel_size", Ints{3, 3}}, {"stride", Ints{2, 2}}, {"padding", Ints{1, 0, 1, 1}}, {"ceil_mode", true}});
  add({1, 2, 8}, {{"kernel_size", Ints{3}}, {"stride", Ints{2}}, {"dilation", Ints{2}}});
  add({1, 2, 4, 4, 4}, {{"kernel_size", Ints{2, 2, 2}}, {"stride", Ints{2, 2, 2}}});
  add({1, 1, 5, 5}, {{"kernel_size", Ints{2, 2}}, {"auto_pad", std::string("same_upper")}});
  add({1, 1, 4, 4}, {{"kernel_size", Ints{2, 2}}}, DType::float16);
  return all;
}

}  // namespace pando::ir
