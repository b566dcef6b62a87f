// Rows of a table by index, and updates of them, beside hand loops on as many threads, with the cycles of the machine that plans for the
// host's time and plans for cycles are modelled to take; sorting, beside std::sort on one thread.
#include <memory>
#include <random>

#include <poplar/CycleCount.hpp>
#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplar/IPUModel.hpp>
#include <poplar/Program.hpp>
#include <popops/DynamicSlice.hpp>
#include <popops/Sort.hpp>
#include <popops/TopK.hpp>
#include <popops/codelets.hpp>

#include "bench.h"

namespace pando::bench {
namespace {

using poplar::Tensor;
using poplar::program::Sequence;

constexpr std::size_t kRows = 100'000, kColumns = 64, kLookups = 10'000, kKeys = 1'000'000;
constexpr unsigned kRuns = 40;

std::vector<unsigned> random_indices() {
  std::mt19937 random(1);
  std::vector<unsigned> out(kLookups);
  for (unsigned& i : out) i = static_cast<unsigned>(random() % kRows);
  return out;
}

std::vector<float> random_floats(std::size_t n) {
  std::mt19937 random(2);
  std::vector<float> out(n);
  for (float& f : out) f = static_cast<float>(random() % 4096) - 2048;
  return out;
}

// Best time of work(thread) on all threads at once.
double on_threads(unsigned threads, const std::function<void(unsigned)>& work) {
  return best_of(kRuns, [&] {
    std::vector<std::thread> team;
    for (unsigned t = 0; t < threads; ++t) team.emplace_back(work, t);
    for (std::thread& t : team) t.join();
  });
}

double hand_slice(const std::vector<float>& table, const std::vector<unsigned>& indices, unsigned threads) {
  std::vector<float> out(kLookups * kColumns);
  return on_threads(threads, [&](unsigned t) {
    for (std::size_t i = kLookups * t / threads; i < kLookups * (t + 1) / threads; ++i)
      std::memcpy(&out[i * kColumns], &table[indices[i] * kColumns], kColumns * sizeof(float));
    asm volatile("" : : "r"(out.data()) : "memory");
  });
}

// Each thread updates its share of the columns: no row has two writers.
double hand_update(std::vector<float> table, const std::vector<float>& slices, const std::vector<unsigned>& indices, unsigned threads) {
  return on_threads(threads, [&](unsigned t) {
    const std::size_t begin = kColumns * t / threads, end = kColumns * (t + 1) / threads;
    for (std::size_t i = 0; i < kLookups; ++i)
      for (std::size_t c = begin; c < end; ++c) table[indices[i] * kColumns + c] += slices[i * kColumns + c];
    asm volatile("" : : "r"(table.data()) : "memory");
  });
}

struct Measured {
  double build = 0, compile = 0, run = 0, cycles = 0;
};

// What `build` adds to the program; `check` sees the engine after a run.
Measured measure(const poplar::Device& device, const std::function<void(poplar::Graph&, Sequence&)>& build,
                 const std::function<void(poplar::Engine&)>& load, const std::function<void(poplar::Engine&)>& check) {
  Measured m;
  poplar::Graph graph(device.getTarget());
  popops::addCodelets(graph);
  Sequence prog;
  m.build = seconds_of([&] { build(graph, prog); });
  const bool on_tiles = graph.getTarget().getNumTiles() > 1;
  if (on_tiles) graph.createHostRead("cycles", poplar::cycleCount(graph, prog, 0, poplar::SyncType::INTERNAL));
  std::unique_ptr<poplar::Engine> engine;
  m.compile = seconds_of([&] { engine = std::make_unique<poplar::Engine>(graph, prog); });
  engine->load(device);
  load(*engine);
  engine->run(0);
  check(*engine);
  if (on_tiles) {
    unsigned cycles[2] = {};
    engine->readTensor("cycles", cycles, cycles + 2);
    m.cycles = 4294967296.0 * cycles[1] + cycles[0];
  }
  m.run = best_of(kRuns, [&] { engine->run(0); });
  return m;
}

template <class T>
void write(poplar::Engine& engine, const char* name, const std::vector<T>& values) {
  engine.writeTensor(name, values.data(), values.data() + values.size());
}

std::vector<float> read(poplar::Engine& engine, const char* name, std::size_t n) {
  std::vector<float> out(n);
  engine.readTensor(name, out.data(), out.data() + n);
  return out;
}

void expect(bool good, const char* what) {
  if (!good) throw std::runtime_error(std::string(what) + " is wrong");
}

// On tiles: within three times the hand loop, exchange and all.
constexpr double kMostOnTiles = 3;

void show(const std::string& what, const Measured& m, double peer, const std::string& peer_name, bool on_tiles) {
  print_figure({.what = what,
                .unit = "ms",
                .ours = 1e3 * m.run,
                .peer = 1e3 * peer,
                .peer_name = peer_name,
                .at_most = on_tiles ? kMostOnTiles : 0});
  print_figure({.what = what + ": graph + compile", .unit = "s", .ours = m.build + m.compile, .at_most = 1});
}

void show_cycles(const std::string& what, const Measured& host, const Measured& machine) {
  print_figure(
      {.what = what + ", modelled", .unit = "cycles", .ours = host.cycles, .peer = machine.cycles, .peer_name = "plan for cycles"});
}

Measured slice_rows(const poplar::Device& device, const std::vector<float>& table, const std::vector<unsigned>& indices,
                    const char* objective = "hostTime") {
  return measure(
      device,
      [objective](poplar::Graph& g, Sequence& prog) {
        const popops::SlicePlan plan = popops::embedding::plan(g, poplar::FLOAT, kRows, kColumns, {kLookups},
                                                               {{"usedForUpdate", "false"}, {"pando.planObjective", objective}});
        const Tensor t = popops::createSliceableTensor(g, poplar::FLOAT, {kRows, kColumns}, {0}, {1}, plan, {});
        const Tensor i = popops::createIndicesTensor(g, {0}, kLookups, plan, {});
        g.createHostWrite("table", t);
        g.createHostWrite("indices", i);
        g.createHostRead("slices", popops::multiSlice(g, t, i, {0}, {1}, prog, plan, {}));
      },
      [&](poplar::Engine& e) { write(e, "table", table), write(e, "indices", indices); },
      [&](poplar::Engine& e) {
        const std::vector<float> out = read(e, "slices", kLookups * kColumns);
        for (std::size_t i = 0; i < kLookups; ++i)
          expect(std::equal(&out[i * kColumns], &out[i * kColumns] + kColumns, &table[indices[i] * kColumns]), "a slice");
      });
}

Measured update_rows(const poplar::Device& device, const std::vector<float>& table, const std::vector<float>& slices,
                     const std::vector<unsigned>& indices, const char* objective = "hostTime") {
  return measure(
      device,
      [objective](poplar::Graph& g, Sequence& prog) {
        const popops::SlicePlan plan = popops::embedding::plan(g, poplar::FLOAT, kRows, kColumns, {kLookups},
                                                               {{"usedForSlice", "false"}, {"pando.planObjective", objective}});
        const Tensor t = popops::createSliceableTensor(g, poplar::FLOAT, {kRows, kColumns}, {0}, {1}, plan, {});
        const Tensor s = popops::createSliceTensor(g, poplar::FLOAT, {kRows, kColumns}, {0}, {1}, kLookups, plan, {});
        const Tensor i = popops::createIndicesTensor(g, {0}, kLookups, plan, {}), scale = g.addConstant(poplar::FLOAT, {}, 1.0f);
        g.setTileMapping(scale, 0);
        g.createHostWrite("table", t);
        g.createHostRead("updated", t);
        g.createHostWrite("slices", s);
        g.createHostWrite("indices", i);
        popops::multiUpdateAdd(g, t, s, i, scale, {0}, {1}, prog, plan, {});
      },
      [&](poplar::Engine& e) { write(e, "table", table), write(e, "slices", slices), write(e, "indices", indices); },
      [&](poplar::Engine& e) {
        std::vector<float> expected = table;
        for (std::size_t i = 0; i < kLookups; ++i)
          for (std::size_t c = 0; c < kColumns; ++c) expected[indices[i] * kColumns + c] += slices[i * kColumns + c];
        expect(read(e, "updated", kRows * kColumns) == expected, "an update");
      });
}

Measured sort_keys(const poplar::Device& device, const std::vector<float>& keys) {
  return measure(
      device,
      [](poplar::Graph& g, Sequence& prog) {
        const Tensor t = g.addVariable(poplar::FLOAT, {kKeys}, poplar::VariableMappingMethod::LINEAR, "keys");
        g.createHostWrite("keys", t);
        g.createHostRead("sorted", popops::sort(g, t, 0, prog));
      },
      [&](poplar::Engine& e) { write(e, "keys", keys); },
      [&](poplar::Engine& e) {
        std::vector<float> expected = keys;
        std::sort(expected.begin(), expected.end());
        expect(read(e, "sorted", kKeys) == expected, "the order");
      });
}

Measured top_keys(const poplar::Device& device, const std::vector<float>& keys) {
  return measure(
      device,
      [](poplar::Graph& g, Sequence& prog) {
        const popops::TopKParams params(100, true, popops::SortOrder::DESCENDING);
        const Tensor t = popops::createTopKInput(g, poplar::FLOAT, {kKeys}, params);
        g.createHostWrite("keys", t);
        g.createHostRead("top", popops::topK(g, prog, t, params));
      },
      [&](poplar::Engine& e) { write(e, "keys", keys); },
      [&](poplar::Engine& e) {
        std::vector<float> expected = keys;
        std::sort(expected.begin(), expected.end(), std::greater<>());
        expected.resize(100);
        expect(read(e, "top", 100) == expected, "the largest");
      });
}

void run() {
  const unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  const std::vector<unsigned> indices = random_indices();
  const std::vector<float> table = random_floats(kRows * kColumns), slices = random_floats(kLookups * kColumns),
                           keys = random_floats(kKeys);
  for (const bool ipu : {false, true}) {
    const poplar::Device device = ipu ? poplar::IPUModel("ipu2").createDevice() : poplar::Device::createCPUDevice();
    const std::string where = ipu ? "1,472 tiles" : "CPU device";
    const std::string of = fmt::format("10^4 rows of 64 floats out of 10^5, {}: ", where);
    const Measured found = slice_rows(device, table, indices), updated = update_rows(device, table, slices, indices);
    show(of + "multiSlice", found, hand_slice(table, indices, threads), "hand loop", ipu);
    show(of + "multiUpdateAdd", updated, hand_update(table, slices, indices, threads), "hand loop", ipu);
    if (ipu) {
      show_cycles(of + "multiSlice", found, slice_rows(device, table, indices, "cycles"));
      show_cycles(of + "multiUpdateAdd", updated, update_rows(device, table, slices, indices, "cycles"));
    }
    std::vector<float> sorted;
    const double sort = best_of(3, [&] {
      sorted = keys;
      std::sort(sorted.begin(), sorted.end());
    });
    const double partial = best_of(3, [&] {
      sorted = keys;
      std::partial_sort(sorted.begin(), sorted.begin() + 100, sorted.end(), std::greater<>());
    });
    show(fmt::format("sort 10^6 floats, {}", where), sort_keys(device, keys), sort, "std::sort", ipu);
    show(fmt::format("largest 100 of 10^6 floats, {}", where), top_keys(device, keys), partial, "std::partial_sort", ipu);
  }
}

}  // namespace
}  // namespace pando::bench

int main() { return pando::bench::exit_status("slice_bench", pando::bench::run); }
