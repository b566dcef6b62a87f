#include "pando/model_error.hpp"
#include "transform/distribute/axis.h"
#include "transform/distribute/device_order.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace pando::transform {

namespace {

void read_order(Strategy& s, std::string_view word, std::string_view value) {
  s.order.clear();
  for (std::string_view axis : split(value, "/")) s.order.emplace_back(axis);
  try {
    strides_of(s);
  } catch (const ModelError&) {
    refuse_value(word, value, "data, expert, context, tensor, pipeline, each once at most, with / between them,");
  }
}

}  // namespace

AxisRow axis_order() {
  return {.word = "order",
          .position = 150,
          .doc = "Axes with the nearest device numbers, the nearest last: data, expert, context, tensor, pipeline",
          .write = [](const Strategy& s) { return fmt::format("{}", fmt::join(s.order, "/")); },
          .read = read_order,
          .between = '/'};
}

}  // namespace pando::transform
