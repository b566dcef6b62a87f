// The options of an engine: text from the user and the environment, parsed once, here.
#pragma once

#include <string>

#include "compile/compile.h"
#include "cycles/cycle_model.h"
#include "exec/runner.h"
#include "facade/engine/tensor_watch.h"
#include "poplar/OptionFlags.hpp"
#include "profile/report.h"

namespace pando::facade {

struct EngineSettings {
  compile::Options compile;
  exec::Options exec;
  cycles::Options cycles;
  WatchSettings watch;                 // pando.watch and its kin
  bool checked = false;                // pando.checked: codelets are compiled again so that accesses are checked
  bool cycle_model = true;             // pando.cycleModel: count cycles while running
  std::string report_directory = ".";  // autoReport.directory
  std::string report_file;             // pando.reportFile: the report alone, there
  bool graph_report = false;           // write a report after compiling
  bool execution_report = false;       // and after running
  bool lowered_variables = false;      // autoReport.outputLoweredVars: reports have all variables and when they are live
  bool tile_cycles = false;            // debug.instrumentCompute: and the cycles of each tile
  std::string step_times;              // pando.stepTimes: the file; empty: no times
  unsigned report_runs = 1;            // after how many runs: autoReport.executionProfileProgramRunCount
  poplar::OptionFlags flags;           // as the user and the environment gave them
};

// Adds POPLAR_ENGINE_OPTIONS (JSON), which overrides. Throws invalid_option: "Unrecognised option 'x'", or what the value should
// be; parse_error for bad JSON. An option of another SDK version that has no meaning here warns once per process on stderr.
// With `check` false, unknown options are ignored.
EngineSettings parse_engine_options(const poplar::OptionFlags& flags, bool check = true);

// Options of printProfileSummary.
profile::SummaryOptions parse_summary_options(const poplar::OptionFlags& flags);

// Throws invalid_option for what RuntimeOptions does not know.
void check_runtime_options(const poplar::OptionFlags& flags);

}  // namespace pando::facade
