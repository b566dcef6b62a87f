#include "transform/distribute/axis.h"

#include <algorithm>

namespace pando::transform {

namespace {

// By value.
constexpr std::string_view kRecomputeWords[] = {"none", "selective", "full"};

void read_recompute(Strategy& s, std::string_view word, std::string_view value) {
  const auto* found = std::find(std::begin(kRecomputeWords), std::end(kRecomputeWords), value);
  if (found == std::end(kRecomputeWords)) refuse_value(word, value, "none, selective or full");
  s.recompute = static_cast<Recompute>(found - std::begin(kRecomputeWords));
}

void add_kinds(const SpaceFacts& f, const Strategy& s, std::vector<Strategy>& to) {
  to.emplace_back(s).recompute = Recompute::none;
  if (!f.has_backward) return;
  if (f.has_attention) to.emplace_back(s).recompute = Recompute::selective;
  to.emplace_back(s).recompute = Recompute::full;
}

}  // namespace

AxisRow axis_recompute() {
  return {.word = "recompute",
          .position = 110,
          .doc = "none, selective (attention), full (layers)",
          .shown_default = kRecomputeWords[0],
          .write =
              [](const Strategy& s) {
                return s.recompute == Recompute::none ? std::string() : std::string(kRecomputeWords[static_cast<std::size_t>(s.recompute)]);
              },
          .read = read_recompute,
          .parts = {std::begin(kRecomputeWords), std::end(kRecomputeWords)},
          .copy = copies<&Strategy::recompute>,
          .nesting = 140,
          .inside_group = true,
          .choices = add_kinds};
}

}  // namespace pando::transform
