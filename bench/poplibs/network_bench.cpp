// Planning plus compiling of a network of four weight layers on 1,472 tiles: forward, backward and the update of all weights.
//
//   3x3 conv 16 - relu - max pool | 3x3 conv 32 - batch norm - relu - max pool | fully connected 128 - relu | fully connected 10 - softmax
//   - loss
#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplar/IPUModel.hpp>
#include <poplin/Convolution.hpp>
#include <poplin/MatMul.hpp>
#include <poplin/codelets.hpp>
#include <popnn/BatchNorm.hpp>
#include <popnn/Loss.hpp>
#include <popnn/NonLinearity.hpp>
#include <popnn/Norms.hpp>
#include <popnn/Pooling.hpp>
#include <popnn/codelets.hpp>
#include <popops/Reduce.hpp>
#include <popops/ScaledAdd.hpp>
#include <popops/codelets.hpp>
#include <poputil/TileMapping.hpp>

#include "bench.h"

namespace {

using namespace poplar;
using pando::bench::Figure;
using popnn::NonLinearityType;
using program::Sequence;

constexpr std::size_t kBatch = 16, kSide = 28, kClasses = 10;
constexpr float kRate = -0.01f;

// A layer keeps what its gradient needs; `backward` takes the gradient of its result, updates its weights and gives that of its operand.
struct Network {
  Graph& graph;
  poplin::PlanningCache cache;
  Sequence forward, backward;
  std::vector<std::function<Tensor(const Tensor&)>> layers;

  Tensor conv(const Tensor& in, std::size_t channels, const std::string& name) {
    const std::size_t from = in.dim(1), side = in.dim(2);
    const poplin::ConvParams::InputTransform padded({0, 0}, {0, 0}, {1, 1}, {1, 1}, {1, 1}, {false, false}), none(2);
    const poplin::ConvParams::OutputTransform plain(2);
    const poplin::ConvParams params(FLOAT, FLOAT, kBatch, {side, side}, {3, 3}, from, channels, 1, padded, none, plain);
    const poplin::ConvParams back(FLOAT, FLOAT, kBatch, {side, side}, {3, 3}, channels, from, 1, padded, none, plain);
    const Tensor weights = poplin::createWeights(graph, params, name, {{"pass", "TRAINING_FWD"}}, &cache);
    const bool first = layers.empty();
    layers.push_back([=, this](const Tensor& gradient) {
      const Tensor out =
          first ? Tensor()
                : poplin::convolution(graph, gradient, weights, back, true, backward, name + "Back", {{"pass", "TRAINING_BWD"}}, &cache);
      poplin::convolutionWeightUpdate(graph, gradient, weights, in, params, kRate, backward, name + "Update", {{"pass", "TRAINING_WU"}},
                                      &cache);
      return out;
    });
    return poplin::convolution(graph, in, weights, params, false, forward, name, {{"pass", "TRAINING_FWD"}}, &cache);
  }

  Tensor relu(const Tensor& in) {
    const Tensor out = popnn::relu(graph, in, forward);
    layers.push_back([=, this](const Tensor& gradient) {
      return popnn::nonLinearityInputGradient(graph, NonLinearityType::RELU, out, gradient, backward);
    });
    return out;
  }

  Tensor pool(const Tensor& in) {
    const popnn::pooling::PoolParams params(popnn::PoolingType::MAX, {in.dim(2), in.dim(3)}, {2, 2}, {2, 2}, {0, 0}, {0, 0}, in.dim(1),
                                            kBatch, FLOAT);
    const Tensor out = popnn::pooling::pool(graph, params, in, forward);
    layers.push_back(
        [=, this](const Tensor& gradient) { return popnn::pooling::poolInputGradient(graph, params, in, out, gradient, false, backward); });
    return out;
  }

