// Trains a two-layer network on Fashion-MNIST on the 1,472 tiles of one IPU, against the public Poplar API alone.
// The training loop runs on the device; the host feeds batches and hears the loss, both through streams. See README.md.
#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplar/IPUModel.hpp>
#include <poplar/Program.hpp>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "images.h"
#include "shape.h"

using namespace poplar;
using namespace poplar::program;

namespace {

constexpr float kMomentum = 0.9f;
constexpr float kRate = 0.1f;
constexpr double kWanted = 0.85;

// --- Where things are -----------------------------------------------------------------------------------------------

unsigned block_tile(unsigned row, unsigned column) { return row * kColumns + column; }
unsigned hidden_tile(unsigned part, unsigned unit) { return part * kHidden + unit; }
// Eight units' results meet on the tile of the first.
unsigned logits_block_tile(unsigned part, unsigned column) { return hidden_tile(part, column * kBlockUnits); }
unsigned logits_tile(unsigned part, unsigned klass) { return (part * kClasses + klass) * 24; }
// 1,440 tiles have a hidden unit; the loss lives on 30 of the 32 others.
unsigned loss_tile(unsigned part, unsigned group) { return kParts * kHidden + part * kGroups + group; }
constexpr unsigned kLastTile = 1471;

struct Network {
  Tensor batch;                           // [785][sample] bytes: the pixels, then the labels
  Tensor images;                          // [row][pixel * sample], a view of the batch
  Tensor labels;                          // [part][group][sample], a view of the batch
  Tensor weights, velocity;               // [row][column][pixel * unit]
  Tensor unit_parameters, unit_velocity;  // [unit][10 weights, bias]
  Tensor output_bias, output_velocity;    // [class]
  Tensor partials;                        // [row][column][part][unit][sample]
  Tensor hidden, hidden_gradient;         // [part][unit][sample]
  Tensor unit_gradient;                   // [part][unit][10 weights, bias]
  Tensor logits_partials;                 // [part][column][class][sample]
  Tensor logits;                          // [part][class][sample]
  Tensor logits_gradient;                 // [part][group][class * sample of the group]
  Tensor output_bias_gradient;            // [part][group][class]
  Tensor results;                         // [part][group][sum of losses, right answers]
  Tensor rate;                            // scalar
};

std::vector<float> random_weights(std::size_t n, unsigned inputs, unsigned seed) {
  std::mt19937 random(seed);
  const float limit = std::sqrt(6.0f / float(inputs));
  std::vector<float> values(n);
  for (float& v : values) v = limit * (2.0f * float(random() >> 8) / 16777216.0f - 1.0f);
  return values;
}

void add_parameters(Graph& graph, Network& n) {
  n.weights = graph.addVariable(FLOAT, {kRows, kColumns, kBlockPixels * kBlockUnits}, "weights");
  n.velocity = graph.addVariable(FLOAT, {kRows, kColumns, kBlockPixels * kBlockUnits}, "velocity");
  n.unit_parameters = graph.addVariable(FLOAT, {kHidden, kClasses + 1}, "unit_parameters");
  n.unit_velocity = graph.addVariable(FLOAT, {kHidden, kClasses + 1}, "unit_velocity");
  n.output_bias = graph.addVariable(FLOAT, {kClasses}, "output_bias");
  n.output_velocity = graph.addVariable(FLOAT, {kClasses}, "output_velocity");
  n.rate = graph.addVariable(FLOAT, {}, "rate");
  for (unsigned r = 0; r < kRows; ++r) {
    for (unsigned c = 0; c < kColumns; ++c) {
      graph.setTileMapping(n.weights[r][c], block_tile(r, c));
      graph.setTileMapping(n.velocity[r][c], block_tile(r, c));
    }
  }
  for (unsigned u = 0; u < kHidden; ++u) {
    graph.setTileMapping(n.unit_parameters[u], hidden_tile(0, u));
    graph.setTileMapping(n.unit_velocity[u], hidden_tile(0, u));
  }
  for (const Tensor& t : {n.output_bias, n.output_velocity, n.rate}) graph.setTileMapping(t, kLastTile);

  const std::vector<float> zeros(n.velocity.numElements(), 0.0f);
  std::vector<float> of_units = random_weights(n.unit_parameters.numElements(), kHidden, 2);
  for (unsigned u = 0; u < kHidden; ++u) of_units[u * (kClasses + 1) + kClasses] = 0;
  graph.setInitialValue(n.weights, ArrayRef<float>(random_weights(n.weights.numElements(), kPixels, 1)));
  graph.setInitialValue(n.unit_parameters, ArrayRef<float>(of_units));
  for (const Tensor& t : {n.velocity, n.unit_velocity, n.output_bias, n.output_velocity})
    graph.setInitialValue(t, ArrayRef<float>(zeros.data(), t.numElements()));
}

void add_activations(Graph& graph, Network& n) {
  n.batch = graph.addVariable(UNSIGNED_CHAR, {kPixels + 1, kBatch}, "batch");
  n.images = n.batch.slice(0, kPixels).reshape({kRows, kBlockPixels * kBatch});
  n.labels = n.batch[kPixels].reshape({kParts, kGroups, kGroupSamples});
  n.partials = graph.addVariable(FLOAT, {kRows, kColumns, kParts, kBlockUnits, kSamples}, "partials");
  n.hidden = graph.addVariable(FLOAT, {kParts, kHidden, kSamples}, "hidden");
  n.hidden_gradient = graph.addVariable(FLOAT, {kParts, kHidden, kSamples}, "hidden_gradient");
  n.unit_gradient = graph.addVariable(FLOAT, {kParts, kHidden, kClasses + 1}, "unit_gradient");
  n.logits_partials = graph.addVariable(FLOAT, {kParts, kColumns, kClasses, kSamples}, "logits_partials");
  n.logits = graph.addVariable(FLOAT, {kParts, kClasses, kSamples}, "logits");
  n.logits_gradient = graph.addVariable(FLOAT, {kParts, kGroups, kClasses * kGroupSamples}, "logits_gradient");
  n.output_bias_gradient = graph.addVariable(FLOAT, {kParts, kGroups, kClasses}, "output_bias_gradient");
  n.results = graph.addVariable(FLOAT, {kParts, kGroups, 2}, "results");
  for (unsigned r = 0; r < kRows; ++r) {
    graph.setTileMapping(n.images[r], block_tile(r, 0));
    for (unsigned c = 0; c < kColumns; ++c) graph.setTileMapping(n.partials[r][c], block_tile(r, c));
  }
  for (unsigned p = 0; p < kParts; ++p) {
    for (unsigned g = 0; g < kGroups; ++g)
      for (const Tensor& t : {n.labels, n.logits_gradient, n.output_bias_gradient, n.results})
        graph.setTileMapping(t[p][g], loss_tile(p, g));
    for (unsigned c = 0; c < kColumns; ++c) graph.setTileMapping(n.logits_partials[p][c], logits_block_tile(p, c));
    for (unsigned k = 0; k < kClasses; ++k) graph.setTileMapping(n.logits[p][k], logits_tile(p, k));
    for (unsigned u = 0; u < kHidden; ++u)
      for (const Tensor& t : {n.hidden, n.hidden_gradient, n.unit_gradient}) graph.setTileMapping(t[p][u], hidden_tile(p, u));
  }
}

// --- Steps ----------------------------------------------------------------------------------------------------------

// Estimates are for a tile that works on two floats a cycle: `operations` multiply-adds or adds, over six workers that take
// turns, and what a vertex costs to start. Of a MultiVertex they are the tile's cycles, of a Vertex its worker's.
VertexRef add_vertex(Graph& graph, ComputeSet step, const char* codelet, unsigned tile, std::uint64_t operations) {
  const VertexRef v = graph.addVertex(step, codelet);
  graph.setTileMapping(v, tile);
  graph.setPerfEstimate(v, 60 + operations / 2, 2 * operations);
  return v;
}

Program add_forward(Graph& graph, const Network& n) {
  const ComputeSet blocks = graph.addComputeSet("forward_blocks");
  const ComputeSet hidden = graph.addComputeSet("hidden");
  const ComputeSet logits_blocks = graph.addComputeSet("logits_blocks");
  const ComputeSet logits = graph.addComputeSet("logits");
  for (unsigned r = 0; r < kRows; ++r) {
    for (unsigned c = 0; c < kColumns; ++c) {
      const VertexRef v = add_vertex(graph, blocks, "ForwardBlock", block_tile(r, c), kBlockPixels * (kBlockUnits + 2) * kBatch);
      graph.connect(v["images"], n.images[r]);
      graph.connect(v["weights"], n.weights[r][c]);
      graph.connect(v["out"], n.partials[r][c].flatten());
    }
  }
  for (unsigned p = 0; p < kParts; ++p) {
    for (unsigned u = 0; u < kHidden; ++u) {
      const VertexRef v = add_vertex(graph, hidden, "SumRows<true>", hidden_tile(p, u), kRows * kSamples);
      // The unit's sums of this part from all 49 blocks of pixels.
      graph.connect(
          v["rows"],
          n.partials.slice({0, u / kBlockUnits, p, u % kBlockUnits, 0}, {kRows, u / kBlockUnits + 1, p + 1, u % kBlockUnits + 1, kSamples})
              .reshape({kRows, kSamples}));
      graph.connect(v["bias"], n.unit_parameters[u][kClasses]);
      graph.connect(v["out"], n.hidden[p][u]);
    }
    for (unsigned c = 0; c < kColumns; ++c) {
      const VertexRef v = add_vertex(graph, logits_blocks, "LogitsBlock", logits_block_tile(p, c), kClasses * kBlockUnits * kSamples);
      const unsigned first = c * kBlockUnits, last = first + kBlockUnits;
      graph.connect(v["hidden"], n.hidden[p].slice(first, last));
      graph.connect(v["weights"], n.unit_parameters.slice({first, 0}, {last, kClasses}).flatten());
      graph.connect(v["out"], n.logits_partials[p][c].flatten());
    }
    for (unsigned k = 0; k < kClasses; ++k) {
      const VertexRef v = add_vertex(graph, logits, "SumRows<false>", logits_tile(p, k), kColumns * kSamples);
      graph.connect(v["rows"], n.logits_partials[p].slice(k, k + 1, 1).reshape({kColumns, kSamples}));
      graph.connect(v["bias"], n.output_bias[k]);
      graph.connect(v["out"], n.logits[p][k]);
    }
  }
  return Sequence({Execute(blocks), Execute(hidden), Execute(logits_blocks), Execute(logits)});
}

Program add_loss(Graph& graph, const Network& n) {
  const ComputeSet loss = graph.addComputeSet("loss");
  for (unsigned p = 0; p < kParts; ++p) {
    for (unsigned g = 0; g < kGroups; ++g) {
      const VertexRef v = add_vertex(graph, loss, "Loss", loss_tile(p, g), 40 * kClasses * kGroupSamples);
      graph.connect(v["logits"], n.logits[p].slice(g * kGroupSamples, (g + 1) * kGroupSamples, 1));
      graph.connect(v["labels"], n.labels[p][g]);
      graph.connect(v["gradient"], n.logits_gradient[p][g]);
      graph.connect(v["bias_gradient"], n.output_bias_gradient[p][g]);
      graph.connect(v["result"], n.results[p][g]);
    }
  }
  return Execute(loss);
}

void add_update(Graph& graph, ComputeSet step, unsigned tile, const Tensor& gradients, const Tensor& parameters, const Tensor& velocity,
                const Tensor& rate) {
  const VertexRef v = add_vertex(graph, step, "UpdateParameters", tile, gradients.numElements() + 2 * parameters.numElements());
  graph.connect(v["gradients"], gradients);
  graph.connect(v["parameters"], parameters);
  graph.connect(v["velocity"], velocity);
  graph.connect(v["rate"], rate);
  graph.setInitialValue(v["momentum"], kMomentum);
}

Program add_backward(Graph& graph, const Network& n) {
  const ComputeSet hidden = graph.addComputeSet("hidden_gradient");
  const ComputeSet update = graph.addComputeSet("update");
  for (unsigned p = 0; p < kParts; ++p) {
    for (unsigned u = 0; u < kHidden; ++u) {
      const VertexRef v = add_vertex(graph, hidden, "HiddenGradient", hidden_tile(p, u), 3 * kClasses * kSamples);
      graph.connect(v["hidden"], n.hidden[p][u]);
      graph.connect(v["gradient"], n.logits_gradient[p]);
      graph.connect(v["weights"], n.unit_parameters[u].slice(0, kClasses));
      graph.connect(v["out"], n.hidden_gradient[p][u]);
      graph.connect(v["parameters"], n.unit_gradient[p][u]);
    }
  }
  for (unsigned c = 0; c < kColumns; ++c) {
    // The gradients at the column's eight units, for all parts: the same 48 rows for each of the column's 49 blocks.
    const Tensor gradient = n.hidden_gradient.slice(c * kBlockUnits, (c + 1) * kBlockUnits, 1).reshape({kParts * kBlockUnits, kSamples});
    for (unsigned r = 0; r < kRows; ++r) {
      const VertexRef v = add_vertex(graph, update, "UpdateBlock", block_tile(r, c), kBlockPixels * (kBlockUnits + 1) * kBatch);
      graph.connect(v["images"], n.images[r]);
      graph.connect(v["gradient"], gradient);
      graph.connect(v["weights"], n.weights[r][c]);
      graph.connect(v["velocity"], n.velocity[r][c]);
      graph.connect(v["rate"], n.rate);
      graph.setInitialValue(v["momentum"], kMomentum);
    }
  }
  for (unsigned u = 0; u < kHidden; ++u)
    add_update(graph, update, hidden_tile(0, u), n.unit_gradient.slice(u, u + 1, 1).reshape({kParts, kClasses + 1}), n.unit_parameters[u],
               n.unit_velocity[u], n.rate);
  add_update(graph, update, kLastTile, n.output_bias_gradient.reshape({kParts * kGroups, kClasses}), n.output_bias, n.output_velocity,
             n.rate);
  return Sequence({Execute(hidden), Execute(update)});
}

// --- The host's side ------------------------------------------------------------------------------------------------

// Hears the results of every batch and shows them.
class Progress {
 public:
  Progress(const char* what, const Batches& batches) : what_(what), batches_(batches.per_round()), images_(batches.images()) {}

