// One table of the report file, with texts in place of their numbers, and lines of the user's program in place of rows of `sources`.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <ostream>
#include <sstream>
#include <utility>

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

std::string value_text(const Report& report, const Container& file, const ColumnSpec& column, std::uint64_t value) {
  if (column.holds == Holds::text) return quoted(file.text(value));
  if (column.holds == Holds::maybe_row && column.table == "sources") return quoted(source_text(report, static_cast<std::uint32_t>(value)));
  if (column.holds == Holds::real) return fmt::format("{}", std::bit_cast<double>(value));
  return std::to_string(value);
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
  std::ostringstream bytes;
  write_report(report, bytes);
  const Container file = Container::parse(std::move(bytes).str());
  std::vector<std::string_view> names;
  for (const ColumnSpec& c : spec->columns) names.push_back(c.name);
  out << fmt::format("{}\n", fmt::join(names, ","));
  // A chunk of rows at a time: the table may be long.
  for (std::uint64_t begin = 0; begin < file.rows(spec->name); begin += kChunkRows) {
    const std::uint64_t end = std::min<std::uint64_t>(file.rows(spec->name), begin + kChunkRows);
    std::vector<std::vector<std::uint64_t>> columns;
    for (const ColumnSpec& c : spec->columns) columns.push_back(file.slice(spec->name, c.name, begin, end));
    for (std::uint64_t row = 0; row < end - begin; ++row)
      for (std::size_t c = 0; c < columns.size(); ++c)
        out << value_text(report, file, spec->columns[c], columns[c][row]) << (c + 1 < columns.size() ? ',' : '\n');
  }
  return {};
}

}  // namespace

extern const ExportRow export_csv;
constinit const ExportRow export_csv = {"csv", ".csv", "a table of the report file (--table; `steps` without it)", write_csv, true};

}  // namespace pando::profile
