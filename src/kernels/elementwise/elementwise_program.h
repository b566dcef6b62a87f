// Whole expressions over operands in memory, evaluated in blocks that stay in the first-level cache: one call of a kernel per
// node and block, one pass over memory for all of it. An expression is a list of words, made by ProgramWriter.
//
//   header       operands | outputs << 8 | registers << 16 | bytes of a register's element << 24,  constants | instructions << 16
//   operands     size class, first row, repeat, period, offset          (five words each)
//   outputs      size class, first row
//   constants    register | size class << 8, low word, high word
//   instructions kind | op << 8 | type << 16 | second type << 24,  result | a << 8 | b << 16 | c << 24
//     of a chain with links behind it: kind | links << 8 | type << 16,  result | a << 8;  per link LinkOp | operand << 8 | reversed << 16 |
//     second << 24. What a link keeps goes to its operand's place.
//
// a, b, c, a link's operand and the result are places: operands first, then outputs, then registers. Size class s: elements of 2^s bytes.
// Rows r of all operands and outputs belong together; output row r has the number of elements. Element e of an operand with a period (a
// broadcast one, whose only row serves all rows) is its element ((e + offset) / repeat) % period.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/elementwise/elementwise.h"

namespace pando::kernels {

// As a vertex's vector of vectors lies in memory.
struct Row {
  void* data;
  std::size_t size;
};
struct Rows {
  const Row* rows;
  std::size_t count;
};

// chain: of floats, operations of which each reads the one before; it saves passes over the block (pando_chain).
enum class Kind : std::uint8_t { unary, binary, clamp, select, convert, chain };

constexpr std::uint32_t kHeaderWords = 2, kOperandWords = 5, kOutputWords = 2, kConstantWords = 3, kInstructionWords = 2;
constexpr unsigned kMostPlaces = 250, kMostLinks = 32;
// The words of an instruction that begins so.
constexpr std::uint32_t words_of(std::uint32_t word) {
  return kInstructionWords + (static_cast<Kind>(word & 255) == Kind::chain ? word >> 8 & 255 : 0);
}

constexpr bool needs_blocks(LinkOp op) { return op == LinkOp::product || op == LinkOp::keep; }  // not of whole rows

constexpr std::uint32_t size_class_of(std::size_t bytes) { return bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3; }

}  // namespace pando::kernels

// `in` and `out` hold the rows of each size class.
PANDO_KERNEL void pando_program(const std::uint32_t* code, const pando::kernels::Rows in[4], const pando::kernels::Rows out[4]);
