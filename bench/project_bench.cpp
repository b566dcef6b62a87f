// A loop of 400,000 ops on 16 devices: placed, given lags, projected, checked, printed, parsed.
#include "bench.h"
#include "ir/semantics/infer.h"
#include "project/checks/check.h"
#include "project/project.h"
#include "project/text/parse.h"
#include "project/text/print.h"

namespace pando::bench {
namespace {

using namespace pando::project;

constexpr std::int32_t kDevices = 16;
constexpr std::size_t kLayers = 80'000;

ir::ValueId op(ir::Module& m, const char* name, std::initializer_list<ir::ValueId> operands) {
  return m.result(ir::infer_and_add(m, m.main_graph(), name, {operands.begin(), operands.size()}));
}

// Layers forward and backward, each with a weight and its update. The first layer of each device says where its layers lie.
ir::Module training_loop() {
  ir::Module m;
  const ir::GraphId main = m.add_graph("main");
  const ir::Shape shape{4};
  const ir::BlobId data = m.add_blob(ir::HostTensor::filled(ir::DType::float32, shape, 0.5));
  std::vector<ir::ValueId> weights, kept;
  for (std::size_t i = 0; i < kLayers; ++i) {
    ir::Type t = ir::tensor_type(ir::DType::float32, shape);
    t.place.device = ir::Device::numbered(static_cast<std::int32_t>(i * kDevices / kLayers));
    t.place.tiles = ir::TileSet::compute;
    weights.push_back(m.add_input(main, t, "w" + std::to_string(i)));
    ir::State s;
    s.name = m.name_of(weights.back());
    s.type = m.type(t);
    s.data = data;
    s.input = static_cast<std::uint32_t>(i);
    m.add_state(s);
  }
  const ir::HostStreamId x = m.add_stream({"x", ir::HostStream::Direction::host_to_device, ir::DType::float32, shape});
  ir::ValueId v = m.result(ir::infer_and_add(m, main, "host_load", {}, {{"stream", x}}));
  const auto across = [&](ir::ValueId from, std::size_t layer) {
    const std::int32_t to = m.type_of(weights[layer]).place.device.value;
    if (!m.type_of(from).place.device.known() || m.type_of(from).place.device.value == to) return from;
    return m.result(ir::infer_and_add(m, main, "send", {{from}}, {{"device", std::int64_t{to}}}));
  };
  for (std::size_t i = 0; i < kLayers; ++i) {
    v = across(v, i);
    kept.push_back(v = op(m, "mul", {weights[i], v}));
  }
  for (std::size_t i = kLayers; i-- > 0;) {
    v = across(v, i);
    const ir::ValueId gradient = op(m, "mul", {v, kept[i]});
    m.graph(main).updated_inputs[i] = op(m, "sub", {weights[i], gradient});
    v = op(m, "mul", {v, weights[i]});
  }
  return m;
}

void figure(const char* what, double seconds, std::size_t count, const char* unit, double at_most) {
  print_figure(
      {.what = fmt::format("projection: {}", what), .unit = unit, .ours = seconds * 1e6 / static_cast<double>(count), .at_most = at_most});
}

void run() {
  ir::Module module = training_loop();
  const std::size_t ops = module.op_count();
  LoopProgram loop;
  Lags lags;
  ProjectedProgram p;
  const double placed = seconds_of([&] { loop = make_loop(std::move(module), parse_policy("stash")); });
  const double solved = best_of(3, [&] { lags = solve_lags(loop); });
  const double projected = best_of(3, [&] { p = project::project(loop, lags); });
  std::size_t actions = 0, found = 1;
  for (const DeviceProgram& d : p.devices) actions += d.loop.size();
  const double checked = best_of(3, [&] { found = verify(p).size(); });
  std::string text;
  const double printed = seconds_of([&] { text = print(p); });
  ProjectedProgram again;
  const double parsed = seconds_of([&] { again = parse(text); });
  if (found != 0 || print(again) != text) {
    fmt::print("wrong: {} rules broken, or the text does not parse to the same\n", found);
    std::exit(1);
  }
  fmt::print("{} ops, {} actions on {} devices, {} trips of drain\n", ops, actions, p.devices.size(), p.drain);
  figure("placed and verified, an op", placed, ops, "us", 0);
  figure("lags, an op", solved, ops, "us", 0);
  figure("device programs, rings, streams, an action", projected, actions, "us", 0);
  figure("module to device programs, an op", placed + solved + projected, ops, "us", 1);
  figure("rules C1 to C7, an action", checked, actions, "us", 0.1);
  figure("printed, an action", printed, actions, "us", 0);
  figure("parsed, an action", parsed, actions, "us", 0);
}

}  // namespace
}  // namespace pando::bench

int main() { pando::bench::run(); }
