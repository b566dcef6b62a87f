#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_affine_grid;
constexpr Operator onnx_affine_grid = {
    .signature = "AffineGrid(theta, size; align_corners: int) -> grid",
    .rule =
        [](Context& c) {
          const Ints size = c.integers(1);
          if (size.size() != 4 && size.size() != 5) c.reject(fmt::format("a size of {} dimensions; 4 or 5 are expected", size.size()));
          c.check_shape(size);
          const bool corners = c.flag("align_corners", false);
          const Ints spatial(size.begin() + 2, size.end());
          const auto n = static_cast<std::int64_t>(spatial.size()), places = ir::elements_of(spatial);
          if (c.shape_of(0) != Shape{size[0], n, n + 1}) c.reject(fmt::format("'theta' of shape {}", ir::to_string(c.shape_of(0))));
          // Coordinates from -1 to 1, the last dimension's first, and 1.
          std::vector<double> points;
          for (std::int64_t p = 0; p < places; ++p) {
            std::vector<double> point(static_cast<std::size_t>(n) + 1, 1);
            std::int64_t rest = p;
            for (std::int64_t d = n; d-- > 0;) {
              const std::int64_t extent = spatial[static_cast<std::size_t>(d)], at = rest % extent;
              rest /= extent;
              const auto e = static_cast<double>(extent), a = static_cast<double>(at);
              point[static_cast<std::size_t>(n - 1 - d)] = corners ? (extent == 1 ? 0 : 2 * a / (e - 1) - 1) : (2 * a + 1) / e - 1;
            }
            points.insert(points.end(), point.begin(), point.end());
          }
          const ValueId base = c.constant(HostTensor::of_floats(c.dtype_of(0), {places, n + 1}, points));
          Shape shape{size[0]};
          shape.insert(shape.end(), spatial.begin(), spatial.end());
          shape.push_back(n);
          c.give(c.reshape(c.op("matmul", {base, c.transpose(c.operand(0), {0, 2, 1})}), shape));
        },
};

}  // namespace pando::onnx
