// Placing the six published MiniMalloc instances at exact capacity, and what a compile asks of the allocator: many tiles with
// equal and with different problems. Prints the peer's times beside ours. `allocate_bench [FOLDER OF THE INSTANCES]`.
#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "allocate/allocate.h"
#include "base/testing/places.h"
#include "bench.h"

namespace {

using namespace pando::allocate;
using pando::bench::seconds_of;

constexpr std::uint64_t kCapacity = 1048576;

// Seconds of MiniMalloc at the same capacity: two runs on another shared host, +-50 %. All eleven published instances, of
// which the first six are in this repository: the bar is the median of the table.
struct Peer {
  const char* name;
  double first, second;
};
constexpr Peer kMiniMalloc[] = {{"A", 3.53, 4.10}, {"B", 2.84, 2.75}, {"C", 0.48, 0.58}, {"D", 1.92, 2.16},
                                {"E", 2.40, 2.98}, {"F", 3.45, 5.19}, {"G", 0.71, 1.24}, {"H", 1.19, 1.89},
                                {"I", 2.97, 4.22}, {"J", 0.66, 1.06}, {"K", 0.39, 0.63}};
constexpr std::size_t kInstances = 6;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

AllocationProblem read_instance(const std::string& path) {
  std::ifstream in(path);
  AllocationProblem problem{.capacity = kCapacity};
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    std::uint64_t id, lower, upper, size;
    char comma;
    std::istringstream(line) >> id >> comma >> lower >> comma >> upper >> comma >> size;
    problem.buffers.push_back({.live = {{lower, upper}}, .size = size});
  }
  return problem;
}

// 100 buffers, a memory twice the load: a tile as compiles see it.
AllocationProblem tile_problem(std::uint32_t seed) {
  std::mt19937 random(seed);
  AllocationProblem problem;
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t begin = random() % 60, end = begin + 1 + random() % (60 - begin);
    problem.buffers.push_back({.live = {{begin, end}}, .size = 4 * (1 + random() % 1000), .align = 8});
  }
  problem.capacity = 2 * largest_load(problem);
  return problem;
}

bool print_instances(const std::string& folder) {
  fmt::print("{:<10} {:>8} {:>12} {:>10} {:>10} {:>16}\n", "instance", "buffers", "load/cap.", "nodes", "seconds", "MiniMalloc s");
  std::vector<double> ours, first, second;
  bool all_solved = true;
  for (std::size_t k = 0; k < std::size(kMiniMalloc); ++k) {
    const Peer& peer = kMiniMalloc[k];
    first.push_back(peer.first);
    second.push_back(peer.second);
    if (k >= kInstances) continue;
    const AllocationProblem problem = read_instance(fmt::format("{}/{}.{}.csv", folder, peer.name, kCapacity));
    AllocationResult result;
    std::vector<double> runs;
    for (int run = 0; run < 3; ++run) runs.push_back(seconds_of([&] { result = allocate(problem); }));
    const bool solved =
        !problem.buffers.empty() && result.status == AllocationStatus::solved && check_allocation(problem, result.offsets).empty();
    all_solved = all_solved && solved;
    ours.push_back(median(runs));
    fmt::print("{:<10} {:>8} {:>12.3f} {:>10} {:>10.4f} {:>8.2f} {:>7.2f}{}\n", peer.name, problem.buffers.size(),
               static_cast<double>(largest_load(problem)) / kCapacity, result.nodes, ours.back(), peer.first, peer.second,
               solved ? "" : "  NOT SOLVED");
  }
  fmt::print("{:<10} {:>43.4f} {:>8.2f} {:>7.2f}   (MiniMalloc: A to K)\n\n", "median", median(ours), median(first), median(second));
  pando::bench::print_figure({.what = "allocation at exact capacity, A to F, median",
                              .unit = "s",
                              .ours = median(ours),
                              .peer = std::min(median(first), median(second)),
                              .peer_name = "MiniMalloc's table, median",
                              .at_most = 1});
  return all_solved;
}

void print_tiles() {
  const std::vector<AllocationProblem> equal(47104, tile_problem(1));
  std::vector<AllocationProblem> different;
  for (std::uint32_t seed = 0; seed < 2000; ++seed) different.push_back(tile_problem(seed));
  const double one = pando::bench::best_of(20, [&] { allocate(equal[0]); });
  pando::bench::print_figure({.what = "allocation, one tile of 100 buffers", .unit = "ms", .ours = 1e3 * one});
  pando::bench::print_figure(
      {.what = "allocation, 47,104 equal tiles", .unit = "ms", .ours = 1e3 * seconds_of([&] { allocate_all(equal); })});
  pando::bench::print_figure(
      {.what = "allocation, 2,000 different tiles", .unit = "ms", .ours = 1e3 * seconds_of([&] { allocate_all(different); })});
}

}  // namespace

int main(int argc, char** argv) {
  const bool all_solved = print_instances(argc > 1 ? argv[1] : pando::source_path("tests/data/minimalloc"));
  print_tiles();
  return all_solved ? 0 : 1;
}
