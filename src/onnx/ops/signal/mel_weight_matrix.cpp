#include "onnx/operator.h"

#include <cmath>

namespace pando::onnx {

extern const Operator onnx_mel_weight_matrix;
constexpr Operator onnx_mel_weight_matrix = {
    .signature =
        "MelWeightMatrix(num_mel_bins, dft_length, sample_rate, lower_edge_hertz, upper_edge_hertz; output_datatype: "
        "int) -> output",
    .rule =
        [](Context& c) {
          const std::int64_t bins = c.integer(0), length = c.integer(1), rate = c.integer(2);
          if (bins < 1 || bins > 4096 || length < 1 || length > 1 << 20 || rate < 1)
            c.reject(fmt::format("{} bins of a transform of {} elements at {} Hz", bins, length, rate));
          const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
          const double low = mel(c.number(3)), high = mel(c.number(4));
          const std::int64_t rows = length / 2 + 1;
          std::vector<std::int64_t> edges;
          for (std::int64_t i = 0; i < bins + 2; ++i) {
            const double at = low + static_cast<double>(i) * (high - low) / static_cast<double>(bins + 2);
            const double hertz = 700 * (std::pow(10, at / 2595) - 1);
            edges.push_back(static_cast<std::int64_t>(std::floor(static_cast<double>(length + 1) * hertz / static_cast<double>(rate))));
          }
          HostTensor matrix(c.dtype_attribute("output_datatype", DType::float32), {rows, bins});
          for (std::int64_t i = 0; i < bins; ++i) {
            const auto b = static_cast<std::size_t>(i);
            const std::int64_t left = edges[b], middle = edges[b + 1], right = edges[b + 2];
            for (std::int64_t j = std::max<std::int64_t>(left, 0); j < std::min(std::max(right, middle + 1), rows); ++j) {
              const bool rising = j <= middle;
              const std::int64_t span = rising ? middle - left : right - middle;
              const double v = span == 0 ? 1 : static_cast<double>(rising ? j - left : right - j) / static_cast<double>(span);
              matrix.set(j * bins + i, v);
            }
            if (middle == left && middle >= 0 && middle < rows) matrix.set(middle * bins + i, 1);
          }
          c.give_known(0, matrix);
        },
    .limits = "operands that are not known when the model is read",
};

}  // namespace pando::onnx
