// popops::map and its family: from expressions and tensors to vertices.
#include <popops/ElementWise.hpp>

#include <fmt/format.h>

#include <algorithm>

#include <pando/ownership.hpp>
#include <popops/ElementWiseUtil.hpp>
#include <popops/codelets.hpp>
#include <poputil/Broadcast.hpp>
#include <poputil/Util.hpp>
#include <poputil/exceptions.hpp>

#include "dag.h"
#include "generate.h"
#include "map_options.h"
#include "operands.h"
#include "poplibs/poputil/reject.h"
#include "vertices.h"

namespace popops {

using namespace poplar;
using poputil::poplibs_error;

namespace {

using internal::MapOptions;
using Shape = std::vector<std::size_t>;

// One call's worth: expressions over tensors, with results of one shape.
struct Call {
  Graph& graph;
  program::Sequence& prog;
  const DebugContext& context;
  MapOptions options;
  std::string where;
};

std::vector<Type> types_of(const std::vector<Tensor>& ts) {
  std::vector<Type> out;
  for (const Tensor& t : ts) out.push_back(t.elementType());
  return out;
}

Shape shape_of_result(const expr::Expr& e, const std::vector<Tensor>& ts, const std::string& where) {
  std::vector<bool> used(ts.size());
  internal::mark_operands(e, used, where);
  std::vector<Shape> shapes;
  for (std::size_t i = 0; i < ts.size(); ++i)
    if (used[i]) shapes.push_back(ts[i].shape());
  return internal::broadcast_shape(shapes, where);
}

Tensor new_output(const Call& call, const expr::Expr& e, const std::vector<Tensor>& ts) {
  std::vector<bool> used(ts.size());
  internal::mark_operands(e, used, call.where);
  std::vector<Tensor> inputs;
  for (std::size_t i = 0; i < ts.size(); ++i)
    if (used[i]) inputs.push_back(ts[i]);
  shape_of_result(e, ts, call.where);  // its error names this call
  const Type type = internal::type_of(e, types_of(ts), call.where);
  if (!inputs.empty()) return createOutputForElementWiseOp(call.graph, inputs, type, {call.context, "out"});
  const Tensor out = call.graph.addVariable(type, {}, {call.context, "out"});
  call.graph.setTileMapping(out, 0);
  return out;
}

void check_output(const Call& call, const expr::Expr& e, const std::vector<Tensor>& ts, const Tensor& out) {
  const Shape shape = shape_of_result(e, ts, call.where);
  const Type type = internal::type_of(e, types_of(ts), call.where);
  if (out.elementType() != type)
    poputil::reject("result-type", "{}",
                    call.where + ": the result has type " + type.toString() + ", the tensor to write " + out.elementType().toString());
  Shape broadcast = out.shape();
  if (internal::broadcast_shape({shape, broadcast}, call.where) != broadcast)
    poputil::reject("result-shape", "{}: the result has {} dimensions that do not fit the tensor to write, of shape {}", call.where,
                    shape.size(), out.shapeToString());
  if (!out.isParallelWriteable())
    poputil::reject(
        "result-not-writable", "{}",
        call.where + ": the tensor to write is not parallel writeable (it has constant or repeated elements): " + out.getDebugStr());
}

// Operands that differ from `out` only in dimensions of size 1 ({n} from {n,1}, {} from {1}) are read in its shape.
std::vector<Tensor> in_shape_of(const Tensor& out, const std::vector<Tensor>& ts) {
  const auto greater = [](Shape s) {
    std::erase(s, std::size_t{1});
    return s;
  };
  const Shape shape = greater(out.shape());
  std::vector<Tensor> result = ts;
  for (Tensor& t : result)
    if (t.shape() != out.shape() && greater(t.shape()) == shape) t = t.reshape(out.shape());
  return result;
}

// The operands of expressions whose results have one shape. `outs` are written last of all: an operand that is an output is read from
// there; one that shares some of its elements otherwise is copied first.
void add_work(const Call& call, const std::vector<const expr::Expr*>& expressions, const std::vector<Tensor>& ts,
              const std::vector<Tensor>& outs) {
  if (outs[0].numElements() == 0) return;
  if (!call.graph.hasCodelet("popops::Map")) addCodelets(call.graph);
  const internal::Dag dag = internal::build_dag(expressions, types_of(ts), call.options.optimise, call.where);
  const std::vector<bool> needed = dag.needed();
  std::vector<bool> used(ts.size());
  for (std::size_t i = 0; i < dag.nodes.size(); ++i)
    if (needed[i] && dag.nodes[i].kind == internal::NodeKind::operand) used[dag.nodes[i].operand] = true;
  internal::MapWork work;
  work.dag = &dag;
  work.outs = outs;
  work.operands.resize(ts.size());
  for (std::size_t i = 0; i < ts.size(); ++i) {
    internal::WorkOperand& o = work.operands[i];
    o.type = ts[i].elementType();
    if (!used[i]) continue;
    o.tensor = ts[i];
    for (std::size_t r = 0; r < outs.size(); ++r)
      if (ts[i].shape() == outs[r].shape() && ts[i] == outs[r]) o.in_place = static_cast<int>(r);
    if (o.in_place >= 0) continue;
    if (std::any_of(outs.begin(), outs.end(), [&](const Tensor& out) { return ts[i].intersectsWith(out); }))
      o.tensor = poputil::duplicate(call.graph, ts[i], call.prog, {call.context, "operand"});
  }
  internal::add_vertices(call.graph, work, call.options, call.prog, call.context);
}

void map_all(const Call& call, const std::vector<const expr::Expr*>& expressions, const std::vector<Tensor>& operands,
             const std::vector<Tensor>& outs) {
  const std::vector<Tensor> ts = outs.size() == 1 ? in_shape_of(outs[0], operands) : operands;
  for (std::size_t i = 0; i < outs.size(); ++i) check_output(call, *expressions[i], ts, outs[i]);
  for (std::size_t i = 0; i < outs.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (outs[i].intersectsWith(outs[j])) poputil::reject("results-overlap", "{}", call.where + ": two results share elements");
  const bool together = std::all_of(outs.begin(), outs.end(), [&](const Tensor& t) { return t.shape() == outs[0].shape(); });
  if (together) return outs.empty() ? void() : add_work(call, expressions, ts, outs);
  // Results of different shapes: compute them all before the first is written.
  std::vector<Tensor> results;
  for (std::size_t i = 0; i < outs.size(); ++i) {
    const Tensor result = call.graph.clone(outs[i], {call.context, "result"});
    add_work(call, {expressions[i]}, ts, {result});
    results.push_back(result);
  }
  for (std::size_t i = 0; i < outs.size(); ++i) call.prog.add(program::Copy(results[i], outs[i], false, call.context));
}

std::vector<const expr::Expr*> pointers(const std::vector<expr::Any>& exprs) {
  std::vector<const expr::Expr*> out;
  for (const expr::Any& e : exprs) out.push_back(&static_cast<const expr::Expr&>(e));
  return out;
}

// Those that no expression uses, too.
void check_own(const Call& call, const std::vector<Tensor>& ts) {
  for (const Tensor& t : ts) pando::require_own(call.graph, t, call.where);
}

void check_count(const std::string& where, std::size_t expressions, std::size_t tensors) {
  if (expressions > tensors) poputil::reject("expression-count", "{}: {} expressions for {} tensors to write", where, expressions, tensors);
}

}  // namespace

Tensor map(Graph& graph, const expr::Expr& expr, const std::vector<Tensor>& ts, program::Sequence& prog, const DebugContext& debugContext,
           const OptionFlags& options) {
  const Call call{graph, prog, debugContext, internal::parse_options(options), "popops::map"};
  check_own(call, ts);
  const Tensor out = new_output(call, expr, ts);
  add_work(call, {&expr}, ts, {out});
  return out;
}

std::vector<Tensor> map(Graph& graph, const std::vector<expr::Any>& exprs, const std::vector<Tensor>& ts, program::Sequence& prog,
                        const DebugContext& debugContext, const OptionFlags& options) {
  const Call call{graph, prog, debugContext, internal::parse_options(options), "popops::map"};
  check_own(call, ts);
  std::vector<Tensor> outs;
  for (const expr::Expr* e : pointers(exprs)) outs.push_back(new_output(call, *e, ts));
  map_all(call, pointers(exprs), ts, outs);
  return outs;
}

void mapInPlace(Graph& graph, const expr::Expr& expr, const std::vector<Tensor>& ts, program::Sequence& prog,
                const DebugContext& debugContext, const OptionFlags& options) {
  const Call call{graph, prog, debugContext, internal::parse_options(options), "popops::mapInPlace"};
  check_own(call, ts);
  check_count(call.where, 1, ts.size());
  map_all(call, {&expr}, ts, {ts[0]});
}

void mapInPlace(Graph& graph, const std::vector<expr::Any>& exprs, const std::vector<Tensor>& ts, program::Sequence& prog,
                const DebugContext& debugContext, const OptionFlags& options) {
  const Call call{graph, prog, debugContext, internal::parse_options(options), "popops::mapInPlace"};
  check_own(call, ts);
  check_count(call.where, exprs.size(), ts.size());
  map_all(call, pointers(exprs), ts, std::vector<Tensor>(ts.begin(), ts.begin() + static_cast<std::ptrdiff_t>(exprs.size())));
}

void mapWithOutput(Graph& graph, const expr::Expr& expr, const std::vector<Tensor>& ts, const Tensor& out, program::Sequence& prog,
                   const DebugContext& debugContext, const OptionFlags& options) {
  const Call call{graph, prog, debugContext, internal::parse_options(options), "popops::mapWithOutput"};
  check_own(call, ts);
  check_own(call, {out});
  map_all(call, {&expr}, ts, {out});
}

void mapWithOutput(Graph& graph, const std::vector<expr::Any>& exprs, const std::vector<Tensor>& ts, const std::vector<Tensor>& outs,
                   program::Sequence& prog, const DebugContext& debugContext, const OptionFlags& options) {
  const Call call{graph, prog, debugContext, internal::parse_options(options), "popops::mapWithOutput"};
  check_own(call, ts);
  check_own(call, outs);
  if (exprs.size() != outs.size())
    poputil::reject("expression-count", "{}: {} expressions for {} outputs", call.where, exprs.size(), outs.size());
  map_all(call, pointers(exprs), ts, outs);
}

void outputGeneratedCodelet(const Target&, const expr::Expr& expr, const std::vector<Tensor>& ts, const OptionFlags& options,
                            std::ostream& os) {
  const std::string where = "popops::outputGeneratedCodelet";
  const internal::Dag dag = internal::build_dag({&expr}, types_of(ts), internal::parse_options(options).optimise, where);
  const Shape shape = shape_of_result(expr, ts, where);
  const std::vector<bool> needed = dag.needed();
  std::vector<internal::GeneratedOperand> operands;
  for (const Tensor& t : ts) operands.push_back({t.elementType(), false, -1, t.numElements() == 1 && t.shape() != shape});
  for (std::size_t i = 0; i < dag.nodes.size(); ++i)
    if (needed[i] && dag.nodes[i].kind == internal::NodeKind::operand) operands[dag.nodes[i].operand].used = true;
  os << internal::generate_codelet(dag, operands).source;
}

namespace {

Tensor between_types(Graph& graph, expr::BinaryOpType op, const Tensor& src, const expr::Expr& epsilon, std::vector<Tensor> ts,
                     program::Sequence& prog, const Type& type, const DebugContext& context) {
  ts.insert(ts.begin(), src);
  return map(graph, expr::Cast(expr::BinaryOp(op, expr::Cast(expr::_1, FLOAT), epsilon), type), ts, prog, context);
}

}  // namespace

Tensor varianceToInvStdDev(Graph& graph, const Tensor& src, const Tensor& epsilon, program::Sequence& prog, const Type dstType,
                           const DebugContext& debugContext) {
  return between_types(graph, expr::BinaryOpType::VARIANCE_TO_INV_STD_DEV, src, expr::Cast(expr::_2, FLOAT), {epsilon}, prog, dstType,
                       debugContext);
}
Tensor varianceToInvStdDev(Graph& graph, const Tensor& src, const float epsilon, program::Sequence& prog, const Type dstType,
                           const DebugContext& debugContext) {
  return between_types(graph, expr::BinaryOpType::VARIANCE_TO_INV_STD_DEV, src, expr::Const(epsilon), {}, prog, dstType, debugContext);
}
Tensor invStdDevToVariance(Graph& graph, const Tensor& src, const Tensor& epsilon, program::Sequence& prog, const Type dstType,
                           const DebugContext& debugContext) {
  return between_types(graph, expr::BinaryOpType::INV_STD_DEV_TO_VARIANCE, src, expr::Cast(expr::_2, FLOAT), {epsilon}, prog, dstType,
                       debugContext);
}
Tensor invStdDevToVariance(Graph& graph, const Tensor& src, const float epsilon, program::Sequence& prog, const Type dstType,
                           const DebugContext& debugContext) {
  return between_types(graph, expr::BinaryOpType::INV_STD_DEV_TO_VARIANCE, src, expr::Const(epsilon), {}, prog, dstType, debugContext);
}

}  // namespace popops
