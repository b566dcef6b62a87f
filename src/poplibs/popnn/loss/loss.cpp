#include <popnn/Loss.hpp>
#include <poputil/VertexTemplates.hpp>
#include <poputil/exceptions.hpp>

#include "poplibs/popnn/loss/loss_kinds.h"
#include "poplibs/popnn/loss/select.h"
#include "poplibs/popnn/rows/row_plan.h"
#include "poplibs/poputil/reject.h"

namespace popnn {

using namespace poplar;
using internal::RowPlan;
using poputil::poplibs_error;
using poputil::templateVertex;

namespace {

constexpr unsigned kCyclesPerElement = 4;
constexpr std::size_t kRowsPerCount = 1024;  // that one vertex compares

bool has_labels(const Tensor& expected) { return expected.elementType() == INT || expected.elementType() == UNSIGNED_INT; }

void check_shape(const Tensor& t, const std::vector<std::size_t>& shape, const std::string& name, const std::string& function) {
  if (t.shape() == shape) return;
  std::string text;
  for (const std::size_t d : shape) text += (text.empty() ? "" : ",") + std::to_string(d);
  poputil::reject("operand-shape", "{}", function + ": " + name + " has shape " + t.shapeToString() + ", expected {" + text + "}");
}
void check_type(const Tensor& t, const Type& type, const std::string& name, const std::string& function) {
  if (t.elementType() != type)
    poputil::reject("operand-type", "{}",
                    function + ": " + name + " has type " + t.elementType().toString() + ", expected " + type.toString());
}

void check_outputs(const Tensor& outputs, const Tensor& expected, const std::string& function) {
  if (outputs.rank() != 2)
    poputil::reject("outputs-shape", "{}",
                    function + ": modelOutputs has shape " + outputs.shapeToString() + ", expected {batch, classes}");
  if (outputs.elementType() != FLOAT && outputs.elementType() != HALF)
    poputil::reject("outputs-type", "{}",
                    function + ": modelOutputs has type " + outputs.elementType().toString() + ", expected float or half");
  if (has_labels(expected)) return check_shape(expected, {outputs.dim(0)}, "expected", function);
  check_type(expected, outputs.elementType(), "expected", function);
  check_shape(expected, outputs.shape(), "expected", function);
}

void check_count(const Tensor& outputs, const Tensor& count, const std::string& function) {
  check_type(count, UNSIGNED_INT, "numCorrect", function);
  if (count.numElements() != 1)
    poputil::reject("count-shape", "{}", function + ": numCorrect has shape " + count.shapeToString() + ", expected one element");
  if (outputs.dim(1) == 0) poputil::reject("no-classes", "{}", function + ": modelOutputs has no classes");
}

// {deltas' scale, outputs' scale}
Tensor scales_of(const Tensor& outputs, const Tensor& deltas_scale, const Tensor& outputs_scale, const std::string& function) {
  const auto check = [&](const Tensor& t, const char* name) {
    check_type(t, outputs.elementType(), name, function);
    if (t.numElements() != 1)
      poputil::reject("scalar-shape", "{}", function + ": " + name + " has shape " + t.shapeToString() + ", expected one element");
  };
  check(deltas_scale, "deltasScale");
  check(outputs_scale, "modelOutputScaling");
  return concat(deltas_scale.flatten(), outputs_scale.flatten());
}

// numCorrect += the number of rows whose `indices` is the label.
void count_correct(Graph& graph, const Tensor& indices, const Tensor& labels, const Tensor& count, const RowPlan& plan,
                   program::Sequence& prog, const DebugContext& debug) {
  const std::size_t rows = indices.numElements(), parts = (rows + kRowsPerCount - 1) / kRowsPerCount;
  const unsigned tile = plan.blocks.front().tile;
  const Tensor partial = graph.addVariable(UNSIGNED_INT, {parts}, {debug, "counts"});
  const ComputeSet cs = graph.addComputeSet({debug, "CountCorrect"});
  for (std::size_t i = 0; i < parts; ++i) {
    const Interval part(rows * i / parts, rows * (i + 1) / parts);
    const VertexRef v =
        graph.addVertex(cs, "popnn::CountEqual", {{"a", indices.slice(part)}, {"b", labels.slice(part)}, {"out", partial.slice(i, i + 1)}});
    const unsigned at = plan.blocks[plan.blocks.size() * i / parts].tile;
    graph.setTileMapping(partial[i], at);
    graph.setTileMapping(v, at);
  }
  prog.add(program::Execute(cs));
  const ComputeSet sum = graph.addComputeSet({debug, "SumCorrect"});
  graph.setTileMapping(graph.addVertex(sum, "popnn::AddCounts", {{"in", partial}, {"out", count.flatten()}}), tile);
  prog.add(program::Execute(sum));
}

// The rows' extremes and those of what is expected, on the compute sets; then their comparison.
class Accuracy {
 public:
  Accuracy(Graph& graph, const Tensor& outputs, const Tensor& expected, const RowPlan& plan, const internal::RowSets& sets,
           const DebugContext& debug)
      : graph_(graph), plan_(plan), debug_(debug) {
    found_ = internal::add_extreme(graph, outputs, plan, false, sets, {debug, "found"}).indices.flatten();
    labels_ = has_labels(expected) ? expected.reinterpret(UNSIGNED_INT)
                                   : internal::add_extreme(graph, expected, plan, false, sets, {debug, "expected"}).indices.flatten();
  }
  void count(const Tensor& into, program::Sequence& prog) const { count_correct(graph_, found_, labels_, into, plan_, prog, debug_); }

