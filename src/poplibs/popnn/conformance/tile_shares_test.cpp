// "On 1,472 tiles every operation uses at least 90 % of the tiles from 10^5 elements on": every operation of popnn by every type.
//
// Exempt by nature: updates of the parameters of norms, of which there are as many as channels (they are scaledAddTo of popops).
#include <popnn/BatchNorm.hpp>
#include <popnn/GroupNorm.hpp>
#include <popnn/InstanceNorm.hpp>
#include <popnn/LayerNorm.hpp>
#include <popnn/LogSoftmax.hpp>
#include <popnn/Loss.hpp>
#include <popnn/NonLinearity.hpp>
#include <popnn/Pooling.hpp>
#include <popnn/SpatialSoftMax.hpp>
#include <popops/Zero.hpp>

#include "oplib.h"

namespace oplib {
namespace {

using namespace poplar;
using namespace poplar::program;
using popnn::NonLinearityType;
using popnn::pooling::PoolParams;
using Shape = std::vector<std::size_t>;

const std::vector<Type> kReal = {FLOAT, HALF};
constexpr float kEps = 1e-3f;

TEST(TileShares, NonLinearities) {
  std::vector<ShareRow> rows;
  for (unsigned i = 0; i <= static_cast<unsigned>(NonLinearityType::SOFTMAX_SCALED); ++i)
    for (const Shape& shape : {Shape{100000}, Shape{1000, 100}, Shape{10, 10000}}) {
      const NonLinearityType kind = static_cast<NonLinearityType>(i);
      const std::string name = std::to_string(i) + " of " + std::to_string(shape[0]);
      rows.push_back({"nonLinearity " + name, kReal,
                      [=](Graph& g, const Type& t, Sequence& p) { popnn::nonLinearity(g, kind, linear(g, t, shape), p); }});
      rows.push_back({"nonLinearityInPlace " + name, kReal,
                      [=](Graph& g, const Type& t, Sequence& p) { popnn::nonLinearityInPlace(g, kind, linear(g, t, shape), p); }});
      // The gradients of GELU and SWISH take the inputs, the others the results: the same shapes.
      rows.push_back({"nonLinearityInputGradient " + name, kReal, [=](Graph& g, const Type& t, Sequence& p) {
                        popnn::nonLinearityInputGradient(g, kind, linear(g, t, shape), linear(g, t, shape), p);
                      }});
    }
  for (const Shape& shape : {Shape{1000, 100}, Shape{10, 10000}}) {
    rows.push_back({"logSoftmax", kReal, [=](Graph& g, const Type& t, Sequence& p) { popnn::logSoftmax(g, linear(g, t, shape), p); }});
    rows.push_back(
        {"logSoftmaxInPlace", kReal, [=](Graph& g, const Type& t, Sequence& p) { popnn::logSoftmaxInPlace(g, linear(g, t, shape), p); }});
  }
  rows.push_back({"spatialSoftMax2D", kReal,
                  [](Graph& g, const Type& t, Sequence& p) { popnn::spatialSoftMax2D(g, p, linear(g, t, {100, 40, 25}), 1); }});
  expect_shares(rows);
}

TEST(TileShares, Losses) {
  std::vector<ShareRow> rows;
  const std::vector<Type> ordered = {FLOAT, HALF, INT, UNSIGNED_INT}, extremes = {FLOAT, INT, UNSIGNED_INT, HALF};
  for (const Shape& shape : {Shape{1000, 100}, Shape{10, 10000}}) {
    for (const popnn::LossType loss : {popnn::SUM_SQUARED_LOSS, popnn::CROSS_ENTROPY_LOSS}) {
      rows.push_back({"calcLoss by labels", kReal, [=](Graph& g, const Type& t, Sequence& p) {
                        p.add(popnn::calcLoss(g, linear(g, t, shape), linear(g, UNSIGNED_INT, {shape[0]}), linear(g, t, {shape[0]}),
                                              linear(g, t, shape), loss));
                      }});
      rows.push_back(
          {"calcLoss", kReal, [=](Graph& g, const Type& t, Sequence& p) {
             p.add(popnn::calcLoss(g, linear(g, t, shape), linear(g, t, shape), linear(g, t, {shape[0]}), linear(g, t, shape), loss));
           }});
    }
    rows.push_back(
        {"calcAccuracy", kReal, [=](Graph& g, const Type& t, Sequence& p) {
           p.add(popnn::calcAccuracy(g, linear(g, t, shape), linear(g, UNSIGNED_INT, {shape[0]}), linear(g, UNSIGNED_INT, {1})[0]));
         }});
    rows.push_back({"argMax", extremes, [=](Graph& g, const Type& t, Sequence& p) { popnn::argMax(g, linear(g, t, shape), p); }});
    rows.push_back({"argMin", extremes, [=](Graph& g, const Type& t, Sequence& p) { popnn::argMin(g, linear(g, t, shape), p); }});
    rows.push_back(
        {"maxAndArgMax", extremes, [=](Graph& g, const Type& t, Sequence& p) { popnn::maxAndArgMax(g, linear(g, t, shape), p); }});
    rows.push_back(
        {"minAndArgMin", extremes, [=](Graph& g, const Type& t, Sequence& p) { popnn::minAndArgMin(g, linear(g, t, shape), p); }});
    rows.push_back({"topK", ordered, [=](Graph& g, const Type& t, Sequence& p) {
                      Tensor indices;
                      popnn::topK(g, linear(g, t, shape), indices, 5, true, p);
                    }});
  }
  expect_shares(rows);
}

TEST(TileShares, Pooling) {
  std::vector<ShareRow> rows;
  for (const auto kind : {popnn::PoolingType::MAX, popnn::PoolingType::AVG, popnn::PoolingType::SUM}) {
    const auto params = [kind](const Type& type) { return PoolParams(kind, {40, 40}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 16, 4, type); };
    const Shape shape = {4, 16, 40, 40};
    rows.push_back(
        {"pool", kReal, [=](Graph& g, const Type& t, Sequence& p) { popnn::pooling::pool(g, params(t), linear(g, t, shape), p); }});
    rows.push_back({"poolInputGradient", kReal, [=](Graph& g, const Type& t, Sequence& p) {
                      popnn::pooling::poolInputGradient(g, params(t), linear(g, t, shape), linear(g, t, shape), linear(g, t, shape), false,
                                                        p);
                    }});
  }
  expect_shares(rows);
}

// A kind of norm: its functions under one name each.
struct Kind {
  std::string name;
  std::size_t statistics;  // of an activation of kShape
  std::function<void(Graph&, const Tensor&, Sequence&)> statistics_of;
  std::function<void(Graph&, const Tensor& x, const Tensor& per_channel, const Tensor& statistic, Sequence&, unsigned which)> apply;
};
const Shape kShape = {4, 64, 20, 20};
constexpr unsigned kApplications = 6;

#define NORM_FUNCTIONS(ns, Stem)                                                                 \
  [](Graph& g, const Tensor& x, const Tensor& c, const Tensor& s, Sequence& p, unsigned which) { \
    if (which == 0) popnn::ns::Stem##Whiten(g, x, s, s, p);                                      \
    if (which == 1) popnn::ns::Stem##alise(g, x, c, c, s, s, p);                                 \
    if (which == 2) popnn::ns::Stem##ParamGradients(g, x, x, s, s, p);                           \
    if (which == 3) popnn::ns::Stem##ParamGradients(g, x, x, p);                                 \
    if (which == 4) popnn::ns::Stem##Gradients(g, x, x, s, s, c, p);                             \
    if (which == 5) popnn::ns::Stem##Gradients(g, x, x, s, c, p);                                \
  }

TEST(TileShares, Norms) {
  const std::vector<Kind> kinds = {
      {"batchNorm", 64, [](Graph& g, const Tensor& x, Sequence& p) { popnn::bn::batchNormStatistics(g, x, kEps, p, false); },
       NORM_FUNCTIONS(bn, batchNorm)},
      {"groupNorm", 4 * 8, [](Graph& g, const Tensor& x, Sequence& p) { popnn::gn::groupNormStatistics(g, x, kEps, p, 8, false); },
       NORM_FUNCTIONS(gn, groupNorm)},
      {"layerNorm", 4, [](Graph& g, const Tensor& x, Sequence& p) { popnn::ln::layerNormStatistics(g, x, kEps, p, false); },
       NORM_FUNCTIONS(ln, layerNorm)},
      {"instanceNorm", 4 * 64,
       [](Graph& g, const Tensor& x, Sequence& p) { popnn::in::instanceNormStatistics(g, x, kEps, p, false, false); },
       NORM_FUNCTIONS(in, instanceNorm)},
  };
  std::vector<ShareRow> rows;
  for (const Kind& kind : kinds) {
    rows.push_back({kind.name + " statistics", kReal,
                    [&kind](Graph& g, const Type& t, Sequence& p) { kind.statistics_of(g, linear(g, t, kShape), p); }});
    for (unsigned which = 0; which < kApplications; ++which)
      rows.push_back({kind.name + ' ' + std::to_string(which), kReal, [&kind, which](Graph& g, const Type& t, Sequence& p) {
                        kind.apply(g, linear(g, t, kShape), linear(g, t, {64}), linear(g, t, {kind.statistics}), p, which);
                      }});
  }
  rows.push_back({"batchNormalise combined", kReal, [](Graph& g, const Type& t, Sequence& p) {
                    popnn::bn::batchNormalise(g, linear(g, t, kShape), linear(g, t, {64}), linear(g, t, {64}), p);
                  }});
  expect_shares(rows);
}

}  // namespace
}  // namespace oplib
