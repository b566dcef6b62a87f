#include "onnx/importer.h"
#include "onnx/operator.h"

#include <cmath>

namespace pando::onnx {

extern const Operator onnx_range;
constexpr Operator onnx_range = {
    .signature = "Range(start, limit, delta; stash_type: int) -> output",
    .rule =
        [](Context& c) {
          const HostTensor &from = c.data(0), &to = c.data(1), &by = c.data(2);
          for (std::size_t i : {0u, 1u, 2u}) {
            if (c.data(i).elements() != 1) c.reject(fmt::format("operand {} has {} elements; one is expected", i, c.data(i).elements()));
          }
          const double steps = (to.number(0) - from.number(0)) / by.number(0);
          if (by.number(0) == 0 || !std::isfinite(steps)) c.reject("its step leads nowhere");
          const double count = std::max(0.0, std::ceil(steps));
          if (count > static_cast<double>(kMostConstant))
            c.reject(fmt::format("it has {} elements; constants have at most {}", count, kMostConstant));
          const auto n = static_cast<std::int64_t>(count);
          HostTensor all(from.dtype(), {n});
          for (std::int64_t i = 0; i < n; ++i) {
            if (ir::is_floating(all.dtype())) {
              all.set(i, from.number(0) + static_cast<double>(i) * by.number(0));
            } else {
              all.set_integer(i, from.integer(0) + i * by.integer(0));
            }
          }
          c.give_known(0, all);
        },
    .limits = "operands that are not known when the model is read",
};

}  // namespace pando::onnx
