#include "schedule/table.h"

#include "base/source_location.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace pando::schedule {

namespace {

struct Spelling {
  Action action;
  std::string_view text;
  bool has_microbatch;
};

// Longer ones before those that they begin with.
constexpr std::array<Spelling, 14> kSpellings = {{
    {Action::wait_send_forward, "WAIT_SEND_F", true},
    {Action::wait_send_backward, "WAIT_SEND_B", true},
    {Action::wait_reduce_gradient, "WAIT_REDUCE_GRAD", false},
    {Action::send_forward, "SEND_F", true},
    {Action::send_backward, "SEND_B", true},
    {Action::receive_forward, "RECV_F", true},
    {Action::receive_backward, "RECV_B", true},
    {Action::reduce_gradient, "REDUCE_GRAD", false},
    {Action::unshard, "UNSHARD", false},
    {Action::reshard, "RESHARD", false},
    {Action::forward, "F", true},
    {Action::input_gradient, "I", true},
    {Action::weight_gradient, "W", true},
    {Action::backward, "B", true},
}};

constexpr std::string_view kOverlap = "OVERLAP_F_B";

class Reader {
 public:
  Reader(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  Table read() {
    Table table;
    while (!text_.empty()) {
      const std::size_t end = text_.find('\n');
      std::string_view line = text_.substr(0, end);
      text_ = end == std::string_view::npos ? std::string_view() : text_.substr(end + 1);
      ++line_;
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (line.empty() && text_.empty()) break;
      table.ranks.push_back(row(line));
    }
    return table;
  }

 private:
  [[noreturn]] void reject(std::string_view cell, std::string_view what) const {
    fail_at(ErrorKind::poplar_error, "schedule-text", {file_, line_, 0, fmt::format("cell {} '{}'", column_, cell)}, "{}", what);
  }

  std::vector<Cell> row(std::string_view line) {
    std::vector<Cell> cells;
    column_ = 0;
    for (;;) {
      ++column_;
      const std::size_t end = line.find(',');
      const std::string_view text = line.substr(0, end);
      if (text.starts_with('(')) {
        overlap(text, cells);
      } else {
        cells.push_back(cell(text));
      }
      if (end == std::string_view::npos) return cells;
      line = line.substr(end + 1);
    }
  }

  void overlap(std::string_view text, std::vector<Cell>& cells) {
    const std::size_t middle = text.find(';'), close = text.find(')');
    if (middle == std::string_view::npos || close == std::string_view::npos || middle > close || text.substr(close + 1) != kOverlap) {
      reject(text, "expected (a;b)OVERLAP_F_B");
    }
    cells.push_back(cell(text.substr(1, middle - 1)));
    cells.back().with_next = true;
    cells.push_back(cell(text.substr(middle + 1, close - middle - 1)));
  }

  Cell cell(std::string_view text) {
    Cell c;
    while (text.starts_with(' ')) text.remove_prefix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    if (text.empty()) return c;
    const char* at = number(text, text.data(), c.stage);
    const std::string_view rest(at, static_cast<std::size_t>(text.data() + text.size() - at));
    for (const Spelling& s : kSpellings) {
      if (!rest.starts_with(s.text)) continue;
      c.action = s.action;
      const char* behind = at + s.text.size();
      if (s.has_microbatch) behind = number(text, behind, c.microbatch);
      if (behind != text.data() + text.size()) reject(text, "something stands behind the action");
      return c;
    }
    reject(text, "expected F, I, W, B or a transfer behind the stage");
  }

  const char* number(std::string_view text, const char* at, std::int32_t& value) const {
    const auto [end, error] = std::from_chars(at, text.data() + text.size(), value);
    if (error != std::errc() || value < 0 || value > (1 << 24)) reject(text, "expected a number of a stage or microbatch");
    return end;
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t line_ = 0, column_ = 0;
};

}  // namespace

std::int64_t Table::cells() const {
  std::int64_t n = 0;
  for (const auto& rank : ranks) n += static_cast<std::int64_t>(rank.size());
  return n;
}

std::int32_t Table::stages() const {
  std::int32_t most = -1;
  for (const auto& rank : ranks) {
    for (const Cell& c : rank) most = std::max(most, c.action == Action::idle ? -1 : c.stage);
  }
  return most + 1;
}

std::int32_t Table::microbatches() const {
  std::int32_t most = -1;
  for (const auto& rank : ranks) {
    for (const Cell& c : rank) most = std::max(most, computes(c.action) ? c.microbatch : -1);
  }
  return most + 1;
}

std::string to_string(const Cell& cell) {
  if (cell.action == Action::idle) return {};
  const auto s = std::find_if(kSpellings.begin(), kSpellings.end(), [&](const Spelling& x) { return x.action == cell.action; });
  std::string text = std::to_string(cell.stage);
  text += s->text;
  if (s->has_microbatch) text += std::to_string(cell.microbatch);
  return text;
}

std::string write_csv(const Table& table) {
  std::string text;
  for (const auto& rank : table.ranks) {
    for (std::size_t i = 0; i < rank.size(); ++i) {
      if (i) text += ',';
      if (rank[i].with_next && i + 1 < rank.size()) {
        text += '(' + to_string(rank[i]) + ';' + to_string(rank[i + 1]) + ')';
        text += kOverlap;
        ++i;
      } else {
        text += to_string(rank[i]);
      }
    }
    text += '\n';
  }
  return text;
}

Table read_csv(std::string_view text, const std::string& file) { return Reader(text, file).read(); }

Table without_idle(Table table) {
  for (auto& rank : table.ranks) std::erase_if(rank, [](const Cell& c) { return c.action == Action::idle; });
  return table;
}

}  // namespace pando::schedule
