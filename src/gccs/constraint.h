// Constraints of popsolver's models: each narrows the ranges of its variables to what can still hold.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "gccs/popsolver/Model.hpp"

namespace gccs::popsolver {

using Value = DataType::UnderlyingType;

struct Range {
  Value least = 0, greatest = 0;
  bool single() const { return least == greatest; }
};

enum class Kind {
  product,
  sum,
  max,
  min,
  floordiv,
  ceildiv,
  mod,
  least_divisor,
  less,
  less_or_equal,
  reified_less,
  reified_less_or_equal,
  call
};

// The first variable is the result, if the kind has one.
//   product, sum, max, min   result, operands...
//   floordiv, ceildiv, mod   result, left, right
//   least_divisor            quotient, dividend, divisor: a smaller divisor has another ceildiv
//   less, less_or_equal      left, right
//   reified_...              result, left, right
//   call                     result, arguments...
struct Constraint {
  Kind kind;
  std::vector<std::uint32_t> variables;
  std::function<bool(const std::vector<DataType>&, DataType&)> function;
};

// Ranges that only ever get narrower, and which of them did.
class Narrowing {
 public:
  Narrowing(std::vector<Range>& ranges, std::vector<std::uint32_t>& changed) : ranges_(ranges), changed_(changed) {}

  const Range& operator[](std::uint32_t v) const { return ranges_[v]; }
  // False if nothing is left.
  bool at_least(std::uint32_t v, unsigned __int128 bound) {
    if (bound <= ranges_[v].least) return true;
    if (bound > ranges_[v].greatest) return false;
    ranges_[v].least = static_cast<Value>(bound);
    changed_.push_back(v);
    return true;
  }
  bool at_most(std::uint32_t v, unsigned __int128 bound) {
    if (bound >= ranges_[v].greatest) return true;
    if (bound < ranges_[v].least) return false;
    ranges_[v].greatest = static_cast<Value>(bound);
    changed_.push_back(v);
    return true;
  }
  bool within(std::uint32_t v, unsigned __int128 least, unsigned __int128 greatest) { return at_least(v, least) && at_most(v, greatest); }

 private:
  std::vector<Range>& ranges_;
  std::vector<std::uint32_t>& changed_;
};

// False if it cannot hold.
bool narrow(const Constraint& constraint, Narrowing& ranges);

}  // namespace gccs::popsolver
