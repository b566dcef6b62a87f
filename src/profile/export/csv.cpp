// One table of the report file, with texts in place of their numbers, and lines of the user's program in place of rows of `sources`.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "profile/export.h"
#include "profile/facts.h"
#include "profile/file/container.h"
#include "profile/text.h"

namespace pando::profile {

namespace {

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

void append_value(std::string& line, const Report& report, const TextOf& text, const ColumnSpec& column, std::uint64_t value) {
  if (column.holds == Holds::text)
    line += quoted(text(value));
  else if (column.holds == Holds::maybe_row && column.table == "sources")
    line += quoted(source_text(report, static_cast<std::uint32_t>(value)));
  else if (column.holds == Holds::real)
    fmt::format_to(std::back_inserter(line), "{}", std::bit_cast<double>(value));
  else
    fmt::format_to(std::back_inserter(line), "{}", value);
}

std::string write_csv(const Report& report, const ExportOptions& options, std::ostream& out) {
  const std::string& table = options.table;
  const TableSpec* spec = find_table(table.empty() ? "steps" : table);
  if (spec == nullptr) {
    std::vector<std::string> names;
    for (const TableSpec& t : table_specs()) names.emplace_back(t.name);
    fail(ErrorKind::invalid_option, "report-table", "a report has no table '{}'{}; expected {}", table, nearest_text(table, names),
         fmt::join(names, ", "));
  }
  std::vector<std::string_view> names;
  for (const ColumnSpec& c : spec->columns) names.push_back(c.name);
  out << fmt::format("{}\n", fmt::join(names, ","));
  std::string line;
  each_row(report, spec->name, [&](std::span<const std::uint64_t> values, const TextOf& text) {
    line.clear();
    for (std::size_t c = 0; c < values.size(); ++c) {
      append_value(line, report, text, spec->columns[c], values[c]);
      line += c + 1 < values.size() ? ',' : '\n';
    }
    out << line;
  });
  return {};
}

}  // namespace

extern const ExportRow export_csv;
constinit const ExportRow export_csv = {"csv", ".csv", "a table of the report file (--table; `steps` without it)", write_csv, true};

}  // namespace pando::profile
