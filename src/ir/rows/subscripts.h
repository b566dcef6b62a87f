// What an op does to the dimensions of its operands, as subscripts of an einsum: matmul is (m,k),(k,n)->(m,n). An op can run in parts along
// a subscript: operands that have it are cut there, those that do not are whole; results that have it come out cut, results that do not are
// sums of the parts' results (only where the op adds up along the subscript). Shardy calls this factors, MLIR a sharding interface.
#pragma once

#include "ir/op_row.h"
#include "ir/types/attributes.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace pando::ir {

struct Subscripts {
  struct At {
    std::int8_t dim = 0;
    std::uint8_t subscript = 0;
    // The part of the dimension behind this factor; -1: whichever the operand's cut has.
    std::int64_t outer = -1;
  };
  // A sum of parts may go through instead of its total ...
  enum class Sums : std::uint8_t {
    none,
    every,    // where all operands are such sums (add)
    any_one,  // where one operand is, the others being whole (matmul)
    first,    // where the first is (mul, div)
  };
  std::vector<std::vector<At>> operands, results;
  // Subscripts along which the op cannot run in parts, as bits.
  std::uint64_t blocked = 0;
  // Results without a subscript that every part computes alike from whole operands, as bits: no sums of parts.
  std::uint64_t alike = 0;
  Sums sums = Sums::none;
  // Not empty: why the op, with these shapes and attributes, runs on whole operands only.
  std::string_view whole = {};

  static constexpr std::size_t kMost = 64;
  bool is_blocked(std::uint8_t subscript) const { return blocked >> subscript & 1; }
  bool is_alike(std::size_t result) const { return result < 64 && (alike >> result & 1); }
};

// What a rule of subscripts sees: one op of a module.
class SubscriptsOf {
 public:
  SubscriptsOf(const Module& module, OpId op) : module_(module), op_(op) {}
  const Shape& operand(std::size_t i) const { return module_.type_of(module_.operand(op_, i)).shape; }
  const Shape& result(std::size_t i = 0) const { return module_.type_of(module_.result(op_, i)).shape; }
  std::size_t operands() const { return module_.operands(op_).size(); }
  std::size_t results() const { return module_.results(op_).size(); }
  const Attributes& attributes() const { return module_.attributes(op_); }
  // No subscripts yet, for each operand and result.
  Subscripts blank() const;

 private:
  const Module& module_;
  OpId op_;
};

// Dimension `dim` of an operand or result has the subscript. Subscripts beyond the last there can be are left out.
void put(std::vector<Subscripts::At>& list, std::size_t dim, std::size_t subscript, std::int64_t outer = -1);

// An op's rule; `whole` says why where it has none.
Subscripts subscripts_of(const Module& module, OpId op);

// Rules that many rows share. Subscript d is dimension d of the first result, unless they say otherwise.
Subscripts elementwise_subscripts(const SubscriptsOf&);  // operands are aligned at their last dimension; those of one element are whole
Subscripts adding_subscripts(const SubscriptsOf&);       // the same; sums of parts go through where all operands are some
Subscripts scaling_subscripts(const SubscriptsOf&);      // the same; where the first operand is
Subscripts update_subscripts(const SubscriptsOf&);       // the same; results that are not shaped like operand 0 are alike
Subscripts along_axis_subscripts(const SubscriptsOf&);   // element-wise, but along attribute "axis"
// Pieces of operands along attribute "axis"; sums of parts go through.
Subscripts pieces_subscripts(const SubscriptsOf&);
// The order of elements stays: a subscript for each factor that begins a dimension in the operand or the result.
Subscripts reshape_subscripts(const SubscriptsOf&);
// Reductions of operand 0 along attribute "axis" (or "dim"; absent: all). Subscript d is dimension d of operand 0.
Subscripts sum_subscripts(const SubscriptsOf&);          // sums
Subscripts total_subscripts(const SubscriptsOf&);        // sums of what is computed element by element
Subscripts whole_axis_subscripts(const SubscriptsOf&);   // no sums: cut along other dimensions alone
Subscripts leading_two_subscripts(const SubscriptsOf&);  // each sample and channel (dimensions 0 and 1) for itself
Subscripts indexed_subscripts(const SubscriptsOf&);      // all but the dimensions in attribute "axes"; operand 1 is whole

}  // namespace pando::ir
