// The tables of a report file, version 4, as data: one row for each table and column. The writer, the readers' checks and
// docs/level/report.md come from it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace pando::profile {

// What the numbers of a column are.
enum class Holds : std::uint8_t {
  number,     // a whole number below 2^53
  real,       // a floating-point number of 64 bits
  text,       // index in the document `strings`; 0: ""
  row,        // index of a row of another table
  maybe_row,  // 0: none; else the index of a row of another table, plus 1
  end,        // of the rows of another table that belong to this row; they begin where those of the row before end
};

struct ColumnSpec {
  std::string_view name;
  Holds holds = Holds::number;
  std::string_view table = {};  // of `row`, `maybe_row` and `end`
  bool ascends = false;         // no value is less than the one before: stored as differences
  std::string_view meaning = {};
  bool optional = false;  // files of earlier versions of the program lack it
};

struct TableSpec {
  std::string_view name;
  std::string_view meaning;
  std::span<const ColumnSpec> columns;
};

// In the order of the documentation.
std::span<const TableSpec> table_specs();
// Null if there is none.
const TableSpec* find_table(std::string_view name);
// The documents (JSON) and what each holds.
struct DocumentSpec {
  std::string_view name;
  std::string_view meaning;
};
std::span<const DocumentSpec> document_specs();

std::string_view name_of(Holds holds);
// The tables as Markdown: a section of docs/level/report.md, and what `pando report --schema` prints.
std::string schema_markdown();

}  // namespace pando::profile
