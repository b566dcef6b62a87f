// A 2-D 9-point stencil on a 4096 x 4096 float grid over 1,472 tiles, next to an OpenMP loop written for it. Both call the same
// row function, compiled with the same flags, on the same number of threads; both are checked against each other, bit by bit.
//
// Every tile has a block of the grid with a frame of one element around it, twice. A step computes one block from the other, by
// six vertices of some rows each; then the frames are exchanged.
#include <cstddef>

#include "bench.h"
#include "codelet/hand_made.h"
#include "compile/compile.h"
#include "exec/runner.h"
#include "graph/graph.h"

namespace pando::bench {
namespace {

constexpr std::size_t kGrid = 4096, kTileRows = 46, kTileColumns = 32, kWorkers = 6;
constexpr unsigned kSteps = 20;

// One row of the result from three rows of the source; `x` points at the row's first inner element.
inline void stencil_row(const float* above, const float* x, const float* below, float* y, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    y[i] = 0.25f * x[i] + 0.125f * (above[i] + below[i] + x[i - 1] + x[i + 1]) +
           0.0625f * (above[i - 1] + above[i + 1] + below[i - 1] + below[i + 1]);
}

struct StencilObject {
  VectorEdge x, y;
  std::uint32_t width;
};
bool stencil_kernel(char* first, std::uint64_t stride, std::uint64_t count, std::uint64_t*) {
  for (std::uint64_t v = 0; v < count; ++v) {
    const auto* o = reinterpret_cast<const StencilObject*>(first + v * stride);
    const std::size_t width = o->width;
    const auto* x = static_cast<const float*>(o->x.data);
    auto* y = static_cast<float*>(o->y.data);
    for (std::size_t row = 0; row < o->y.size / width; ++row)
      stencil_row(x + row * width + 1, x + (row + 1) * width + 1, x + (row + 2) * width + 1, y + row * width + 1, width - 2);
  }
  return true;
}

Codelet stencil_codelet() {
  Codelet c = hand_made_codelet<StencilObject>("Stencil",
                                               {hand_made_field("x", FieldKind::input), hand_made_field("y", FieldKind::inout),
                                                hand_made_field("width", FieldKind::state, FieldShape::scalar, ElementType::unsigned_int)},
                                               stencil_kernel);
  c.code_bytes = 512;
  c.stack_bytes = 64;
  return c;
}

float initial(std::size_t row, std::size_t column) { return static_cast<float>((row * 131 + column * 17) % 1000) / 1000; }

// --- Over the tiles -------------------------------------------------------------------------------------------------------------

// The block of tile (r, c): rows [first, last) of the grid, columns likewise.
std::size_t row_begin(std::size_t r) { return r * kGrid / kTileRows; }
std::size_t column_begin(std::size_t c) { return c * kGrid / kTileColumns; }

class TiledStencil {
 public:
  TiledStencil() : graph_(*find_machine("ipu2"), 1) {
    graph_.library().add_builtin("bench", {stencil_codelet()});
    for (std::size_t side : {0, 1})
      for (std::size_t r = 0; r < kTileRows; ++r)
        for (std::size_t c = 0; c < kTileColumns; ++c) blocks_[side].push_back(add_block(side, r, c));
    const std::vector<graph::ProgramPtr> step = {compute(0), exchange(1), compute(1), exchange(0)};
    graph_.add_host_handle("corner", block(0, 3, 3), true, false);
    const compile::Result result =
        compile::compile(graph_, {graph::make_program(graph::Repeat{kSteps / 2, graph::make_program(graph::Sequence{step})})}, {});
    if (result.out_of_memory) throw std::runtime_error(result.out_of_memory->message());
    runner_ = std::make_unique<exec::Runner>(result.program, graph_.library(), exec::Options{});
  }

  void run() { runner_->run(0); }
  // The block of tile (3, 3), with its frame.
  std::vector<float> corner() {
    std::vector<float> out(block(0, 3, 3).num_elements());
    runner_->read("corner", out.data(), out.data() + out.size());
    return out;
  }

 private:
  graph::View block(std::size_t side, std::size_t r, std::size_t c) const { return blocks_[side][r * kTileColumns + c]; }

  graph::View add_block(std::size_t side, std::size_t r, std::size_t c) {
    const std::size_t rows = row_begin(r + 1) - row_begin(r) + 2, columns = column_begin(c + 1) - column_begin(c) + 2;
    const graph::View v = graph_.view(graph_.add_variable(ElementType::float_, {rows, columns}, "block"));
    graph_.set_tile_mapping(v, TileId(static_cast<std::uint32_t>(r * kTileColumns + c)));
    std::vector<float> values(rows * columns, 0);
    for (std::size_t i = 0; side == 0 && i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j) {
        const std::size_t row = row_begin(r) + i, column = column_begin(c) + j;  // one more than the grid's own numbers
        if (row >= 1 && row <= kGrid && column >= 1 && column <= kGrid) values[i * columns + j] = initial(row - 1, column - 1);
      }
    graph_.set_initial_value(v, std::string(reinterpret_cast<const char*>(values.data()), values.size() * 4));
    return v;
  }

