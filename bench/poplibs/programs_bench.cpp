// Loops of users over 1,472 tiles, as their programs have them (thousands of vertices, copies, library calls), beside OpenMP programs that
// call the same functions. Results are compared bit by bit. Seconds of compiling are those of the Engine's constructor.
#include <popops/DynamicSlice.hpp>
#include <popops/ElementWise.hpp>
#include <popops/Reduce.hpp>
#include <popops/codelets.hpp>
#include <poputil/TileMapping.hpp>

#include "codelets/loops.h"
#include "poplibs/programs/program.h"

namespace pando::bench {
namespace {

std::vector<float> start(std::size_t n) {
  std::vector<float> v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = static_cast<float>((i * 131) % 1000) / 1000 + 0.5f;
  return v;
}

// --- 7-point stencil: 128 x 138 rows of 256, a vertex each (17,664), around the edges ----------------------------------------------

constexpr std::size_t kPlanes = 128, kRows = 138, kDepth = 256, kSteps = 10;

void stencil(bool gathered) {
  Program p;
  Graph& g = p.graph;
  const std::size_t rows = kPlanes * kRows;
  Tensor side[2];
  for (Tensor& t : side) {
    t = g.addVariable(FLOAT, {rows, kDepth});
    poputil::mapTensorLinearly(g, t, kDepth, kDepth);
  }
  const auto step = [&](const Tensor& from, const Tensor& to) {
    const ComputeSet cs = g.addComputeSet("stencil");
    const auto tiles = g.getTileMapping(to);
    for (unsigned tile = 0; tile < tiles.size(); ++tile)
      for (const Interval& i : tiles[tile])
        for (std::size_t r = i.begin() / kDepth; r < i.end() / kDepth; ++r) {
          const std::size_t x = r / kRows, y = r % kRows;
          const auto row = [&](std::size_t a, std::size_t b) { return from[(a % kPlanes) * kRows + b % kRows]; };
          const std::vector<Tensor> five = {row(x, y), row(x + kPlanes - 1, y), row(x + 1, y), row(x, y + kRows - 1), row(x, y + 1)};
          const VertexRef v = g.addVertex(cs, gathered ? "StencilGathered" : "StencilRow");
          g.setTileMapping(v, tile);
          g.connect(v["out"], to[r]);
          if (gathered) {
            g.connect(v["rows"], concat(five));
            continue;
          }
          const char* names[] = {"own", "up", "down", "near", "far"};
          for (std::size_t k = 0; k < 5; ++k) g.connect(v[names[k]], five[k]);
        }
    return Execute(cs);
  };
  g.createHostWrite("in", side[0]);
  g.createHostRead("out", side[0]);
  const Sequence both{step(side[0], side[1]), step(side[1], side[0])};
  const double compiling = p.compile(Repeat(kSteps / 2, both));
  std::vector<float> grid[2] = {start(rows * kDepth), std::vector<float>(rows * kDepth)};
  p.write("in", grid[0]);
  const auto loop = [&] {
    for (std::size_t s = 0; s < kSteps; ++s) {
      const float* from = grid[s % 2].data();
      float* to = grid[1 - s % 2].data();
#pragma omp parallel for schedule(static)
      for (std::size_t r = 0; r < rows; ++r) {
        const std::size_t x = r / kRows, y = r % kRows;
        const auto row = [&](std::size_t a, std::size_t b) { return from + ((a % kPlanes) * kRows + b % kRows) * kDepth; };
        stencil_row(row(x, y), row(x + kPlanes - 1, y), row(x + 1, y), row(x, y + kRows - 1), row(x, y + 1), to + r * kDepth, kDepth);
      }
    }
  };
  const Times t = race(p, loop);
  check_equal("stencil", p.read<float>("out", grid[0].size()), grid[0]);
  print(fmt::format("7-point stencil, 17,664 vertices, {}, one step", gathered ? "rows gathered" : "rows as edges"), kSteps, t, 1.3,
        compiling, 0.5);
}

// --- D2Q9 lattice: 1,472 x 1,024 cells, a vertex a row --------------------------------------------------------------------------------

constexpr std::size_t kLatticeRows = 1472, kLatticeWidth = 1024, kLatticeSteps = 10;
constexpr int kUp[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};

void lattice() {
  Program p;
  Graph& g = p.graph;
  Tensor side[2];
  for (Tensor& t : side) {
    t = g.addVariable(FLOAT, {kLatticeRows, 9, kLatticeWidth});
    poputil::mapTensorLinearly(g, t, 9 * kLatticeWidth, 9 * kLatticeWidth);
  }
  const auto from_row = [](std::size_t r, std::size_t q) {
    return (r + kLatticeRows - static_cast<std::size_t>(kUp[q] + 1) + 1) % kLatticeRows;
  };
  const auto step = [&](const Tensor& from, const Tensor& to) {
    const ComputeSet cs = g.addComputeSet("lattice");
    for (std::size_t r = 0; r < kLatticeRows; ++r) {
      const VertexRef v = g.addVertex(cs, "LatticeRow");
      g.setTileMapping(v, static_cast<unsigned>(r));
      std::vector<Tensor> in, out;
      for (std::size_t q = 0; q < 9; ++q) in.push_back(from[from_row(r, q)][q]), out.push_back(to[r][q]);
      g.connect(v["in"], in);
      g.connect(v["out"], out);
      g.setInitialValue(v["width"], static_cast<unsigned>(kLatticeWidth));
      g.setInitialValue(v["omega"], 1.2f);
    }
    return Execute(cs);
  };
  g.createHostWrite("in", side[0]);
  g.createHostRead("out", side[0]);
  const Sequence both{step(side[0], side[1]), step(side[1], side[0])};
  const double compiling = p.compile(Repeat(kLatticeSteps / 2, both));
  const std::size_t n = kLatticeRows * 9 * kLatticeWidth;
  std::vector<float> grid[2] = {start(n), std::vector<float>(n)};
  p.write("in", grid[0]);
  const auto loop = [&] {
    for (std::size_t s = 0; s < kLatticeSteps; ++s) {
      const float* from = grid[s % 2].data();
      float* to = grid[1 - s % 2].data();
#pragma omp parallel for schedule(static)
      for (std::size_t r = 0; r < kLatticeRows; ++r) {
        const float* f[9];
        float* o[9];
        for (std::size_t q = 0; q < 9; ++q) {
          f[q] = from + (from_row(r, q) * 9 + q) * kLatticeWidth;
          o[q] = to + (r * 9 + q) * kLatticeWidth;
        }
        lattice_row(f, o, kLatticeWidth, 1.2f);
      }
    }
  };
  const Times t = race(p, loop);
  check_equal("lattice", p.read<float>("out", n), grid[0]);
  print("D2Q9 lattice, 1,472 x 1,024 cells, one step", kLatticeSteps, t, 1.0, compiling, 0.5);
}

// --- Histogram of 64 million bytes: 17,664 vertices with a table each ----------------------------------------------------------------

void histogram() {
  constexpr std::size_t kWorkers = 12, kVertices = 1472 * kWorkers, kShare = 3584, kBytes = kVertices * kShare;
  Program p;
  Graph& g = p.graph;
  const Tensor in = g.addVariable(UNSIGNED_CHAR, {kVertices, kShare}), counts = g.addVariable(UNSIGNED_INT, {kVertices, 256});
  const ComputeSet cs = g.addComputeSet("count");
  for (std::size_t v = 0; v < kVertices; ++v) {
    const unsigned tile = static_cast<unsigned>(v / kWorkers);
    g.setTileMapping(in[v], tile);
    g.setTileMapping(counts[v], tile);
    g.setTileMapping(g.addVertex(cs, "CountBytes", {{"in", in[v]}, {"counts", counts[v]}}), tile);
  }
  Sequence prog{Execute(cs)};
  const Tensor all = popops::reduce(g, counts, {0}, popops::Operation::ADD, prog);
  g.createHostWrite("in", in);
  g.createHostRead("out", all);
  const double compiling = p.compile(prog);
  std::vector<unsigned char> bytes(kBytes);
  for (std::size_t i = 0; i < kBytes; ++i) bytes[i] = static_cast<unsigned char>((i * 2654435761u) >> 13);
  p.write("in", bytes);
  std::vector<unsigned> expected(256);
  const auto loop = [&] {
    std::fill(expected.begin(), expected.end(), 0u);
#pragma omp parallel
    {
      unsigned own[256], sum[256] = {};
#pragma omp for schedule(static) nowait
      for (std::size_t v = 0; v < kVertices; ++v) {
        count_bytes(bytes.data() + v * kShare, kShare, own);
        for (std::size_t k = 0; k < 256; ++k) sum[k] += own[k];
      }
#pragma omp critical
      for (std::size_t k = 0; k < 256; ++k) expected[k] += sum[k];
    }
  };
  const Times t = race(p, loop);
  check_equal("histogram", p.read<unsigned>("out", 256), expected);
  print("histogram of 63 MB, 17,664 vertices", 1, t, 1.0, compiling, 0.5);
}

// --- Transpose of 4,000 x 4,000 floats by one Copy ---------------------------------------------------------------------------------------

void transpose() {
  constexpr std::size_t kSide = 4000, kBlock = 32;
  Program p;
  Graph& g = p.graph;
  const Tensor a = g.addVariable(FLOAT, {kSide, kSide}), b = g.addVariable(FLOAT, {kSide, kSide});
  for (const Tensor& t : {a, b}) poputil::mapTensorLinearly(g, t);
  g.createHostWrite("in", a);
  g.createHostRead("out", b);
  const double compiling = p.compile(Copy(a.transpose(), b));
  const std::vector<float> from = start(kSide * kSide);
  std::vector<float> to(kSide * kSide);
  p.write("in", from);
  const auto loop = [&] {
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < kSide; i += kBlock)
      for (std::size_t j = 0; j < kSide; j += kBlock)
        for (std::size_t x = i; x < std::min(kSide, i + kBlock); ++x)
          for (std::size_t y = j; y < std::min(kSide, j + kBlock); ++y) to[x * kSide + y] = from[y * kSide + x];
  };
  const Times t = race(p, loop);
  check_equal("transpose", p.read<float>("out", to.size()), to);
  print("transpose of 4,000 x 4,000 floats by a Copy, 1,472 tiles", 1, t, 2.0, compiling, 3.0);
}

// --- Product of 128 x 128 floats as one vertex an element, which gathers a column: its elements are on 128 tiles ------------------------

void product() {
  constexpr std::size_t kSide = 128;
  Program p;
  Graph& g = p.graph;
  const Tensor a = g.addVariable(FLOAT, {kSide, kSide}), b = g.addVariable(FLOAT, {kSide, kSide}), c = g.addVariable(FLOAT, {kSide, kSide});
  const ComputeSet cs = g.addComputeSet("product");
  for (std::size_t i = 0; i < kSide; ++i) {
    const unsigned tile = static_cast<unsigned>(i);
    for (const Tensor& t : {a, b, c}) g.setTileMapping(t[i], tile);
    for (std::size_t k = 0; k < kSide; ++k)
      g.setTileMapping(g.addVertex(cs, "Dot", {{"row", a[i]}, {"column", b.transpose()[k]}, {"out", c[i][k]}}), tile);
  }
  g.createHostWrite("a", a);
  g.createHostWrite("b", b);
  g.createHostRead("c", c);
  const double compiling = p.compile(Execute(cs));
  const std::vector<float> x = start(kSide * kSide);
  std::vector<float> y(kSide * kSide);
  p.write("a", x);
  p.write("b", x);
  const auto loop = [&] {
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < kSide; ++i)
      for (std::size_t k = 0; k < kSide; ++k) y[i * kSide + k] = dot(&x[i * kSide], &x[k], kSide, kSide);
  };
  const Times t = race(p, loop);
  check_equal("product", p.read<float>("c", y.size()), y);
  print("product of 128 x 128 floats, a vertex an element, columns gathered", 1, t, 0, compiling, 2.5);
}

