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
  // The head has the embedding's weights.
  bool tied = false;
  // Positions that are learned, each as wide as a token; 0: none. Norms of a layer; and of queries and keys, head by head.
  std::int64_t learned_positions = 0, norms = 2;
  bool norms_heads = false;
  // Attention and dense layers read the layer's input, not one the other's result: two residuals, one place where devices of tensor
  // parallelism join.
  bool parallel = false;
  // Of the pairs of tokens that causal attention looks at, the share that is computed: windows leave some out. The mean over layers.
  double attended = 1;
  // Experts. Layers from `dense_layers` on have them, if their number, counted from 1, is a multiple of `expert_every`; each token goes to
  // `experts_each` of them, and through `shared_experts`.
  std::int64_t experts = 0, experts_each = 0, shared_experts = 0, expert_ffn = 0, dense_layers = 0, expert_every = 1;
  // Latent attention (DeepSeek): ranks of queries (0: queries are made from the layer's input), of keys and values (0: ordinary
  // attention); head sizes with position and of values.
  std::int64_t query_rank = 0, kv_rank = 0, position_size = 0, value_size = 0;
  // What a reader should know of sizes that are left out.
  std::vector<std::string> notes;

  std::int64_t keys() const { return kv_heads > 0 ? kv_heads : heads; }
  std::int64_t size_of_head() const { return head_size > 0 ? head_size : hidden / heads; }
  bool latent() const { return kv_rank > 0; }
  // Of the first `first` layers, those with experts; and of all.
  std::int64_t expert_layers(std::int64_t first) const {
    return experts > 0 && first > dense_layers ? first / expert_every - dense_layers / expert_every : 0;
  }
  std::int64_t expert_layers() const { return expert_layers(layers); }
  // Of one layer without experts' matrices; of one layer's experts; of embedding, and again of the head.
  double layer_parameters(bool with_experts) const;
  double expert_parameters() const;
  double embedding_parameters() const { return static_cast<double>(vocab) * static_cast<double>(hidden); }
  double position_parameters() const { return static_cast<double>(learned_positions) * static_cast<double>(hidden); }
  // All of them, but for norms and biases.
  double parameters() const;
  // Operations of products, forward and backward, for each token: what MFU counts. As Megatron-LM counts them: attention in full, although
  // causality masks half; nothing that is recomputed.
  double operations_per_token() const;
};

// gpt2, gpt3-xl, gpt3-13b, gpt3-175b, megatron-22b, turing-530b, megatron-1t, llama3-8b, llama3-70b, deepseek-v2 ...
const std::vector<Transformer>& transformers();
// A name, or a file of JSON: with the members above, or a configuration of Hugging Face's transformers (model_config.h). `seq`: tokens of a
// sample; 0: what the name or the file says. Rejects (poplar_error) what is neither, and configurations without `seq`.
Transformer transformer_named(std::string_view name_or_file, std::int64_t seq = 0);
// As a file of these members.
std::string to_json(const Transformer& t);

}  // namespace pando::search
