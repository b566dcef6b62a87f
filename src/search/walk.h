// Goes through the choices of axes, one inside the other. Spaces of transformers and of programs are walked by this.
#pragma once

#include "search/strategy_text.h"

#include <cstdint>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace pando::search {

// What a user demands of a space: of which axes, and which values.
struct Demand {
  // Refuses (poplar_error) words and values that are none.
  Demand(std::string_view text, Spelling spelling);
  const transform::Strategy* of(std::string_view word) const { return words.contains(word) ? &values : nullptr; }
  transform::Strategy values;
  std::set<std::string_view> words;
};

// Row: an axis. Value: what is chosen of it; values(strategy, to) adds those after the axes before it; get(strategy), set(strategy, Value).
template <class Row>
class Walk {
 public:
  explicit Walk(std::vector<Row> rows) : values_(rows.size()), rows_(std::move(rows)) {}

  template <class F>
  void each(transform::Strategy& s, F&& f) {
    descend(0, s, f);
  }

  // How many there are.
  std::int64_t count(transform::Strategy& s) { return rows_.empty() ? 1 : count_from(0, s); }

 private:
  std::int64_t count_from(std::size_t depth, transform::Strategy& s) {
    const Row& row = rows_[depth];
    auto& values = values_[depth];
    values.clear();
    row.values(s, values);
    if (depth + 1 == rows_.size()) return static_cast<std::int64_t>(values.size());
    const auto before = row.get(s);
    std::int64_t n = 0;
    for (const auto& value : values) {
      row.set(s, value);
      n += count_from(depth + 1, s);
    }
    row.set(s, before);
    return n;
  }

  template <class F>
  void descend(std::size_t depth, transform::Strategy& s, F& f) {
    if (depth == rows_.size()) return f(s);
    const Row& row = rows_[depth];
    auto& values = values_[depth];
    values.clear();
    row.values(s, values);
    const auto before = row.get(s);
    for (const auto& value : values) {
      row.set(s, value);
      descend(depth + 1, s, f);
    }
    row.set(s, before);
  }

  std::vector<std::vector<typename Row::Value>> values_;
  std::vector<Row> rows_;
};

}  // namespace pando::search
