// Sizes whose products or sums wrap, at every entry point of poplin and popnn that takes sizes: an exception, at once.
#include <poplin/ConvUtil.hpp>
#include <poplin/Convolution.hpp>
#include <poplin/MatMul.hpp>
#include <popnn/Gru.hpp>
#include <popnn/Lstm.hpp>
#include <popnn/Pooling.hpp>
#include <poputil/exceptions.hpp>

#include <chrono>

#include "oplib.h"

namespace {

using namespace oplib;
using namespace poplar;
using poplin::ConvParams;

TEST(Sizes, ThoseThatWrapAreRejected) {
  Graph g(device_of(Machine::ipu1).getTarget());
  program::Sequence prog;
  const Tensor t = g.addVariable(FLOAT, {1, 1, 4, 4}, VariableMappingMethod::LINEAR);
  using Shape = std::vector<std::size_t>;
  const auto conv = [](std::size_t batch, std::size_t field, std::size_t kernel, std::size_t in, std::size_t out, std::size_t groups) {
    return ConvParams(FLOAT, batch, {field, field}, {kernel, kernel}, in, out, groups);
  };
  const auto pool = [](std::size_t field, unsigned stride, int padding, std::size_t channels, std::size_t batch) {
    return popnn::pooling::PoolParams(popnn::PoolingType::MAX, {field, field}, {2, 2}, {stride, stride}, {padding, padding},
                                      {padding, padding}, channels, batch, FLOAT);
  };
  for (const std::size_t n : {std::size_t{1} << 32, (std::size_t{1} << 63) + 2, SIZE_MAX}) {
    const popnn::lstm::LstmParams lstm(FLOAT, n, n, {n, n}), lstm_wide(FLOAT, 2, 2, {n, n});
    const popnn::gru::GruParams gru(FLOAT, n, n, {n, n}), gru_wide(FLOAT, 2, 2, {n, n});
    const std::vector<std::pair<const char*, std::function<void()>>> calls = {
        {"createInput, batch", [&] { poplin::createInput(g, conv(n, 4, 1, n, 1, 1)); }},
        {"createInput, field", [&] { poplin::createInput(g, conv(1, n, 1, 1, 1, 1)); }},
        {"createInput, groups", [&] { poplin::createInput(g, conv(2, 2, 1, n, 1, n)); }},
        {"createWeights, channels", [&] { poplin::createWeights(g, conv(1, 4, 1, n, n, 1)); }},
        {"createWeights, kernel", [&] { poplin::createWeights(g, conv(1, 4, n, 1, 1, 1)); }},
        {"createConvOutput", [&] { poplin::createConvOutput(g, conv(n, 4, 1, 1, n, 1)); }},
        {"getGradientParams", [&] { poplin::getGradientParams(conv(n, 4, 1, n, n, 1)); }},
        {"createMatMulInputLHS", [&] { poplin::createMatMulInputLHS(g, FLOAT, Shape{n, n}, Shape{n, 4}, {}); }},
        {"createMatMulInputRHS", [&] { poplin::createMatMulInputRHS(g, FLOAT, Shape{4, n}, Shape{n, n}, {}); }},
        {"createMatMulOutput", [&] { poplin::createMatMulOutput(g, FLOAT, Shape{n, 4}, Shape{4, n}, {}); }},
        {"createMatMulGroupedInputLHS", [&] { poplin::createMatMulGroupedInputLHS(g, FLOAT, FLOAT, Shape{n, 4, n}, Shape{n, n, 4}, {}); }},
        {"createMatMulGroupedInputRHS", [&] { poplin::createMatMulGroupedInputRHS(g, FLOAT, FLOAT, Shape{n, 4, n}, Shape{n, n, 4}, {}); }},
        {"createMatMulGroupedOutput", [&] { poplin::createMatMulGroupedOutput(g, FLOAT, FLOAT, Shape{n, n, 4}, Shape{n, 4, n}, {}); }},
        {"pool, field", [&] { popnn::pooling::pool(g, pool(n, 1, 0, 1, 1), t, prog); }},
        {"pool, batch and channels", [&] { popnn::pooling::pool(g, pool(4, 1, 0, n, n), t, prog); }},
        {"pool, padding", [&] { popnn::pooling::pool(g, pool(4, 1, 0x7fffffff, 1, 1), t, prog); }},
        {"lstm::createInput", [&] { popnn::lstm::createInput(g, lstm, {}); }},
        {"lstm::createInitialState", [&] { popnn::lstm::createInitialState(g, lstm, {}); }},
        {"lstm::createWeights", [&] { popnn::lstm::createWeights(g, lstm_wide, {}); }},
        {"gru::createInput", [&] { popnn::gru::createInput(g, gru, {}); }},
        {"gru::createInitialState", [&] { popnn::gru::createInitialState(g, gru, {}); }},
        {"gru::createWeights", [&] { popnn::gru::createWeights(g, gru_wide, {}); }},
    };
    for (const auto& [name, call] : calls) {
      const auto begin = std::chrono::steady_clock::now();
      EXPECT_THROW(call(), std::exception) << name << ' ' << n;
      EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10)) << name << ' ' << n;
    }
  }
}

// Products without elements look at what they are given, too.
TEST(Sizes, ProductsOfNothingRejectTensorsOfAnotherGraph) {
  Graph g(device_of(Machine::ipu1).getTarget()), other(device_of(Machine::ipu1).getTarget());
  program::Sequence prog;
  const Tensor a = g.addVariable(FLOAT, {0, 3}), b = g.addVariable(FLOAT, {3, 4}), out = g.addVariable(FLOAT, {0, 4});
  const Tensor foreign_a = other.addVariable(FLOAT, {0, 3}), foreign_b = other.addVariable(FLOAT, {3, 4});
  Tensor foreign_out = other.addVariable(FLOAT, {0, 4});
  EXPECT_THROW(poplin::matMul(g, foreign_a, b, prog), graph_connection_error);
  EXPECT_THROW(poplin::matMul(g, a, foreign_b, prog), graph_connection_error);
  EXPECT_THROW(poplin::matMulWithOutput(g, a, b, foreign_out, prog), graph_connection_error);
  EXPECT_THROW(poplin::matMulAcc(g, foreign_out, 1.0f, a, b, prog), graph_connection_error);
  poplin::matMul(g, a, b, prog);
}

}  // namespace
