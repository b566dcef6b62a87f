#include "onnx/operator.h"

#include <cstring>

namespace pando::onnx {

extern const Operator onnx_bit_cast;
constexpr Operator onnx_bit_cast = {
    .signature = "BitCast(input; to!: int) -> output",
    .rule =
        [](Context& c) {
          const HostTensor& x = c.data(0);
          const DType to = c.dtype_attribute("to", x.dtype());
          if (ir::size_of(to) != ir::size_of(x.dtype()))
            c.reject(fmt::format("{} as {}: their sizes differ", ir::name_of(x.dtype()), ir::name_of(to)));
          HostTensor y(to, x.shape());
          if (x.size_bytes() > 0) std::memcpy(y.writable(), x.data(), x.size_bytes());
          c.give_known(0, y);
        },
    .limits = "operands that are not known when the model is read",
};

}  // namespace pando::onnx
