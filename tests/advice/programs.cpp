// Programs as users write them, one for each rule of advice: `advice_programs RULE before` has what the rule finds, `advice_programs RULE
// after` the change that it asks for. test_advice.py runs both.
#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplar/IPUModel.hpp>
#include <poplar/Program.hpp>
#include <poplar/VertexIntrospector.hpp>
#include <popops/ElementWise.hpp>
#include <popops/Zero.hpp>
#include <popops/codelets.hpp>
#include <poputil/TileMapping.hpp>

#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <vector>

namespace {

using namespace poplar;
using namespace poplar::program;

constexpr unsigned kTiles = 64;

// `after`: with the change that the advice asks for.
using Build = std::function<Program(Graph&, bool after)>;

Tensor on_tiles(Graph& graph, const std::string& name, std::size_t elements, unsigned first, unsigned tiles) {
  const Tensor t = graph.addVariable(FLOAT, {elements}, name);
  const std::size_t part = elements / tiles;
  for (unsigned i = 0; i < tiles; ++i) graph.setTileMapping(t.slice(i * part, i + 1 == tiles ? elements : (i + 1) * part), first + i);
  return t;
}

Tensor on_all_tiles(Graph& graph, const std::string& name, std::size_t elements) { return on_tiles(graph, name, elements, 0, kTiles); }

// Half of the elements on one tile, the rest on all others.
Program unbalanced(Graph& graph, bool after) {
  const Tensor x = after ? on_all_tiles(graph, "x", 64 * 1024) : graph.addVariable(FLOAT, {64 * 1024}, "x");
  if (!after) {
    graph.setTileMapping(x.slice(0, 32 * 1024), 0);
    for (unsigned t = 1; t < kTiles; ++t)
      graph.setTileMapping(x.slice(32 * 1024 + (t - 1) * 520, t + 1 == kTiles ? 64 * 1024 : 32 * 1024 + t * 520), t);
  }
  Sequence work;
  popops::expInPlace(graph, x, work, "squash");
  return Repeat(20, work);
}

// What is added lies on other tiles than what it is added to.
Program exchange_bound(Graph& graph, bool after) {
  const Tensor sum = on_tiles(graph, "sum", 32 * 1024, 0, 32), x = on_tiles(graph, "x", 32 * 1024, after ? 0 : 32, 32);
  Sequence work;
  popops::addInPlace(graph, sum, x, work, "add");
  return Repeat(20, work);
}

// Many small tensors, to each of which another one is added that lies elsewhere: an operation for each, or one for all.
Program sync_bound(Graph& graph, bool after) {
  std::vector<Tensor> sums, others;
  for (unsigned i = 0; i < 100; ++i) {
    sums.push_back(on_all_tiles(graph, "sum" + std::to_string(i), kTiles * 2));
    others.push_back(on_all_tiles(graph, "other" + std::to_string(i), kTiles * 2).reverse(0));
  }
  Sequence work;
  if (after) {
    popops::addInPlace(graph, concat(sums), concat(others), work, "add");
  } else {
    for (unsigned i = 0; i < 100; ++i) popops::addInPlace(graph, sums[i], others[i], work, "add");
  }
  return Repeat(20, work);
}

// A matrix on each tile, which is read turned at every step; or turned once.
Program rearrangement(Graph& graph, bool after) {
  const Tensor m = on_all_tiles(graph, "matrices", kTiles * 64 * 64).reshape({kTiles, 64, 64}),
               sum = on_all_tiles(graph, "sum", kTiles * 64 * 64).reshape({kTiles, 64, 64});
  Tensor turned = m.dimShuffle({0, 2, 1});
  Sequence once, work;
  if (after) {
    const Tensor kept = on_all_tiles(graph, "turned", kTiles * 64 * 64).reshape({kTiles, 64, 64});
    once.add(Copy(turned, kept));
    turned = kept;
  }
  popops::addInPlace(graph, sum, turned, work, "add");
  once.add(Repeat(50, work));
  return once;
}

// A matrix with a row on each tile, of which each tile reads a column at every step; or turned once.
Program one_by_one(Graph& graph, bool after) {
  const Tensor m = on_all_tiles(graph, "rows", kTiles * 256).reshape({kTiles, 256}),
               sum = on_all_tiles(graph, "sum", kTiles * 256).reshape({256, kTiles});
  Tensor turned = m.transpose();
  Sequence once, work;
  if (after) {
    const Tensor kept = on_all_tiles(graph, "columns", kTiles * 256).reshape({256, kTiles});
    once.add(Copy(turned, kept));
    turned = kept;
  }
  popops::addInPlace(graph, sum, turned, work, "add");
  once.add(Repeat(50, work));
  return once;
}

Program few_tiles(Graph& graph, bool after) {
  const Tensor x = on_tiles(graph, "x", 32 * 1024, 0, after ? kTiles : 4);
  Sequence work;
  popops::expInPlace(graph, x, work, "squash");
  return Repeat(20, work);
}

// A codelet of the user's own: one vertex for a tile, or one for each worker.
Program few_workers(Graph& graph, bool after) {
  graph.addCodelets("scale.cpp");
  const Tensor x = on_all_tiles(graph, "x", kTiles * 600);
  const ComputeSet work = graph.addComputeSet("scale");
  const unsigned parts = after ? 6 : 1;
  for (unsigned t = 0; t < kTiles; ++t)
    for (unsigned p = 0; p < parts; ++p) {
      const std::size_t first = t * 600 + p * 600 / parts;
      graph.setTileMapping(graph.addVertex(work, "Scale", {{"x", x.slice(first, first + 600 / parts)}}), t);
    }
  return Repeat(20, Execute(work));
}

// 64 numbers come from the host for each step; or those of all steps at once.
Program host_bound(Graph& graph, bool after) {
  const std::size_t steps = 50, each = 64;
  const Tensor all = on_all_tiles(graph, "x", after ? steps * each : each), sum = on_all_tiles(graph, "sum", kTiles * 1024);
  const DataStream in = graph.addHostToDeviceFIFO("in", FLOAT, all.numElements());
  Sequence work, once;
  popops::expInPlace(graph, sum, work, "squash");
  if (after) return Sequence({Copy(in, all), Repeat(steps, work)});
  once.add(Copy(in, all));
  once.add(work);
  return Repeat(steps, once);
}

// A codelet that computes with double, which nobody can count; or with the estimator of who knows it.
Program unestimated(Graph& graph, bool after) {
  graph.addCodelets("scale.cpp");
  if (after)
    graph.registerPerfEstimator("Precise", [](const VertexIntrospector& v, const Target&) -> VertexPerfEstimate {
      return VertexPerfEstimate(std::uint64_t{20} + 60 * v.getFieldInfo("x").size());
    });
  const Tensor x = on_all_tiles(graph, "x", kTiles * 100);
  const ComputeSet work = graph.addComputeSet("precise");
  for (unsigned t = 0; t < kTiles; ++t) graph.setTileMapping(graph.addVertex(work, "Precise", {{"x", x.slice(t * 100, t * 100 + 100)}}), t);
  return Execute(work);
}

// A codelet that wants its data in interleaved memory, which begins at 208 KiB; or one that takes them anywhere.
Program gaps(Graph& graph, bool after) {
  graph.addCodelets("scale.cpp");
  const Tensor x = on_all_tiles(graph, "x", kTiles * 600);
  const ComputeSet work = graph.addComputeSet("scale");
  for (unsigned t = 0; t < kTiles; ++t)
    graph.setTileMapping(graph.addVertex(work, after ? "Scale" : "ScaleInterleaved", {{"x", x.slice(t * 600, t * 600 + 600)}}), t);
  return Execute(work);
}

// Two phases, each with a temporary: it is read before it is written, or it is written whole first, so that both can lie at one place.
Program always_live(Graph& graph, bool after) {
  Tensor x = on_tiles(graph, "x", 4 * 1024, 0, 4);
  Sequence work;
  for (const std::string name : {"first", "second"}) {
    const Tensor temporary = on_tiles(graph, name, 4 * 50 * 1024, 0, 4);
    if (after) popops::zero(graph, temporary, work, "clear");
    popops::addInPlace(graph, temporary.slice(0, 4 * 1024), x, work, "add");
    popops::expInPlace(graph, temporary, work, "squash");
    work.add(Copy(temporary.slice(0, 4 * 1024), x));
  }
  return work;
}

// The same steps, written out; or in a loop.
Program loadable_code(Graph& graph, bool after) {
  const Tensor a = on_all_tiles(graph, "a", kTiles * 16), b = on_all_tiles(graph, "b", kTiles * 16);
  Sequence step, all;
  step.add(Copy(a.reverse(0), b));
  popops::addInPlace(graph, a, b, step, "add");
  if (after) return Repeat(4500, step);
  for (unsigned i = 0; i < 4500; ++i) all.add(step);
  return all;
}

// What is added lies on another tile than what it is added to, and is copied there.
Program exchange_buffers(Graph& graph, bool after) {
  const Tensor sum = on_tiles(graph, "sum", 20 * 1024, 0, 1), x = on_tiles(graph, "x", 20 * 1024, after ? 0 : 1, 1);
  Sequence work;
  popops::addInPlace(graph, sum, x, work, "add");
  return work;
}

// A megabyte on one tile; or over as many tiles as the advice says.
Program out_of_memory(Graph& graph, bool after) {
  const Tensor x = on_tiles(graph, "x", 256 * 1024, 0, after ? 2 : 1);
  Sequence work;
  popops::expInPlace(graph, x, work, "squash");
  return work;
}

#define RULE(name) {#name, name}
const std::map<std::string, Build> kPrograms = {RULE(unbalanced),       RULE(exchange_bound), RULE(sync_bound),  RULE(rearrangement),
                                                RULE(one_by_one),       RULE(few_tiles),      RULE(few_workers), RULE(host_bound),
                                                RULE(unestimated),      RULE(gaps),           RULE(always_live), RULE(loadable_code),
                                                RULE(exchange_buffers), RULE(out_of_memory)};

}  // namespace

int main(int argc, char** argv) {
  const std::string rule = argc == 3 ? argv[1] : "", version = argc == 3 ? argv[2] : "";
  const auto found = kPrograms.find(rule);
  if (found == kPrograms.end() || (version != "before" && version != "after")) {
    std::cerr << "advice_programs RULE before|after; rules:";
    for (const auto& [name, build] : kPrograms) std::cerr << " " << name;
    std::cerr << "\n";
    return 2;
  }
  IPUModel model;
  model.tilesPerIPU = kTiles;
  const Device device = model.createDevice();
  Graph graph(device.getTarget());
  popops::addCodelets(graph);
  const Program program = found->second(graph, version == "after");
  try {
    Engine engine(graph, program);
    std::vector<float> numbers(50 * 64);
    engine.load(device);
    if (rule == "host_bound") engine.connectStream("in", numbers.data(), numbers.data() + (version == "after" ? numbers.size() : 64));
    engine.run(0);
  } catch (const graph_memory_allocation_error&) {
    return 3;  // the report is written
  }
}
