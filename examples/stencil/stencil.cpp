// A nine-point smoothing stencil on a grid that is cut into blocks, one for each tile of one IPU. Halos are exchanged by
// connecting views of the neighbours' blocks: nothing else says that data move.
//
//   stencil [rows columns double-steps]       prints a check against a plain loop, and the time of a step
#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplar/IPUModel.hpp>
#include <poplar/Program.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

using namespace poplar;
using namespace poplar::program;

// 46 x 32 blocks on 1,472 tiles. Sizes need not divide: blocks differ by a row or a column then.
const unsigned kBlockRows = 46, kBlockColumns = 32;

struct Cut {
  unsigned size, parts;
  unsigned begin(unsigned i) const { return unsigned(std::uint64_t(size) * i / parts); }
  unsigned end(unsigned i) const { return begin(i + 1); }
};

Tensor addGrid(Graph& graph, Cut rows, Cut columns, const char* name) {
  Tensor grid = graph.addVariable(FLOAT, {rows.size, columns.size}, name);
  for (unsigned r = 0; r < rows.parts; ++r)
    for (unsigned c = 0; c < columns.parts; ++c)
      graph.setTileMapping(grid.slice({rows.begin(r), columns.begin(c)}, {rows.end(r), columns.end(c)}), r * columns.parts + c);
  return grid;
}

// One step from `from` to `to`; outside the grid everything is zero.
ComputeSet addStep(Graph& graph, Cut rows, Cut columns, const Tensor& from, const Tensor& to, const Tensor& zero, const char* name) {
  ComputeSet step = graph.addComputeSet(name);
  // The grid with a rim of zeros: cell (r, c) of the grid is (r + 1, c + 1) of the view.
  const Tensor side = zero.reshape({1, 1}).broadcast(rows.size, 0);
  const Tensor above = zero.reshape({1, 1}).broadcast(columns.size + 2, 1);
  const Tensor rimmed = concat({above, concat({side, from, side}, 1), above});
  for (unsigned r = 0; r < rows.parts; ++r) {
    for (unsigned c = 0; c < columns.parts; ++c) {
      const std::size_t top = rows.begin(r), bottom = rows.end(r), left = columns.begin(c), right = columns.end(c);
      VertexRef v = graph.addVertex(step, "Stencil");
      graph.setTileMapping(v, r * columns.parts + c);
      graph.connect(v["in"], from.slice({top, left}, {bottom, right}));
      graph.connect(v["out"], to.slice({top, left}, {bottom, right}));
      graph.connect(v["north"], rimmed.slice({top, left}, {top + 1, right + 2}).flatten());
      graph.connect(v["south"], rimmed.slice({bottom + 1, left}, {bottom + 2, right + 2}).flatten());
      graph.connect(v["west"], rimmed.slice({top + 1, left}, {bottom + 1, left + 1}).flatten());
      graph.connect(v["east"], rimmed.slice({top + 1, right + 1}, {bottom + 1, right + 2}).flatten());
      // Eleven operations for two cells at a time, over six workers in turn.
      graph.setPerfEstimate(v, 60 + (bottom - top) * (right - left) * 11 / 2, (bottom - top) * (right - left) * 11);
    }
  }
  return step;
}

std::vector<float> plainStep(const std::vector<float>& g, long rows, long columns) {
  std::vector<float> out(g.size());
  auto at = [&](long r, long c) { return r < 0 || c < 0 || r >= rows || c >= columns ? 0.0f : g[r * columns + c]; };
  for (long r = 0; r < rows; ++r)
    for (long c = 0; c < columns; ++c)
      out[r * columns + c] = 0.25f * at(r, c) + 0.125f * ((at(r - 1, c) + at(r + 1, c)) + (at(r, c - 1) + at(r, c + 1))) +
                             0.0625f * ((at(r - 1, c - 1) + at(r - 1, c + 1)) + (at(r + 1, c - 1) + at(r + 1, c + 1)));
  return out;
}

double secondsOf(Engine& engine, unsigned program) {
  auto begin = std::chrono::steady_clock::now();
  engine.run(program);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

int main(int argc, char** argv) {
  auto argument = [&](int i, unsigned otherwise) { return argc > i ? unsigned(std::atoi(argv[i])) : otherwise; };
  const Cut rows = {argument(1, 200), kBlockRows}, columns = {argument(2, 300), kBlockColumns};
  const unsigned rounds = argument(3, 5);
  if (rows.size < rows.parts || columns.size < columns.parts) {
    std::printf("the grid must have at least %u x %u cells\n", rows.parts, columns.parts);
    return 2;
  }

  Device device = IPUModel("ipu2").createDevice();
  Graph graph(device.getTarget());
  graph.addCodelets("stencil_codelets.cpp");
  Tensor a = addGrid(graph, rows, columns, "a"), b = addGrid(graph, rows, columns, "b");
  Tensor zero = graph.addConstant<float>(FLOAT, {}, 0.0f);
  graph.setTileMapping(zero, 0);
  graph.createHostWrite("grid", a);
  graph.createHostRead("grid", a);
  ComputeSet forth = addStep(graph, rows, columns, a, b, zero, "forth"), back = addStep(graph, rows, columns, b, a, zero, "back");
  Program twoSteps = Sequence({Execute(forth), Execute(back)});
  Engine engine(graph, {Repeat(rounds, twoSteps), twoSteps});
  engine.load(device);

  std::vector<float> grid(std::size_t(rows.size) * columns.size), expected;
  for (std::size_t i = 0; i < grid.size(); ++i) grid[i] = float(i * 2654435761u % 1024) / 1024.0f;
  expected = grid;
  engine.writeTensor("grid", grid.data(), grid.data() + grid.size());
  engine.run(1);
  engine.readTensor("grid", grid.data(), grid.data() + grid.size());
  for (int i = 0; i < 2; ++i) expected = plainStep(expected, rows.size, columns.size);
  float worst = 0;
  for (std::size_t i = 0; i < grid.size(); ++i) worst = std::max(worst, std::fabs(grid[i] - expected[i]));
  std::printf("%u x %u cells on %u tiles: %s\n", rows.size, columns.size, rows.parts * columns.parts,
              worst < 1e-6f ? "agrees with a plain loop" : "DIFFERS from a plain loop");
  if (!(worst < 1e-6f)) return 1;

  const double seconds = secondsOf(engine, 0) / (2.0 * rounds);
  std::printf("%.3f ms for a step, %.1f million cells/s\n", 1e3 * seconds, double(grid.size()) / seconds / 1e6);
  return 0;
}
