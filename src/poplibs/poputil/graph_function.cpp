#include "poplibs/poputil/reject.h"
#include "poputil/GraphFunction.hpp"

#include <fmt/format.h>

#include <pando/ownership.hpp>

#include "poputil/exceptions.hpp"

namespace poputil::graphfn {
namespace {

using poplar::DebugContext;
using poplar::DebugNameAndId;
using poplar::Graph;
using poplar::Tensor;
using poplar::program::Copy;
using poplar::program::Program;
using poplar::program::Sequence;
using Args = std::vector<Tensor>;

DebugNameAndId name_of(const DebugContext& context) {
  return DebugNameAndId("", context.getParentDebugId(), context.getPathName(), context.getSourceLocation());
}

std::vector<Tensor> make_parameters(Graph& graph, const Signature& sig, const DebugContext& context) {
  std::vector<Tensor> params;
  params.reserve(sig.size());
  for (const ArgSig& arg : sig) {
    if (arg.type < InputArg || arg.type > CreatedArg)
      poputil::reject("parameter-kind", "graphfn: parameter {} ('{}') is of kind {}, expected one of {} to {}", params.size(),
                      arg.debugName, static_cast<int>(arg.type), static_cast<int>(InputArg), static_cast<int>(CreatedArg));
    if (arg.type == CreatedArg) {
      params.emplace_back();
    } else if (!arg.similarTensor.valid()) {
      poputil::reject("parameter-without-tensor", "graphfn: parameter {} ('{}') has no tensor to be like", params.size(), arg.debugName);
    } else {
      params.push_back(graph.clone(arg.similarTensor, {context, arg.debugName}));
    }
  }
  return params;
}

bool are_alike(const Tensor& a, const Tensor& b) { return a.valid() && a.shape() == b.shape() && a.elementType() == b.elementType(); }

std::string describe(const Tensor& t) {
  return t.valid() ? fmt::format("{} of shape {}", t.elementType().toString(), t.shapeToString()) : std::string("invalid");
}

void check_argument(const Graph& graph, std::size_t i, const Tensor& argument, const Tensor& parameter) {
  if (!are_alike(argument, parameter))
    poputil::reject("argument", "graphfn: argument {} is {}, the parameter {}", i, describe(argument), describe(parameter));
  pando::require_own(graph, argument, fmt::format("graphfn: argument {}", i));
}

// The function may set any parameter: calls copy to and from what it leaves.
void check_parameters(const Graph& graph, const Signature& sig, const Args& params) {
  if (params.size() != sig.size())
    poputil::reject("parameter-count", "graphfn: the function changed its {} parameters to {}", sig.size(), params.size());
  for (std::size_t i = 0; i < sig.size(); ++i) {
    if (sig[i].type == CreatedArg && !params[i].valid())
      poputil::reject("parameter-not-created", "graphfn: the function did not create parameter {} ('{}')", i, sig[i].debugName);
    if (sig[i].type != CreatedArg && !are_alike(params[i], sig[i].similarTensor))
      poputil::reject("parameter-changed", "graphfn: the function changed parameter {} ('{}') from {} to {}", i, sig[i].debugName,
                      describe(sig[i].similarTensor), describe(params[i]));
    pando::require_own(graph, params[i], fmt::format("graphfn: what the function set parameter {} ('{}') to", i, sig[i].debugName));
  }
}

template <class F>
F given(F f) {
  if (!f) poputil::reject("no-function", "graphfn: the function is empty");
  return f;
}

}  // namespace

VoidFunction::VoidFunction(VoidFunction&& fn) = default;

VoidFunction::VoidFunction(Graph& graph_, Signature sig_, std::function<void(Args&, Sequence&, const DebugNameAndId&)> f, bool inlined_,
                           const DebugContext& debugContext)
    : graph(graph_), sig(std::move(sig_)), inlined(inlined_), prog(debugContext), params(make_parameters(graph, sig, debugContext)) {
  given(std::move(f))(params, prog, name_of(debugContext));
  check_parameters(graph, sig, params);
  pando::require_own(graph, prog, "graphfn: the program of the function");
  if (!inlined) func = graph.addFunction(prog, debugContext);
}

VoidFunction::VoidFunction(Graph& graph_, Signature sig_, std::function<void(Args&, Sequence&)> f, bool inlined_,
                           const DebugContext& debugContext)
    : VoidFunction(graph_, std::move(sig_),
                   std::function<void(Args&, Sequence&, const DebugNameAndId&)>(
                       [f = given(std::move(f))](Args& args, Sequence& p, const DebugNameAndId&) { f(args, p); }),
                   inlined_, debugContext) {}

void VoidFunction::operator()(Args& args, Sequence& seq, const DebugContext& dc) {
  if (args.size() != sig.size()) poputil::reject("argument-count", "graphfn: {} arguments for {} parameters", args.size(), sig.size());
  for (std::size_t i = 0; i < sig.size(); ++i)
    if (sig[i].type != CreatedArg) check_argument(graph, i, args[i], params[i]);
  for (std::size_t i = 0; i < sig.size(); ++i)
    if (sig[i].type == InputArg || sig[i].type == InOutArg) seq.add(Copy(args[i], params[i], false, dc));
  if (inlined)
    seq.add(prog);
  else
    seq.add(poplar::program::Call(func, dc));
  for (std::size_t i = 0; i < sig.size(); ++i) {
    if (sig[i].type == CreatedArg) args[i] = graph.clone(params[i], {dc, sig[i].debugName});
    if (sig[i].type != InputArg) seq.add(Copy(params[i], args[i], false, dc));
  }
}

ProgramFunction::ProgramFunction(Graph& graph, Signature sig, std::function<Program(Args&)> f, bool inlined,
                                 const DebugContext& debugContext)
    : voidFunc(graph, std::move(sig),
               std::function<void(Args&, Sequence&)>([f = given(std::move(f))](Args& args, Sequence& seq) { seq.add(f(args)); }), inlined,
               debugContext) {}

ProgramFunction::ProgramFunction(Graph& graph, Signature sig, std::function<Program(Args&, const DebugNameAndId&)> f, bool inlined,
                                 const DebugContext& debugContext)
    : voidFunc(graph, std::move(sig),
               std::function<void(Args&, Sequence&, const DebugNameAndId&)>(
                   [f = given(std::move(f))](Args& args, Sequence& seq, const DebugNameAndId& name) { seq.add(f(args, name)); }),
               inlined, debugContext) {}

Program ProgramFunction::operator()(Args& args, const DebugContext& debugContext) {
  Sequence seq(debugContext);
  voidFunc(args, seq, debugContext);
  return seq;
}

namespace {

// The result is a last parameter, created by the function.
Signature with_result(Signature sig) {
  sig.push_back(created("result"));
  return sig;
}

}  // namespace

TensorFunction::TensorFunction(Graph& graph, Signature sig, std::function<Tensor(Args&, Sequence&, const DebugNameAndId&)> f, bool inlined,
                               const DebugContext& debugContext)
    : voidFunc(graph, with_result(std::move(sig)),
               std::function<void(Args&, Sequence&, const DebugNameAndId&)>(
                   [f = given(std::move(f))](Args& args, Sequence& seq, const DebugNameAndId& name) {
                     args.pop_back();
                     Tensor result = f(args, seq, name);
                     args.push_back(std::move(result));
                   }),
               inlined, debugContext) {}

TensorFunction::TensorFunction(Graph& graph, Signature sig, std::function<Tensor(Args&, Sequence&)> f, bool inlined,
                               const DebugContext& debugContext)
    : TensorFunction(graph, std::move(sig),
                     std::function<Tensor(Args&, Sequence&, const DebugNameAndId&)>(
                         [f = given(std::move(f))](Args& args, Sequence& seq, const DebugNameAndId&) { return f(args, seq); }),
                     inlined, debugContext) {}

Tensor TensorFunction::operator()(Args& args, Sequence& prog, const DebugContext& debugContext) {
  Args with_result = args;
  with_result.emplace_back();
  voidFunc(with_result, prog, debugContext);
  Tensor result = with_result.back();
  with_result.pop_back();
  args = std::move(with_result);
  return result;
}

}  // namespace poputil::graphfn
