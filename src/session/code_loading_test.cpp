// Code that is loaded when it is needed: what a tile's memory holds.
#include "session/session.h"

#include "ir/semantics/interpreter.h"

#include <gtest/gtest.h>
#include <poplar/exceptions.hpp>

#include <numeric>
#include <sstream>

namespace pando::session {
namespace {

using namespace ir;

constexpr std::int64_t kSide = 160;
constexpr int kTimes = 3;

// The rows (or columns) of a matrix in a random order: a view.
TensorId shuffled(Builder& b, GraphId g, TensorId x, std::int64_t axis, std::uint64_t& random) {
  std::vector<TensorId> pieces;
  std::vector<std::int64_t> order(kSide);
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    std::swap(order[i - 1], order[(random >> 33) % i]);
  }
  for (std::int64_t i : order) {
    pieces.push_back(
        b.op(g, "slice", std::array{x}, {{"start", Ints{i}}, {"stop", Ints{i + 1}}, {"step", Ints{1}}, {"axis", Ints{axis}}})[0]);
  }
  return b.op(g, "concat", pieces, {{"axis", axis}})[0];
}

// Shuffles the matrix and changes some signs, several times over: each time, every tile exchanges single elements with every other one.
GraphId mixing(Builder& b, const std::string& name, std::uint64_t random) {
  const GraphId g = b.create_graph(name);
  TensorId x = b.add_input(g, tensor_type(DType::float32, {kSide, kSide}), "x");
  HostTensor data(DType::float32, {kSide, kSide});
  for (std::int64_t i = 0; i < data.elements(); ++i) data.set(i, i % 7 < 3 ? 1 : -1);
  const TensorId signs = b.add_constant(g, data, "signs");
  for (int i = 0; i < kTimes; ++i) {
    const TensorId mixed = shuffled(b, g, shuffled(b, g, x, 0, random), 1, random);
    x = b.op(g, "mul", std::array{signs, mixed})[0];
  }
  b.add_output(g, x);
  return g;
}

struct Program {
  Builder b;
  std::vector<HostStreamId> outs;

  Program(int graphs, bool loads) {
    b.push_sequence(SequenceMode::ordered);
    Module& m = b.module();
    const GraphId main = m.main_graph();
    HostTensor data(DType::float32, {kSide, kSide});
    for (std::int64_t i = 0; i < data.elements(); ++i) data.set(i, static_cast<double>(i % 89));
    State s;
    s.type = m.type(tensor_type(DType::float32, {kSide, kSide}));
    const TensorId x = b.add_variable(s, std::move(data), "x");
    for (int i = 0; i < graphs; ++i) {
      const GraphId g = mixing(b, "g" + std::to_string(i), static_cast<std::uint64_t>(i));
      if (loads) b.op(main, "remote_code_load", {}, {{"destination", std::string("executable")}}, std::array{g});
      for (int times = 0; times < 2; ++times) {
        const TensorId y = b.op(main, "call", std::array{x}, {}, std::array{g})[0];
        outs.push_back(m.add_stream({"out", HostStream::Direction::device_to_host, DType::float32, {kSide, kSide}}));
        b.op(main, "host_store", std::array{y}, {{"stream", outs.back()}});
      }
    }
    b.finish();
  }
};

Options four_tiles() {
  Options options;
  options.tiles_per_ipu = 4;
  return options;
}

// The largest item of a category in the report's list, KiB on all tiles.
double kib_of(const std::string& report, const std::string& category) {
  const std::size_t list = report.find("Largest variables"), at = report.find(category, list);
  if (list == std::string::npos || at == std::string::npos) return 0;
  const std::size_t begin = report.rfind('\n', at) + 1;
  std::istringstream line(report.substr(begin, at - begin));
  double size = 0;
  std::string unit;
  line >> size >> unit;
  return unit == "MiB" ? 1024 * size : unit == "KiB" ? size : 0;
}

// Of the 624 KiB of a tile, 208 can hold code.
TEST(CodeLoading, graphs_that_do_not_fit_together_do_one_at_a_time) {
  Program alone(1, false);
  Session one(alone.b, four_tiles());
  const double own = kib_of(one.profile_summary(), "exchange code"), memory = 4 * 208;
  EXPECT_GT(own, memory / 2) << one.profile_summary();
  Program together(2, false);
  EXPECT_THROW(Session(together.b, four_tiles()), poplar::graph_memory_allocation_error);
  Program loaded(2, true);
  Interpreter reference(loaded.b.module());
  reference.run();
  Session session(loaded.b, four_tiles());
  // The code of both is in the report, and is more than the tiles have.
  EXPECT_GT(kib_of(session.profile_summary(), "exchange code"), memory) << session.profile_summary();
  session.attach();
  session.weights_from_host();
  std::vector<HostTensor> found(loaded.outs.size(), HostTensor(DType::float32, {1, 1, kSide, kSide}));
  std::vector<OutputData> outputs;
  for (std::size_t i = 0; i < found.size(); ++i) outputs.push_back({loaded.outs[i], found[i].writable(), 1});
  session.run({}, outputs);
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], reference.output(loaded.outs[i], 1)) << i;
}

}  // namespace
}  // namespace pando::session
