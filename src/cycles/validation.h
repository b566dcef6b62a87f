// The published measurements that the model is checked against, each predicted through a tile program: shared by the test that
// keeps the tolerances and the benchmark that prints the table. A row is `fitted` if a constant of the model was read from it;
// the error of such a row is not evidence.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>
#include <tuple>
#include <vector>

#include "cycles/cycle_model.h"
#include "cycles/estimates.h"
#include "cycles/hand_program.h"
#include "cycles/step_cost.h"

namespace pando::cycles {

// What is farther off than this agrees with nothing.
constexpr double kMostTolerance = 0.15;

struct Validation {
  std::string check;
  double measured_low = 0, measured_high = 0;  // equal for a single value
  double predicted = 0;
  bool fitted = false;
  double tolerance = 0;  // as a fraction; kMostTolerance at most
  // Relative distance to the measured range.
  double error() const {
    if (predicted < measured_low) return measured_low / predicted - 1;
    if (predicted > measured_high) return predicted / measured_high - 1;
    return 0;
  }
  bool is_met() const { return error() <= tolerance; }
};

// Terms of one run of stream 0.
inline profile::Cycles run_cycles(const HandProgram& hand) {
  CycleModel model(hand.program(), hand.library());
  model.on_begin(0);
  for (std::uint32_t s = 0; s < hand.program()->streams.size(); ++s)
    for (std::uint32_t i = 0; i < hand.program()->streams[s].code.size(); ++i) model.on_step({ReplicaId(0), StreamId(s), i});
  model.on_end();
  profile::Report report;
  model.fill(report);
  return report.streams[0].cycles;
}

inline std::uint64_t compute_cycles_of(const Machine& machine, std::uint32_t tiles, VertexKind kind, std::uint64_t vertex_cycles) {
  HandProgram hand(machine);
  CodeletId codelet = hand.codelet("Measured", kind);
  std::vector<HandProgram::Work> work;
  for (std::uint32_t t = 0; t < tiles; ++t) work.push_back({codelet, t, vertex_cycles});
  hand.compute(0, "measured", work);
  return run_cycles(hand).compute;
}

struct AmpPoint {
  std::uint64_t rows = 0;
  double cycles = 0;
  bool fitted() const { return rows <= 128; }
};
inline std::vector<AmpPoint> read_amp_points(const std::string& csv) {
  std::ifstream in(csv);
  std::vector<AmpPoint> points;
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    AmpPoint p;
    double tflops = 0;
    if (std::sscanf(line.c_str(), "%lu,%lf,%lf", &p.rows, &tflops, &p.cycles) == 3) points.push_back(p);
  }
  return points;
}
// The points of tests/data/ipu/bow_amp_f16_matmul_Nx16x16.csv.
inline const std::vector<AmpPoint>& published_amp_points() {
  static const std::vector<AmpPoint> points = {
      {16, 402.00},  {32, 461.35},  {48, 524.00},   {64, 584.00},   {80, 653.35},   {96, 716.00},   {112, 776.00},  {128, 845.34},
      {144, 908.00}, {160, 968.00}, {176, 1037.35}, {192, 1100.00}, {208, 1160.00}, {224, 1229.35}, {240, 1292.00}, {256, 1352.00}};
  return points;
}
inline std::vector<Validation> amp_validations(const std::vector<AmpPoint>& points) {
  std::vector<Validation> out;
  for (const AmpPoint& p : points) {
    auto cycles = compute_cycles_of(*find_machine("bow"), 1472, VertexKind::supervisor, amp_f16_pass_cycles(p.rows));
    out.push_back(
        {"AMP f16 [" + std::to_string(p.rows) + ",16]x[16,16], Bow", p.cycles, p.cycles, static_cast<double>(cycles), p.fitted(), 0.02});
  }
  return out;
}

// The published numbers contain 45 cycles of reading the counter.
inline std::vector<Validation> addition_validations() {
  constexpr std::uint64_t kCounter = 45;
  const Machine& bow = *find_machine("bow");
  std::vector<Validation> out;
  for (auto [n, low, high] : {std::tuple{10, 329.0, 330.0}, {1024, 1860.0, 1860.0}})
    for (std::uint32_t tiles : {4u, 16u, 128u, 1024u}) {
      if (n == 10 && tiles != 4) continue;
      auto cycles = kCounter + compute_cycles_of(bow, tiles, VertexKind::multi, binary_op_f32_cycles(static_cast<std::uint64_t>(n)));
      out.push_back({"add f32, " + std::to_string(n) + " on each of " + std::to_string(tiles) + " tiles, Bow", low, high,
                     static_cast<double>(cycles), tiles == 4, 0.03});
    }
  return out;
}

// Rows that the model does not meet, and that the documents list as such.
inline const std::vector<std::string>& rows_not_met() {
  static const std::vector<std::string> rows;
  return rows;
}

// One exchange between the first and the last IPU of a machine of `ipus`.
inline profile::Cycles exchange_cycles_of(Machine machine, unsigned ipus) {
  machine.ipus = ipus;
  HandProgram hand(machine);
  std::vector<std::uint32_t> streams;
  for (std::uint32_t s = 0; s < ipus; ++s) streams.push_back(s);
  hand.exchange(streams, "halo", {move(0, machine.tiles() - 1, 0, 0, 256)});
  return run_cycles(hand);
}
inline std::vector<Validation> phase_validations() {
  std::vector<Validation> out;
  const Machine& mk1 = *find_machine("ipu1");
  out.push_back(
      {"sync of a blur iteration, 1 IPU, Mk1", 64, 117, static_cast<double>(exchange_cycles_of(mk1, 1).sync), false, kMostTolerance});
  out.push_back(
      {"sync of a blur iteration, 16 IPUs, Mk1", 501, 642, static_cast<double>(exchange_cycles_of(mk1, 16).sync), true, kMostTolerance});
  HandProgram copy(*find_machine("ipu21"));
  copy.exchange({0}, "copy", {}, {move(0, 0, 0, 16384, 8192)});
  out.push_back({"copy of 8 KiB within a tile, C600", 1308, 1308, static_cast<double>(run_cycles(copy).local_copy), true, 0.01});
  return out;
}

// Cycles from the sync to the first word, over all pairs of tiles of Mk2: published as a table of their spread.
inline std::vector<Validation> landing_validations() {
  const Machine& machine = *find_machine("ipu21");
  double sum = 0, least = 1e9, most = 0;
  std::uint64_t pairs = 0;
  for (std::uint32_t a = 0; a < machine.tiles(); ++a)
    for (std::uint32_t b = 0; b < machine.tiles(); ++b) {
      if (a == b) continue;
      auto cycles = static_cast<double>(landing_cycles(machine, TileId(a), TileId(b)));
      sum += cycles;
      least = std::min(least, cycles);
      most = std::max(most, cycles);
      ++pairs;
    }
  double mean = sum / static_cast<double>(pairs);
  return {{"landing after a sync, least of all pairs, C600", 53, 53, least, true, 0.01},
          {"landing after a sync, mean of all pairs, C600", 81.6, 81.6, mean, true, 0.01},
          {"landing after a sync, most of all pairs, C600", 165, 165, most, true, 0.01}};
}

// All of them, and what no row is about.
inline std::vector<Validation> all_validations() {
  std::vector<Validation> all = amp_validations(published_amp_points());
  for (const auto& rows : {addition_validations(), phase_validations(), landing_validations()})
    all.insert(all.end(), rows.begin(), rows.end());
  return all;
}
inline constexpr const char* kNotValidated = "host, Streaming Memory, links, exchange of whole programs, f32 AMP";

}  // namespace pando::cycles
