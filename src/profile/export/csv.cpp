// One table of the report file, with texts in place of their numbers.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <ostream>
#include <sstream>

#include "base/error.h"
#include "profile/export.h"
#include "profile/file/container.h"

namespace pando::profile {

namespace {

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

std::string value_text(const Container& file, const ColumnSpec& column, std::uint64_t value) {
  if (column.holds == Holds::text) return quoted(file.text(value));
  if (column.holds == Holds::real) return fmt::format("{}", std::bit_cast<double>(value));
  return std::to_string(value);
}

void write_csv(const Report& report, const std::string& table, std::ostream& out) {
  const TableSpec* spec = find_table(table.empty() ? "steps" : table);
  if (spec == nullptr) {
    std::vector<std::string_view> names;
    for (const TableSpec& t : table_specs()) names.push_back(t.name);
    fail(ErrorKind::invalid_option, "report-table", "a report has no table '{}'; expected {}", table, fmt::join(names, ", "));
  }
  std::ostringstream bytes;
  write_report(report, bytes);
  const Container file = Container::parse(bytes.str());
  std::vector<std::string_view> names;
  for (const ColumnSpec& c : spec->columns) names.push_back(c.name);
  out << fmt::format("{}\n", fmt::join(names, ","));
  for (std::uint64_t row = 0; row < file.rows(spec->name); ++row)
    for (std::size_t c = 0; c < spec->columns.size(); ++c)
      out << value_text(file, spec->columns[c], file.column(spec->name, spec->columns[c].name)[row])
          << (c + 1 < spec->columns.size() ? ',' : '\n');
}

}  // namespace

extern const ExportRow export_csv;
constinit const ExportRow export_csv = {"csv", ".csv", "a table of the report file (--table; `steps` without it)", write_csv, true};

}  // namespace pando::profile
