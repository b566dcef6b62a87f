// Random well-formed graph programs. A case is a function of its seed and of the items that are left out: shrinking a failing
// case is finding more items to leave out. All random choices are made for items that are left out too, so that the rest stays.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace pando::fuzz {

// Programs that are compiled together, and what is run of them.
struct Engine {
  std::vector<graph::ProgramPtr> programs;
  std::vector<unsigned> runs;  // the programs to run, in this order
};

// One graph, and engines made of it that run in turns.
struct Case {
  std::unique_ptr<graph::Graph> graph;
  std::vector<Engine> engines;
  unsigned items = 0;  // steps, vertices, runs: numbered from 0
};

using LeftOut = std::set<unsigned>;

Case generate(std::uint64_t seed, const LeftOut& left_out = {});

// What the host sends: block `n` of a FIFO, as a function of its arguments. FIFOs named "bits..." carry ints from 0 to 3.
std::string host_block(const std::string& handle, unsigned replica, std::uint64_t n, std::uint64_t bytes);

}  // namespace pando::fuzz
