#include "simulate/csv.h"

#include "base/files/input_file.h"
#include "base/source_location.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace pando::simulate {

namespace {

std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (char c : line) {
    if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      cells.emplace_back();
    else if (c != '\r')
      cells.back() += c;
  }
  return cells;
}

}  // namespace

Csv Csv::read(std::string_view text, const std::string& file) {
  Csv csv;
  csv.file_ = file;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.empty()) continue;
    std::vector<std::string> cells = cells_of(line);
    if (csv.names_.empty()) {
      csv.names_ = std::move(cells);
      continue;
    }
    if (cells.size() != csv.names_.size()) {
      fail_at(ErrorKind::poplar_error, "csv", {file, number}, "{} cells, the first line has {}", cells.size(), csv.names_.size());
    }
    csv.rows_.push_back(std::move(cells));
    csv.lines_.push_back(number);
  }
  return csv;
}

Csv Csv::read_file(const std::string& path) {
  std::string text;
  if (const std::string why = read_input_file(path, text); !why.empty())
    fail(ErrorKind::file_load_error, "csv", "cannot read {}: {}", path, why);
  return read(text, path);
}

bool Csv::has(std::string_view column) const { return std::find(names_.begin(), names_.end(), column) != names_.end(); }

const std::string& Csv::text(std::size_t row, std::string_view column) const {
  const auto found = std::find(names_.begin(), names_.end(), column);
  if (found == names_.end()) fail_at(ErrorKind::poplar_error, "csv", {file_}, "no column '{}'", column);
  return rows_[row][static_cast<std::size_t>(found - names_.begin())];
}

double Csv::number(std::size_t row, std::string_view column) const {
  const std::string& cell = text(row, column);
  if (cell.empty()) return 0;
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc() || end != cell.data() + cell.size()) {
    fail_at(ErrorKind::poplar_error, "csv", {file_, lines_[row], 0, fmt::format("column '{}'", column)}, "'{}' is not a number", cell);
  }
  return value;
}

std::int64_t Csv::integer(std::size_t row, std::string_view column) const {
  const double value = number(row, column);
  constexpr double kMost = 1e15;
  if (!(std::abs(value) <= kMost) || value != std::floor(value))
    fail_at(ErrorKind::poplar_error, "csv", {file_, lines_[row], 0, fmt::format("column '{}'", column)}, "'{}' is not a whole number",
            text(row, column));
  return static_cast<std::int64_t>(value);
}

std::int64_t Csv::count(std::size_t row, std::string_view column) const {
  const std::int64_t value = integer(row, column);
  if (value < 1)
    fail_at(ErrorKind::poplar_error, "csv", {file_, lines_[row], 0, fmt::format("column '{}'", column)},
            "'{}' was found; a whole number of 1 or more is expected", text(row, column));
  return value;
}

}  // namespace pando::simulate