  void add(const float* results) {
    for (unsigned g = 0; g < kParts * kGroups; ++g) {
      loss_ += results[2 * g];
      right_ += results[2 * g + 1];
    }
    ++done_;
    const bool last = done_ == batches_;
    const double now = seconds();
    if (!last && (!terminal_ || now - shown_ < 0.05)) return;
    shown_ = now;
    show(last);
  }

  double right() const { return right_; }

 private:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(); }

  void show(bool last) const {
    const int width = 30, full = int(width * done_ / batches_);
    const double images = double(std::min(done_ * kBatch, images_));
    std::printf("%s%s [%s%s] %zu/%zu batches  %.0f batches/s  loss %.4f  right %.1f %%%s", terminal_ ? "\r\033[K" : "", what_,
                std::string(std::size_t(full), '#').c_str(), std::string(std::size_t(width - full), '.').c_str(), done_, batches_,
                double(done_) / seconds(), loss_ / images, 100 * right_ / images, last ? "\n" : "");
    std::fflush(stdout);
  }

  const char* what_;
  std::size_t batches_, images_;
  std::size_t done_ = 0;
  double loss_ = 0, right_ = 0, shown_ = 0;
  bool terminal_ = isatty(1) != 0;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

struct Arguments {
  unsigned epochs = 5;
  std::string data = "/usr/share/datasets/fashion-mnist";
};

Arguments parse(int argc, char** argv) {
  Arguments a;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    if (name == "--epochs")
      a.epochs = unsigned(std::max(1, std::atoi(argv[i + 1])));
    else if (name == "--data")
      a.data = argv[i + 1];
    else
      throw std::runtime_error("usage: train [--epochs N] [--data FOLDER]");
  }
  return a;
}

