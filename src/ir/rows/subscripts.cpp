#include "ir/rows/subscripts.h"

#include <set>
#include <variant>

namespace pando::ir {

Subscripts SubscriptsOf::blank() const {
  Subscripts s;
  s.operands.resize(operands());
  s.results.resize(results());
  return s;
}

void put(std::vector<Subscripts::At>& list, std::size_t dim, std::size_t subscript, std::int64_t outer) {
  if (subscript < Subscripts::kMost) list.push_back({static_cast<std::int8_t>(dim), static_cast<std::uint8_t>(subscript), outer});
}

Subscripts subscripts_of(const Module& module, OpId op) {
  const OpRow& row = module.row(op);
  if (row.subscripts != nullptr) return row.subscripts({module, op});
  if (row.elementwise && module.results(op).size() == 1) return elementwise_subscripts({module, op});
  return {.whole = row.whole.empty() ? "it has several results" : row.whole};
}

namespace {

Subscripts elementwise(const SubscriptsOf& o, Subscripts::Sums sums) {
  Subscripts s = o.blank();
  s.sums = sums;
  const Shape& out = o.result();
  for (std::size_t i = 0; i < o.operands(); ++i) {
    const Shape& in = o.operand(i);
    for (std::size_t d = 0; in.size() <= out.size() && d < in.size(); ++d) {
      const std::size_t at = d + out.size() - in.size();
      if (in[d] == out[at]) put(s.operands[i], d, at);
    }
  }
  for (auto& result : s.results) {
    for (std::size_t d = 0; d < out.size(); ++d) put(result, d, d);
  }
  return s;
}

// Dimensions of operand 0 that attribute "axis" or "dim" names, as bits.
std::uint64_t named_axes(const SubscriptsOf& o) {
  const auto rank = static_cast<std::int64_t>(o.operand(0).size());
  const AttributeValue* axis = o.attributes().find("axis");
  if (!axis) axis = o.attributes().find("dim");
  if (!axis) return (std::uint64_t{1} << rank) - 1;
  if (const auto* one = std::get_if<std::int64_t>(axis)) return std::uint64_t{1} << (*one < 0 ? *one + rank : *one);
  std::uint64_t bits = 0;
  for (std::int64_t a : std::get<Ints>(*axis)) bits |= std::uint64_t{1} << (a < 0 ? a + rank : a);
  return bits;
}

Subscripts reduction(const SubscriptsOf& o, bool adds, Subscripts::Sums sums) {
  Subscripts s = o.blank();
  s.sums = sums;
  const std::uint64_t gone = named_axes(o);
  const bool keeps = o.result().size() == o.operand(0).size();
  std::size_t at = 0;
  for (std::size_t d = 0; d < o.operand(0).size(); ++d) {
    put(s.operands[0], d, d);
    const bool reduced = gone >> d & 1;
    for (auto& result : s.results) {
      if (!reduced) put(result, keeps ? d : at, d);
    }
    at += !reduced;
  }
  if (!adds) s.blocked = gone;
  return s;
}

}  // namespace

Subscripts elementwise_subscripts(const SubscriptsOf& o) { return elementwise(o, Subscripts::Sums::none); }
Subscripts adding_subscripts(const SubscriptsOf& o) { return elementwise(o, Subscripts::Sums::every); }
Subscripts scaling_subscripts(const SubscriptsOf& o) { return elementwise(o, Subscripts::Sums::first); }

Subscripts update_subscripts(const SubscriptsOf& o) {
  Subscripts s = o.blank();
  const auto lay_out = [&](const Shape& shape, std::vector<Subscripts::At>& list) {
    for (std::size_t d = 0; shape == o.operand(0) && d < shape.size(); ++d) put(list, d, d);
  };
  for (std::size_t i = 0; i < o.operands(); ++i) lay_out(o.operand(i), s.operands[i]);
  for (std::size_t i = 0; i < o.results(); ++i) {
    lay_out(o.result(i), s.results[i]);
    if (s.results[i].empty()) s.alike |= std::uint64_t{1} << i;
  }
  return s;
}

Subscripts along_axis_subscripts(const SubscriptsOf& o) {
  Subscripts s = elementwise(o, Subscripts::Sums::none);
  s.blocked = named_axes(o);
  return s;
}

Subscripts pieces_subscripts(const SubscriptsOf& o) {
  Subscripts s = o.blank();
  s.sums = Subscripts::Sums::every;
  for (auto* lists : {&s.operands, &s.results}) {
    for (auto& list : *lists) {
      for (std::size_t d = 0; d < o.operand(0).size(); ++d) put(list, d, d);
    }
  }
  s.blocked = named_axes(o);
  return s;
}

Subscripts reshape_subscripts(const SubscriptsOf& o) {
  Subscripts s = o.blank();
  s.sums = Subscripts::Sums::every;
  struct Begin {
    std::size_t dim;
    std::int64_t before;
  };
  const auto begins = [](const Shape& shape) {
    std::vector<Begin> all;
    std::int64_t before = 1;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (shape[d] > 1) all.push_back({d, before});
      before *= shape[d];
    }
    return all;
  };
  const Shape &in = o.operand(0), &out = o.result();
  const std::vector<Begin> a = begins(in), b = begins(out);
  std::set<std::int64_t> starts;
  for (const auto* list : {&a, &b}) {
    for (const Begin& x : *list) starts.insert(x.before);
  }
  const auto at = [](const std::vector<Begin>& list, const Shape& shape, std::int64_t start) -> const Begin* {
    for (const Begin& x : list) {
      if (x.before <= start && start < x.before * shape[x.dim] && start % x.before == 0 && shape[x.dim] % (start / x.before) == 0)
        return &x;
    }
    return nullptr;
  };
  std::size_t subscript = 0;
  for (std::int64_t start : starts) {
    const Begin *x = at(a, in, start), *y = at(b, out, start);
    if (!x || !y) continue;
    put(s.operands[0], x->dim, subscript, start / x->before);
    put(s.results[0], y->dim, subscript, start / y->before);
    ++subscript;
  }
  return s;
}

Subscripts sum_subscripts(const SubscriptsOf& o) { return reduction(o, true, Subscripts::Sums::every); }
Subscripts total_subscripts(const SubscriptsOf& o) { return reduction(o, true, Subscripts::Sums::none); }
Subscripts whole_axis_subscripts(const SubscriptsOf& o) { return reduction(o, false, Subscripts::Sums::none); }

Subscripts leading_two_subscripts(const SubscriptsOf& o) {
  Subscripts s = o.blank();
  for (auto* lists : {&s.operands, &s.results}) {
    for (auto& list : *lists) {
      put(list, 0, 0);
      put(list, 1, 1);
    }
  }
  return s;
}

Subscripts indexed_subscripts(const SubscriptsOf& o) {
  Subscripts s = o.blank();
  for (std::size_t d = 0; d < o.operand(0).size(); ++d) {
    for (std::size_t i = 0; i < o.operands(); ++i) {
      if (i != 1) put(s.operands[i], d, d);
    }
    put(s.results[0], d, d);
  }
  for (std::int64_t axis : o.attributes().ints("axes")) s.blocked |= std::uint64_t{1} << axis;
  return s;
}

}  // namespace pando::ir
