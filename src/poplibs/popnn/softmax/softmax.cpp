#include "poplibs/popnn/softmax/softmax.h"

#include <poputil/VertexTemplates.hpp>

#include "poplibs/popnn/rows/row_plan.h"
#include "popnn/codelets.hpp"

namespace popnn::internal {

using namespace poplar;
using poputil::templateVertex;

namespace {

// Pieces of a row whose numbers every piece can read itself; those of more are merged first: every piece would fetch them all.
constexpr std::size_t kFewPieces = 4;

Tensor as_matrix(const Tensor& t) {
  const std::size_t columns = t.dim(static_cast<unsigned>(t.rank() - 1));
  return t.reshape({t.numElements() / columns, columns});
}

// One vertex for each row: in[row] -> a new tensor {rows, width}.
Tensor merge_rows(Graph& graph, const RowPlan& plan, const Tensor& partials, const char* vertex, program::Sequence& prog,
                  const DebugContext& debug) {
  const std::size_t width = partials.dim(2);
  const Tensor out = add_per_row(graph, FLOAT, plan, width, {debug, "row"});
  const ComputeSet cs = graph.addComputeSet({debug, "Merge"});
  for (std::size_t r = 0; r < plan.rows; ++r) {
    const VertexRef v = graph.addVertex(cs, vertex, {{"in", partials[r].flatten()}, {"out", out[r]}});
    graph.setTileMapping(v, plan.block(r, 0).tile);
  }
  prog.add(program::Execute(cs));
  return out;
}

void set_form(Graph& graph, const VertexRef& v, SoftmaxForm form) {
  graph.setInitialValue(v["scale"], form.scale);
  graph.setInitialValue(v["log"], form.log);
}

// `in` may be `out`.
void run_softmax(Graph& graph, const RowPlan& plan, const Tensor& in, const Tensor& out, bool in_place, SoftmaxForm form,
                 program::Sequence& prog, const DebugContext& debug) {
  const Type type = in.elementType();
  const std::string suffix = in_place ? "InPlace" : "";
  const std::vector<Tensor> from = parts_of(in, plan), to = in_place ? from : parts_of(out, plan);
  if (plan.whole_rows()) {
    const ComputeSet cs = graph.addComputeSet({debug, "Softmax"});
    const std::string vertex = templateVertex("popnn::SoftmaxRows" + suffix, type);
    for (std::size_t i = 0; i < plan.blocks.size(); ++i) {
      const VertexRef v = graph.addVertex(cs, vertex);
      if (!in_place) graph.connect(v["in"], from[i]);
      graph.connect(v["out"], to[i]);
      graph.setInitialValue(v["columns"], static_cast<unsigned>(plan.columns));
      set_form(graph, v, form);
      graph.setTileMapping(v, plan.blocks[i].tile);
    }
    prog.add(program::Execute(cs));
    return;
  }
  Tensor summaries = add_partials(graph, FLOAT, plan, 2, {debug, "summaries"});
  const ComputeSet first = graph.addComputeSet({debug, "Summarise"}), last = graph.addComputeSet({debug, "Softmax"});
  const std::string summarise = templateVertex("popnn::SoftmaxSummary", type),
                    finish = templateVertex("popnn::SoftmaxFinish" + suffix, type);
  for (std::size_t i = 0; i < plan.blocks.size(); ++i) {
    const VertexRef v = graph.addVertex(first, summarise, {{"in", from[i]}, {"out", summaries[i / plan.pieces][i % plan.pieces]}});
    graph.setTileMapping(v, plan.blocks[i].tile);
  }
  prog.add(program::Execute(first));
  if (plan.pieces > kFewPieces) summaries = merge_rows(graph, plan, summaries, "popnn::SoftmaxMerge", prog, debug);
  for (std::size_t i = 0; i < plan.blocks.size(); ++i) {
    const VertexRef v = graph.addVertex(last, finish);
    if (!in_place) graph.connect(v["in"], from[i]);
    graph.connect(v["out"], to[i]);
    graph.connect(v["summaries"], summaries[i / plan.pieces].flatten());
    set_form(graph, v, form);
    graph.setTileMapping(v, plan.blocks[i].tile);
  }
  prog.add(program::Execute(last));
}

constexpr unsigned kCyclesPerElement = 5;

// PopLibs' softmax consists of popops' operations: its callers add popops' codelets alone.
void add_own_codelets(Graph& graph) {
  if (!graph.hasCodelet("popnn::SoftmaxRows<float>")) addCodelets(graph);
}

}  // namespace

void softmax_in_place(Graph& graph, const Tensor& t, SoftmaxForm form, program::Sequence& prog, const DebugContext& debug) {
  if (t.numElements() == 0) return;
  add_own_codelets(graph);
  const Tensor matrix = as_matrix(t);
  run_softmax(graph, plan_rows(graph, matrix, kCyclesPerElement), matrix, matrix, true, form, prog, debug);
}

Tensor softmax(Graph& graph, const Tensor& t, SoftmaxForm form, program::Sequence& prog, const DebugContext& debug) {
  if (t.numElements() == 0) return graph.clone(t, {debug, "out"});
  add_own_codelets(graph);
  const Tensor matrix = as_matrix(t);
  const RowPlan plan = plan_rows(graph, matrix, kCyclesPerElement);
  const Tensor out = add_matrix(graph, t.elementType(), plan, {debug, "out"});
  run_softmax(graph, plan, matrix, out, false, form, prog, debug);
  return out.reshape(t.shape());
}

Tensor softmax_gradient(Graph& graph, const Tensor& act, const Tensor& gradient, program::Sequence& prog, const DebugContext& debug) {
  if (act.numElements() == 0) return graph.clone(act, {debug, "out"});
  add_own_codelets(graph);
  const Type type = act.elementType();
  const Tensor y = as_matrix(act), g = as_matrix(gradient);
  const RowPlan plan = plan_rows(graph, y, kCyclesPerElement);
  const Tensor out = add_matrix(graph, type, plan, {debug, "out"});
  const std::vector<Tensor> ys = parts_of(y, plan), gs = parts_of(g, plan), outs = parts_of(out, plan);
  const ComputeSet last = graph.addComputeSet({debug, "SoftmaxGradient"});
  Tensor dots;
  if (!plan.whole_rows()) {
    dots = add_partials(graph, FLOAT, plan, 1, {debug, "dots"});
    const ComputeSet first = graph.addComputeSet({debug, "Dot"});
    const std::string vertex = templateVertex("popnn::SoftmaxGradientDot", type);
    for (std::size_t i = 0; i < plan.blocks.size(); ++i) {
      const VertexRef v =
          graph.addVertex(first, vertex, {{"act", ys[i]}, {"gradient", gs[i]}, {"out", dots[i / plan.pieces][i % plan.pieces]}});
      graph.setTileMapping(v, plan.blocks[i].tile);
    }
    prog.add(program::Execute(first));
    if (plan.pieces > kFewPieces) dots = merge_rows(graph, plan, dots, "popnn::SumFloats", prog, debug);
  }
  const std::string vertex = templateVertex(plan.whole_rows() ? "popnn::SoftmaxGradientRows" : "popnn::SoftmaxGradientFinish", type);
  for (std::size_t i = 0; i < plan.blocks.size(); ++i) {
    const VertexRef v = graph.addVertex(last, vertex, {{"act", ys[i]}, {"gradient", gs[i]}, {"out", outs[i]}});
    if (plan.whole_rows())
      graph.setInitialValue(v["columns"], static_cast<unsigned>(plan.columns));
    else
      graph.connect(v["dots"], dots[i / plan.pieces].flatten());
    graph.setTileMapping(v, plan.blocks[i].tile);
  }
  prog.add(program::Execute(last));
  return out.reshape(act.shape());
}

}  // namespace popnn::internal
