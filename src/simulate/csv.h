// Tables of the data files: a line of names, then rows; cells may stand in quotes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pando::simulate {

class Csv {
 public:
  // Rejects (poplar_error, id csv) rows with another number of cells than the first.
  static Csv read(std::string_view text, const std::string& file);
  static Csv read_file(const std::string& path);

  std::size_t rows() const { return rows_.size(); }
  // A row's line in the file.
  std::size_t line(std::size_t row) const { return lines_[row]; }
  bool has(std::string_view column) const;
  // Rejects (poplar_error, id csv) an unknown column, and cells that are no numbers. An empty cell is 0.
  const std::string& text(std::size_t row, std::string_view column) const;
  double number(std::size_t row, std::string_view column) const;
  // A whole number; rejects others.
  std::int64_t integer(std::size_t row, std::string_view column) const;
  // One of at least 1: what others are divided by.
  std::int64_t count(std::size_t row, std::string_view column) const;
  bool empty(std::size_t row, std::string_view column) const { return !has(column) || text(row, column).empty(); }

 private:
  std::string file_;
  std::vector<std::string> names_;
  std::vector<std::vector<std::string>> rows_;
  // Of each row, its line in the file.
  std::vector<std::size_t> lines_;
};

}  // namespace pando::simulate
