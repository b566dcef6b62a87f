#include "search/axis.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace pando::search {

namespace {

struct Offload {
  std::string_view word;
  bool Strategy::* member;
};
constexpr Offload kOffloads[] = {
    {"weights", &Strategy::offload_weights}, {"optimizer", &Strategy::offload_optimizer}, {"activations", &Strategy::offload_activations}};

std::string write_offload(const Strategy& s) {
  std::vector<std::string_view> off;
  for (const Offload& o : kOffloads) {
    if (s.*o.member) off.push_back(o.word);
  }
  return fmt::format("{}", fmt::join(off, "/"));
}

void read_offload(Strategy& s, std::string_view word, std::string_view value) {
  for (std::string_view what : split(value, "/")) {
    const auto* found = std::find_if(std::begin(kOffloads), std::end(kOffloads), [&](const Offload& o) { return o.word == what; });
    if (found == std::end(kOffloads)) reject_value(word, value, "a list of weights, optimizer, activations, with / between them,");
    s.*found->member = true;
  }
}

void add_sets(const SpaceFacts& f, const Strategy& s, std::vector<Strategy>& to) {
  // Where all layers compute again there is nothing left to bring off chip; where some do, there is.
  const bool keeps_nothing = s.recompute == Recompute::full && s.recomputed_layers.empty() && f.space.recompute_sets == 0;
  for (int bits = 0; bits < ((f.space.reach == Reach::everything) ? 8 : 1); ++bits) {
    const bool optimizer = bits & 2, activations = bits & 4;
    if ((optimizer && !f.has_updates) || (activations && (!f.has_backward || keeps_nothing))) continue;
    Strategy& with = to.emplace_back(s);
    with.offload_weights = bits & 1, with.offload_optimizer = optimizer, with.offload_activations = activations;
  }
}

}  // namespace

Axis axis_offload() {
  Axis a;
  a.word = "offload";
  a.doc = "To off-chip memory: weights, optimizer, activations";
  a.program = {.position = 160,
               .write = write_offload,
               .read = read_offload,
               .between = '/',
               .parts = {"weights", "optimizer", "activations"},
               .copy = copies<&Strategy::offload_weights, &Strategy::offload_optimizer, &Strategy::offload_activations>,
               .nesting = 160,
               .inside_group = true,
               .choices = add_sets};
  return a;
}

}  // namespace pando::search
