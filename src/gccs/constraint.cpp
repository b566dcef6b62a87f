#include "gccs/constraint.h"

#include <algorithm>

namespace gccs::popsolver {

namespace {

using Wide = unsigned __int128;
constexpr Wide kMost = ~Value(0);

Wide up(Wide n, Wide d) { return n / d + (n % d != 0 ? 1 : 0); }
// What is beyond 64 bits counts as the greatest value: bounds stay bounds.
Wide times(Wide a, Wide b) { return a != 0 && b > kMost / a ? kMost : a * b; }

bool narrow_product(const std::vector<std::uint32_t>& v, Narrowing& r) {
  Wide least = 1, greatest = 1;
  for (std::size_t i = 1; i < v.size(); ++i) {
    least = times(least, r[v[i]].least);
    greatest = times(greatest, r[v[i]].greatest);
  }
  if (!r.within(v[0], least, greatest)) return false;
  for (std::size_t i = 1; i < v.size(); ++i) {
    Wide others_least = 1, others_greatest = 1;
    for (std::size_t j = 1; j < v.size(); ++j) {
      if (j == i) continue;
      others_least = times(others_least, r[v[j]].least);
      others_greatest = times(others_greatest, r[v[j]].greatest);
    }
    if (others_least > 0 && others_least < kMost && !r.at_most(v[i], r[v[0]].greatest / others_least)) return false;
    if (others_greatest == 0 ? r[v[0]].least > 0 : !r.at_least(v[i], up(r[v[0]].least, others_greatest))) return false;
  }
  return true;
}

bool narrow_sum(const std::vector<std::uint32_t>& v, Narrowing& r) {
  Wide least = 0, greatest = 0;
  for (std::size_t i = 1; i < v.size(); ++i) {
    least += r[v[i]].least;
    greatest += r[v[i]].greatest;
  }
  if (!r.within(v[0], least, greatest)) return false;
  for (std::size_t i = 1; i < v.size(); ++i) {
    const Wide others_least = least - r[v[i]].least, others_greatest = greatest - r[v[i]].greatest;
    if (others_least > r[v[0]].greatest || !r.at_most(v[i], r[v[0]].greatest - others_least)) return false;
    if (r[v[0]].least > others_greatest && !r.at_least(v[i], r[v[0]].least - others_greatest)) return false;
    // The others' sums go by the ranges as they were: still bounds, only wider.
    least = others_least + r[v[i]].least;
    greatest = others_greatest + r[v[i]].greatest;
  }
  return true;
}

bool narrow_max(const std::vector<std::uint32_t>& v, Narrowing& r) {
  Value least = 0, greatest = 0;
  for (std::size_t i = 1; i < v.size(); ++i) {
    least = std::max(least, r[v[i]].least);
    greatest = std::max(greatest, r[v[i]].greatest);
  }
  if (!r.within(v[0], least, greatest)) return false;
  std::uint32_t able = 0, count = 0;
  for (std::size_t i = 1; i < v.size(); ++i) {
    if (!r.at_most(v[i], r[v[0]].greatest)) return false;
    if (r[v[i]].greatest >= r[v[0]].least) able = v[i], ++count;
  }
  return count > 1 || (count == 1 && r.at_least(able, r[v[0]].least));
}

bool narrow_min(const std::vector<std::uint32_t>& v, Narrowing& r) {
  Value least = ~Value(0), greatest = ~Value(0);
  for (std::size_t i = 1; i < v.size(); ++i) {
    least = std::min(least, r[v[i]].least);
    greatest = std::min(greatest, r[v[i]].greatest);
  }
  if (!r.within(v[0], least, greatest)) return false;
  std::uint32_t able = 0, count = 0;
  for (std::size_t i = 1; i < v.size(); ++i) {
    if (!r.at_least(v[i], r[v[0]].least)) return false;
    if (r[v[i]].least <= r[v[0]].greatest) able = v[i], ++count;
  }
  return count > 1 || (count == 1 && r.at_most(able, r[v[0]].greatest));
}

// right * result <= left < right * (result + 1)
bool narrow_floordiv(std::uint32_t result, std::uint32_t left, std::uint32_t right, Narrowing& r) {
  if (!r.at_least(right, 1)) return false;
  if (!r.within(result, r[left].least / r[right].greatest, r[left].greatest / r[right].least)) return false;
  if (!r.at_least(left, times(r[right].least, r[result].least))) return false;
  if (!r.at_most(left, times(r[right].greatest, Wide(r[result].greatest) + 1) - 1)) return false;
  if (r[result].least > 0 && !r.at_most(right, r[left].greatest / r[result].least)) return false;
  return r.at_least(right, r[left].least / (Wide(r[result].greatest) + 1) + 1);
}

// right * (result - 1) < left <= right * result
bool narrow_ceildiv(std::uint32_t result, std::uint32_t left, std::uint32_t right, Narrowing& r) {
  if (!r.at_least(right, 1)) return false;
  if (!r.within(result, up(r[left].least, r[right].greatest), up(r[left].greatest, r[right].least))) return false;
  if (!r.at_most(left, times(r[right].greatest, r[result].greatest))) return false;
  if (r[result].least > 0 && !r.at_least(left, times(r[right].least, r[result].least - 1) + 1)) return false;
  if (r[result].greatest > 0 && !r.at_least(right, up(r[left].least, r[result].greatest))) return false;
  return r[result].least < 2 || r.at_most(right, (Wide(r[left].greatest) - 1) / (r[result].least - 1));
}

bool narrow_mod(std::uint32_t result, std::uint32_t left, std::uint32_t right, Narrowing& r) {
  if (!r.at_least(right, 1)) return false;
  if (r[left].single() && r[right].single()) {
    const Value rest = r[left].least % r[right].least;
    return r.within(result, rest, rest);
  }
  if (!r.at_most(result, std::min(r[left].greatest, r[right].greatest - 1))) return false;
  return r.at_least(left, r[result].least) && r.at_least(right, Wide(r[result].least) + 1);
}

bool narrow_least_divisor(std::uint32_t quotient, std::uint32_t dividend, std::uint32_t divisor, Narrowing& r) {
  if (!r[quotient].single() || !r[dividend].single()) return true;
  const Wide least = r[quotient].least == 0 ? Wide(1) : up(r[dividend].least, r[quotient].least);
  return r.within(divisor, least, least);
}

// left + gap <= right
bool narrow_order(std::uint32_t left, std::uint32_t right, unsigned gap, Narrowing& r) {
  if (!r.at_least(right, Wide(r[left].least) + gap)) return false;
  return r[right].greatest >= gap && r.at_most(left, r[right].greatest - gap);
}

bool narrow_reified(std::uint32_t result, std::uint32_t left, std::uint32_t right, unsigned gap, Narrowing& r) {
  if (Wide(r[left].greatest) + gap <= r[right].least) return r.within(result, 1, 1);
  if (Wide(r[left].least) + gap > r[right].greatest) return r.within(result, 0, 0);
  if (r[result].least == 1) return narrow_order(left, right, gap, r);
  if (r[result].greatest == 0) return narrow_order(right, left, 1 - gap, r);
  return true;
}

bool narrow_call(const Constraint& c, Narrowing& r) {
  std::vector<DataType> arguments;
  for (std::size_t i = 1; i < c.variables.size(); ++i) {
    if (!r[c.variables[i]].single()) return true;
    arguments.emplace_back(r[c.variables[i]].least);
  }
  DataType result;
  return c.function(arguments, result) && r.within(c.variables[0], *result, *result);
}

}  // namespace

bool narrow(const Constraint& c, Narrowing& r) {
  const std::vector<std::uint32_t>& v = c.variables;
  switch (c.kind) {
    case Kind::product: return narrow_product(v, r);
    case Kind::sum: return narrow_sum(v, r);
    case Kind::max: return narrow_max(v, r);
    case Kind::min: return narrow_min(v, r);
    case Kind::floordiv: return narrow_floordiv(v[0], v[1], v[2], r);
    case Kind::ceildiv: return narrow_ceildiv(v[0], v[1], v[2], r);
    case Kind::mod: return narrow_mod(v[0], v[1], v[2], r);
    case Kind::least_divisor: return narrow_least_divisor(v[0], v[1], v[2], r);
    case Kind::less: return narrow_order(v[0], v[1], 1, r);
    case Kind::less_or_equal: return narrow_order(v[0], v[1], 0, r);
    case Kind::reified_less: return narrow_reified(v[0], v[1], v[2], 1, r);
    case Kind::reified_less_or_equal: return narrow_reified(v[0], v[1], v[2], 0, r);
    case Kind::call: return narrow_call(c, r);
  }
  return false;
}

}  // namespace gccs::popsolver
