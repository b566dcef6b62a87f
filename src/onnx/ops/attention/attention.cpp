#include "onnx/rules/attention.h"
#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_attention;
constexpr Operator onnx_attention = {
    .signature =
        "Attention(Q, K, V, attn_mask?, past_key?, past_value?, nonpad_kv_seqlen?; is_causal: int, kv_num_heads: int, "
        "left_window_size: int, q_num_heads: int, qk_matmul_output_mode: int, right_window_size: int, scale: float, "
        "softcap: float, softmax_precision: int) -> Y, present_key?, present_value?, qk_matmul_output?",
    .rule = [](Context& c) { attend(c); },
};

}  // namespace pando::onnx
