#include "ir/construction/composition.h"

namespace pando::ir {

namespace {

// Positions start, start + step ... of the axis.
struct Run {
  std::int64_t start, count, step;
};

std::vector<Run> runs_of(const Ints& indices) {
  std::vector<Run> runs;
  for (std::int64_t i : indices) {
    if (!runs.empty()) {
      Run& r = runs.back();
      const std::int64_t step = i - (r.start + (r.count - 1) * r.step);
      if (r.count == 1) r.step = step;
      if (r.step == step) {
        ++r.count;
        continue;
      }
    }
    runs.push_back({i, 1, 1});
  }
  return runs;
}

ValueId piece_of_run(Writer& w, ValueId x, std::int64_t axis, const Run& r) {
  if (r.step != 0) return w.slice(x, axis, r.start, r.count, r.count == 1 ? 1 : r.step);
  Shape wide = w.shape(x);
  wide[static_cast<std::size_t>(axis)] = r.count;
  return w.expand(w.slice(x, axis, r.start, 1), wide);
}

// More pieces than this are gathered.
constexpr std::size_t kMostRuns = 24;

}  // namespace

extern const Composition composition_take;
constexpr Composition composition_take = {
    .name = "take",
    .doc =
        "The slices of an axis that are named, in that order. Indices are in range. Rows of neighbours, repeated and "
        "reversed ones are views.",
    .operands = {{{"x", any_type}}},
    .attributes = {{{"indices", AttributeKind::ints}, {"axis", AttributeKind::integer}}},
    .compose = [](Writer& w, const Composed& c) -> Values {
      const Ints& indices = c.attributes.ints("indices");
      const std::int64_t axis = c.attributes.integer("axis");
      const std::vector<Run> runs = runs_of(indices);
      if (runs.empty()) return {w.slice(c.operand(), axis, 0, 0)};
      if (runs.size() > kMostRuns) return {w.op("gather", {c.operand(), w.integers(indices)}, {{"axis", axis}})};
      Values pieces;
      for (const Run& r : runs) pieces.push_back(piece_of_run(w, c.operand(), axis, r));
      return {w.concat(pieces, axis)};
    },
};

}  // namespace pando::ir
