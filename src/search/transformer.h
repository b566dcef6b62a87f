// Transformers as the search and the analytic model see them: sizes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pando::search {

struct Transformer {
  std::string name;
  std::int64_t layers = 1, hidden = 1, heads = 1, kv_heads = 0, ffn = 1, seq = 1, vocab = 51200;
  // Of one head; 0: hidden / heads.
  std::int64_t head_size = 0;
  // Gate and up projections side by side (SwiGLU): three matrices instead of two.
  bool gated = false;
  // Dropout and its masks; attention that keeps its scores (false: FlashAttention).
  bool dropout = true, keeps_scores = true;
  // Experts. Layers from `dense_layers` on have them; each token goes to `experts_each` of them, and through `shared_experts`.
  std::int64_t experts = 0, experts_each = 0, shared_experts = 0, expert_ffn = 0, dense_layers = 0;
  // Latent attention (DeepSeek): ranks of queries, of keys and values; head sizes with position and of values. 0: ordinary attention.
  std::int64_t query_rank = 0, kv_rank = 0, position_size = 0, value_size = 0;

  std::int64_t keys() const { return kv_heads > 0 ? kv_heads : heads; }
  std::int64_t size_of_head() const { return head_size > 0 ? head_size : hidden / heads; }
  bool latent() const { return query_rank > 0; }
  // Of one layer without experts' matrices; of one layer's experts; of embedding, and again of the head.
  double layer_parameters(bool with_experts) const;
  double expert_parameters() const;
  double embedding_parameters() const { return static_cast<double>(vocab) * static_cast<double>(hidden); }
  // All of them, the head's counted once.
  double parameters() const;
  // Operations of products, forward and backward, for each token: what MFU counts. As Megatron-LM counts them: attention in full, although
  // causality masks half; nothing that is recomputed.
  double operations_per_token() const;
};

// gpt2, gpt3-xl, gpt3-13b, gpt3-175b, megatron-22b, turing-530b, megatron-1t, llama3-8b, llama3-70b, deepseek-v2 ...
const std::vector<Transformer>& transformers();
// A name, or a file of JSON with the members above. Refuses (poplar_error) what is neither.
Transformer transformer_named(std::string_view name_or_file);

}  // namespace pando::search
