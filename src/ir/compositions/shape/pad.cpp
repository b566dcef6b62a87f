#include "ir/construction/composition.h"
#include "ir/error.h"

#include <algorithm>
#include <string>

namespace pando::ir {

namespace {

// Which element of `n` lies at position i, which may be outside.
std::int64_t padded_source(std::int64_t i, std::int64_t n, const std::string& mode) {
  if (mode == "edge") return std::clamp<std::int64_t>(i, 0, n - 1);
  if (mode == "wrap") return ((i % n) + n) % n;
  if (n == 1) return 0;
  // Back and forth: reflect does not repeat the ends.
  const std::int64_t period = mode == "reflect" ? 2 * n - 2 : 2 * n;
  const std::int64_t at = ((i % period) + period) % period;
  return at < n ? at : (mode == "reflect" ? period : period - 1) - at;
}

ValueId padded_with_value(Writer& w, ValueId x, ValueId value, std::int64_t axis, std::int64_t before, std::int64_t after) {
  const auto a = static_cast<std::size_t>(axis);
  const Shape shape = w.shape(x);
  const auto filled = [&](std::int64_t n) {
    Shape more = shape;
    more[a] = n;
    return w.expand(value, more);
  };
  Values pieces;
  if (before > 0) pieces.push_back(filled(before));
  const std::int64_t first = std::max<std::int64_t>(0, -before), last = shape[a] - std::max<std::int64_t>(0, -after);
  if (last > first) pieces.push_back(w.slice(x, axis, first, last - first));
  if (after > 0) pieces.push_back(filled(after));
  if (pieces.empty()) return w.slice(x, axis, 0, 0);
  return w.concat(pieces, axis);
}

}  // namespace

extern const Composition composition_pad;
constexpr Composition composition_pad = {
    .name = "pad",
    .doc =
        "The tensor with elements more at its ends: pads[i] in front of dimension i and pads[rank + i] behind it; "
        "below 0, so many fewer. Modes: constant (`value`, or 0), edge, reflect, symmetric and wrap.",
    .operands = {{{"x", any_type}, {.name = "value", .types = any_type, .optional = true}}},
    .attributes = {{{"pads", AttributeKind::ints}, {"mode", AttributeKind::text, false}}},
    .compose = [](Writer& w, const Composed& c) -> Values {
      const Ints& pads = c.attributes.ints("pads");
      const std::string mode = c.attributes.has("mode") ? c.attributes.text("mode") : "constant";
      const auto rank = static_cast<std::size_t>(w.rank(c.operand()));
      if (pads.size() != 2 * rank)
        reject(ErrorClass::value, "pad-pads", "{} pads for {} dimensions; there are two of each", pads.size(), rank);
      ValueId v = c.operand(), value = c.has(1) ? c.operand(1) : ValueId();
      for (std::size_t d = 0; d < rank; ++d) {
        const std::int64_t before = pads[d], after = pads[rank + d], axis = static_cast<std::int64_t>(d), n = w.shape(v)[d];
        if (before == 0 && after == 0) continue;
        if (n + before + after < 0)
          reject(ErrorClass::value, "pad-pads", "pads of {} and {} leave less than nothing of the {} elements of dimension {}", before,
                 after, n, d);
        if (mode == "constant") {
          if (!value.valid()) value = w.scalar(w.dtype(v), 0);
          v = padded_with_value(w, v, value, axis, before, after);
          continue;
        }
        if (n == 0) reject(ErrorClass::value, "pad-empty", "dimension {} has no elements that mode {} could repeat", d, mode);
        Ints sources;
        for (std::int64_t i = -before; i < n + after; ++i) sources.push_back(padded_source(i, n, mode));
        v = compose(w, "take", {v}, {{"indices", sources}, {"axis", axis}});
      }
      return {v};
    },
};

}  // namespace pando::ir
