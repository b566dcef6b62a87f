#include "onnx/operator.h"
#include "onnx/rules/windows/windows.h"

namespace pando::onnx {

extern const Operator onnx_col2_im;
constexpr Operator onnx_col2_im = {
    .signature = "Col2Im(input, image_shape, block_shape; dilations: ints, pads: ints, strides: ints) -> output",
    .rule =
        [](Context& c) {
          const Ints image = c.integers(1), block = c.integers(2);
          const Shape in = c.shape_of(0);
          c.check_shape(image);
          if (in.size() != 3 || image.empty() || image.size() != block.size())
            c.reject(fmt::format("data of shape {}, an image of {} and blocks of {}", ir::to_string(in), ir::to_string(image),
                                 ir::to_string(block)));
          const WindowPlan plan = window_plan(c, image, block);
          const std::int64_t cells = ir::elements_of(plan.kernel), places = ir::elements_of(plan.outs), size = ir::elements_of(image),
                             channels = in[1] / cells;
          if (channels * cells != in[1] || places != in[2])
            c.reject(fmt::format("data of shape {}; {} places of {} elements are expected", ir::to_string(in), places, cells));
          // Each element is added where it lies; what lies in padding is added behind the image and cut off.
          Ints targets(static_cast<std::size_t>(cells * places));
          for_each_window_cell(plan, image, [&](std::int64_t place, std::int64_t cell, std::int64_t position, bool) {
            targets[static_cast<std::size_t>(cell * places + place)] = position < 0 ? size : position;
          });
          const ValueId rows = c.transpose(c.reshape(c.operand(0), {in[0] * channels, cells * places}), {1, 0});
          const ValueId sums = c.op("scatter_reduce", {rows, c.integers(targets)},
                                    {{"reduction", std::string("sum")}, {"axis", std::int64_t{0}}, {"axis_size", size + 1}});
          Shape out{in[0], channels};
          out.insert(out.end(), image.begin(), image.end());
          c.give(c.reshape(c.transpose(c.slice(sums, 0, 0, size), {1, 0}), out));
        },
};

}  // namespace pando::onnx
