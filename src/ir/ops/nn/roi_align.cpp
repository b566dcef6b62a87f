#include "ir/shared/windows/roi_align.h"

namespace pando::ir {

extern const OpRow op_roi_align;
constexpr OpRow op_roi_align = checked({
    .name = "roi_align",
    .doc = "The mean of each of output_size bins of regions of images (batch, channels, height, width). rois: (regions, 4), the corners "
           "x1, y1, x2, y2, times "
           "`spatial_scale`, at least 1 wide and high; batch_index: the image of each. A bin takes sampling_ratio^2 bilinear samples (0: "
           "one for each element it spans); "
           "samples outside the image count as 0.",
    .signature = "roi_align(t: Tensor, rois: Tensor, batch_index: Tensor, output_size: Tuple[int], spatial_scale: float, sampling_ratio: "
                 "int) -> Tensor",
    .module = "roialign",
    .operands = {{{"t", any_floating}, {"rois", any_floating}, {"batch_index", any_integer}}},
    .attributes = {{{"output_size", AttributeKind::ints},
                    {"spatial_scale", AttributeKind::number},
                    {"sampling_ratio", AttributeKind::integer}}},
    .infer = [](Inference& in) { in.result(in.dtype(0), roi_shape(in, in.shape(0), 1)); },
    .reference =
        [](Evaluation& e) {
          HostTensor y = e.fresh();
          std::vector<double> sums(static_cast<std::size_t>(y.elements()));
          for_each_roi_sample(e, e.operand(0).shape(), 1, [&](std::int64_t out, std::int64_t in, double weight) {
            sums[static_cast<std::size_t>(out)] += weight * e.operand(0).number(in);
          });
          e.result(HostTensor::of_floats(y.dtype(), y.shape(), sums));
        },
    .differentiable = Differentiable::by_gradient,
    .gradient =
        [](Gradient& g) {
          if (!g.wants(0)) return;
          Attributes a = g.attributes();
          a.set("shape", Ints(g.operand_type(0).shape));
          g.give(0, g.op("roi_align_grad", {g.grad(), g.operand(1), g.operand(2)}, a));
        },
    .samples = roi_samples,
    .popart_type = "RoiAlign",
    .subscripts = [](const SubscriptsOf& o) {
      // Regions and channels each for themselves; a region lies in any of the images.
      Subscripts s = o.blank();
      put(s.operands[0], 1, 1);
      for (auto* list : {&s.operands[1], &s.operands[2], &s.results[0]}) put(*list, 0, 0);
      put(s.results[0], 1, 1);
      return s;
    },
});

}  // namespace pando::ir
