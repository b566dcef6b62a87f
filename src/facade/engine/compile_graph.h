// Graph and programs to an executable: the facade's call of the compiler, with reports and dumps.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "facade/engine/engine_options.h"
#include "facade/state/state.h"

namespace pando::facade {

// Throws what the graph's or the programs' faults call for; graph_memory_allocation_error, after the report was written, if a
// tile's memory does not suffice and the settings do not allow that.
std::unique_ptr<poplar::core::ExecutableState> compile_executable(const poplar::Graph& graph,
                                                                  poplar::ArrayRef<poplar::program::Program> programs,
                                                                  const EngineSettings& settings, const poplar::ProgressFunc& progress);

// The report of what was compiled: memory and graph, no execution. `rows`: where it is put what the rows are of.
profile::Report memory_report(const poplar::core::ExecutableState& executable, bool with_variables = false,
                              cycles::Detail detail = cycles::Detail::summary, cycles::RowsOf* rows = nullptr);

// That report as Engine::getGraphProfile gives it.
poplar::ProfileValue graph_profile(const profile::Report& report, const poplar::core::ExecutableState& executable);

// Writes profile.pando and summary.txt into the directory (made if it is not there); returns the path of profile.pando. Throws
// file_load_error if that cannot be written.
std::string write_report(const profile::Report& report, const EngineSettings& settings);
// Of version 4 or 3. Where "x.pop" is not there, "x.pando" or "x.json" is read. Throws file_load_error or parse_error, with the path.
profile::Report read_report_file(const std::string& path);

}  // namespace pando::facade
