// A report with something in every part, for tests.
#pragma once

#include "profile/report.h"

namespace pando::profile {

inline Report example_report() {
  Report r;
  r.target = {"ipu2", 1, 4, 4, 6, 1, 1000, 1.33e9};
  r.graph = {2, 8, 1, 16, 1};
  r.categories = {{"variable", false, 700}, {"stack", true, 100}};
  for (std::uint64_t t = 0; t < 4; ++t) r.tiles.push_back({200, 300 + t, {175, 25}, 25});
  r.block_streams = {{"ipu0.compute", 0, false, {0, 3}}, {"ipu0.io", 0, true, {3, 4}}};
  r.liveness = {{"ipu0.compute", 75, {{1, "a", 100, 200, 2}, {2, "b", 50, 100, 0}}}, {"ipu0.io", 25, {}}};
  r.sources = {{"model.py", 12}, {"add.cpp", 3}};
  r.codelet_sources = {{"Add", 2}};
  r.residents = {{"x", 0, 4, 700, 175, 0, 1, 3, 1}, {"stack", 1, 4, 100, 25, 100, 0, 0, 0}};
  for (std::uint32_t t = 0; t < 4; ++t) {
    r.placements.push_back({t, 1, 0, true, 0, 25});
    r.placements.push_back({t, 0, 1, false, 128, 175});
  }
  r.live_sets = {{{1, 2}, {2, 3}}};
  r.compute_sets = {{"add", {{"Add", {0, 2, 3, 2, 4, 1}}}, 8, 64, 1}};
  r.program = {{1, "a", "exchange", 0, 0, 1, 0}, {2, "again", "loop", 0}, {2, "b", "compute", 2, 1, 0, 1}};
  r.buffers = {{0, "Add", "in", "x", 2, 2, 8, 64, 32}};
  r.exchanges = {{"a", 48, 2, 1, 3, 48, 16, 2, 1, {{0, 3, 32, 1}, {1, 3, 16, 2}}}};
  r.executed = true;
  r.runs = 1;
  r.total_cycles = 1500;
  r.streams = {{"ipu0.compute", {1000, 300, 0, 200, 0, 0, 0}, 1500}, {"ipu0.io", {}, 0}};
  r.tile_profiles = {{true, {0, 2, 500, 2, 3, 100}}};
  r.steps = {{"ipu0.compute", "a", "exchange", 1, {0, 300, 0, 200, 0, 0, 0}, 0, 0, 48, 0, 1},
             {"ipu0.compute", "b", "compute", 2, {1000, 0, 0, 0, 0, 0, 0}, 16, 0, 0, 0.73, 2}};
  r.steps[1].flops = 128;
  r.steps[1].slowest_tile = 1;
  r.steps[1].slowest_codelet = "Add";
  r.steps[1].slowest_cycles = 70;
  r.steps[1].used_workers = 3;
  r.steps[1].profile = 1;
  r.codelets = {
      {"Add", 16, 1120, true, 8, "counted", {{"add.cpp", 7, 1000, "  out[i] = a[i] + b[i];"}, {"add.cpp", 8, 120, "}"}}, 128, 192}};
  r.traces = {{{0, 0, 0, 500, 1}, {0, 1, 0, 500, 2}, {1, 0, 0, 500, 1}}, {}};
  r.run_times = {{0, 0, 1500, 12345}};
  r.blocks = {{"all", 0, false, 0, 1500}};
  r.writer = "a test";
  return r;
}

}  // namespace pando::profile
