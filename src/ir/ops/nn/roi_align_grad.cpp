#include "ir/shared/windows/roi_align.h"

namespace pando::ir {

extern const OpRow op_roi_align_grad;
constexpr OpRow op_roi_align_grad = checked({
    .name = "roi_align_grad",
    .doc = "The gradient of roi_align for the images, which had shape `shape`.",
    .operands = {{{"dy", any_floating}, {"rois", any_floating}, {"batch_index", any_integer}}},
    .attributes = {{{"output_size", AttributeKind::ints},
                    {"spatial_scale", AttributeKind::number},
                    {"sampling_ratio", AttributeKind::integer},
                    {"shape", AttributeKind::ints}}},
    .infer =
        [](Inference& in) {
          const Shape shape = in.attributes().ints("shape"), y = roi_shape(in, shape, 1);
          if (in.shape(0) != y) in.reject("roi-gradient", "the result has shape {}, its gradient {}", to_string(y), to_string(in.shape(0)));
          in.result(in.dtype(0), shape);
        },
    .reference =
        [](Evaluation& e) {
          const Shape& shape = e.attributes().ints("shape");
          std::vector<double> sums(static_cast<std::size_t>(elements_of(shape)));
          for_each_roi_sample(e, shape, 1, [&](std::int64_t out, std::int64_t in, double weight) {
            sums[static_cast<std::size_t>(in)] += weight * e.operand(0).number(out);
          });
          e.result(HostTensor::of_floats(e.result_type().dtype, shape, sums));
        },
    .samples =
        [] {
          std::vector<Sample> all = roi_samples();
          for (Sample& s : all) {
            s.attributes.set("shape", Ints(s.operands[0].shape));
            const Ints& size = s.attributes.ints("output_size");
            s.operands[0].shape = {s.operands[1].shape[0], s.operands[0].shape[1], size[0], size[1]};
          }
          return all;
        },
    .popart_type = "RoiAlignGrad",
    .subscripts = [](const SubscriptsOf& o) {
      // Channels each for themselves; the gradients of regions add up.
      Subscripts s = o.blank();
      for (auto* list : {&s.operands[0], &s.operands[1], &s.operands[2]}) put(*list, 0, 0);
      put(s.operands[0], 1, 1);
      put(s.results[0], 1, 1);
      return s;
    },
    .phase = OpPhase::backward,
});

}  // namespace pando::ir
