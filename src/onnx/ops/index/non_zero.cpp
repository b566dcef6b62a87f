#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_non_zero;
constexpr Operator onnx_non_zero = {
    .signature = "NonZero(X) -> Y",
    .rule =
        [](Context& c) {
          const HostTensor& t = c.data(0);
          const Shape shape = t.shape().empty() ? Shape{1} : t.shape();
          std::vector<Ints> rows(shape.size());
          for (std::int64_t i = 0; i < t.elements(); ++i) {
            if (t.number(i) == 0) continue;
            std::int64_t rest = i;
            for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d]) rows[d].push_back(rest % shape[d]);
          }
          Ints all;
          for (const Ints& r : rows) all.insert(all.end(), r.begin(), r.end());
          const auto rank = static_cast<std::int64_t>(shape.size());
          c.give_known(0, HostTensor::of_ints(DType::int64, {rank, static_cast<std::int64_t>(all.size()) / rank}, all));
        },
    .limits = "operands that are not known when the model is read",
};

}  // namespace pando::onnx
