// What convolutions cost, and their plans as text.
#include "poplibs/poplin/conv/method.h"
#include "poplibs/poplin/conv/plan/plan.h"
#include "poplibs/poplin/conv/terms/options.h"
#include "poplibs/poplin/plan/planning_cache.h"

#include <poplin/ConvPreplan.hpp>
#include <poplin/ConvUtil.hpp>
#include <poplin/Convolution.hpp>
#include <poputil/exceptions.hpp>

#include <cmath>
#include <istream>
#include <ostream>

namespace poplin {

using conv::ConvolutionPlan;
using conv::Kind;
using conv::Problem;
using poplar::Graph;
using poplar::OptionFlags;

namespace {

// Multiplications and additions a tile can do in a cycle.
double flops_per_cycle(const poplar::Target& target, const poplar::Type& type) {
  const double units = std::max(1u, target.getNumConvUnits(type, poplar::FLOAT)),
               inputs = std::max(1u, target.getConvUnitInputLoadElemsPerCycle(type));
  return 2 * units * inputs * target.getNumTiles();
}

std::size_t whole(double n) { return static_cast<std::size_t>(std::ceil(n)); }

ConvolutionPlan plan_of(const poplar::Target& target, const ConvParams& params, const OptionFlags& options, PlanningCache* cache,
                        Kind kind = Kind::forward) {
  return conv::plan_for(target, conv::parse_options(options), conv::problem_of(params), kind, cache);
}

void report(std::ostream& out, const Graph& graph, const ConvParams& params, const OptionFlags& flags, PlanningCache* cache, Kind kind) {
  const Problem problem = conv::problem_of(params);
  const conv::Options options = conv::parse_options(flags);
  const conv::Call call{graph.getTarget(), problem, options, kind, cache};
  conv::method_for(call).report(out, call);
}

}  // namespace

// Every meeting of an input, a kernel element and an output is one multiplication in each of the passes.
uint64_t getFwdFlops(const ConvParams& params) { return conv::problem_of(params).flops(); }
uint64_t getBwdFlops(const ConvParams& params) { return conv::problem_of(params).flops(); }
uint64_t getWuFlops(const ConvParams& params) { return conv::problem_of(params).flops(); }

double getFwdPerfectCycleCount(const Graph& graph, const ConvParams& params) {
  return static_cast<double>(getFwdFlops(params)) / flops_per_cycle(graph.getTarget(), params.inputType);
}
double getBwdPerfectCycleCount(const Graph& graph, const ConvParams& params) { return getFwdPerfectCycleCount(graph, params); }
double getWuPerfectCycleCount(const Graph& graph, const ConvParams& params) { return getFwdPerfectCycleCount(graph, params); }

void reportPlanInfo(std::ostream& out, const Graph& graph, const ConvParams& params, const OptionFlags& options, PlanningCache* cache) {
  report(out, graph, params, options, cache, Kind::forward);
}

void reportWeightUpdatePlanInfo(std::ostream& out, const Graph& graph, const ConvParams& params, const OptionFlags& options,
                                PlanningCache* cache) {
  report(out, graph, params, options, cache, Kind::weight_gradient);
}

PlanCosts reportPlanEstimatedCosts(const Graph& graph, const ConvParams& params, const OptionFlags& options, PlanningCache* cache) {
  const conv::PlanCost cost = plan_of(graph.getTarget(), params, options, cache).cost;
  return {whole(cost.total()), whole(cost.memory)};
}

namespace internal {

DetailedPlanCosts reportDetailedPlanEstimatedCosts(const Graph& graph, const ConvParams& params, const OptionFlags& options,
                                                   PlanningCache* cache) {
  const ConvolutionPlan plan = plan_of(graph.getTarget(), params, options, cache);
  DetailedPlanCosts c;
  c.parallelSplit = static_cast<std::size_t>(plan.partition.blocks());
  c.serialSplit = static_cast<std::size_t>(plan.partition.serial);
  c.exchange.cycles = whole(plan.cost.exchange);
  c.compute.cycles = whole(plan.cost.compute);
  c.reduction.cycles = whole(plan.cost.reduction);
  c.total = {whole(plan.cost.total()), whole(plan.cost.memory)};
  return c;
}

std::ostream& operator<<(std::ostream& os, const DetailedPlanCosts& c) {
  os << c.parallelSplit << ' ' << c.serialSplit;
  c.apply([&](const PlanCosts& part) { os << ' ' << part.cycles << ' ' << part.memory; });
  return os;
}

std::istream& operator>>(std::istream& is, DetailedPlanCosts& c) {
  is >> c.parallelSplit >> c.serialSplit;
  c.apply([&](PlanCosts& part) { is >> part.cycles >> part.memory; });
  return is;
}

}  // namespace internal

void preplanConvolutions(const std::set<ConvPlanParams>& convs, PlanningCache& cache) {
  static const OptionFlags none;
  for (const auto& [target, params, options] : convs) plan_of(*target, params, options != nullptr ? *options : none, &cache);
}

void preplanConvolutions(Graph&, const std::set<ConvPlanParams>& convs, PlanningCache& cache) { preplanConvolutions(convs, cache); }

void preplan(const std::set<ConvPlanParams>& convs, const std::set<MatMulPlanParams>& matmuls, PlanningCache& cache) {
  preplanConvolutions(convs, cache);
  matmul::PlanningCache products;
  std::swap(products.impl, cache.impl);
  try {
    preplanMatMuls(matmuls, products);
  } catch (...) {
    std::swap(products.impl, cache.impl);
    throw;
  }
  std::swap(products.impl, cache.impl);
}

void convolutionValidateOptions(const OptionFlags& options) { conv::parse_options(options); }

}  // namespace poplin
