#include "schedule/generate.h"
#include "schedule/synthesised.h"
#include "transform/distribute/axis.h"
#include "transform/distribute/strategy_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace pando::transform {

namespace {

// A name, or a file that brings a table.
void read_schedule(Strategy& s, std::string_view word, std::string_view value) {
  const auto& names = schedule::names();
  s.schedule = std::string(value);
  if (value.ends_with(".csv")) {
    s.table = table_from(s.schedule);
    return;
  }
  if (std::find(names.begin(), names.end(), value) == names.end() && !schedule::is_synthesised(value)) {
    refuse_value(word, value,
                 fmt::format("one of {}, synthesised:MEMORY, or a table (a file's name that ends in .csv)", fmt::join(names, ", ")));
  }
  s.table.reset();
}

}  // namespace

AxisRow axis_schedule() {
  return {.word = "schedule",
          .position = 90,
          .doc = "By name, as in pando schedule; a file that ends in .csv brings a table",
          .option_of = [](const Strategy& s) -> std::string_view { return s.table ? "table" : "schedule"; },
          .shown_default = "1F1B",
          .write = [](const Strategy& s) { return s.pipeline > 1 ? s.schedule : std::string(); },
          .read = read_schedule};
}

}  // namespace pando::transform
