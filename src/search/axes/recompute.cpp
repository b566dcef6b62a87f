#include "search/axis.h"

#include <algorithm>

namespace pando::search {

namespace {

// By value.
constexpr std::string_view kRecomputeWords[] = {"none", "selective", "full"};

void read_recompute(Strategy& s, std::string_view word, std::string_view value) {
  const auto* found = std::find(std::begin(kRecomputeWords), std::end(kRecomputeWords), value);
  if (found == std::end(kRecomputeWords)) reject_value(word, value, "none, selective or full");
  s.recompute = static_cast<Recompute>(found - std::begin(kRecomputeWords));
}

void add_kinds(const SpaceFacts& f, const Strategy& s, std::vector<Strategy>& to) {
  to.emplace_back(s).recompute = Recompute::none;
  if (!f.has_backward) return;
  if (f.has_attention) to.emplace_back(s).recompute = Recompute::selective;
  to.emplace_back(s).recompute = Recompute::full;
}

}  // namespace

Axis axis_recompute() {
  Axis a = axis_of<&Strategy::recompute>("recompute", "Activations that the backward pass computes again instead of keeping them", 9, 9, 0);
  a.names = {"none", "selective", "full", "alternate"};
  a.old_names = {"none", "attention"};
  a.on_demand = true;
  a.outside = "recompute=alternate (torchtitan's SelectiveAC alone has it: demand it, with --stack torchtitan)";
  a.trainers = "Megatron-LM --recompute-granularity, torchtitan's classes of activation checkpointing, DeepSpeed activation_checkpointing";
  a.domain = [](const SpaceFacts&, const Strategy&, Values& all) {
    for (Recompute r : {Recompute::full, Recompute::selective, Recompute::none}) all.push_back(static_cast<std::int64_t>(r));
  };
  a.missing = [](const Strategy& s) -> std::string_view {
    return s.recompute == Recompute::alternate ? "computing every other product again" : "";
  };
  a.program = {.position = 110,
               .shown_default = kRecomputeWords[0],
               .write =
                   [](const Strategy& s) {
                     return s.recompute == Recompute::none ? std::string()
                                                           : std::string(kRecomputeWords[static_cast<std::size_t>(s.recompute)]);
                   },
               .read = read_recompute,
               .parts = {std::begin(kRecomputeWords), std::end(kRecomputeWords)},
               .copy = copies<&Strategy::recompute>,
               .nesting = 140,
               .inside_group = true,
               .choices = add_kinds,
               .doc = "none, selective (attention), full (layers)"};
  return a;
}

}  // namespace pando::search
