// What an op does to the dimensions of its operands, in letters as of an einsum: matmul is (m,k),(k,n)->(m,n). An op can run in parts along
// a letter: operands that have it are cut there, those that do not are whole; results that have it come out cut, results that do not are
// sums of the parts' results (only where the op adds up along the letter).
#pragma once

#include "ir/module.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace pando::transform {

struct Occurrence {
  std::int8_t dim = 0;
  std::uint8_t letter = 0;
  // The part of the dimension behind this factor; -1: whichever the operand's cut has.
  std::int64_t outer = -1;
};

struct Letters {
  // A sum of parts may go through instead of its total ...
  enum Linear : std::uint8_t {
    none,
    every,    // where all operands are such sums (add)
    any_one,  // where one operand is, the others being whole (matmul)
    first,    // where the first is (mul, div)
  };
  std::vector<std::vector<Occurrence>> operands, results;
  // Letters along which the op cannot run in parts, as bits.
  std::uint64_t blocked = 0;
  Linear linear = none;

  bool is_blocked(std::uint8_t letter) const { return blocked >> letter & 1; }
};

// Nothing: this op runs on whole operands only.
std::optional<Letters> letters_of(const ir::Module& module, ir::OpId op);

}  // namespace pando::transform
