// Costs of layers are asked for by many strategies that differ in pipelines, replicas and what lies where.
#include "search/layers/price_memo.h"
#include "search/strategy.h"

#include <array>
#include <unordered_map>
#include <utility>

namespace pando::search {

namespace {

// All of a strategy that layer_costs() and head_seconds() read.
struct Key {
  std::int64_t tensor = 1, context = 1, expert = 1, microbatch = 1;
  std::uint64_t choices = 0;
  friend bool operator==(const Key&, const Key&) = default;
};

Key key_of(const Strategy& s, Recompute recompute, bool with_experts) {
  Key k{s.tensor, s.context, s.expert_in_data, s.microbatch, 0};
  for (const int choice : {static_cast<int>(recompute), s.sequence_parallel + 2 * s.split_all_reduce, static_cast<int>(s.regather),
                           static_cast<int>(s.tensor_overlap), static_cast<int>(s.precision), s.tensor_level + 1, s.data_level + 1,
                           static_cast<int>(with_experts)}) {
    k.choices = k.choices << 8 | static_cast<std::uint64_t>(choice & 0xff);
  }
  return k;
}

struct Hash {
  std::size_t operator()(const Key& k) const {
    std::uint64_t h = k.choices;
    for (const std::int64_t n : {k.tensor, k.context, k.expert, k.microbatch}) {
      h = (h ^ static_cast<std::uint64_t>(n)) * 0x9e3779b97f4a7c15ULL;
      h ^= h >> 29;
    }
    return h;
  }
};

}  // namespace

struct LayerMemo::Impl {
  PriceMemo prices;
  std::unordered_map<Key, LayerCosts, Hash> layers;
  std::unordered_map<Key, double, Hash> heads;
  // What was asked for last: most strategies differ from the one before them in what layers do not see. By whether there are experts.
  std::array<std::pair<Key, const LayerCosts*>, 2> last{};
  std::pair<Key, double> last_head{{0, 0, 0, 0, 0}, 0};
};

LayerMemo::LayerMemo() : impl_(std::make_unique<Impl>()) {}
LayerMemo::~LayerMemo() = default;

const LayerCosts& LayerMemo::layer(const Transformer& m, const simulate::Cluster& c, const Strategy& s, Recompute recompute,
                                   bool with_experts, const MeasuredShapes* shapes) {
  const Key key = key_of(s, recompute, with_experts);
  auto& [last, costs] = impl_->last[with_experts];
  if (costs != nullptr && last == key) return *costs;
  const auto [at, is_new] = impl_->layers.try_emplace(key);
  if (is_new) {
    Strategy of_layer = s;
    of_layer.recompute = recompute;
    at->second = layer_costs(m, c, of_layer, with_experts, shapes, &impl_->prices);
  }
  last = key, costs = &at->second;
  return at->second;
}

double LayerMemo::head(const Transformer& m, const simulate::Cluster& c, const Strategy& s, const MeasuredShapes* shapes) {
  const Key key{s.tensor, s.context, 1, s.microbatch, 0};
  if (impl_->last_head.first == key) return impl_->last_head.second;
  const auto [at, is_new] = impl_->heads.try_emplace(key, 0.0);
  if (is_new) at->second = head_seconds(m, c, s, shapes, &impl_->prices);
  impl_->last_head = *at;
  return at->second;
}

}  // namespace pando::search
