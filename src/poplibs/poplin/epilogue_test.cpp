// Epilogues beside popops::map on the result, bit for bit; what they are not for, and what they reject.
#include <poplin/Epilogue.hpp>
#include <poplin/MatMul.hpp>

#include <gtest/gtest.h>

#include <poplar/Engine.hpp>
#include <poplar/IPUModel.hpp>
#include <poplin/codelets.hpp>
#include <popops/Cast.hpp>
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

poplar::Device tiles(unsigned n) {
  poplar::IPUModel model;
  model.tilesPerIPU = n;
  return model.createDevice();
}

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
  for (const Shape& size : {Shape{1, 5, 3, 7}, Shape{3, 40, 64, 72}, Shape{1, 200, 90, 300}, Shape{1, 2, 50, 600}, Shape{2, 130, 1100, 65},
                            Shape{1, 1, 784, 1024}, Shape{2, 1, 2000, 10}, Shape{1, 4, 9000, 40}}) {  // the last ones: sums of parts
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

// A layer and its gradient: one chain over each row of the product, with the bias' row for all of them. Beside the sums on the host.
TEST(Epilogue, products_with_a_bias_a_relu_and_a_gate) {
  for (const Shape& size : {Shape{5, 3, 7}, Shape{40, 64, 72}, Shape{200, 90, 300}, Shape{3, 50, 64}}) {
    const std::size_t m = size[0], k = size[1], n = size[2];
    const pe::Any relu(pe::UnaryOp(pe::UnaryOpType::RELU, pe::Add(pe::_1, pe::_2)));
    const pe::Any gated(pe::Select(relu, pe::Const(0.0f), pe::Gt(pe::_3, pe::Const(0.0f))));
    OnCpu c;
    const Tensor a = c.data({1, m, k}), b = c.data({1, k, n}), bias = c.data({n});
    const Tensor gate = c.data({m, 2 * n}).slice(0, n, 1).expand({0});
    std::vector<Tensor> outs(1);
    ASSERT_TRUE(matMulGroupedWithEpilogue(c.graph, a, b, {{gated}, {Tensor(), bias, gate}, 0}, outs, c.prog));
    const auto values = c.run({outs[0], matMulGrouped(c.graph, a, b, c.prog, FLOAT), bias, gate});
    for (std::size_t i = 0; i < m * n; ++i) {
      const float sum = values[1][i] + values[2][i % n];
      ASSERT_EQ(values[0][i], sum > 0 && values[3][i] > 0 ? sum : 0) << i << " of " << m << " x " << k << " x " << n;
    }
  }
}

// In blocks, with rows and columns left over, in one step of k and in several, of several groups, with k turned.
TEST(Epilogue, products_in_blocks_give_the_bits_of_a_map_on_their_result) {
  for (const Shape& size :
       {Shape{1, 5, 3, 7}, Shape{3, 64, 64, 128}, Shape{1, 70, 90, 300}, Shape{2, 32, 300, 65}, Shape{1, 70, 260, 129}}) {
    const std::size_t g = size[0], m = size[1], k = size[2], n = size[3];
    for (const char* memory : {"0.6", "0.03"}) {
      const poplar::OptionFlags options{{"pando.layout", "blocks"}, {"availableMemoryProportion", memory}};
      const auto build = [&](OnCpu& c, bool folded) -> std::vector<Tensor> {
        const Tensor a = c.data({g, m, k}), b = c.data({g, n, k}).dimShuffle({0, 2, 1}), bias = c.data({n}), scale = c.data({1});
        const Tensor residual = c.data({m, g, 2 * n}).dimShuffle({1, 0, 2}).slice(0, n, 2);
        std::vector<Tensor> outs(2);
        outs[1] = c.variable({g, m, n});  // not in blocks
        if (folded) {
          EXPECT_TRUE(
              matMulGroupedWithEpilogue(c.graph, a, b, {kResults, {Tensor(), bias, residual, scale}, 0}, outs, c.prog, {}, options));
          return outs;
        }
        outs[0] = matMulGrouped(c.graph, a, b, c.prog, FLOAT, {}, options);
        popops::mapWithOutput(c.graph, kResults, {outs[0], bias, residual, scale}, outs, c.prog);
        return outs;
      };
      OnCpu folded(tiles(4)), apart(tiles(4));
      EXPECT_EQ(folded.run(build(folded, true)), apart.run(build(apart, false))) << g << " x " << m << " x " << k << " x " << n;
    }
  }
}

// Results whose rows lie in variables of some rows each, as parts of a gradient do that devices exchange, and among other columns.
TEST(Epilogue, products_into_parts_of_rows_have_the_bits_of_whole_ones) {
  const std::size_t k = 90, n = 130;
  for (const std::vector<std::size_t>& parts :
       {std::vector<std::size_t>{64, 64, 64, 64}, std::vector<std::size_t>{1, 3, 60, 1, 1, 90, 2}, std::vector<std::size_t>{5, 1}}) {
    std::size_t m = 0;
    for (const std::size_t rows : parts) m += rows;
    const auto build = [&](OnCpu& c, bool whole) -> std::vector<Tensor> {
      const auto result = [&](std::size_t beside) {
        if (whole) return c.variable({1, m, n});
        std::vector<Tensor> rows;
        for (const std::size_t r : parts) rows.push_back(c.variable({1, r, n + beside}).slice(0, n, 2));
        return poplar::concat(rows, 1);
      };
      const Tensor a = c.data({1, m, k}), b = c.data({1, k, n}), bias = c.data({n}), scale = c.data({1});
      const Tensor residual = c.data({m, 1, 2 * n}).dimShuffle({1, 0, 2}).slice(0, n, 2);
      const Tensor product = result(0), sum = result(3);
      Tensor plain = product[0];
      matMulWithOutput(c.graph, a[0], b[0], plain, c.prog);
      c.prog.add(poplar::program::Copy(product, sum));
      matMulAcc(c.graph, sum[0], 0.5f, a[0], b[0], c.prog);
      std::vector<Tensor> outs{result(0), result(7)};
      EXPECT_TRUE(matMulGroupedWithEpilogue(c.graph, a, b, {kResults, {Tensor(), bias, residual, scale}, 0}, outs, c.prog));
      return {product, sum, outs[0], outs[1]};
    };
    OnCpu whole, apart;
    EXPECT_EQ(apart.run(build(apart, false)), whole.run(build(whole, true))) << m;
  }
}

// Sums of float are rounded when they are complete, with what follows and without.
TEST(Epilogue, products_of_halfs_in_blocks_give_the_bits_of_a_cast_and_a_map) {
  for (const Shape& size : {Shape{1, 5, 3, 7}, Shape{3, 64, 64, 128}, Shape{1, 70, 130, 140}}) {
    const std::size_t g = size[0], m = size[1], k = size[2], n = size[3];
    const poplar::OptionFlags options{{"pando.layout", "blocks"}, {"availableMemoryProportion", "0.03"}};
    enum class How { folded, rounded, apart };
    const auto build = [&](OnCpu& c, How how) -> std::vector<Tensor> {
      const auto data = [&](const Shape& shape) { return popops::cast(c.graph, c.data(shape), poplar::HALF, c.prog); };
      const Tensor a = data({g, m, k}), b = data({g, k, n}), bias = data({n}), residual = data({g, m, n}), scale = data({1});
      std::vector<Tensor> outs(2);
      if (how == How::folded) {
        EXPECT_TRUE(matMulGroupedWithEpilogue(c.graph, a, b, {kResults, {Tensor(), bias, residual, scale}, 0}, outs, c.prog, {}, options));
      } else {
        const Tensor product = how == How::rounded
                                   ? matMulGrouped(c.graph, a, b, c.prog, poplar::HALF, {}, options)
                                   : popops::cast(c.graph, matMulGrouped(c.graph, a, b, c.prog, FLOAT, {}, options), poplar::HALF, c.prog);
        outs = popops::map(c.graph, kResults, {product, bias, residual, scale}, c.prog);
      }
      for (Tensor& t : outs) t = popops::cast(c.graph, t, FLOAT, c.prog);
      return outs;
    };
    OnCpu folded(tiles(4)), rounded(tiles(4)), apart(tiles(4));
    const auto expected = apart.run(build(apart, How::apart));
    EXPECT_EQ(rounded.run(build(rounded, How::rounded)), expected) << g << " x " << m << " x " << k << " x " << n;
    EXPECT_EQ(folded.run(build(folded, How::folded)), expected) << g << " x " << m << " x " << k << " x " << n;
  }
}

// Where the partial sums of a plan by grid are added up.
TEST(Epilogue, sums_of_products_give_the_bits_of_a_map_on_their_result) {
  for (const Shape& size : {Shape{1, 4, 3000, 40}, Shape{3, 5, 700, 33}, Shape{1, 30, 900, 70}, Shape{1, 2, 1000, 60}}) {
    const std::size_t g = size[0], m = size[1], k = size[2], n = size[3];
    const auto build = [&](OnCpu& c, bool folded) -> std::vector<Tensor> {
      const Tensor a = c.data({g, m, k}), b = c.data({g, k, n}), bias = c.data({n}), scale = c.data({1});
      const Tensor residual = c.data({m, g, 2 * n}).dimShuffle({1, 0, 2}).slice(0, n, 2);
      std::vector<Tensor> outs(2);
      outs[1] = c.variable({g, m, n});
      if (folded) {
        EXPECT_TRUE(matMulGroupedWithEpilogue(c.graph, a, b, {kResults, {Tensor(), bias, residual, scale}, 0}, outs, c.prog))
            << g << " x " << m << " x " << k << " x " << n;
        return outs;
      }
      outs[0] = matMulGrouped(c.graph, a, b, c.prog, FLOAT);
      popops::mapWithOutput(c.graph, kResults, {outs[0], bias, residual, scale}, outs, c.prog);
      return outs;
    };
    OnCpu folded(tiles(16)), apart(tiles(16));
    EXPECT_EQ(folded.run(build(folded, true)), apart.run(build(apart, false))) << g << " x " << m << " x " << k << " x " << n;
  }
}

// Results may lie in blocks already, and must not where operands lie.
TEST(Epilogue, products_in_blocks_write_where_they_are_told_to) {
  const poplar::OptionFlags options{{"pando.layout", "blocks"}};
  const pe::Any sum = pe::Any(pe::Add(pe::_1, pe::_2));
  OnCpu c(tiles(4));
  const Tensor a = c.data({70, 90}), b = c.data({90, 300}), residual = c.data({70, 300});
  const Tensor home = createMatMulOutput(c.graph, FLOAT, FLOAT, {70, 90}, {90, 300}, {}, options);
  std::vector<Tensor> outs{home}, over{residual};
  EXPECT_FALSE(matMulWithEpilogue(c.graph, a, b, {{sum}, {Tensor(), residual}, 0}, over, c.prog, {}, options));
  EXPECT_TRUE(matMulWithEpilogue(c.graph, a, b, {{sum}, {Tensor(), residual}, 0}, outs, c.prog, {}, options));
  EXPECT_EQ(outs[0], home);
  const Tensor apart = popops::map(c.graph, sum, {matMul(c.graph, a, b, c.prog, {}, options), residual}, c.prog);
  const auto results = c.run({home, apart});
  EXPECT_EQ(results[0], results[1]);
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

// With groups of channels, of which a tile may have several, and input channels cut into so many parts: then whoever adds up the partial
// sums finishes them. A sum may be of several groups, for which no row is the same.
TEST(Epilogue, convolutions_on_tiles_give_the_bits_of_a_map_on_their_result) {
  for (const std::size_t groups : {1, 4})
    for (const bool row : {true, false})
      for (const std::string parts : {"1", "2", "4"}) {
        ConvParams params(FLOAT, 2, {10, 12}, {3, 3}, 4, 8, groups);
        params.inputTransform.paddingLower = params.inputTransform.paddingUpper = {1, 1};
        const std::size_t channels = 8 * groups;
        const poplar::OptionFlags plan{{"planConstraints", R"({"partition": {"inChans": )" + parts + "}}"}};
        const bool folds = groups == 1 || !row || parts == "1";
        const auto build = [&](OnCpu& c, bool folded) -> std::vector<Tensor> {
          const Tensor x = c.data({2, 4 * groups, 10, 12}), w = c.data({groups, 8, 4, 3, 3}), scale = c.data({1});
          const Tensor bias = row ? c.data({channels, 1, 1}) : c.data({2, channels, 10, 12});
          const Tensor residual = c.data({2, 10, 12, channels}).dimRoll(3, 1);
          std::vector<Tensor> outs(2);
          outs[1] = c.variable({2, channels, 10, 12});
          if (folded) {
            EXPECT_EQ(
                convolutionWithEpilogue(c.graph, x, w, params, {kResults, {Tensor(), bias, residual, scale}, 0}, outs, c.prog, {}, plan),
                folds);
            return outs;
          }
          outs[0] = convolution(c.graph, x, w, params, false, c.prog, {}, plan);
          popops::mapWithOutput(c.graph, kResults, {outs[0], bias, residual, scale}, outs, c.prog);
          return outs;
        };
        OnCpu folded(tiles(8)), apart(tiles(8));
        const std::vector<Tensor> results = build(folded, true), expected = build(apart, false);
        if (folds) EXPECT_EQ(folded.run(results), apart.run(expected)) << groups << " groups, " << parts << " parts";
      }
}

TEST(Epilogue, partial_sums_that_are_halfs_stay_apart) {
  OnCpu c(tiles(8));
  std::vector<Tensor> outs(1);
  const pe::Any twice = pe::Any(pe::Add(pe::_1, pe::_1));
  const poplar::OptionFlags plan{{"planConstraints", R"({"partition": {"inChans": 2}})"}, {"partialsType", "half"}};
  EXPECT_FALSE(convolutionWithEpilogue(c.graph, c.variable({1, 4, 8, 8}), c.variable({1, 4, 4, 3, 3}),
                                       ConvParams(FLOAT, 1, {8, 8}, {3, 3}, 4, 4, 1), {{twice}, {Tensor()}, 0}, outs, c.prog, {}, plan));
}

TEST(Epilogue, zeros_around_a_convolution_stay_apart) {
  ConvParams params(FLOAT, 1, {8, 8}, {3, 3}, 4, 4, 1);
  params.outputTransform.paddingLower = {1, 0};
  OnCpu c(tiles(4));
  std::vector<Tensor> outs(1);
  const pe::Any twice = pe::Any(pe::Add(pe::_1, pe::_1));
  EXPECT_FALSE(convolutionWithEpilogue(c.graph, c.variable({1, 4, 8, 8}), c.variable({1, 4, 4, 3, 3}), params, {{twice}, {Tensor()}, 0},
                                       outs, c.prog));
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
  EXPECT_FALSE(folds(c, c.variable({20, 30}, poplar::HALF), c.variable({30, 40}, poplar::HALF), bias, sum));
  std::vector<Tensor> over{c.variable({20, 40})};
  EXPECT_FALSE(matMulWithEpilogue(c.graph, a, b, {{sum}, {Tensor(), over[0]}, 0}, over, c.prog));
  OnCpu four(tiles(4));
  EXPECT_FALSE(folds(four, four.variable({20, 1}), four.variable({1, 40}), four.variable({40}), sum));  // neither blocks nor sums
}

TEST(Epilogue, what_does_not_fit_is_rejected) {
  OnCpu c, other;
  const pe::Any sum = pe::Any(pe::Add(pe::_1, pe::_2));
  const Tensor a = c.variable({20, 30}), b = c.variable({30, 40}), bias = c.variable({40});
  const auto rejection = [&](const Tensor& left, const Epilogue& e, std::vector<Tensor> outs) -> std::string {
    try {
      matMulWithEpilogue(c.graph, left, b, e, outs, c.prog);
    } catch (const std::exception& error) { return error.what(); }
    return "";
  };
  const auto has = [](const std::string& text, const std::string& id) { return text.find("[" + id + "]") != text.npos; };
  EXPECT_TRUE(has(rejection(a, {{sum}, {Tensor(), c.variable({39})}, 0}, {Tensor()}), "epilogue-operand"));
  EXPECT_TRUE(has(rejection(a, {{sum}, {Tensor(), c.variable({2, 1, 20, 40})}, 0}, {Tensor()}), "epilogue-operand"));
  EXPECT_TRUE(has(rejection(a, {{sum}, {Tensor(), bias}, 2}, {Tensor()}), "epilogue-operand"));
  EXPECT_TRUE(has(rejection(a, {{}, {Tensor(), bias}, 0}, {}), "epilogue-results"));
  EXPECT_TRUE(has(rejection(a, {{sum}, {Tensor(), bias}, 0}, {}), "epilogue-results"));
  EXPECT_TRUE(has(rejection(a, {{sum}, {Tensor(), bias}, 0}, {c.variable({20, 41})}), "epilogue-results"));
  EXPECT_TRUE(has(rejection(a, {{sum}, {Tensor(), bias}, 0}, {c.variable({20, 40}, poplar::HALF)}), "epilogue-results"));
  EXPECT_TRUE(has(rejection(a, {{sum}, {Tensor(), bias}, 0}, {c.variable({1, 40}).broadcast(20, 0)}), "epilogue-results"));
  EXPECT_TRUE(has(rejection(c.variable({30}), {{sum}, {Tensor(), bias}, 0}, {Tensor()}), "product-operands"));
  EXPECT_NE(rejection(c.variable({20, 31}), {{sum}, {Tensor(), bias}, 0}, {Tensor()}), "");
  EXPECT_NE(rejection(a, {{pe::Any(pe::Add(pe::_1, pe::_3))}, {Tensor(), bias}, 0}, {Tensor()}), "");  // no such operand
  EXPECT_NE(rejection(a, {{sum}, {Tensor(), other.variable({40})}, 0}, {Tensor()}), "");
  EXPECT_NE(rejection(a, {{sum}, {Tensor(), Tensor()}, 0}, {Tensor()}), "");
  EXPECT_EQ(rejection(a, {{sum}, {Tensor(), bias}, 0}, {Tensor()}), "");
  const ConvParams params(FLOAT, 1, {8, 8}, {3, 3}, 4, 4, 1);
  std::vector<Tensor> outs(1);
  EXPECT_THROW(convolutionWithEpilogue(c.graph, c.variable({1, 4, 8, 8}), c.variable({1, 4, 4, 3, 3}), params,
                                       {{sum}, {Tensor(), c.variable({5, 1, 1})}, 0}, outs, c.prog),
               poputil::poplibs_error);
}

}  // namespace
}  // namespace poplin
