// Epilogues beside popops::map on the result, bit for bit; what they are not for, and what they refuse.
#include <poplin/Epilogue.hpp>

#include <gtest/gtest.h>

#include <poplar/Engine.hpp>
#include <poplar/IPUModel.hpp>
#include <poplin/codelets.hpp>
#include <popops/ElementWise.hpp>
#include <popops/codelets.hpp>
#include <poputil/exceptions.hpp>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace poplin {
namespace {

using poplar::FLOAT;
using poplar::Graph;
using poplar::Tensor;
using poplar::program::Sequence;
namespace pe = popops::expr;

using Shape = std::vector<std::size_t>;

class OnCpu {
 public:
  explicit OnCpu(poplar::Device d = poplar::Device::createCPUDevice()) : device(std::move(d)), graph(device.getTarget()) {
    popops::addCodelets(graph);
    poplin::addCodelets(graph);
  }

  Tensor variable(const Shape& shape, const poplar::Type& type = FLOAT) {
    const Tensor t = graph.addVariable(type, shape);
    graph.setTileMapping(t, 0);
    return t;
  }
  Tensor data(const Shape& shape) {
    const Tensor t = variable(shape);
    const std::string name = std::to_string(inputs_.size());
    graph.createHostWrite(name, t);
    std::vector<float> values(t.numElements());
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = std::sin(static_cast<float>(inputs_.size()) + 0.37f * static_cast<float>(i));
    inputs_.push_back(values);
    return t;
  }

  // What the tensors hold after the program.
  std::vector<std::vector<float>> run(const std::vector<Tensor>& read) {
    for (std::size_t i = 0; i < read.size(); ++i) graph.createHostRead("out" + std::to_string(i), read[i], true);
    poplar::Engine engine(graph, prog);
    engine.load(device);
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      engine.writeTensor(std::to_string(i), inputs_[i].data(), inputs_[i].data() + inputs_[i].size());
    engine.run(0);
    std::vector<std::vector<float>> out;
    for (std::size_t i = 0; i < read.size(); ++i) {
      out.emplace_back(read[i].numElements());
      engine.readTensor("out" + std::to_string(i), out[i].data(), out[i].data() + out[i].size());
    }
    return out;
  }

  poplar::Device device;
  Graph graph;
  Sequence prog;

