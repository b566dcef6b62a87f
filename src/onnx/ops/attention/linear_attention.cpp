#include "onnx/operator.h"
#include "onnx/rules/attention.h"

namespace pando::onnx {

extern const Operator onnx_linear_attention;
constexpr Operator onnx_linear_attention = {
    .signature =
        "LinearAttention(query, key, value, past_state?, decay?, beta?; chunk_size: int, kv_num_heads!: int, "
        "q_num_heads!: int, scale: float, update_rule: text) -> output, present_state?",
    .rule = [](Context& c) { attend_linearly(c); },
};

}  // namespace pando::onnx
