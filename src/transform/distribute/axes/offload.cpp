#include "transform/distribute/axis.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace pando::transform {

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
    if (found == std::end(kOffloads)) refuse_value(word, value, "weights, optimizer, activations, with / between them,");
    s.*found->member = true;
  }
}

}  // namespace

AxisRow axis_offload() {
  return {.word = "offload",
          .position = 160,
          .doc = "To off-chip memory: weights, optimizer, activations",
          .write = write_offload,
          .read = read_offload,
          .between = '/',
          .parts = {"weights", "optimizer", "activations"}};
}

}  // namespace pando::transform
