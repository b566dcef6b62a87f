// Programs for other machines than ours.
#pragma once

#include "ir/module.h"
#include "project/program.h"
#include "transform/distribute/pieces.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pando::emit {

struct File {
  std::string name, bytes;
  bool executable = false;
};

struct Options {
  // Which part of which tensor everything is: data and results are the sequential program's then.
  std::optional<transform::PieceTable> pieces;
  // Values of Pando's interpreter for check.py, after so many steps on numbers that are made from the seed (0: none). Without a number: one
  // step, if it takes no more than kMostOperations.
  std::optional<std::int64_t> check_steps;
  std::uint64_t seed = 1;
  // Variables that begin with zeros: names, or their ends behind a star.
  std::vector<std::string> zeros;
  // Of a projected program: samples of a step.
  std::int64_t samples = 0;
};

// The interpreter is simple: 10^9 operations take it a minute or so.
inline constexpr double kMostOperations = 1e9;

struct Emitted {
  std::vector<File> files;
  std::size_t ranks = 0, programs = 0;
  // Why there are no reference values; empty: there are.
  std::string unchecked;
};

// A placed module (what `pando transform` prints, or a program of one device) as PyTorch: a file for each distinct program of a rank,
// layout.py, run.py, check.py, launch.sh and what they need (docs/guide/emit.md). Rank r is the r-th device.
//
// Rejects what place() of torch/placed.h rejects; (value) pieces of another program.
Emitted torch_program(const ir::Module& module, const Options& options);
// The same of a projected program. Rejects (value) one that breaks a rule of project/checks/check.h, and samples that are no whole windows.
Emitted torch_program(const project::ProjectedProgram& program, const Options& options);

// Makes the folder where there is none; files of the same names are replaced. Throws poplar_error where it cannot.
void write_folder(const std::string& folder, const Emitted& emitted);

}  // namespace pando::emit
