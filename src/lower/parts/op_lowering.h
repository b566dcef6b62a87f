// What a row's function sees: one op, in a place in the program.
#pragma once

#include "lower/row.h"
#include "lower/target/host_channels.h"
#include "lower/target/libraries.h"

#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pando::lower {

struct Parts;

class OpLowering {
 public:
  OpLowering(Parts& parts, ir::OpId op);

  // For rows that run graphs, and those that lay out what others compute (parts/parts.h).
  Parts& parts() { return parts_; }
  const ir::Module& module() const { return module_; }
  ir::OpId op() const { return op_; }
  const ir::Attributes& attributes() const { return module().attributes(op_); }
  bool in_place() const { return module().op(op_).in_place; }
  // The tiles of the op's place.
  poplar::Graph& graph() { return graph_; }
  poplar::program::Sequence& program();
  // For whoever reads a dump or a profile.
  std::string name() const;

  // The op libraries: codelets that the op needs, plans that ops share, what the session says.
  void need(Library library) { libraries_.need(library); }
  poplin::matmul::PlanningCache& planning() { return libraries_.planning(); }
  const Settings& settings() const { return libraries_.settings(); }
  const Libraries& libraries() const { return libraries_; }
  // Streams and remote buffers.
  HostChannels& channels();

  std::size_t operands() const { return module().operands(op_).size(); }
  std::size_t results() const { return module().results(op_).size(); }
  const ir::Type& operand_type(std::size_t i) const { return module().type_of(module().operand(op_, i)); }
  const ir::Type& result_type(std::size_t i = 0) const { return module().type_of(module().result(op_, i)); }
  // Which trailing operand scalar parameter `name` is; nothing where it is an attribute.
  std::optional<std::size_t> scalar_operand(std::string_view name) const;
  // The scalar parameter as a tensor of one element, float or half as operand 0 is (integers: its type).
  poplar::Tensor scalar(std::string_view name, double otherwise = 0);

  // Of the operand's shape, at the op's place unless the op is one that moves. Computes what was put off.
  poplar::Tensor operand(std::size_t i);
  // Storage that holds the operand's value and may be overwritten; then result_taken(r, i) makes it result r.
  poplar::Tensor take(std::size_t i);
  // The same, for an op that does not read the old value.
  poplar::Tensor take_undefined(std::size_t i);
  // A new variable for result i, laid out as its consumers like it.
  poplar::Tensor fresh(std::size_t i = 0);

  // A tensor that the op has made. Takes the result's shape (as many elements).
  void result(std::size_t i, poplar::Tensor t);
  // A view of operands, computed without arithmetic.
  void result_view(std::size_t i, poplar::Tensor t);
  void result_taken(std::size_t i, std::size_t operand);
  // dst[i] = src[i] for all i at once. Skips what is there already.
  void assign_all(std::span<const poplar::Tensor> dst, std::span<const poplar::Tensor> src);
  const Slot& taken(std::size_t operand) const { return *taken_[operand]; }

 private:
  poplar::Tensor keep(std::size_t i, Slot slot);
  bool is_read_too(std::size_t i) const;
  // Whether the op works on the operand where that lies.
  bool lies_here(std::size_t i) const;

  Parts& parts_;
  const ir::Module& module_;
  Libraries& libraries_;
  ir::OpId op_;
  poplar::Graph& graph_;
  // Where operands are read; those that lie at another place than the op have a copy.
  const Slot& slot(std::size_t i);

  std::vector<std::optional<Slot>> taken_, copied_;
};

// What an op reads in rows: the tensor, or a copy whose rows are whole where it lies turned on more tiles than one.
poplar::Tensor with_whole_rows(OpLowering& o, const poplar::Tensor& t);

}  // namespace pando::lower
