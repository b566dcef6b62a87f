#include <pando/cpu_device.hpp>
#include <pando/ownership.hpp>
#include <poplin/MatMul.hpp>
#include <poputil/exceptions.hpp>

#include <tuple>

#include "poplibs/poplin/matmul/cpu_product.h"
#include "poplibs/poplin/matmul/method.h"
#include "poplibs/poplin/matmul/orient.h"
#include "poplibs/poplin/matmul/planned.h"
#include "poplibs/poplin/matmul/product.h"
#include "poplibs/poplin/plan/planning_cache.h"
#include "poplibs/poputil/reject.h"

namespace poplin {
namespace {

using namespace internal::matmul;
using poplar::DebugContext;
using poplar::Graph;
using poplar::OptionFlags;
using poplar::Tensor;
using poplar::Type;
using poplar::program::Sequence;

using Cache = poplin::PlanningCache*;

[[noreturn]] void fail(const std::string& function, const std::string& text) {
  poputil::reject("product-operands", "{}", function + ": " + text);
}

// A matrix as one group.
Tensor as_groups(const std::string& function, const Tensor& t, const char* name) {
  if (t.rank() != 2) fail(function, std::string(name) + " has shape " + t.shapeToString() + ", expected a matrix");
  return t.expand({0});
}
Shape as_groups(const std::string& function, Shape shape, const char* name) {
  if (shape.size() != 2) fail(function, std::string(name) + " has rank " + std::to_string(shape.size()) + ", expected a matrix");
  shape.insert(shape.begin(), 1);
  return shape;
}

Problem problem_of_tensors(const std::string& function, const Graph& graph, const Tensor& a, const Tensor& b, const Type& output,
                           const OptionFlags& options) {
  for (const Tensor* t : {&a, &b}) pando::require_own(graph, *t, function);
  if (a.elementType() != b.elementType())
    fail(function, "A is of type " + a.elementType().toString() + " and B of " + b.elementType().toString() + ", expected one type");
  return problem_of(function, a.elementType(), output, a.shape(), b.shape(), options);
}

bool is_empty(const Problem& p) { return p.groups == 0 || p.m == 0 || p.n == 0; }

// Shape {groups, m, n} and writeable.
void check_output(const std::string& function, const Problem& p, const Tensor& c) {
  if (c.shape() != Shape{p.groups, p.m, p.n})
    fail(function, "the result has shape " + c.shapeToString() + ", expected {" + std::to_string(p.groups) + "," + std::to_string(p.m) +
                       "," + std::to_string(p.n) + "}");
  if (!c.isParallelWriteable()) fail(function, "the result is not parallel writeable");
}

void write_zeros(Graph& graph, const Tensor& out, Sequence& prog, const DebugContext& debug) {
  const Tensor zero = graph.addConstant<float>(out.elementType(), {}, 0.0f, {debug, "zero"});
  graph.setTileMapping(zero, 0);
  prog.add(poplar::program::Copy(zero.reshape({1}).broadcast(static_cast<unsigned>(out.numElements()), 0), out.flatten(), false, debug));
}

// Elements without a product: every dimension gets one, so that variables of them have a layout.
Problem without_zeros(Problem p) {
  p.groups = std::max<std::size_t>(p.groups, 1), p.m = std::max<std::size_t>(p.m, 1);
  p.n = std::max<std::size_t>(p.n, 1), p.k = std::max<std::size_t>(p.k, 1);
  return p;
}

Tensor multiply(const std::string& function, Graph& graph, const Tensor& a, const Tensor& b, Sequence& prog, const Type& output,
                const DebugContext& debug, const OptionFlags& options, Cache cache) {
  const Problem p = problem_of_tensors(function, graph, a, b, output, options);
  if (is_empty(p)) return graph.addVariable(output, {p.groups, p.m, p.n}, {debug, "out"});
  const Call call{graph, p, cache};
  if (p.k > 0) return method_for(p, graph.getTarget()).run(call, a, b, Tensor(), Tensor(), prog, debug);
  const Tensor out = pando::reads_in_place(graph.getTarget())
                         ? variable_on_cpu(graph, output, {p.groups, p.m, p.n}, {debug, "out"})
                         : product_of(graph, without_zeros(p), cache).create_result(graph, {debug, "out"});
  write_zeros(graph, out, prog, debug);
  return out;
}

void multiply_with_output(const std::string& function, Graph& graph, const Tensor& a, const Tensor& b, const Tensor& out, Sequence& prog,
                          const DebugContext& debug, const OptionFlags& options, Cache cache) {
  const Problem p = problem_of_tensors(function, graph, a, b, out.elementType(), options);
  pando::require_own(graph, out, function);
  check_output(function, p, out);
  if (is_empty(p)) return;
  if (p.k == 0) return write_zeros(graph, out, prog, debug);
  method_for(p, graph.getTarget(), true).run({graph, p, cache}, a, b, out, Tensor(), prog, debug);
}

// One element. Callers may leave a constant unmapped.
Tensor factor_of(Graph& graph, const Tensor& scale, const DebugContext& debug) {
  bool is_mapped = false;
  static_cast<void>(graph.getTileMapping(scale, &is_mapped));
  float value = 0;
  if (is_mapped || !scale.getConstantValue(&value)) return scale.reshape({});
  const Tensor factor = graph.addConstant<float>(scale.elementType(), {}, value, {debug, "scale"});
  graph.setTileMapping(factor, 0);
  return factor;
}

void accumulate(const std::string& function, Graph& graph, const Tensor& c, const Tensor& scale, const Tensor& a, const Tensor& b,
                Sequence& prog, const DebugContext& debug, const OptionFlags& options, Cache cache) {
  const Problem p = problem_of_tensors(function, graph, a, b, c.elementType(), options);
  pando::require_own(graph, c, function);
  check_output(function, p, c);
  if (scale.numElements() != 1) fail(function, "the factor has shape " + scale.shapeToString() + ", expected one element");
  if (scale.elementType() != poplar::FLOAT && scale.elementType() != poplar::HALF)
    fail(function, "the factor is of type " + scale.elementType().toString() + ", expected float or half");
  if (is_empty(p) || p.k == 0) return;
  const Tensor factor = factor_of(graph, scale, debug);
  method_for(p, graph.getTarget(), true).run({graph, p, cache}, a, b, c, factor, prog, debug);
}

Tensor constant_scale(Graph& graph, float k, const DebugContext& debug) {
  const Tensor scale = graph.addConstant<float>(poplar::FLOAT, {}, k, {debug, "scale"});
  graph.setTileMapping(scale, 0);
  return scale;
}

Tensor create(const std::string& function, Matrix matrix, Graph& graph, const Type& input, const Type& output, const Shape& a,
              const Shape& b, const DebugContext& debug, const OptionFlags& options, Cache cache) {
  const Problem given = problem_of(function, input, output, a, b, options), p = without_zeros(given);
  const Shape shape = matrix == Matrix::a ? a : matrix == Matrix::b ? b : Shape{given.groups, given.m, given.n};
  for (const std::size_t d : shape)
    if (d == 0) return graph.addVariable(matrix == Matrix::result ? output : input, shape, debug);
  return method_for(p, graph.getTarget()).create({graph, p, cache}, matrix, shape, debug);
}

Tensor create_one(const std::string& function, Matrix matrix, Graph& graph, const Type& input, const Type& output, const Shape& a,
                  const Shape& b, const DebugContext& debug, const OptionFlags& options, Cache cache) {
  return create(function, matrix, graph, input, output, as_groups(function, a, "A"), as_groups(function, b, "B"), debug, options, cache)[0];
}

Tensor arrange(const std::string& function, Graph& graph, const Shape& a, const Tensor& b, Sequence& prog, const Type& output,
               const DebugContext& debug, const OptionFlags& options, Cache cache) {
  const Problem p = problem_of(function, b.elementType(), output, a, b.shape(), options);
  if (is_empty(p) || p.k == 0) return b;
  const Method& method = method_for(p, graph.getTarget());
  return method.arrange ? method.arrange({graph, p, cache}, b, prog, debug) : b;
}

void report(const std::string& function, std::ostream& out, const Graph& graph, const Type& input, const Type& output, const Shape& a,
            const Shape& b, const OptionFlags& options, Cache cache) {
  const Problem p = without_zeros(problem_of(function, input, output, a, b, options));
  method_for(p, graph.getTarget()).report(out, p, graph.getTarget(), cache);
}

}  // namespace

Tensor matMul(Graph& graph, const Tensor& A, const Tensor& B, Sequence& prog, const Type& outputType, const DebugContext& debugContext,
              const OptionFlags& options, PlanningCache* cache) {
  return multiply("matMul", graph, as_groups("matMul", A, "A"), as_groups("matMul", B, "B"), prog, outputType, debugContext, options,
                  cache)[0];
}

Tensor matMul(Graph& graph, const Tensor& A, const Tensor& B, Sequence& prog, const DebugContext& debugContext, const OptionFlags& options,
              PlanningCache* cache) {
  return matMul(graph, A, B, prog, A.elementType(), debugContext, options, cache);
}

void matMulWithOutput(Graph& graph, const Tensor& A_, const Tensor& B_, Tensor& out, Sequence& prog, const DebugContext& debugContext,
                      const OptionFlags& options_, PlanningCache* cache) {
  const std::string name = "matMulWithOutput";
  multiply_with_output(name, graph, as_groups(name, A_, "A"), as_groups(name, B_, "B"), as_groups(name, out, "the result"), prog,
                       debugContext, options_, cache);
}

void matMulReportPlan(std::ostream& out, const Graph& graph, const Type& inputType, const Type& outputType,
                      const std::vector<std::size_t>& aShape, const std::vector<std::size_t>& bShape, const OptionFlags& options,
                      PlanningCache* cache) {
  const std::string name = "matMulReportPlan";
  report(name, out, graph, inputType, outputType, as_groups(name, aShape, "A"), as_groups(name, bShape, "B"), options, cache);
}

Tensor matMulGrouped(Graph& graph, const Tensor& A, const Tensor& B, Sequence& prog, const Type& outputType,
                     const DebugContext& debugContext, const OptionFlags& options, PlanningCache* cache) {
  return multiply("matMulGrouped", graph, A, B, prog, outputType, debugContext, options, cache);
}

void matMulGroupedWithOutput(Graph& graph, const Tensor& A, const Tensor& B, Tensor& out, Sequence& prog, const DebugContext& debugContext,
                             const OptionFlags& options_, PlanningCache* cache) {
  multiply_with_output("matMulGroupedWithOutput", graph, A, B, out, prog, debugContext, options_, cache);
}

void matMulGroupedReportPlan(std::ostream& out, const Graph& graph, const Type& inputType, const Type& outputType,
                             const std::vector<std::size_t>& aShape, const std::vector<std::size_t>& bShape, const OptionFlags& options,
                             PlanningCache* cache) {
  report("matMulGroupedReportPlan", out, graph, inputType, outputType, aShape, bShape, options, cache);
}

void matMulAcc(Graph& graph, const Tensor& C, float k, const Tensor& A, const Tensor& B, Sequence& prog, const DebugContext& debugContext,
               const OptionFlags& options, PlanningCache* cache) {
  matMulAcc(graph, C, constant_scale(graph, k, debugContext), A, B, prog, debugContext, options, cache);
}

void matMulAcc(Graph& graph, const Tensor& C, const Tensor& k, const Tensor& A, const Tensor& B, Sequence& prog,
               const DebugContext& debugContext, const OptionFlags& options, PlanningCache* cache) {
  const std::string name = "matMulAcc";
  accumulate(name, graph, as_groups(name, C, "C"), k, as_groups(name, A, "A"), as_groups(name, B, "B"), prog, debugContext, options, cache);
}

void matMulGroupedAcc(Graph& graph, const Tensor& C, float k, const Tensor& A, const Tensor& B, Sequence& prog,
                      const DebugContext& debugContext, const OptionFlags& options, PlanningCache* cache) {
  matMulGroupedAcc(graph, C, constant_scale(graph, k, debugContext), A, B, prog, debugContext, options, cache);
}

void matMulGroupedAcc(Graph& graph, const Tensor& C, const Tensor& k, const Tensor& A, const Tensor& B, Sequence& prog,
                      const DebugContext& debugContext, const OptionFlags& options, PlanningCache* cache) {
  accumulate("matMulGroupedAcc", graph, C, k, A, B, prog, debugContext, options, cache);
}

Tensor createMatMulInputLHS(Graph& graph, const Type& inputType, const Type& outputType, const std::vector<std::size_t>& aShape,
                            const std::vector<std::size_t>& bShape, const DebugContext& debugContext, const OptionFlags& options,
                            PlanningCache* cache) {
  return create_one("createMatMulInputLHS", Matrix::a, graph, inputType, outputType, aShape, bShape, debugContext, options, cache);
}
Tensor createMatMulInputLHS(Graph& graph, const Type& dataType, const std::vector<std::size_t>& aShape,
                            const std::vector<std::size_t>& bShape, const DebugContext& debugContext, const OptionFlags& options,
                            PlanningCache* cache) {
  return createMatMulInputLHS(graph, dataType, dataType, aShape, bShape, debugContext, options, cache);
}
Tensor createMatMulGroupedInputLHS(Graph& graph, const Type& inputType, const Type& outputType, const std::vector<std::size_t>& aShape,
                                   const std::vector<std::size_t>& bShape, const DebugContext& debugContext, const OptionFlags& options,
                                   PlanningCache* cache) {
  return create("createMatMulGroupedInputLHS", Matrix::a, graph, inputType, outputType, aShape, bShape, debugContext, options, cache);
}
Tensor createMatMulInputRHS(Graph& graph, const Type& inputType, const Type& outputType, const std::vector<std::size_t>& aShape,
                            const std::vector<std::size_t>& bShape, const DebugContext& debugContext, const OptionFlags& options,
                            PlanningCache* cache) {
  return create_one("createMatMulInputRHS", Matrix::b, graph, inputType, outputType, aShape, bShape, debugContext, options, cache);
}
Tensor createMatMulInputRHS(Graph& graph, const Type& dataType, const std::vector<std::size_t>& aShape,
                            const std::vector<std::size_t>& bShape, const DebugContext& debugContext, const OptionFlags& options,
                            PlanningCache* cache) {
  return createMatMulInputRHS(graph, dataType, dataType, aShape, bShape, debugContext, options, cache);
}
Tensor createMatMulOutput(Graph& graph, const Type& inputType, const Type& outputType, const std::vector<std::size_t>& aShape,
                          const std::vector<std::size_t>& bShape, const DebugContext& debugContext, const OptionFlags& options,
                          PlanningCache* cache) {
  return create_one("createMatMulOutput", Matrix::result, graph, inputType, outputType, aShape, bShape, debugContext, options, cache);
}
Tensor createMatMulOutput(Graph& graph, const Type& dataType, const std::vector<std::size_t>& aShape,
                          const std::vector<std::size_t>& bShape, const DebugContext& debugContext, const OptionFlags& options,
                          PlanningCache* cache) {
  return createMatMulOutput(graph, dataType, dataType, aShape, bShape, debugContext, options, cache);
}
Tensor createMatMulGroupedInputRHS(Graph& graph, const Type& inputType, const Type& outputType, const std::vector<std::size_t>& aShape,
                                   const std::vector<std::size_t>& bShape, const DebugContext& debugContext, const OptionFlags& options,
                                   PlanningCache* cache) {
  return create("createMatMulGroupedInputRHS", Matrix::b, graph, inputType, outputType, aShape, bShape, debugContext, options, cache);
}
Tensor createMatMulGroupedOutput(Graph& graph, const Type& inputType, const Type& outputType, const std::vector<std::size_t>& aShape,
                                 const std::vector<std::size_t>& bShape, const DebugContext& debugContext, const OptionFlags& options,
                                 PlanningCache* cache) {
  return create("createMatMulGroupedOutput", Matrix::result, graph, inputType, outputType, aShape, bShape, debugContext, options, cache);
}

Tensor preArrangeMatMulInputRHS(Graph& graph, const std::vector<std::size_t>& aShape, const Tensor& B, Sequence& prog,
                                const Type& outputType, const DebugContext& debugContext, const OptionFlags& options,
                                PlanningCache* cache) {
  const std::string name = "preArrangeMatMulInputRHS";
  return arrange(name, graph, as_groups(name, aShape, "A"), as_groups(name, B, "B"), prog, outputType, debugContext, options, cache)[0];
}
Tensor preArrangeMatMulInputRHS(Graph& graph, const std::vector<std::size_t>& aShape, const Tensor& B, Sequence& prog,
                                const DebugContext& debugContext, const OptionFlags& options, PlanningCache* cache) {
  return preArrangeMatMulInputRHS(graph, aShape, B, prog, B.elementType(), debugContext, options, cache);
}
Tensor preArrangeMatMulGroupedInputRHS(Graph& graph, const std::vector<std::size_t>& aShape, const Tensor& B, Sequence& prog,
                                       const Type& outputType, const DebugContext& debugContext, const OptionFlags& options,
                                       PlanningCache* cache) {
  return arrange("preArrangeMatMulGroupedInputRHS", graph, aShape, B, prog, outputType, debugContext, options, cache);
}

Tensor transposeGroupedMatrix(const Tensor& A) {
  if (A.rank() != 3) fail("transposeGroupedMatrix", "A has shape " + A.shapeToString() + ", expected rank 3");
  return A.dimShuffle({0, 2, 1});
}

bool operator<(const MatMulParams& a, const MatMulParams& b) {
  return std::tie(a.inputType, a.outputType, a.aShape, a.bShape) < std::tie(b.inputType, b.outputType, b.aShape, b.bShape);
}

void preplanMatMuls(const std::set<MatMulPlanParams>& matmuls, matmul::PlanningCache& cache) {
  const std::string name = "preplanMatMuls";
  for (const auto& [target, params, options] : matmuls) {
    const bool groups = params.aShape.size() == 3;
    const Problem p = problem_of(name, params.inputType, params.outputType, groups ? params.aShape : as_groups(name, params.aShape, "A"),
                                 groups ? params.bShape : as_groups(name, params.bShape, "B"), *options);
    plan_of(without_zeros(p), *target, &cache);
  }
}

std::set<ConvPlanParams> matMulGetConvPlanParams(const std::set<MatMulPlanParams>& matmuls, MatMulToConvOptions&) {
  for (const MatMulPlanParams& product : matmuls) parse_options(*std::get<2>(product));
  return {};
}

void matmulValidateOptions(const OptionFlags& options) { parse_options(options); }

poplin::PlanningCache& matmul::PlanningCache::getImpl() { return *this; }

}  // namespace poplin
