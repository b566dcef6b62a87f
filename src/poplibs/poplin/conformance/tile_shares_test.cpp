// "On 1,472 tiles every operation uses at least 90 % of the tiles from 10^5 elements on": every operation of poplin by every type.
//
// Exempt by nature: transposes and meshgrid2d, which are views; linspace and created tensors, which are constants and variables;
// preArrange..., which copies.
#include <poplin/Convolution.hpp>
#include <poplin/MatMul.hpp>
#include <poplin/MultiConvolution.hpp>
#include <poplin/Norms.hpp>
#include <poputil/exceptions.hpp>

#include "conv_cases.h"
#include "conv_reference.h"
#include "oplib.h"

namespace oplib {
namespace {

using namespace poplar;
using namespace poplar::program;
using Shape = std::vector<std::size_t>;

const std::vector<Type> kReal = {FLOAT, HALF};

TEST(TileShares, MatMul) {
  using Row = ShareRow;
  expect_shares({
      Row{"matMul", kReal,
          [](Graph& g, const Type& t, Sequence& p) { poplin::matMul(g, linear(g, t, {320, 320}), linear(g, t, {320, 320}), p); }},
      Row{"matMul of a vector", kReal,
          [](Graph& g, const Type& t, Sequence& p) { poplin::matMul(g, linear(g, t, {1, 512}), linear(g, t, {512, 1024}), p); }},
      Row{"matMulWithOutput", kReal,
          [](Graph& g, const Type& t, Sequence& p) {
            Tensor out = linear(g, t, {320, 320});
            poplin::matMulWithOutput(g, linear(g, t, {320, 320}), linear(g, t, {320, 320}), out, p);
          }},
      Row{"matMulGrouped", kReal,
          [](Graph& g, const Type& t, Sequence& p) {
            poplin::matMulGrouped(g, linear(g, t, {8, 128, 128}), linear(g, t, {8, 128, 128}), p, t);
          }},
      Row{"matMulGroupedWithOutput", kReal,
          [](Graph& g, const Type& t, Sequence& p) {
            Tensor out = linear(g, t, {8, 128, 128});
            poplin::matMulGroupedWithOutput(g, linear(g, t, {8, 128, 128}), linear(g, t, {8, 128, 128}), out, p);
          }},
      Row{"matMulAcc", kReal,
          [](Graph& g, const Type& t, Sequence& p) {
            poplin::matMulAcc(g, linear(g, t, {320, 320}), 2.0f, linear(g, t, {320, 320}), linear(g, t, {320, 320}), p);
          }},
      Row{"matMulAcc by a tensor", kReal,
          [](Graph& g, const Type& t, Sequence& p) {
            poplin::matMulAcc(g, linear(g, t, {320, 320}), linear(g, t, {}), linear(g, t, {320, 320}), linear(g, t, {320, 320}), p);
          }},
      Row{"matMulGroupedAcc", kReal,
          [](Graph& g, const Type& t, Sequence& p) {
            poplin::matMulGroupedAcc(g, linear(g, t, {8, 128, 128}), 2.0f, linear(g, t, {8, 128, 128}), linear(g, t, {8, 128, 128}), p);
          }},
  });
}

TEST(TileShares, Convolution) {
  const auto params = [](const Type& type) {
    if (type != FLOAT && type != HALF) throw poputil::poplibs_error("parameters of a convolution have no such type");
    poplin::ConvParams p = conv_cases::make(8, {28, 28}, {3, 3}, 64, 64);
    p.inputType = p.outputType = type;
    return p;
  };
  const auto in = [](Graph& g, const poplin::ConvParams& p) { return linear(g, p.inputType, reference::input_shape(p)); };
  const auto weights = [](Graph& g, const poplin::ConvParams& p) { return linear(g, p.inputType, reference::weights_shape(p)); };
  const auto out = [](Graph& g, const poplin::ConvParams& p) { return linear(g, p.inputType, reference::output_shape(p)); };
  using Row = ShareRow;
  expect_shares({
      Row{"convolution", kReal,
          [&](Graph& g, const Type& t, Sequence& s) {
            const auto p = params(t);
            poplin::convolution(g, in(g, p), weights(g, p), p, false, s);
          }},
      Row{"convolution, channels swapped", kReal,
          [&](Graph& g, const Type& t, Sequence& s) {
            const auto p = params(t);
            poplin::convolution(g, in(g, p), weights(g, p), p, true, s);
          }},
      Row{"calculateWeightDeltas", kReal,
          [&](Graph& g, const Type& t, Sequence& s) {
            const auto p = params(t);
            poplin::calculateWeightDeltas(g, out(g, p), in(g, p), p, s);
          }},
      Row{"convolutionWeightUpdate", kReal,
          [&](Graph& g, const Type& t, Sequence& s) {
            const auto p = params(t);
            poplin::convolutionWeightUpdate(g, out(g, p), weights(g, p), in(g, p), p, -0.5f, s);
          }},
      Row{"convolutionBiasUpdate", kReal,
          [&](Graph& g, const Type& t, Sequence& s) {
            const auto p = params(t);
            const Tensor scale = g.addConstant(FLOAT, {}, 0.5f);
            g.setTileMapping(scale, 0);
            poplin::convolutionBiasUpdate(g, out(g, p), linear(g, t, {64}), scale, {}, s);
          }},
      Row{"addBias", kReal,
          [&](Graph& g, const Type& t, Sequence& s) {
            const auto p = params(t);
            poplin::addBias(g, out(g, p), linear(g, t, {64}), s);
          }},
      Row{"multiconv", kReal,
          [&](Graph& g, const Type& t, Sequence& s) {
            const auto p = params(t);
            poplin::multiconv::convolution(g, {{in(g, p), weights(g, p), p}, {in(g, p), weights(g, p), p}}, false, s);
          }},
  });
}

TEST(TileShares, Norms) {
  const Shape shape = {4, 64, 20, 20};
  using Row = ShareRow;
  expect_shares({
      Row{"normStatistics", kReal,
          [=](Graph& g, const Type& t, Sequence& p) { poplin::normStatistics(g, linear(g, t, shape), 1e-3f, p, false); }},
      Row{"normStatistics, stable", kReal,
          [=](Graph& g, const Type& t, Sequence& p) { poplin::normStatistics(g, linear(g, t, shape), 1e-3f, p, false, true); }},
      Row{"normWhiten", kReal,
          [=](Graph& g, const Type& t, Sequence& p) {
            poplin::normWhiten(g, linear(g, t, shape), linear(g, t, {64}), linear(g, t, {64}), p);
          }},
      Row{"normalise", kReal,
          [=](Graph& g, const Type& t, Sequence& p) {
            poplin::normalise(g, linear(g, t, shape), linear(g, t, {64}), linear(g, t, {64}), p);
          }},
      Row{"normParamGradients", kReal,
          [=](Graph& g, const Type& t, Sequence& p) { poplin::normParamGradients(g, linear(g, t, shape), linear(g, t, shape), p); }},
      Row{"normGradients", kReal,
          [=](Graph& g, const Type& t, Sequence& p) { poplin::normGradients(g, linear(g, t, shape), linear(g, t, {64}), p); }},
      Row{"normStatisticsGradients", kReal,
          [=](Graph& g, const Type& t, Sequence& p) {
            poplin::normStatisticsGradients(g, linear(g, t, shape), linear(g, t, shape), linear(g, t, {64}), p);
          }},
  });
}

}  // namespace
}  // namespace oplib
