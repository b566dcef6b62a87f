// Sample sort of 6 million numbers over 32 x 46 tiles whose exchanges are fixed when the program is compiled: buckets have a capacity,
// their first word says how full they are. Samples of all tiles give 1,471 splitters. Each tile puts its numbers into 32 buckets, which go
// to the columns of its row; what has come it puts into 46 buckets, which go to the rows of its column; what has come then it sorts. So
// tile (r, c) ends with what lies between two splitters. The OpenMP program puts each thread's numbers into 1,472 buckets, and sorts these.
#include <algorithm>
#include <stdexcept>
#include <utility>

#include <omp.h>

#include "codelets/loops.h"
#include "poplibs/programs/program.h"

namespace pando::bench {
namespace {

constexpr std::size_t kColumns = 32, kRows = 46, kTiles = kColumns * kRows, kShare = 4096, kNumbers = kTiles * kShare;
constexpr std::size_t kSamples = 32, kToColumn = 192, kToRow = 224, kMost = 2 * kShare;  // capacities, with the word that says how full

std::vector<unsigned> numbers() {
  std::vector<unsigned> v(kNumbers);
  std::uint64_t state = 88172645463325252u;
  for (unsigned& n : v) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    n = static_cast<unsigned>(state >> 16);
  }
  return v;
}

// What the tiles have. Buckets that leave a tile lie on it; those that have come, too.
struct Tensors {
  Tensor in, samples, splitters, leave[2], come[2], out;

