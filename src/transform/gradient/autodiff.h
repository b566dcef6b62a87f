// Gradients: a new graph that computes, from gradients of a graph's outputs, gradients of its inputs.
//
//     f(x, w):                    f_bwd(Gradient___y, x, w):
//         h = matmul(x, w)            Gradient___h = mul(Gradient___y, ...)
//         y = tanh(h)                 Gradient___x = matmul(Gradient___h, transpose(w))
//         return y                    return Gradient___x, ...
//
// What the gradient graph needs of the forward graph are further inputs of it (*forward connections*). A forward value that is neither
// input nor output of the forward graph becomes an extra output of it, and every call of the graph grows a result; where an op other than
// a plain call carries the graph (a branch of a conditional, the body of a repeat), the gradient graph computes the value again instead.
// Constants are copied.
//
// * Gradients from several consumers are summed by one add_n, in the order in which the consumers stand, last one first.
// * A graph that a call carries is differentiated once for each set of outputs that have gradients, for the inputs that any call in the
//   calling graph wants; the gradient is a call of its gradient graph.
// * A conditional gives a conditional of its branches' gradients: of each distinct operand, zeros in a branch that does not use it.
// * A repeat gives two loops: one runs the body again and stacks the carried inputs that the body's gradient needs, (count, shape) each;
//   the other walks back over the stack. A body that reads or writes streams or remote buffers is rejected where it must run again.
// * Views taken in place (reshape_, slice_, concat_) have the gradient of their plain form.
// * Gradient graphs can be differentiated in turn.
#pragma once

#include "ir/construction/builder.h"

#include <map>
#include <optional>
#include <set>
#include <vector>

namespace pando::transform {

enum class ConnectionKind : std::uint8_t { fwd, fwd_grad };

// What an input or output of a gradient graph stands for: a value of the forward graph, or the gradient of one.
struct Connection {
  ir::ValueId value;
  ConnectionKind kind = ConnectionKind::fwd;
  friend bool operator==(const Connection&, const Connection&) = default;
};

struct GradientInfo {
  ir::GraphId forward, gradient;
  // One for each input of the gradient graph: the provided gradients in order, then forward values.
  std::vector<Connection> inputs;
  // One for each output: the required gradients in order.
  std::vector<Connection> outputs;
};

struct AutodiffOptions {
  // Forward values whose gradients will be given. Absent: all outputs.
  std::optional<std::vector<ir::ValueId>> provided;
  // Forward values whose gradients are asked for. Absent: all inputs.
  std::optional<std::vector<ir::ValueId>> required;
  // Gradients of called graphs that are there already.
  std::map<ir::GraphId, GradientInfo> called;
  // Graphs whose gradients must be in `called` where a gradient passes them.
  std::set<ir::GraphId> unsafe;
  // The gradient graph takes only the forward graph's inputs and the values in `saved`, and computes everything else again: less is alive
  // between forward and backward, for the price of running the forward ops twice. Graphs that are called are not affected.
  bool recompute = false;
  std::vector<ir::ValueId> saved;
};

// Rejects (popart): no gradient required, a value of another graph, a required gradient that no path gives, an op on a path that has no
// gradient and says so, a graph with an op that modifies a tensor, a called graph that is said to be unsafe. The program is then as it was.
GradientInfo autodiff(ir::Builder& builder, ir::GraphId graph, const AutodiffOptions& options = {});

// The same, with the gradients of the graphs that it calls, directly or not: first the graph's own, then the others in the order in which
// they were first needed.
std::vector<GradientInfo> autodiff_all(ir::Builder& builder, ir::GraphId graph, const AutodiffOptions& options = {});

}  // namespace pando::transform
