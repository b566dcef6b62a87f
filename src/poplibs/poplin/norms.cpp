#include "poplibs/poplin/per_channel.h"
#include "poplibs/poputil/reject.h"

#include <poplin/Norms.hpp>
#include <popops/ElementWise.hpp>
#include <popops/Reduce.hpp>
#include <poputil/exceptions.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>

namespace poplin {

namespace {

namespace pe = popops::expr;
using internal::all_but_channels;
using internal::create_per_channel;
using internal::per_channel;
using poplar::DebugContext;
using poplar::Graph;
using poplar::Tensor;
using poplar::Type;
using poplar::program::Sequence;
using poputil::poplibs_error;
using Callback = DistributedNormReduceCallback;

void expect_activations(const Tensor& t, const char* function) {
  if (t.rank() < 2)
    poputil::reject("activations-shape", "{}: activations of shape {{{}}}, expected {{batch, channels, field...}}", function,
                    fmt::join(t.shape(), ","));
  if (t.elementType() != poplar::FLOAT && t.elementType() != poplar::HALF)
    poputil::reject("activations-type", "{}: activations of type {}, expected float or half", function, t.elementType().toString());
}

void expect_per_channel(const Tensor& t, const Tensor& acts, const char* what, const char* function) {
  if (t.numElements() != acts.dim(1))
    poputil::reject("parameter-size", "{}: {} has {} elements, expected one for each of {} channels", function, what, t.numElements(),
                    acts.dim(1));
}

void expect_same(const Tensor& a, const Tensor& b, const char* function) {
  if (a.shape() != b.shape() || a.elementType() != b.elementType())
    poputil::reject("gradients-shape", "{}: gradients {} {{{}}} do not fit activations {} {{{}}}", function, b.elementType().toString(),
                    fmt::join(b.shape(), ","), a.elementType().toString(), fmt::join(a.shape(), ","));
}

void expect_partials(const Type& type, const char* function) {
  if (type != poplar::FLOAT && type != poplar::HALF)
    poputil::reject("partials-type", "{}: partials of type {}, expected float or half", function, type.toString());
}

std::size_t elements_per_channel(const Tensor& acts) { return acts.dim(1) == 0 ? 0 : acts.numElements() / acts.dim(1); }

Tensor constant(Graph& graph, double value) {
  const Tensor t = graph.addConstant(poplar::FLOAT, {}, static_cast<float>(value));
  graph.setTileMapping(t, 0);
  return t;
}

// Sums over all but channels, in float, times `scale`.
Tensor sums(Graph& graph, const Tensor& t, popops::Operation operation, double scale, Sequence& prog, const DebugContext& context) {
  return popops::reduce(graph, t, poplar::FLOAT, all_but_channels(t), {operation, false, constant(graph, scale)}, prog, context);
}

Tensor to_type(Graph& graph, const Tensor& t, const Type& type, Sequence& prog, const DebugContext& context) {
  return t.elementType() == type ? t : popops::map(graph, pe::Cast(pe::_1, type), {t}, prog, context);
}

// Over how many replicas statistics are taken.
struct Replicas {
  const Callback* reduce = nullptr;  // none: this one alone
  unsigned count = 1;