  graph::ProgramPtr compute(std::size_t from) {
    const ComputeSetId set = graph_.add_compute_set("stencil");
    for (std::size_t t = 0; t < blocks_[0].size(); ++t) {
      const graph::View &x = blocks_[from][t], &y = blocks_[1 - from][t];
      const std::size_t rows = x.dim(0) - 2;
      for (std::size_t w = 0; w < kWorkers; ++w) {
        const std::size_t begin = w * rows / kWorkers, end = (w + 1) * rows / kWorkers;
        const VertexId v = graph_.add_vertex(set, "Stencil");
        graph_.set_tile_mapping(v, TileId(static_cast<std::uint32_t>(t)));
        graph_.connect({v, "x", {}}, x.slice(begin, end + 2, 0).flatten());
        graph_.connect({v, "y", {}}, y.slice(begin + 1, end + 1, 0).flatten());
        const auto width = static_cast<std::uint32_t>(x.dim(1));
        graph_.set_initial_value({v, "width", {}}, ElementType::unsigned_int, std::string(reinterpret_cast<const char*>(&width), 4), 1);
      }
    }
    return graph::make_program(graph::Execute{set, {}});
  }

  // Fills the frames of all blocks of one side from their neighbours: eight pieces per tile, one copy.
  graph::ProgramPtr exchange(std::size_t side) {
    std::vector<graph::View> from, to;
    const auto range = [](const graph::View& v, int direction, unsigned dim, bool inner) {
      const std::size_t n = v.dim(dim);
      if (direction == 0) return v.slice(1, n - 1, dim);
      if (direction < 0) return inner ? v.slice(1, 2, dim) : v.slice(0, 1, dim);
      return inner ? v.slice(n - 2, n - 1, dim) : v.slice(n - 1, n, dim);
    };
    for (int r = 0; r < static_cast<int>(kTileRows); ++r)
      for (int c = 0; c < static_cast<int>(kTileColumns); ++c)
        for (int dr : {-1, 0, 1})
          for (int dc : {-1, 0, 1}) {
            const int nr = r + dr, nc = c + dc;
            if ((dr == 0 && dc == 0) || nr < 0 || nc < 0 || nr >= static_cast<int>(kTileRows) || nc >= static_cast<int>(kTileColumns))
              continue;
            const graph::View mine = block(side, static_cast<std::size_t>(r), static_cast<std::size_t>(c));
            const graph::View theirs = block(side, static_cast<std::size_t>(nr), static_cast<std::size_t>(nc));
            to.push_back(range(range(mine, dr, 0, false), dc, 1, false).flatten());
            from.push_back(range(range(theirs, -dr, 0, true), -dc, 1, true).flatten());
          }
    return graph::make_program(graph::Copy{graph::View::concat(from, 0), graph::View::concat(to, 0)});
  }

  graph::Graph graph_;
  std::vector<graph::View> blocks_[2];
  std::unique_ptr<exec::Runner> runner_;
};

// --- The loop written for it ----------------------------------------------------------------------------------------------------

class LoopStencil {
 public:
  LoopStencil() {
    for (auto& grid : grid_) grid.assign(kWidth * kWidth, 0);
    for (std::size_t i = 0; i < kGrid; ++i)
      for (std::size_t j = 0; j < kGrid; ++j) grid_[0][(i + 1) * kWidth + j + 1] = initial(i, j);
  }
  void run() {
    for (unsigned step = 0; step < kSteps; ++step) {
      const float* x = grid_[step % 2].data();
      float* y = grid_[1 - step % 2].data();
#pragma omp parallel for schedule(static)
      for (std::size_t row = 1; row <= kGrid; ++row)
        stencil_row(x + (row - 1) * kWidth + 1, x + row * kWidth + 1, x + (row + 1) * kWidth + 1, y + row * kWidth + 1, kGrid);
    }
  }
  float at(std::size_t row, std::size_t column) const { return grid_[0][(row + 1) * kWidth + column + 1]; }

 private:
  static constexpr std::size_t kWidth = kGrid + 2;
  std::vector<float> grid_[2];
};

int run() {
  TiledStencil tiled;
  LoopStencil loop;
  tiled.run();
  loop.run();
  const std::vector<float> corner = tiled.corner();
  const std::size_t columns = column_begin(4) - column_begin(3) + 2;
  for (std::size_t i = columns; i + columns < corner.size(); ++i) {
    const std::size_t row = i / columns, column = i % columns;
    if (column == 0 || column + 1 == columns) continue;
    const float want = loop.at(row_begin(3) + row - 1, column_begin(3) + column - 1);
    if (corner[i] != want) return fmt::print("wrong: {} where the loop has {}\n", corner[i], want), 1;
  }
  double ours = 1e30, peer = 1e30;  // alternating, so that both see the same machine
  for (int i = 0; i < 5; ++i) {
    ours = std::min(ours, seconds_of([&] { tiled.run(); }));
    peer = std::min(peer, seconds_of([&] { loop.run(); }));
  }
  print_figure({.what = "9-point stencil, 4096 x 4096 floats, 1,472 tiles, one step",
                .unit = "ms",
                .ours = 1e3 * ours / kSteps,
                .peer = 1e3 * peer / kSteps,
                .peer_name = "OpenMP loop",
                .at_most = 2});
  return 0;
}

}  // namespace
}  // namespace pando::bench

int main() { return pando::bench::run(); }
