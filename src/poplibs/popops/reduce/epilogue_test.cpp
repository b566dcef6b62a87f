// Reductions with an epilogue beside popops::map on their result, bit for bit; what they are not for, and what they reject.
#include <popops/Epilogue.hpp>

#include <gtest/gtest.h>

#include <poplar/Engine.hpp>
#include <poplar/IPUModel.hpp>
#include <popops/Cast.hpp>
#include <popops/ElementWise.hpp>
#include <popops/codelets.hpp>
#include <poputil/TileMapping.hpp>
#include <poputil/exceptions.hpp>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace popops {
namespace {

using poplar::FLOAT;
using poplar::HALF;
using poplar::INT;
using poplar::Tensor;
namespace pe = popops::expr;

using Shape = std::vector<std::size_t>;

struct OnTiles {
  poplar::Device device;
  poplar::Graph graph;
  poplar::program::Sequence prog;
  std::vector<std::vector<float>> inputs;

  explicit OnTiles(unsigned tiles) : device(device_of(tiles)), graph(device.getTarget()) { popops::addCodelets(graph); }

  static poplar::Device device_of(unsigned tiles) {
    if (tiles == 0) return poplar::Device::createCPUDevice();
    poplar::IPUModel model;
    model.tilesPerIPU = tiles;
    return model.createDevice();
  }
  Tensor variable(const Shape& shape, const poplar::Type& type = FLOAT) {
    const Tensor t = graph.addVariable(type, shape);
    poputil::mapTensorLinearly(graph, t);
    return t;
  }
  Tensor data(const Shape& shape, const poplar::Type& type = FLOAT) {
    const Tensor t = variable(shape);
    graph.createHostWrite(std::to_string(inputs.size()), t);
    inputs.emplace_back(t.numElements());
    for (std::size_t i = 0; i < t.numElements(); ++i)
      inputs.back()[i] = 1.5f + std::sin(static_cast<float>(inputs.size()) + 0.37f * static_cast<float>(i));
    return type == FLOAT ? t : popops::cast(graph, t, type, prog);
  }
  std::vector<std::vector<float>> run(const std::vector<Tensor>& read) {
    std::vector<std::vector<float>> out;
    for (std::size_t i = 0; i < read.size(); ++i)
      graph.createHostRead("out" + std::to_string(i), read[i].elementType() == FLOAT ? read[i] : popops::cast(graph, read[i], FLOAT, prog),
                           true);
    poplar::Engine engine(graph, prog);
    engine.load(device);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      engine.writeTensor(std::to_string(i), inputs[i].data(), inputs[i].data() + inputs[i].size());
    engine.run(0);
    for (std::size_t i = 0; i < read.size(); ++i) {
      out.emplace_back(read[i].numElements());
      engine.readTensor("out" + std::to_string(i), out[i].data(), out[i].data() + out[i].size());
    }
    return out;
  }
};

// sum = reduced * scale, and sqrt(|sum - other|): a number, and a tensor of the result's shape or one that broadcasts to it.
const std::vector<pe::Any> kResults = {pe::Any(pe::Mul(pe::_1, pe::_2)),
                                       pe::Any(pe::Sqrt(pe::Abs(pe::Sub(pe::Mul(pe::_1, pe::_2), pe::_3))))};

struct Case {
  Shape shape;
  std::vector<std::size_t> dims;
  Shape other;
};
const std::vector<Case> kCases = {{{60, 40}, {0}, {40}},     {{60, 40}, {1}, {60}},   {{300, 7}, {0}, {1}}, {{5, 9, 14}, {0, 2}, {9}},
                                  {{5, 9, 14}, {1}, {5, 1}}, {{5, 9, 14}, {1}, {14}}, {{700}, {0}, {}},     {{4, 6}, {}, {4, 6}}};

TEST(ReduceEpilogue, gives_the_bits_of_a_map_on_the_result) {
  for (const unsigned tiles : {0u, 1u, 7u, 40u})
    for (const auto& [in_type, type] : {std::pair(FLOAT, FLOAT), {HALF, HALF}, {HALF, FLOAT}, {FLOAT, HALF}})
      for (const Case& c : kCases)
        for (const Operation op : {Operation::ADD, Operation::MAX, Operation::SQUARE_ADD})
          for (const bool scaled : {false, true}) {
            if (scaled && op == Operation::MAX) continue;
            const auto build = [&, in_type = in_type, type = type](OnTiles& t, bool folded) -> std::vector<Tensor> {
              const Tensor in = t.data(c.shape, in_type), scale = t.data({}, type), other = t.data(c.other, type), by = t.data({});
              const ReduceParams params = scaled ? ReduceParams(op, false, by) : ReduceParams(op);
              std::vector<Tensor> outs(2);
              const Tensor apart = folded ? Tensor() : reduce(t.graph, in, type, c.dims, params, t.prog);
              if (!folded) return popops::map(t.graph, kResults, {apart, scale, other}, t.prog);
              EXPECT_TRUE(reduceWithEpilogue(t.graph, in, type, c.dims, params, {kResults, {Tensor(), scale, other}, 0}, outs, t.prog));
              return outs;
            };
            OnTiles folded(tiles), apart(tiles);
            EXPECT_EQ(folded.run(build(folded, true)), apart.run(build(apart, false)))
                << tiles << " tiles, " << in_type.toString() << " to " << type.toString() << ", " << c.shape.size() << " dimensions";
          }
}

TEST(ReduceEpilogue, writes_where_it_is_told) {
  OnTiles t(7);
  const Tensor in = t.data({30, 20}), one = t.data({1});
  std::vector<Tensor> outs{t.variable({20}), t.variable({5, 4}).flatten()};
  const std::vector<Tensor> given = outs;
  ASSERT_TRUE(reduceWithEpilogue(t.graph, in, FLOAT, {0}, Operation::ADD, {kResults, {Tensor(), one, one}, 0}, outs, t.prog));
  EXPECT_EQ(outs, given);
  OnTiles plain(7);
  const Tensor same = plain.data({30, 20}), number = plain.data({1});
  const Tensor sum = reduce(plain.graph, same, FLOAT, {0}, Operation::ADD, plain.prog);
  EXPECT_EQ(t.run(given), plain.run(popops::map(plain.graph, kResults, {sum, number, number}, plain.prog)));
}

TEST(ReduceEpilogue, is_not_for_all) {
  OnTiles t(4);
  const Tensor in = t.data({6, 8}), row = t.data({8});
  const std::vector<pe::Any> sum{pe::Add(pe::_1, pe::_2)};
  const auto done = [&](const Tensor& from, const poplar::Type& type, const Tensor& other, std::vector<Tensor> outs) {
    return reduceWithEpilogue(t.graph, from, type, {0}, Operation::ADD, {sum, {Tensor(), other}, 0}, outs, t.prog);
  };
  EXPECT_TRUE(done(in, FLOAT, row, {Tensor()}));
  EXPECT_FALSE(done(t.variable({6, 8}, INT), INT, t.variable({8}, INT), {Tensor()}));
  EXPECT_FALSE(done(in, FLOAT, t.variable({8}, HALF), {Tensor()}));
  EXPECT_FALSE(done(t.variable({0, 8}), FLOAT, row, {Tensor()}));
  // Results where operands are still to be read.
  EXPECT_FALSE(done(in, FLOAT, row, {row}));
  EXPECT_FALSE(done(in, FLOAT, row, {in[2]}));
}

TEST(ReduceEpilogue, rejects_what_does_not_fit) {
  OnTiles t(4);
  const Tensor in = t.data({6, 8}), row = t.data({8});
  const auto build = [&](const ReduceParams& params, const Epilogue& epilogue, std::vector<Tensor> outs) {
    reduceWithEpilogue(t.graph, in, FLOAT, {0}, params, epilogue, outs, t.prog);
  };
  const pe::Any sum = pe::Add(pe::_1, pe::_2);
  EXPECT_THROW(build(Operation::ADD, {{sum}, {Tensor(), t.data({7})}, 0}, {Tensor()}), poputil::poplibs_error);
  EXPECT_THROW(build(Operation::ADD, {{sum}, {Tensor(), row}, 2}, {Tensor()}), poputil::poplibs_error);
  EXPECT_THROW(build(Operation::ADD, {{}, {Tensor(), row}, 0}, {}), poputil::poplibs_error);
  EXPECT_THROW(build(Operation::ADD, {{sum}, {Tensor(), row}, 0}, {Tensor(), Tensor()}), poputil::poplibs_error);
  EXPECT_THROW(build(Operation::ADD, {{sum}, {Tensor(), row}, 0}, {t.variable({6})}), poputil::poplibs_error);
  EXPECT_THROW(build({Operation::ADD, true}, {{sum}, {Tensor(), row}, 0}, {Tensor()}), poputil::poplibs_error);
  EXPECT_THROW(build(Operation::LOGICAL_AND, {{sum}, {Tensor(), row}, 0}, {Tensor()}), poputil::poplibs_error);
}

}  // namespace
}  // namespace popops
