#include <fmt/format.h>

#include <string>

#include "profile/file/container.h"

namespace pando::profile {

namespace {

std::string holds_text(const ColumnSpec& c) {
  switch (c.holds) {
    case Holds::number: return "number";
    case Holds::real: return "real";
    case Holds::text: return "text";
    case Holds::row: return fmt::format("row of `{}`", c.table);
    case Holds::maybe_row: return fmt::format("row of `{}` + 1, or 0", c.table);
    case Holds::end: return fmt::format("end in `{}`", c.table);
  }
  return {};
}

}  // namespace

std::string schema_markdown() {
  std::string out;
  for (const TableSpec& t : table_specs()) {
    out += fmt::format("### `{}`\n\n{}.\n\n| column | holds | meaning |\n| --- | --- | --- |\n", t.name, t.meaning);
    for (const ColumnSpec& c : t.columns) out += fmt::format("| `{}` | {} | {} |\n", c.name, holds_text(c), c.meaning);
    out += '\n';
  }
  return out;
}

}  // namespace pando::profile
