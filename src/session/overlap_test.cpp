// Transfers on IO tiles beside computing on the others, as the report shows it.
#include "session/session.h"

#include "ir/semantics/interpreter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <sstream>

namespace pando::session {
namespace {

using namespace ir;

constexpr std::int64_t kSide = 128, kBatches = 6;

// Each batch is loaded while the one before it is computed.
struct Program {
  Builder b;
  HostStreamId in, out;

  Program() {
    Module& m = b.module();
    const GraphId main = m.main_graph();
    const auto op = [&](std::string_view name, std::vector<TensorId> operands, Attributes a = {}) {
      const std::vector<TensorId> results = b.op(main, name, operands, a);
      return results.empty() ? TensorId() : results[0];
    };
    b.push_sequence(SequenceMode::ordered);
    in = m.add_stream({"in", HostStream::Direction::host_to_device, DType::float32, {kSide, kSide}});
    out = m.add_stream({"out", HostStream::Direction::device_to_host, DType::float32, {kSide, kSide}});
    HostTensor weight(DType::float32, {kSide, kSide});
    for (std::int64_t i = 0; i < weight.elements(); ++i) weight.set(i, i % (kSide + 1) == 0 ? 1 : 0);
    State s;
    s.type = m.type(tensor_type(DType::float32, {kSide, kSide}));
    const TensorId w = b.add_variable(s, std::move(weight), "w");
    const auto load = [&] {
      b.set_io_tiles(true);
      return op("host_load", {}, {{"stream", in}});
    };
    TensorId next = load();
    for (std::int64_t i = 0; i < kBatches; ++i) {
      b.set_io_tiles(false);
      TensorId x = op("io_tile_copy", {next}, {{"tile_set", std::string("compute")}});
      if (i + 1 < kBatches) next = load();
      b.set_io_tiles(false);
      for (int times = 0; times < 4; ++times) x = op("matmul", {x, w});
      b.set_io_tiles(true);
      op("host_store", {op("io_tile_copy", {x}, {{"tile_set", std::string("io")}})}, {{"stream", out}});
    }
    b.finish();
  }
};

// Of the report's lines by stream: the numbers behind a stream's name.
std::vector<double> line_of(const std::string& report, const std::string& stream) {
  std::istringstream lines(report);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    std::vector<double> numbers;
    if (!(words >> name) || name != stream) continue;
    for (std::string word; words >> word;) {
      std::erase(word, ',');
      const std::size_t unit = std::string_view("kMG").find(word);
      if (unit != std::string_view::npos && !numbers.empty()) {
        numbers.back() *= unit == 0 ? 1e3 : unit == 1 ? 1e6 : 1e9;
      } else if (std::isdigit(static_cast<unsigned char>(word[0]))) {
        numbers.push_back(std::stod(word));
      } else {
        break;
      }
    }
    if (numbers.size() == 8) return numbers;
  }
  return {};
}

TEST(Overlap, loads_on_io_tiles_run_beside_computing) {
  Program p;
  Options options;
  options.tiles_per_ipu = 8;
  options.settings.set("num_io_tiles", std::int64_t{4});
  options.settings.set("check_ambiguity", false);
  Session session(p.b, options);
  session.attach();
  session.weights_from_host();
  HostTensor data(DType::float32, {kBatches, 1, kSide, kSide}), found(DType::float32, {kBatches, 1, kSide, kSide});
  for (std::int64_t i = 0; i < data.elements(); ++i) data.set(i, static_cast<double>(i % 251));
  const InputData from{p.in, data.data(), kBatches};
  const OutputData to{p.out, found.writable(), kBatches};
  session.run({&from, 1}, {&to, 1});
  EXPECT_EQ(found, data);  // the weight is the identity
  const std::string report = session.profile_summary();
  // compute, exchange, local copy, sync, between IPUs, host, waiting, total
  const std::vector<double> compute = line_of(report, "ipu0.compute"), io = line_of(report, "ipu0.io");
  ASSERT_EQ(compute.size(), 8u) << report;
  ASSERT_EQ(io.size(), 8u) << report;
  EXPECT_EQ(compute[5], 0) << "the tiles that compute meet no host\n" << report;
  EXPECT_GT(io[5], 0) << report;
  EXPECT_GT(compute[0], 0) << report;
  // One after the other, both would take the sum of what they are busy with. The first load and the last store have nothing beside them.
  const double busy = compute[7] - compute[6] + io[7] - io[6], together = std::max(compute[7], io[7]);
  EXPECT_LT(together, busy - 0.4 * io[5]) << report;
}

}  // namespace
}  // namespace pando::session