  std::vector<Tensor> add_up(Graph& graph, const std::vector<Tensor>& parts, Sequence& prog, const DebugContext& context) const {
    return count == 1 ? parts : (*reduce)(graph, parts, prog, count, context, {});
  }
};

Replicas replicas_of(const Callback& callback, const Tensor& acts, unsigned norm_size, const char* function) {
  const std::size_t batch = acts.dim(0);
  if (batch == 0 || norm_size == 0 || norm_size % batch != 0)
    poputil::reject("norm-size", "{}: a norm of {} batch elements, expected a multiple of the {} of each replica", function, norm_size,
                    batch);
  const Replicas r{&callback, static_cast<unsigned>(norm_size / batch)};
  if (r.count > 1 && !callback) poputil::reject("no-callback", "{}: no callback to add up over {} replicas", function, r.count);
  return r;
}

std::pair<Tensor, Tensor> statistics(Graph& graph, const Tensor& acts, float eps, Sequence& prog, bool unbiased, bool stable,
                                     const Replicas& replicas, const DebugContext& context) {
  const double n = static_cast<double>(elements_per_channel(acts)) * replicas.count;
  // Of nothing the mean is 0. No division by zero, whatever the compiler computes ahead: callers may have it signal.
  const double share = 1 / std::max(n, 1.0), correction = unbiased ? std::max(n, 1.0) / std::max(n - 1, 1.0) : 1;
  const auto inverse = [&](const pe::Expr& variance, const std::vector<Tensor>& from) {
    return popops::map(
        graph, pe::Rsqrt(pe::Add(pe::Mul(pe::Max(variance, pe::Const(0.0f)), pe::Const(static_cast<float>(correction))), pe::Const(eps))),
        from, prog, DebugContext(context, "iStdDev"));
  };
  Tensor mean = sums(graph, acts, popops::Operation::ADD, share, prog, DebugContext(context, "mean"));
  Tensor deviation;
  if (stable) {
    mean = replicas.add_up(graph, {mean}, prog, context)[0];
    const Tensor differences = popops::map(graph, pe::Sub(pe::Cast(pe::_1, poplar::FLOAT), pe::_2), {acts, per_channel(mean, acts)}, prog,
                                           DebugContext(context, "differences"));
    const Tensor variance = sums(graph, differences, popops::Operation::SQUARE_ADD, share, prog, DebugContext(context, "variance"));
    deviation = inverse(pe::_1, replicas.add_up(graph, {variance}, prog, context));
  } else {
    const Tensor power = sums(graph, acts, popops::Operation::SQUARE_ADD, share, prog, DebugContext(context, "power"));
    const std::vector<Tensor> both = replicas.add_up(graph, {mean, power}, prog, context);
    mean = both[0];
    deviation = inverse(pe::Sub(pe::_2, pe::Square(pe::_1)), both);
  }
  const Type type = acts.elementType();
  return {to_type(graph, mean, type, prog, context), to_type(graph, deviation, type, prog, context)};
}

Tensor statistics_gradients(Graph& graph, const Tensor& whitened, const Tensor& grads, const Tensor& deviation, Sequence& prog,
                            const Replicas& replicas, const DebugContext& context) {
  const double n = static_cast<double>(elements_per_channel(whitened)) * replicas.count;
  const double share = 1 / std::max(n, 1.0);
  const Type type = whitened.elementType();
  const Tensor products = popops::map(graph, pe::Mul(pe::_1, pe::_2), {grads, whitened}, prog, DebugContext(context, "products"));
  std::vector<Tensor> means = {sums(graph, grads, popops::Operation::ADD, share, prog, DebugContext(context, "meanGradient")),
                               sums(graph, products, popops::Operation::ADD, share, prog, DebugContext(context, "meanProduct"))};
  means = replicas.add_up(graph, means, prog, context);
  for (Tensor& mean : means) mean = per_channel(to_type(graph, mean, type, prog, context), whitened);
  return popops::map(graph, pe::Mul(pe::Sub(pe::Sub(pe::_1, pe::_3), pe::Mul(pe::_2, pe::_4)), pe::_5),
                     {grads, whitened, means[0], means[1], per_channel(deviation, whitened)}, prog, DebugContext(context, "gradient"));
}

}  // namespace

Tensor createNormGamma(Graph& graph, const Tensor& acts, const Type& type, const DebugContext& context) {
  expect_activations(acts, "createNormGamma");
  return create_per_channel(graph, acts, type, DebugContext(context, "gamma"));
}

Tensor createNormGamma(Graph& graph, const Tensor& acts, const DebugContext& context) {
  return createNormGamma(graph, acts, acts.elementType(), context);
}

Tensor createNormBeta(Graph& graph, const Tensor& acts, const Type& type, const DebugContext& context) {
  expect_activations(acts, "createNormBeta");
  return create_per_channel(graph, acts, type, DebugContext(context, "beta"));
}

Tensor createNormBeta(Graph& graph, const Tensor& acts, const DebugContext& context) {
  return createNormBeta(graph, acts, acts.elementType(), context);
}

std::pair<Tensor, Tensor> createNormParams(Graph& graph, const Tensor& acts, const DebugContext& context) {
  return {createNormGamma(graph, acts, context), createNormBeta(graph, acts, context)};
}

std::pair<Tensor, Tensor> normStatistics(Graph& graph, const Tensor& acts, float eps, Sequence& prog, bool unbiased, bool stable,
                                         const Type& partials, const DebugContext& context) {
  expect_activations(acts, "normStatistics");
  expect_partials(partials, "normStatistics");
  return statistics(graph, acts, eps, prog, unbiased, stable, {}, context);
}

std::pair<Tensor, Tensor> distributedNormStatistics(Graph& graph, const Tensor& acts, float eps, Sequence& prog, bool unbiased,
                                                    Callback callback, unsigned norm_size, bool stable, const Type& partials,
                                                    const DebugContext& context) {
  expect_activations(acts, "distributedNormStatistics");
  expect_partials(partials, "distributedNormStatistics");
  return statistics(graph, acts, eps, prog, unbiased, stable, replicas_of(callback, acts, norm_size, "distributedNormStatistics"), context);
}

Tensor normWhiten(Graph& graph, const Tensor& acts, const Tensor& mean, const Tensor& deviation, Sequence& prog,
                  const DebugContext& context) {
  expect_activations(acts, "normWhiten");
  expect_per_channel(mean, acts, "the mean", "normWhiten");
  expect_per_channel(deviation, acts, "the inverse deviation", "normWhiten");
  return popops::map(graph, pe::Mul(pe::Sub(pe::_1, pe::_2), pe::_3), {acts, per_channel(mean, acts), per_channel(deviation, acts)}, prog,
                     DebugContext(context, "whiten"));
}

Tensor normalise(Graph& graph, const Tensor& whitened, const Tensor& gamma, const Tensor& beta, Sequence& prog,
                 const DebugContext& context) {
  expect_activations(whitened, "normalise");
  expect_per_channel(gamma, whitened, "gamma", "normalise");
  expect_per_channel(beta, whitened, "beta", "normalise");
  return popops::map(graph, pe::Add(pe::Mul(pe::_1, pe::_2), pe::_3), {whitened, per_channel(gamma, whitened), per_channel(beta, whitened)},
                     prog, DebugContext(context, "normalise"));
}

std::pair<Tensor, Tensor> normParamGradients(Graph& graph, const Tensor& whitened, const Tensor& grads, Sequence& prog,
                                             const Type& partials, const DebugContext& context) {
  expect_activations(whitened, "normParamGradients");
  expect_same(whitened, grads, "normParamGradients");
  expect_partials(partials, "normParamGradients");
  const Tensor products = popops::map(graph, pe::Mul(pe::_1, pe::_2), {whitened, grads}, prog, DebugContext(context, "products"));
  const std::vector<std::size_t> dims = all_but_channels(grads);
  const Type type = whitened.elementType();
  return {popops::reduce(graph, products, type, dims, popops::Operation::ADD, prog, DebugContext(context, "gammaGradient")),
          popops::reduce(graph, grads, type, dims, popops::Operation::ADD, prog, DebugContext(context, "betaGradient"))};
}

Tensor normGradients(Graph& graph, const Tensor& grads, const Tensor& gamma, Sequence& prog, const DebugContext& context) {
  expect_activations(grads, "normGradients");
  expect_per_channel(gamma, grads, "gamma", "normGradients");
  return popops::map(graph, pe::Mul(pe::_1, pe::_2), {grads, per_channel(gamma, grads)}, prog, DebugContext(context, "gradient"));
}

Tensor normStatisticsGradients(Graph& graph, const Tensor& whitened, const Tensor& grads, const Tensor& deviation, Sequence& prog,
                               const Type& partials, const DebugContext& context) {
  expect_activations(whitened, "normStatisticsGradients");
  expect_same(whitened, grads, "normStatisticsGradients");
  expect_per_channel(deviation, whitened, "the inverse deviation", "normStatisticsGradients");
  expect_partials(partials, "normStatisticsGradients");
  return statistics_gradients(graph, whitened, grads, deviation, prog, {}, context);
}

Tensor distributedNormStatisticsGradients(Graph& graph, const Tensor& whitened, const Tensor& grads, const Tensor& deviation,
                                          Sequence& prog, Callback callback, unsigned norm_size, const Type& partials,
                                          const DebugContext& context) {
  expect_activations(whitened, "distributedNormStatisticsGradients");
  expect_same(whitened, grads, "distributedNormStatisticsGradients");
  expect_per_channel(deviation, whitened, "the inverse deviation", "distributedNormStatisticsGradients");
  expect_partials(partials, "distributedNormStatisticsGradients");
  const Replicas replicas = replicas_of(callback, whitened, norm_size, "distributedNormStatisticsGradients");
  return statistics_gradients(graph, whitened, grads, deviation, prog, replicas, context);
}

}  // namespace poplin