int run(const Arguments& arguments) {
  const Images train = read_images(arguments.data, "train"), test = read_images(arguments.data, "t10k");
  Batches train_batches(train, true), test_batches(test, false);

  const Device device = IPUModel("ipu2").createDevice();
  Graph graph(device.getTarget());
  graph.addCodelets(CODELETS);
  Network n;
  add_parameters(graph, n);
  add_activations(graph, n);
  const Program forward = add_forward(graph, n), loss = add_loss(graph, n), backward = add_backward(graph, n);

  const DataStream batch_in = graph.addHostToDeviceFIFO("batch", UNSIGNED_CHAR, n.batch.numElements());
  const DataStream rate_in = graph.addHostToDeviceFIFO("rate", FLOAT, 1);
  const DataStream results_out = graph.addDeviceToHostFIFO("results", FLOAT, n.results.numElements());
  // An epoch: the loop over the batches runs on the device.
  const Program epoch =
      Sequence({Copy(rate_in, n.rate), Repeat(unsigned(train_batches.per_round()),
                                              Sequence({Copy(batch_in, n.batch), forward, loss, backward, Copy(n.results, results_out)}))});
  const Program test_all =
      Repeat(unsigned(test_batches.per_round()), Sequence({Copy(batch_in, n.batch), forward, loss, Copy(n.results, results_out)}));
  Engine engine(graph, {Repeat(arguments.epochs, epoch), test_all});
  engine.load(device);

  Batches* batches = &train_batches;
  std::vector<Progress> progress;
  unsigned begun = 0;
  const auto new_progress = [&](const char* what) { progress.emplace_back(what, *batches); };
  engine.connectStreamToCallback("batch", [&](void* p) { batches->next(static_cast<unsigned char*>(p)); });
  engine.connectStreamToCallback("rate", [&](void* p) {
    *static_cast<float*>(p) = kRate * (1.0f - float(begun++) / float(arguments.epochs));
    new_progress("train");
  });
  engine.connectStreamToCallback("results", [&](void* p) { progress.back().add(static_cast<const float*>(p)); });

  engine.run(0);
  batches = &test_batches;
  new_progress("test ");
  engine.run(1);

  const double accuracy = progress.back().right() / double(test.size());
  std::printf("\n%.2f %% of the %zu test images are right (wanted: %.0f %%)\n\n", 100 * accuracy, test.size(), 100 * kWanted);
  std::fflush(stdout);
  engine.printProfileSummary(std::cout, {{"showExecutionSteps", "true"}});
  return accuracy >= kWanted ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(parse(argc, argv));
  } catch (const std::exception& e) {
    std::cerr << "train: " << e.what() << "\n";
    return 2;
  }
}
