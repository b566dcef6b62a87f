// What rows that carry graphs (call, repeat, conditional) share: types from a graph's inputs and outputs.
#pragma once

#include "ir/op_row.h"

#include <cstddef>
#include <vector>

namespace pando::ir {

// Rejects (popart) operands first ... first + count - 1 that are not what graph `g` of the op takes.
void check_graph_operands(const Inference& in, std::size_t g, std::size_t first, std::size_t count);

// The type of output `o` of graph `g`, whose inputs are the operands from `first` on. Where the graph hands an input back, its place is
// the operand's.
Type graph_output_type(const Inference& in, std::size_t g, std::size_t o, std::size_t first);

// Appends, for each graph input in attribute "modified", the type of what the input becomes: the operand's. Rejects (popart) inputs that
// there are not.
void add_modified_results(Inference& in);

// modifies_more of call and repeat: the results after the graph's outputs.
void modified_inputs(const Module& module, OpId op, std::vector<NewVersion>& all);

}  // namespace pando::ir
