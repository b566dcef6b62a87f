// The text of a module. It parses back to the same (ir/text/parse.h): print(parse(x)) == x.
//
//     module replicas 2
//     stream 0 "x" to device: Tensor[(2, 2), float32]
//     buffer 0 number 1: Tensor[(4), float32] x 8
//     variable "w" input 0: Tensor[(2, 2), float32] = [1.0, 2.0, 3.0, 4.0]
//
//     graph main(w: Tensor[(2, 2), float32, 0]):
//         x: Tensor[(2, 2), float32, 0] = host_load(stream=@stream0)
//         [1] (low: Tensor[(1, 2), float32, 0], high: Tensor[(1, 2), float32, 0]) = split(x, axis=0, splits=[1, 1])
//         w__t0: Tensor[(2, 2), float32, 0] = add_(w, x) after [1]
//         o: Tensor[(2, 2), float32, 0] = call(x) @increment
//         return o
//         final w = w__t0
//
// A name with an underscore behind it is the op's in-place form: its result is a new version of the first operand. `final` says what an
// input has become. `after` is the user's order. Data are written as numbers, or as hex"..." where there are more than 16 of them.
#pragma once

#include "ir/module.h"

#include <span>
#include <string>
#include <string_view>

namespace pando::ir {

struct PrintOptions {
  // loc("file":12) behind each op.
  bool locations = false;
  // Data as "..." beyond 16 elements: shorter, but it does not parse.
  bool elide_data = false;
  // Ops that the builder made.
  bool implicit_ops = true;
};

std::string print(const Module& module, const PrintOptions& options = {});
std::string print_graph(const Module& module, GraphId graph, const PrintOptions& options = {});
// One op, as a line of its graph's text, without indentation.
std::string print_op(const Module& module, OpId op, const PrintOptions& options = {});
// The op without its results, its operands as others write them: "add(a[t], b, ...) @graph".
std::string print_call(const Module& module, OpId op, std::span<const std::string> operands);
// A name as texts have it: in quotes unless it is plain.
std::string print_name(std::string_view name);
// "[1.0, 2.0]" or "hex"..."".
std::string print_data(const HostTensor& data);

}  // namespace pando::ir