// --- dynamicUpdate of a row in a loop ----------------------------------------------------------------------------------------------------

void update() {
  constexpr std::size_t kTableRows = 100, kColumns = 50;
  Program p;
  Graph& g = p.graph;
  const Tensor table = g.addVariable(FLOAT, {kTableRows, kColumns}), row = g.addVariable(FLOAT, {1, kColumns}),
               offset = g.addVariable(UNSIGNED_INT, {1}), one = g.addConstant<unsigned>(UNSIGNED_INT, {1}, 1);
  poputil::mapTensorLinearly(g, table);
  for (const Tensor& t : {row, offset, one}) g.setTileMapping(t, 0);
  Sequence step;
  popops::dynamicUpdate(g, table, row, offset, {0}, {1}, step);
  popops::addInPlace(g, offset, one, step);
  g.createHostWrite("in", row);
  g.createHostWrite("offset", offset);
  g.createHostRead("out", table);
  const double compiling = p.compile(Repeat(kTableRows, step));
  const std::vector<float> values = start(kColumns);
  std::vector<float> expected(kTableRows * kColumns);
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = values[i % kColumns];
  p.write("in", values);
  p.write("offset", std::vector<unsigned>{0});
  const double seconds = best_of(5, [&] { p.engine->run(0); });
  check_equal("dynamicUpdate", p.read<float>("out", expected.size()), expected);
  print_figure({"dynamicUpdate of a row of 100 x 50 floats in a loop, one", "us", 1e6 * seconds / kTableRows, 0, "", 100});
  print_figure({"dynamicUpdate: compiling", "s", compiling, 0, "", 0.5});
}

void run(const std::string& only) {
  const auto wanted = [&](const char* name) { return only.empty() || only == name; };
  if (wanted("stencil")) stencil(false);
  if (wanted("gathered")) stencil(true);
  if (wanted("lattice")) lattice();
  if (wanted("histogram")) histogram();
  if (wanted("transpose")) transpose();
  if (wanted("product")) product();
  if (wanted("update")) update();
  if (wanted("sparse")) sparse_product();
  if (wanted("sort")) sample_sort();
}

}  // namespace
}  // namespace pando::bench

int main(int argc, char** argv) {
  return pando::bench::exit_status("programs_bench", [&] { pando::bench::run(argc > 1 ? argv[1] : ""); });
}