 private:
  Graph& graph_;
  const RowPlan& plan_;
  DebugContext debug_;
  Tensor found_, labels_;
};

#define PANDO_LOSS_KIND_IS_TYPE(number, meaning) static_assert(static_cast<unsigned>(LossKind::number) == number);
PANDO_LOSS_KINDS(PANDO_LOSS_KIND_IS_TYPE)
#undef PANDO_LOSS_KIND_IS_TYPE

void check_kind(LossType kind) {
  switch (kind) {
#define PANDO_LOSS_CASE(number, meaning) case number:
    PANDO_LOSS_KINDS(PANDO_LOSS_CASE)
#undef PANDO_LOSS_CASE
    return;
  }
  poputil::reject("loss-type", "popnn::calcLoss: there is no loss type {}", static_cast<unsigned>(kind));
}

struct LossOperands {
  Tensor outputs, expected, loss, deltas, scales;
  LossType kind;
};

void add_loss(Graph& graph, const LossOperands& o, const RowPlan& plan, const internal::RowSets& sets, const DebugContext& debug) {
  const Type type = o.outputs.elementType();
  const bool whole = plan.whole_rows(), labels = has_labels(o.expected);
  const Tensor expected = labels ? o.expected.reinterpret(UNSIGNED_INT) : o.expected;
  const std::string vertex = templateVertex(whole ? "popnn::LossRows" : "popnn::LossPiece", type, expected.elementType());
  const Tensor partials = whole ? Tensor() : internal::add_partials(graph, FLOAT, plan, 1, {debug, "losses"});
  const std::vector<Tensor> outputs = internal::parts_of(o.outputs, plan), deltas = internal::parts_of(o.deltas, plan);
  const std::vector<Tensor> dense = labels ? std::vector<Tensor>() : internal::parts_of(expected, plan);
  for (std::size_t i = 0; i < plan.blocks.size(); ++i) {
    const internal::RowBlock& b = plan.blocks[i];
    const VertexRef v = graph.addVertex(sets.first, vertex, {{"outputs", outputs[i]}, {"deltas", deltas[i]}, {"scales", o.scales}});
    graph.connect(v["expected"], labels ? expected.slice(b.rows) : dense[i]);
    graph.connect(v["loss"], whole ? o.loss.slice(b.rows) : partials[i / plan.pieces][i % plan.pieces]);
    if (!whole) graph.setInitialValue(v["offset"], static_cast<unsigned>(b.columns.begin()));
    graph.setInitialValue(v["kind"], static_cast<unsigned>(o.kind));
    graph.setTileMapping(v, b.tile);
  }
  for (std::size_t r = 0; r < plan.rows && !whole; ++r) {
    const VertexRef v = graph.addVertex(sets.merge, templateVertex("popnn::LossMerge", type),
                                        {{"in", partials[r].flatten()}, {"out", o.loss.slice(r, r + 1)}});
    graph.setTileMapping(v, plan.block(r, 0).tile);
  }
}

program::Program calculate(Graph& graph, const LossOperands& o, const Tensor* count, const DebugContext& debug) {
  const std::string function = "popnn::calcLoss";
  check_kind(o.kind);
  check_outputs(o.outputs, o.expected, function);
  check_type(o.loss, o.outputs.elementType(), "loss", function);
  check_shape(o.loss, {o.outputs.dim(0)}, "loss", function);
  check_type(o.deltas, o.outputs.elementType(), "deltas", function);
  check_shape(o.deltas, o.outputs.shape(), "deltas", function);
  if (count != nullptr) check_count(o.outputs, *count, function);
  program::Sequence prog;
  if (o.outputs.numElements() == 0) return std::move(prog);
  const RowPlan plan = internal::plan_rows(graph, o.outputs, kCyclesPerElement);
  const internal::RowSets sets = internal::add_row_sets(graph, debug);
  add_loss(graph, o, plan, sets, debug);
  if (count == nullptr) {
    internal::execute(sets, plan, prog);
    return std::move(prog);
  }
  const Accuracy accuracy(graph, o.outputs, o.expected, plan, sets, debug);
  internal::execute(sets, plan, prog);
  accuracy.count(*count, prog);
  return std::move(prog);
}

Tensor no_scales(Graph& graph, const Tensor& outputs) {
  const Tensor one = graph.addConstant(outputs.elementType() == HALF ? HALF : FLOAT, {2}, 1.0f);
  graph.setTileMapping(one, 0);
  return one;
}

}  // namespace

program::Program calcLoss(Graph& graph, const Tensor& modelOutputs, const Tensor& expected, const Tensor& loss, const Tensor& deltas,
                          const Tensor& deltasScale, const Tensor& modelOutputScaling, LossType lossType,
                          const DebugContext& debugContext) {
  const Tensor scales = scales_of(modelOutputs, deltasScale, modelOutputScaling, "popnn::calcLoss");
  return calculate(graph, {modelOutputs, expected, loss, deltas, scales, lossType}, nullptr, {debugContext, "Loss"});
}

program::Program calcLoss(Graph& graph, const Tensor& modelOutputs, const Tensor& expected, const Tensor& loss, const Tensor& deltas,
                          LossType lossType, const DebugContext& debugContext) {
  return calculate(graph, {modelOutputs, expected, loss, deltas, no_scales(graph, modelOutputs), lossType}, nullptr,
                   {debugContext, "Loss"});
}

program::Program calcLoss(Graph& graph, const Tensor& modelOutputs, const Tensor& expected, const Tensor& loss, const Tensor& deltas,
                          const Tensor& deltasScale, const Tensor& modelOutputScaling, const Tensor& numCorrect, LossType lossType,
                          const DebugContext& debugContext) {
  const Tensor scales = scales_of(modelOutputs, deltasScale, modelOutputScaling, "popnn::calcLoss");
  return calculate(graph, {modelOutputs, expected, loss, deltas, scales, lossType}, &numCorrect, {debugContext, "Loss"});
}

program::Program calcLoss(Graph& graph, const Tensor& modelOutputs, const Tensor& expected, const Tensor& loss, const Tensor& deltas,
                          const Tensor& numCorrect, LossType lossType, const DebugContext& debugContext) {
  return calculate(graph, {modelOutputs, expected, loss, deltas, no_scales(graph, modelOutputs), lossType}, &numCorrect,
                   {debugContext, "Loss"});
}

program::Program calcAccuracy(Graph& graph, const Tensor& modelOutputs, const Tensor& expected, const Tensor& numCorrect,
                              const DebugContext& debugContext) {
  check_outputs(modelOutputs, expected, "popnn::calcAccuracy");
  check_count(modelOutputs, numCorrect, "popnn::calcAccuracy");
  const DebugContext debug(debugContext, "Accuracy");
  program::Sequence prog;
  if (modelOutputs.numElements() == 0) return std::move(prog);
  const RowPlan plan = internal::plan_rows(graph, modelOutputs, kCyclesPerElement);
  const internal::RowSets sets = internal::add_row_sets(graph, debug);
  const Accuracy accuracy(graph, modelOutputs, expected, plan, sets, debug);
  internal::execute(sets, plan, prog);
  accuracy.count(numCorrect, prog);
  return std::move(prog);
}

}  // namespace popnn
