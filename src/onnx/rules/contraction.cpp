#include "onnx/rules/contraction.h"

#include "onnx/rules/products.h"

#include <map>

namespace pando::onnx {

namespace {

// Letters of the dimensions; those of an ellipsis are digits from the end: '0' is the last.
using Letters = std::string;

struct Equation {
  std::vector<Letters> operands;
  Letters result;
  bool has_result = false;
};

Equation parse_equation(const Context& c, std::string text) {
  std::erase(text, ' ');
  Equation e;
  const std::size_t arrow = text.find("->");
  e.has_result = arrow != std::string::npos;
  if (e.has_result) e.result = text.substr(arrow + 2);
  std::string left = text.substr(0, arrow);
  for (std::size_t at = 0; at <= left.size();) {
    const std::size_t comma = std::min(left.find(',', at), left.size());
    e.operands.push_back(left.substr(at, comma - at));
    at = comma + 1;
  }
  if (e.operands.size() != c.operands())
    c.reject(fmt::format("the equation '{}' has {} terms for {} operands", text, e.operands.size(), c.operands()));
  return e;
}

bool is_letter(char ch) { return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z'); }

// With an ellipsis spelt out for `rank` dimensions (of the result: as many as the widest operand has).
Letters spelt_out(const Context& c, const Letters& term, std::size_t dots) {
  Letters all;
  for (std::size_t i = 0; i < term.size(); ++i) {
    if (term.compare(i, 3, "...") == 0) {
      for (std::size_t d = dots; d-- > 0;) all.push_back(static_cast<char>('0' + d));
      i += 2;
    } else if (is_letter(term[i])) {
      all.push_back(term[i]);
    } else {
      c.reject(fmt::format("the equation has the character '{}'", term[i]));
    }
  }
  return all;
}

struct Term {
  ValueId value;
  Letters letters;
};

// Letters that come twice stand for the diagonal.
Term without_twins(Context& c, Term t) {
  for (std::size_t i = 0; i < t.letters.size(); ++i) {
    const std::size_t j = t.letters.find(t.letters[i], i + 1);
    if (j == std::string::npos) continue;
    Shape s = c.shape(t.value);
    const std::int64_t n = s[i];
    if (s[j] != n) c.reject(fmt::format("'{}' stands for {} and {} elements", t.letters[i], n, s[j]));
    // Multiplied by the unit matrix and summed over one of both.
    Shape eye(s.size(), 1);
    eye[i] = eye[j] = n;
    HostTensor unit(DType::boolean, {n, n});
    for (std::int64_t k = 0; k < n; ++k) unit.set_integer(k * n + k, 1);
    const ValueId kept = c.where(c.constant(unit.reshaped(eye)), t.value, c.scalar(c.dtype(t.value), 0));
    t.value = c.cast(c.reduce("sum", kept, {static_cast<std::int64_t>(j)}, false), c.dtype(t.value));
    t.letters.erase(j, 1);
    --i;
  }
  return t;
}

Term summed(Context& c, Term t, const Letters& kept) {
  Ints axes;
  Letters left;
  for (std::size_t i = 0; i < t.letters.size(); ++i) {
    if (kept.find(t.letters[i]) == std::string::npos) {
      axes.push_back(static_cast<std::int64_t>(i));
    } else {
      left.push_back(t.letters[i]);
    }
  }
  if (axes.empty()) return t;
  return {c.cast(c.reduce("sum", t.value, axes, false), c.dtype(t.value)), left};
}

// In the order of `order`; letters that are not there have one element.
ValueId ordered(Context& c, const Term& t, const Letters& order) {
  Ints permutation;
  Shape shape;
  const Shape s = c.shape(t.value);
  for (char letter : order) {
    const std::size_t i = t.letters.find(letter);
    shape.push_back(i == std::string::npos ? 1 : s[i]);
    if (i != std::string::npos) permutation.push_back(static_cast<std::int64_t>(i));
  }
  return c.reshape(c.transpose(t.value, permutation), shape);
}

// As a product of matrices: batch letters (in both and kept), rows, columns, and those that are summed.
Term multiplied(Context& c, Term a, Term b, const Letters& kept) {
  const auto has = [](const Letters& l, char letter) { return l.find(letter) != std::string::npos; };
  Letters batch, rows, columns, inner;
  for (char l : a.letters) (has(b.letters, l) ? (has(kept, l) ? batch : inner) : rows).push_back(l);
  for (char l : b.letters) {
    if (!has(a.letters, l)) columns.push_back(l);
  }
  const ValueId left = ordered(c, a, batch + rows + inner), right = ordered(c, b, batch + inner + columns);
  const Shape sl = c.shape(left), sr = c.shape(right);
  Shape out, lm, rm;
  const auto size = [](const Shape& s, std::size_t from, std::size_t n) {
    return ir::elements_of(Shape(s.begin() + static_cast<std::ptrdiff_t>(from), s.begin() + static_cast<std::ptrdiff_t>(from + n)));
  };
  for (std::size_t i = 0; i < batch.size() + inner.size(); ++i) {
    const std::int64_t x = i < batch.size() ? sl[i] : sl[rows.size() + i], y = sr[i];
    if (x != y && (i >= batch.size() || (x != 1 && y != 1))) c.reject(fmt::format("a letter stands for {} and {} elements", x, y));
  }
  for (std::size_t i = 0; i < batch.size(); ++i) out.push_back(std::max(sl[i], sr[i]));
  lm = Shape(sl.begin(), sl.begin() + static_cast<std::ptrdiff_t>(batch.size()));
  rm = Shape(sr.begin(), sr.begin() + static_cast<std::ptrdiff_t>(batch.size()));
  for (std::size_t i = 0; i < rows.size(); ++i) out.push_back(sl[batch.size() + i]);
  for (std::size_t i = 0; i < columns.size(); ++i) out.push_back(sr[batch.size() + inner.size() + i]);
  const std::int64_t k = size(sr, batch.size(), inner.size());
  lm.insert(lm.end(), {size(sl, batch.size(), rows.size()), k});
  rm.insert(rm.end(), {k, size(sr, batch.size() + inner.size(), columns.size())});
  return {c.reshape(exact_matmul(c, c.reshape(left, lm), c.reshape(right, rm)), out), batch + rows + columns};
}

}  // namespace

void contract(Context& c) {
  Equation e = parse_equation(c, c.text("equation", ""));
  std::vector<Term> terms;
  std::size_t widest = 0;
  for (std::size_t i = 0; i < e.operands.size(); ++i) {
    const auto letters = static_cast<std::size_t>(std::count_if(e.operands[i].begin(), e.operands[i].end(), is_letter));
    const bool dots = e.operands[i].find("...") != std::string::npos;
    if (c.rank_of(i) < letters || (!dots && c.rank_of(i) != letters))
      c.reject(fmt::format("'{}' for {} dimensions", e.operands[i], c.rank_of(i)));
    const std::size_t open = c.rank_of(i) - letters;
    if (open > 10) c.reject("an ellipsis of more than 10 dimensions");
    widest = std::max(widest, open);
    terms.push_back({c.operand(i), spelt_out(c, e.operands[i], open)});
  }
  if (!e.has_result) {
    // Those that come once, in the alphabet's order, behind the ellipsis.
    std::map<char, int> counts;
    for (const Term& t : terms) {
      for (char l : t.letters) ++counts[l];
    }
    e.result = widest > 0 ? "..." : "";
    for (const auto& [letter, n] : counts) {
      if (is_letter(letter) && n == 1) e.result.push_back(letter);
    }
  }
  const Letters result = spelt_out(c, e.result, widest);
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (result.find(result[i], i + 1) != std::string::npos) c.reject(fmt::format("'{}' comes twice in the result", result[i]));
  }
  Term all = without_twins(c, terms[0]);
  for (std::size_t i = 1; i <= terms.size(); ++i) {
    // Letters that something later reads.
    Letters later = result;
    for (std::size_t j = i; j < terms.size(); ++j) later += terms[j].letters;
    all = summed(c, all, later);
    if (i == terms.size()) break;
    Letters behind = result;
    for (std::size_t j = i + 1; j < terms.size(); ++j) behind += terms[j].letters;
    const Term next = summed(c, without_twins(c, terms[i]), behind + all.letters);
    all = multiplied(c, all, next, behind);
  }
  for (char l : result) {
    if (all.letters.find(l) == std::string::npos) c.reject(fmt::format("'{}' of the result is in no operand", l));
  }
  const ValueId y = ordered(c, all, result);
  c.give(y == c.operand(0) ? c.op("identity", {y}) : y);
}

}  // namespace pando::onnx
