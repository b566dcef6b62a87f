#include "pando/model_error.hpp"
#include "search/axis.h"
#include "transform/distribute/device_order.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace pando::search {

namespace {

void read_order(Strategy& s, std::string_view word, std::string_view value) {
  s.order.clear();
  for (std::string_view axis : split(value, "/")) s.order.emplace_back(axis);
  try {
    transform::strides_of(s);
  } catch (const ModelError&) {
    reject_value(word, value, "a list of data, expert, context, tensor, pipeline, each once at most, with / between them,");
  }
}

// Where levels of the network differ: all orders of the axes that have several devices. The one that the numbers have anyhow is not said.
void add_orders(const SpaceFacts& f, const Strategy& s, std::vector<Strategy>& to) {
  to.push_back(s);
  if (!f.has_levels) return;
  std::vector<std::pair<std::size_t, const char*>> axes;
  for (const auto& [size, name] : std::initializer_list<std::pair<std::int32_t, const char*>>{
           {s.data, "data"}, {s.expert, "expert"}, {s.context, "context"}, {s.tensor, "tensor"}, {s.pipeline, "pipeline"}}) {
    if (size > 1) axes.emplace_back(axes.size(), name);
  }
  while (std::next_permutation(axes.begin(), axes.end())) {
    to.push_back(s);
    for (const auto& [place, name] : axes) to.back().order.emplace_back(name);
  }
}

}  // namespace

Axis axis_order() {
  Axis a;
  a.word = "order";
  a.doc = "Axes with the nearest device numbers, the nearest last: data, expert, context, tensor, pipeline";
  a.program = {.position = 150,
               .write = [](const Strategy& s) { return fmt::format("{}", fmt::join(s.order, "/")); },
               .read = read_order,
               .between = '/',
               .copy = copies<&Strategy::order>,
               .nesting = 120,
               .inside_group = true,
               .choices = add_orders};
  return a;
}

}  // namespace pando::search