  explicit Tensors(Graph& g) {
    in = g.addVariable(UNSIGNED_INT, {kRows, kColumns, kShare});
    samples = g.addVariable(UNSIGNED_INT, {kTiles * kSamples});
    splitters = g.addVariable(UNSIGNED_INT, {kTiles - 1});
    leave[0] = g.addVariable(UNSIGNED_INT, {kRows, kColumns, kColumns, kToColumn});  // row, column, to column
    come[0] = g.addVariable(UNSIGNED_INT, {kRows, kColumns, kColumns, kToColumn});   // row, column, from column
    leave[1] = g.addVariable(UNSIGNED_INT, {kRows, kColumns, kRows, kToRow});        // row, column, to row
    come[1] = g.addVariable(UNSIGNED_INT, {kRows, kColumns, kRows, kToRow});         // row, column, from row
    out = g.addVariable(UNSIGNED_INT, {kRows, kColumns, kMost});
    g.setTileMapping(samples, 0);
    g.setTileMapping(splitters, 0);
    for (std::size_t r = 0; r < kRows; ++r)
      for (std::size_t c = 0; c < kColumns; ++c)
        for (const Tensor& t : {in, leave[0], come[0], leave[1], come[1], out})
          g.setTileMapping(t[r][c], static_cast<unsigned>(r * kColumns + c));
  }
};

// Which splitters part the columns, and which the rows of one column.
Tensor between_columns(const Tensors& t) { return t.splitters.slice(kRows - 1, kTiles - 1).subSample(kRows, 0); }
Tensor between_rows(const Tensors& t, std::size_t column) { return t.splitters.slice(column * kRows, column * kRows + kRows - 1); }

Sequence sorting(Graph& g, const Tensors& t) {
  const ComputeSet pick = g.addComputeSet("pick"), to_columns = g.addComputeSet("to columns"), to_rows = g.addComputeSet("to rows"),
                   sort = g.addComputeSet("sort");
  g.setTileMapping(g.addVertex(pick, "PickSplitters", {{"samples", t.samples}, {"splitters", t.splitters}}), 0);
  const auto add = [&](const ComputeSet& cs, const char* what, std::size_t tile, std::size_t capacity, const Tensor& in,
                       const Tensor& out) {
    const VertexRef v = g.addVertex(cs, what, {{"in", in.flatten()}, {"out", out.flatten()}});
    g.setInitialValue(v["capacity"], static_cast<unsigned>(capacity));
    g.setTileMapping(v, static_cast<unsigned>(tile));
    return v;
  };
  for (std::size_t r = 0; r < kRows; ++r)
    for (std::size_t c = 0; c < kColumns; ++c) {
      const std::size_t tile = r * kColumns + c;
      g.connect(add(to_columns, "IntoBuckets", tile, kToColumn, t.in[r][c], t.leave[0][r][c])["splitters"], between_columns(t));
      const VertexRef v = add(to_rows, "BucketsIntoBuckets", tile, kToRow, t.come[0][r][c], t.leave[1][r][c]);
      g.connect(v["splitters"], between_rows(t, c));
      g.setInitialValue(v["inCapacity"], static_cast<unsigned>(kToColumn));
      add(sort, "SortBuckets", tile, kToRow, t.come[1][r][c], t.out[r][c]);
    }
  return Sequence{Copy(t.in.subSample(kShare / kSamples, 2).flatten(), t.samples),
                  Execute(pick),
                  Execute(to_columns),
                  Copy(t.leave[0].dimShuffle({0, 2, 1, 3}), t.come[0]),
                  Execute(to_rows),
                  Copy(t.leave[1].dimShuffle({2, 1, 0, 3}), t.come[1]),
                  Execute(sort)};
}

// The sorted numbers of all tiles, of a tile first how many it has.
std::vector<unsigned> joined(const std::vector<unsigned>& out) {
  std::vector<unsigned> all;
  for (std::size_t c = 0; c < kColumns; ++c)
    for (std::size_t r = 0; r < kRows; ++r) {
      const unsigned* const tile = &out[(r * kColumns + c) * kMost];
      if (*tile >= kMost) throw std::runtime_error(fmt::format("sample sort: {} numbers for a tile, or a bucket that was full", *tile));
      all.insert(all.end(), tile + 1, tile + 1 + *tile);
    }
  return all;
}

void sort_on_threads(const std::vector<unsigned>& in, std::vector<unsigned>& out) {
  std::vector<unsigned> samples(kTiles * kSamples), splitters(kTiles - 1);
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = in[i * (kShare / kSamples)];
  pick_splitters(samples.data(), samples.size(), splitters.data(), splitters.size());
  std::vector<std::size_t> begin(kTiles + 1);
  std::vector<std::vector<std::size_t>> places(static_cast<std::size_t>(omp_get_max_threads()), std::vector<std::size_t>(kTiles));
  std::vector<unsigned short> bucket(in.size());
#pragma omp parallel
  {
    std::vector<std::size_t>& place = places[static_cast<std::size_t>(omp_get_thread_num())];
#pragma omp for schedule(static)
    for (std::size_t i = 0; i < in.size(); ++i) {
      bucket[i] = static_cast<unsigned short>(bucket_of(in[i], splitters.data(), splitters.size()));
      ++place[bucket[i]];
    }
#pragma omp single
    {
      std::size_t sum = 0;
      for (std::size_t b = 0; b < kTiles; ++b) {
        begin[b] = sum;
        for (auto& of : places) sum += std::exchange(of[b], sum);
      }
      begin[kTiles] = sum;
    }
#pragma omp for schedule(static)
    for (std::size_t i = 0; i < in.size(); ++i) out[place[bucket[i]]++] = in[i];
#pragma omp for schedule(dynamic, 16)
    for (std::size_t b = 0; b < kTiles; ++b) sort_numbers(&out[begin[b]], begin[b + 1] - begin[b]);
  }
}

}  // namespace

void sample_sort() {
  Program p;
  const Tensors tensors(p.graph);
  p.graph.createHostWrite("in", tensors.in);
  p.graph.createHostRead("out", tensors.out);
  const double compiling = p.compile(sorting(p.graph, tensors));
  const std::vector<unsigned> in = numbers();
  p.write("in", in);
  std::vector<unsigned> sorted(in.size());
  const Times t = race(p, [&] { sort_on_threads(in, sorted); });
  const std::vector<unsigned> ours = joined(p.read<unsigned>("out", kTiles * kMost));
  if (ours.size() != sorted.size()) throw std::runtime_error(fmt::format("sample sort: {} of {} numbers", ours.size(), sorted.size()));
  check_equal("sample sort", ours, sorted);
  print("sample sort of 6 million numbers, 1,472 tiles", 1, t, 2.0, compiling, 0.5);
}

}  // namespace pando::bench
