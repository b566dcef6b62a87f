#include "cli/shared/buffer_table.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "base/source_location.h"

namespace pando::cli {
namespace {

constexpr std::string_view kColumns[] = {"id", "lower", "upper", "size", "alignment", "lowest", "highest_end", "fixed"};
enum Column { id, lower, upper, size, alignment, lowest, highest_end, fixed, columns };
constexpr std::size_t kRequired = 4;

// Offsets and sums of sizes stay far from overflow.
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 40;

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> cells;
  for (;;) {
    const std::size_t comma = line.find(',');
    std::string_view cell = line.substr(0, comma);
    while (!cell.empty() && (cell.front() == ' ' || cell.front() == '\t')) cell.remove_prefix(1);
    while (!cell.empty() && (cell.back() == ' ' || cell.back() == '\t')) cell.remove_suffix(1);
    cells.push_back(cell);
    if (comma == std::string_view::npos) return cells;
    line.remove_prefix(comma + 1);
  }
}

class Parser {
 public:
  explicit Parser(std::string_view file) : file_(file) {}

  BufferTable parse(std::string_view text) {
    BufferTable table;
    while (!text.empty()) {
      const std::size_t newline = text.find('\n');
      std::string_view row = text.substr(0, newline);
      text = newline == std::string_view::npos ? std::string_view() : text.substr(newline + 1);
      if (row.ends_with('\r')) row.remove_suffix(1);
      ++line_;
      if (line_ == 1) {
        parse_header(row);
        table.header = row;
      } else if (!row.empty()) {
        table.buffers.push_back(parse_row(row));
        table.rows.emplace_back(row);
      }
    }
    if (line_ == 0)
      fail_at(ErrorKind::parse_error, "empty-table", {std::string(file_)}, "empty; expected a first line such as id,lower,upper,size");
    return table;
  }

 private:
  template <class... Args>
  [[noreturn]] void wrong(std::string_view what, fmt::format_string<Args...> format, Args&&... args) const {
    fail_at(ErrorKind::parse_error, what, {std::string(file_), line_}, format, std::forward<Args>(args)...);
  }

  void parse_header(std::string_view row) {
    const std::vector<std::string_view> cells = split(row);
    std::fill(std::begin(place_), std::end(place_), kAbsent);
    width_ = cells.size();
    for (std::size_t k = 0; k < cells.size(); ++k) {
      const auto* const known = std::find(std::begin(kColumns), std::end(kColumns), cells[k]);
      if (known == std::end(kColumns)) wrong("unknown-column", "unknown column '{}'; known are {}", cells[k], fmt::join(kColumns, ", "));
      std::size_t& place = place_[known - std::begin(kColumns)];
      if (place != kAbsent) wrong("repeated-column", "column '{}' comes twice", cells[k]);
      place = k;
    }
    for (std::size_t c = 0; c < kRequired; ++c)
      if (place_[c] == kAbsent) wrong("missing-column", "no column '{}'; expected at least id,lower,upper,size", kColumns[c]);
  }

  std::uint64_t number(const std::vector<std::string_view>& cells, Column column, std::uint64_t most) const {
    const std::string_view cell = cells[place_[column]];
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (error == std::errc::result_out_of_range || (error == std::errc() && value > most))
      wrong("number-too-large", "{} is '{}'; expected at most {}", kColumns[column], cell, most);
    if (error != std::errc() || end != cell.data() + cell.size())
      wrong("not-a-number", "{} is '{}'; expected a number without sign or fraction", kColumns[column], cell);
    return value;
  }
  bool given(const std::vector<std::string_view>& cells, Column column) const {
    return place_[column] != kAbsent && !cells[place_[column]].empty();
  }

  allocate::Buffer parse_row(std::string_view row) {
    const std::vector<std::string_view> cells = split(row);
    if (cells.size() != width_) wrong("wrong-cell-count", "{} cells; expected {}, one for each column", cells.size(), width_);
    const auto [earlier, fresh] = seen_.try_emplace(std::string(cells[place_[id]]), line_);
    if (!fresh) wrong("repeated-id", "id '{}' was used in line {}", earlier->first, earlier->second);
    allocate::Buffer buffer;
    const std::uint64_t begin = number(cells, lower, ~std::uint64_t{0}), end = number(cells, upper, ~std::uint64_t{0});
    if (begin >= end) wrong("empty-interval", "live in [{}, {}); expected lower < upper", begin, end);
    buffer.live = {{begin, end}};
    buffer.size = number(cells, size, kMaxBytes);
    if (given(cells, alignment)) buffer.align = number(cells, alignment, kMaxBytes);
    if (buffer.align == 0) wrong("zero-alignment", "alignment is 0; expected at least 1");
    if (given(cells, lowest)) buffer.lowest = number(cells, lowest, kMaxBytes);
    if (given(cells, highest_end)) buffer.highest_end = number(cells, highest_end, ~std::uint64_t{0});
    if (given(cells, fixed)) buffer.fixed = number(cells, fixed, kMaxBytes);
    return buffer;
  }

  static constexpr std::size_t kAbsent = ~std::size_t{0};
  std::string_view file_;
  std::size_t line_ = 0;
  std::size_t width_ = 0;
  std::size_t place_[columns] = {};
  std::unordered_map<std::string, std::size_t> seen_;  // id: line
};

}  // namespace

BufferTable parse_buffer_table(std::string_view text, std::string_view file) { return Parser(file).parse(text); }

std::string with_offsets(const BufferTable& table, const std::vector<std::uint64_t>& offsets) {
  std::string text = table.header + ",offset\n";
  for (std::size_t i = 0; i < table.rows.size(); ++i) text += fmt::format("{},{}\n", table.rows[i], offsets[i]);
  return text;
}

}  // namespace pando::cli
