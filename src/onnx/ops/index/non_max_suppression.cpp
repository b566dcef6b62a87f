#include "onnx/operator.h"
#include "onnx/rules/image/boxes.h"

namespace pando::onnx {

extern const Operator onnx_non_max_suppression;
constexpr Operator onnx_non_max_suppression = {
    .signature =
        "NonMaxSuppression(boxes, scores, max_output_boxes_per_class?, iou_threshold?, score_threshold?; "
        "center_point_box: int) -> selected_indices",
    .rule = [](Context& c) { suppress(c); },
    .limits = "operands that are not known when the model is read",
};

}  // namespace pando::onnx