 private:
  std::vector<std::vector<float>> inputs_;
};

// sum = product + bias, and relu(residual - sum) * scale: with a row, a matrix and a number.
const std::vector<pe::Any> kResults = {
    pe::Any(pe::Add(pe::_1, pe::_2)),
    pe::Any(pe::Mul(pe::UnaryOp(pe::UnaryOpType::RELU, pe::Sub(pe::_3, pe::Add(pe::_1, pe::_2))), pe::_4))};

TEST(Epilogue, products_give_the_bits_of_a_map_on_their_result) {
  for (const Shape& size :
       {Shape{1, 5, 3, 7}, Shape{3, 40, 64, 72}, Shape{1, 200, 90, 300}, Shape{1, 2, 50, 600}, Shape{2, 130, 1100, 65}}) {
    const std::size_t g = size[0], m = size[1], k = size[2], n = size[3];
    const auto build = [&](OnCpu& c, bool folded) -> std::vector<Tensor> {
      const Tensor a = c.data({g, m, k}), b = c.data({g, k, n}), bias = c.data({n}), scale = c.data({1});
      const Tensor residual = c.data({m, g, 2 * n}).dimShuffle({1, 0, 2}).slice(0, n, 2);  // rows among others
      std::vector<Tensor> outs(2);
      if (folded) {
        EXPECT_TRUE(matMulGroupedWithEpilogue(c.graph, a, b, {kResults, {Tensor(), bias, residual, scale}, 0}, outs, c.prog));
        return outs;
      }
      const Tensor product = matMulGrouped(c.graph, a, b, c.prog, FLOAT);
      return popops::map(c.graph, kResults, {product, bias, residual, scale}, c.prog);
    };
    OnCpu folded, apart;
    EXPECT_EQ(folded.run(build(folded, true)), apart.run(build(apart, false))) << g << " x " << m << " x " << k << " x " << n;
  }
}

TEST(Epilogue, convolutions_give_the_bits_of_a_map_on_their_result) {
  for (const bool three : {true, false}) {
    const std::size_t kernel = three ? 3 : 5;
    ConvParams params(FLOAT, 2, {24, 24}, {kernel, kernel}, 16, 80, 1);
    params.inputTransform.paddingLower = params.inputTransform.paddingUpper = {1, 1};
    const auto build = [&](OnCpu& c, bool folded) -> std::vector<Tensor> {
      const std::size_t out = params.getOutputFieldShape()[0];
      const Tensor x = c.data({2, 24, 24, 16}).dimRoll(3, 1), w = c.data({1, 80, 16, kernel, kernel}), bias = c.data({80, 1, 1}),
                   scale = c.data({1});
      const Tensor residual = c.data({2, out, out, 80}).dimRoll(3, 1);
      std::vector<Tensor> outs(2);
      if (folded) {
        EXPECT_TRUE(convolutionWithEpilogue(c.graph, x, w, params, {kResults, {Tensor(), bias, residual, scale}, 0}, outs, c.prog));
        return outs;
      }
      const Tensor result = convolution(c.graph, x, w, params, false, c.prog);
      return popops::map(c.graph, kResults, {result, bias, residual, scale}, c.prog);
    };
    OnCpu folded, apart;
    EXPECT_EQ(folded.run(build(folded, true)), apart.run(build(apart, false))) << kernel;
  }
}

TEST(Epilogue, results_go_where_they_are_wanted_even_over_an_operand_of_the_product) {
  const auto build = [](OnCpu& c, bool folded) -> std::vector<Tensor> {
    const Tensor both = c.data({50, 80}), b = c.data({40, 40});
    const Tensor a = both.slice(0, 40, 1);
    std::vector<Tensor> outs{both.slice(40, 80, 1)};  // between the rows of A
    const pe::Any twice = pe::Any(pe::Add(pe::_1, pe::_1));
    if (folded) {
      EXPECT_TRUE(matMulWithEpilogue(c.graph, a, b, {{twice}, {Tensor()}, 0}, outs, c.prog));
    } else {
      popops::mapWithOutput(c.graph, twice, {matMul(c.graph, a, b, c.prog)}, outs[0], c.prog);
    }
    return {both};
  };
  OnCpu folded, apart;
  EXPECT_EQ(folded.run(build(folded, true)), apart.run(build(apart, false)));
}

TEST(Epilogue, nothing_is_done_where_no_vertex_could) {
  const pe::Any sum = pe::Any(pe::Add(pe::_1, pe::_2));
  const auto folds = [&](OnCpu& c, const Tensor& a, const Tensor& b, const Tensor& operand, const pe::Any& e) {
    std::vector<Tensor> outs(1);
    const bool done = matMulWithEpilogue(c.graph, a, b, {{e}, {Tensor(), operand}, 0}, outs, c.prog);
    EXPECT_EQ(done, outs[0].valid());
    return done;
  };
  OnCpu c;
  const Tensor a = c.variable({20, 30}), b = c.variable({30, 40}), bias = c.variable({40});
  EXPECT_TRUE(folds(c, a, b, bias, sum));
  EXPECT_FALSE(folds(c, a, b, c.variable({20, 1}), sum));
  EXPECT_FALSE(folds(c, a, b, c.variable({40, 20}).dimShuffle({1, 0}), sum));
  EXPECT_FALSE(folds(c, a, b, c.variable({40}, poplar::HALF), pe::Any(pe::Add(pe::_1, pe::Cast(pe::_2, FLOAT)))));
  EXPECT_FALSE(folds(c, a, b, bias, pe::Any(pe::Gt(pe::_1, pe::_2))));
  EXPECT_FALSE(folds(c, c.variable({4, 9000}), c.variable({9000, 40}), bias, sum));  // sums in parts
  EXPECT_FALSE(folds(c, c.variable({20, 30}, poplar::HALF), c.variable({30, 40}, poplar::HALF), bias, sum));
  std::vector<Tensor> over{c.variable({20, 40})};
  EXPECT_FALSE(matMulWithEpilogue(c.graph, a, b, {{sum}, {Tensor(), over[0]}, 0}, over, c.prog));
  poplar::IPUModel model;
  model.tilesPerIPU = 4;
  OnCpu tiles(model.createDevice());
  EXPECT_FALSE(folds(tiles, tiles.variable({20, 30}), tiles.variable({30, 40}), tiles.variable({40}), sum));
}

TEST(Epilogue, what_does_not_fit_is_refused) {
  OnCpu c, other;
  const pe::Any sum = pe::Any(pe::Add(pe::_1, pe::_2));
  const Tensor a = c.variable({20, 30}), b = c.variable({30, 40}), bias = c.variable({40});
  const auto refusal = [&](const Tensor& left, const Epilogue& e, std::vector<Tensor> outs) -> std::string {
    try {
      matMulWithEpilogue(c.graph, left, b, e, outs, c.prog);
    } catch (const std::exception& error) { return error.what(); }
    return "";
  };
  const auto has = [](const std::string& text, const std::string& id) { return text.find("[" + id + "]") != text.npos; };
  EXPECT_TRUE(has(refusal(a, {{sum}, {Tensor(), c.variable({39})}, 0}, {Tensor()}), "epilogue-operand"));
  EXPECT_TRUE(has(refusal(a, {{sum}, {Tensor(), c.variable({2, 1, 20, 40})}, 0}, {Tensor()}), "epilogue-operand"));
  EXPECT_TRUE(has(refusal(a, {{sum}, {Tensor(), bias}, 2}, {Tensor()}), "epilogue-operand"));
  EXPECT_TRUE(has(refusal(a, {{}, {Tensor(), bias}, 0}, {}), "epilogue-results"));
  EXPECT_TRUE(has(refusal(a, {{sum}, {Tensor(), bias}, 0}, {}), "epilogue-results"));
  EXPECT_TRUE(has(refusal(a, {{sum}, {Tensor(), bias}, 0}, {c.variable({20, 41})}), "epilogue-results"));
  EXPECT_TRUE(has(refusal(a, {{sum}, {Tensor(), bias}, 0}, {c.variable({20, 40}, poplar::HALF)}), "epilogue-results"));
  EXPECT_TRUE(has(refusal(a, {{sum}, {Tensor(), bias}, 0}, {c.variable({1, 40}).broadcast(20, 0)}), "epilogue-results"));
  EXPECT_TRUE(has(refusal(c.variable({30}), {{sum}, {Tensor(), bias}, 0}, {Tensor()}), "product-operands"));
  EXPECT_NE(refusal(c.variable({20, 31}), {{sum}, {Tensor(), bias}, 0}, {Tensor()}), "");
  EXPECT_NE(refusal(a, {{pe::Any(pe::Add(pe::_1, pe::_3))}, {Tensor(), bias}, 0}, {Tensor()}), "");  // no such operand
  EXPECT_NE(refusal(a, {{sum}, {Tensor(), other.variable({40})}, 0}, {Tensor()}), "");
  EXPECT_NE(refusal(a, {{sum}, {Tensor(), Tensor()}, 0}, {Tensor()}), "");
  EXPECT_EQ(refusal(a, {{sum}, {Tensor(), bias}, 0}, {Tensor()}), "");
  const ConvParams params(FLOAT, 1, {8, 8}, {3, 3}, 4, 4, 1);
  std::vector<Tensor> outs(1);
  EXPECT_THROW(convolutionWithEpilogue(c.graph, c.variable({1, 4, 8, 8}), c.variable({1, 4, 4, 3, 3}), params,
                                       {{sum}, {Tensor(), c.variable({5, 1, 1})}, 0}, outs, c.prog),
               poputil::poplibs_error);
}

}  // namespace
}  // namespace poplin