  Tensor batch_norm(const Tensor& in) {
    auto [gamma, beta] = popnn::createNormParams(graph, in);
    const auto [mean, deviation] = popnn::bn::batchNormStatistics(graph, in, 1e-5f, forward, false);
    const auto [out, whitened] = popnn::bn::batchNormalise(graph, in, gamma, beta, mean, deviation, forward);
    layers.push_back([this, gamma = gamma, beta = beta, deviation = deviation, whitened = whitened](const Tensor& gradient) mutable {
      const auto [gamma_delta, beta_delta] = popnn::bn::batchNormParamGradients(graph, whitened, gradient, backward);
      const Tensor result = popnn::bn::batchNormGradients(graph, whitened, gradient, deviation, gamma, backward);
      popnn::bn::batchNormParamUpdate(graph, gamma_delta, beta_delta, kRate, gamma, beta, backward);
      return result;
    });
    return out;
  }

  Tensor fully_connected(const Tensor& operand, std::size_t channels, const std::string& name) {
    const Tensor in = operand.flatten(1, static_cast<unsigned>(operand.rank()));
    const Tensor weights = poplin::createMatMulInputRHS(graph, FLOAT, in.shape(), {in.dim(1), channels}, name, {}, &cache);
    layers.push_back([=, this](const Tensor& gradient) {
      const Tensor out = poplin::matMul(graph, gradient, weights.transpose(), backward, name + "Back", {}, &cache);
      poplin::matMulAcc(graph, weights, kRate, in.transpose(), gradient, backward, name + "Update", {}, &cache);
      return out.reshape(operand.shape());
    });
    return poplin::matMul(graph, in, weights, forward, name, {}, &cache);
  }
};

struct Seconds {
  double building = 0, compiling = 0;
};

Seconds build(const Device& device, bool run) {
  Seconds seconds;
  Graph graph(device.getTarget());
  Network net{graph, {}, {}, {}, {}};
  Sequence all;
  seconds.building = pando::bench::seconds_of([&] {
    popops::addCodelets(graph);
    poplin::addCodelets(graph);
    popnn::addCodelets(graph);
    const Tensor images = graph.addVariable(FLOAT, {kBatch, 1, kSide, kSide}, "images"),
                 labels = graph.addVariable(UNSIGNED_INT, {kBatch}, "labels");
    poputil::mapTensorLinearly(graph, images);
    poputil::mapTensorLinearly(graph, labels);
    Tensor t = net.pool(net.relu(net.conv(images, 16, "conv1")));
    t = net.pool(net.relu(net.batch_norm(net.conv(t, 32, "conv2"))));
    t = net.fully_connected(net.relu(net.fully_connected(t, 128, "fc1")), kClasses, "fc2");
    popnn::softmaxInPlace(graph, t, net.forward);
    Tensor gradient = graph.clone(t);
    const Tensor loss = graph.clone(FLOAT, labels), correct = graph.addVariable(UNSIGNED_INT, {}, "correct");
    graph.setTileMapping(correct, 0);
    net.forward.add(popnn::calcLoss(graph, t, labels, loss, gradient, correct, popnn::CROSS_ENTROPY_LOSS));
    for (std::size_t i = net.layers.size(); i-- > 0;) gradient = net.layers[i](gradient);
    all = Sequence({net.forward, net.backward});
  });
  std::unique_ptr<Engine> engine;
  seconds.compiling = pando::bench::seconds_of([&] { engine = std::make_unique<Engine>(graph, all); });
  if (!run) return seconds;
  engine->load(device);
  engine->run(0);
  fmt::print("one step on this host: {:.1f} ms; {} vertices\n", 1e3 * pando::bench::best_of(5, [&] { engine->run(0); }),
             graph.getNumVertices());
  return seconds;
}

}  // namespace

int main() {
  const Device device = IPUModel("ipu2").createDevice();
  Seconds best = build(device, true);
  fmt::print("first time in the process: building {:.3f} s, compiling {:.3f} s\n", best.building, best.compiling);
  for (int i = 0; i < 2; ++i) {
    const Seconds seconds = build(device, false);
    if (seconds.building + seconds.compiling < best.building + best.compiling) best = seconds;
  }
  fmt::print("best of 3: building {:.3f} s, compiling {:.3f} s\n", best.building, best.compiling);
  Figure figure;
  figure.what = "planning plus compiling a 4-layer network on 1,472 tiles";
  figure.unit = "s";
  figure.ours = best.building + best.compiling;
  figure.at_most = 1;
  pando::bench::print_figure(figure);
}
