#include "facade/engine/engine_option_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "compile/switches.h"
#include "exec/switches.h"

namespace pando::facade {

namespace {

using Kind = OptionKind;

bool is_true(const std::string& v) { return v == "true" || v == "1"; }
// Of Kind::whole, which is checked before.
unsigned whole(const std::string& v) { return static_cast<unsigned>(std::strtod(v.c_str(), nullptr)); }

struct EngineOption {
  const char* name;
  Kind kind;
  const char* choices = "";
  const char* effect = "";
  void (*take)(const std::string&, EngineSettings&) = nullptr;
};

// Names, values and defaults as public programs use them; `pando.` marks our own.
constexpr EngineOption kRows[] = {
    {"autoReport.all", Kind::boolean, "", "reports after compiling and after running (profile.pando, summary.txt, trace.json)",
     [](const std::string& v, EngineSettings& s) { s.graph_report = s.execution_report = is_true(v); }},
    {"autoReport.directory", Kind::text, "", "where reports are written; the current folder otherwise",
     [](const std::string& v, EngineSettings& s) { s.report_directory = v; }},
    {"autoReport.executionProfileProgramRunCount", Kind::whole, "", "after how many runs the execution is reported",
     [](const std::string& v, EngineSettings& s) { s.report_runs = whole(v); }},
    {"autoReport.outputArchive", Kind::boolean},
    {"autoReport.outputDebugInfo", Kind::boolean},
    {"autoReport.outputExecutionProfile", Kind::boolean, "", "a report after running; overrides autoReport.all",
     [](const std::string& v, EngineSettings& s) { s.execution_report = is_true(v); }},
    {"autoReport.outputGraphProfile", Kind::boolean, "", "a report after compiling; overrides autoReport.all",
     [](const std::string& v, EngineSettings& s) { s.graph_report = is_true(v); }},
    {"autoReport.outputLoweredVars", Kind::boolean, "", "reports have all variables and when they are live",
     [](const std::string& v, EngineSettings& s) { s.lowered_variables = is_true(v); }},
    {"autoReport.outputProgramGraph", Kind::boolean},
    {"autoReport.outputSerializedGraph", Kind::boolean},
    {"autoReport.streamAtEachRun", Kind::boolean},
    {"debug.allowOutOfMemory", Kind::boolean, "", "a program that does not fit compiles, can be reported, and runs on an IPUModel",
     [](const std::string& v, EngineSettings& s) { s.compile.allow_out_of_memory = is_true(v); }},
    {"debug.branchRecordFlush", Kind::boolean},
    {"debug.branchRecordTile", Kind::text},
    {"debug.cbor", Kind::boolean},
    {"debug.checkForHostStreamErrors", Kind::boolean},
    {"debug.computeInstrumentationLevel", Kind::choice, "vertex|tile|ipu|off|device"},
    {"debug.cpuMultiThreadExecution", Kind::boolean},
    {"debug.exceptOnSOCError", Kind::boolean},
    {"debug.executionProfile", Kind::text},
    {"debug.externalExchangeInstrumentationLevel", Kind::choice, "tile|ipu|off"},
    {"debug.floatPointOpException", Kind::boolean},
    {"debug.globalExchangeViaDDR", Kind::boolean},
    {"debug.graphProfile", Kind::text},
    {"debug.instrument", Kind::boolean, "", "as debug.instrumentCompute",
     [](const std::string& v, EngineSettings& s) { s.tile_cycles = is_true(v); }},
    {"debug.instrumentCompute", Kind::boolean, "", "reports have the cycles of each tile",
     [](const std::string& v, EngineSettings& s) { s.tile_cycles = is_true(v); }},
    {"debug.instrumentControlFlow", Kind::boolean},
    {"debug.instrumentExternalExchange", Kind::boolean, "", "each copy between host and device is a block of the report",
     [](const std::string& v, EngineSettings& s) { s.compile.mark_stream_copies = is_true(v); }},
    {"debug.logStackSizeAnalysis", Kind::boolean},
    {"debug.loweredProgsFile", Kind::text},
    {"debug.loweredVarDumpFile", Kind::text},
    {"debug.nanOverflowException", Kind::boolean},
    {"debug.nanOverflowMode", Kind::boolean},
    {"debug.outputAllSymbols", Kind::boolean},
    {"debug.profilingTile", Kind::number},
    {"debug.retainDebugInformation", Kind::boolean},
    {"debug.runtimeVerify", Kind::boolean},
    {"debug.supervisorStackSizeInBytes", Kind::whole, "", "the stack of a tile's supervisor; 0: by estimate",
     [](const std::string& v, EngineSettings& s) { s.compile.supervisor_stack = whole(v); }},
    {"debug.trace", Kind::boolean},
    {"debug.traceFile", Kind::text},
    {"debug.verify", Kind::boolean},
    {"debug.verifyExchange", Kind::boolean},
    {"debug.workerStackSizeInBytes", Kind::whole, "", "the stack of each worker of a tile; 0: what its codelets say, or by estimate",
     [](const std::string& v, EngineSettings& s) { s.compile.worker_stack = whole(v); }},
    {"exchange.enablePrefetch", Kind::boolean, "", "callbacks of streams are asked for the next block before it is needed",
     [](const std::string& v, EngineSettings& s) { s.exec.prefetch = is_true(v); }},
    {"exchange.multicastPolicy", Kind::text},
    {"exchange.opt.maxNumberOfMerges", Kind::number},
    {"exchange.streamBufferOverlap", Kind::choice, "any|hostRearrangeOnly|none"},
    {"opt.enableInlining", Kind::boolean},
    {"opt.enableMultiAccessCopies", Kind::boolean},
    {"opt.enableSkipSyncs", Kind::boolean},
    {"opt.internalExchangeOptimisationTarget", Kind::choice, "cycles|memory|balanced"},
    {"opt.maxCompilationThreads", Kind::number},
    {"opt.maxCopyMergeSize", Kind::number},
    {"opt.maxComputeSetsPerLoweredCopy", Kind::number},
    {"opt.maxLinkerThreads", Kind::number},
    {"opt.useAutoloader", Kind::boolean},
    {"pando.break", Kind::text, "",
     "pando_break() is called before these vertices, for a debugger: tile=N, vertex=N, step=cN, codelet=NAME, with commas between",
     [](const std::string& v, EngineSettings& s) { s.exec.break_at = exec::parse_break_at(v); }},
    {"pando.checked", Kind::boolean, "",
     "codelets are compiled again so that each access through an edge is compared with its size (popc --checked)",
     [](const std::string& v, EngineSettings& s) { s.checked = is_true(v); }},
    {"pando.reportFile", Kind::text, "", "where the report is written, alone; counts more than autoReport.directory",
     [](const std::string& v, EngineSettings& s) { s.report_file = v; }},
    {"pando.cycleModel", Kind::boolean, "", "cycles are counted while a program runs",
     [](const std::string& v, EngineSettings& s) { s.cycle_model = is_true(v); }},
    {"pando.exchangeModel", Kind::choice, "landing|simple", "how the cycle model prices an exchange",
     [](const std::string& v, EngineSettings& s) {
       s.cycles.exchange = v == "simple" ? cycles::Options::Exchange::simple : cycles::Options::Exchange::landing;
     }},
    {"pando.poisonUndefined", Kind::boolean, "", "WriteUndef fills with 0xA5",
     [](const std::string& v, EngineSettings& s) { s.exec.poison_undefined = is_true(v); }},
    {"pando.stepTimes", Kind::text, "", "after each run the host's time of each step, of all runs so far, is written to this file (JSON)",
     [](const std::string& v, EngineSettings& s) { s.step_times = v; }},
    {"pando.tagPrints", Kind::boolean, "", "lines that codelets print begin with their tile, worker, vertex and step",
     [](const std::string& v, EngineSettings& s) { s.exec.tag_prints = is_true(v); }},
    {"pando.threads", Kind::whole, "", "threads of the host; 0: PANDO_THREADS, or all",
     [](const std::string& v, EngineSettings& s) { s.exec.threads = whole(v); }},
    {"pando.validate", Kind::boolean, "", "every plan is checked by a second, simple algorithm",
     [](const std::string& v, EngineSettings& s) { s.compile.validate = is_true(v); }},
    {"pando.vertexSeconds", Kind::whole, "", "standard error names a vertex that has not ended for so many seconds (10); 0: never",
     [](const std::string& v, EngineSettings& s) { s.exec.vertex_seconds = whole(v); }},
    {"pando.watch", Kind::text, "",
     "the run stops at the first step that changes one of these tensors (names, with commas between), and says who wrote what",
     [](const std::string& v, EngineSettings& s) {
       s.watch.tensors = parse_watch(v);
       s.exec.watched = true;
     }},
    {"pando.watchNaN", Kind::boolean, "", "pando.watch stops at elements that become NaN, and at no others",
     [](const std::string& v, EngineSettings& s) { s.watch.only_nan = is_true(v); }},
    {"pando.watchSkip", Kind::whole, "", "so many steps that change a tensor pass pando.watch",
     [](const std::string& v, EngineSettings& s) { s.watch.skip = whole(v); }},
    {"prng.enableStochasticRounding", Kind::boolean},
    {"prng.seed", Kind::number},
    {"profiler.blocks.filter", Kind::text, "", "a regular expression: Block programs whose whole name it matches are blocks of the report",
     [](const std::string& v, EngineSettings& s) { s.compile.blocks = v; }},
    {"profiler.blocks.implicitFlush", Kind::text},
    {"profiler.blocks.tile", Kind::number},
    {"profiler.format", Kind::choice, "v1|v3|v4|experimental|unstable"},
    {"profiler.includeCycleEstimates", Kind::boolean},
    {"profiler.includeFlopEstimates", Kind::boolean},
    {"profiler.perExecutionStreamCopyCycles", Kind::boolean},
    {"profiler.programs.filter", Kind::text, "",
     "a regular expression: programs and compute sets whose whole name it matches are blocks of the report",
     [](const std::string& v, EngineSettings& s) { s.compile.programs = v; }},
    {"profiler.replicaToProfile", Kind::text},
    {"streamCallbacks.maxLookahead", Kind::text},
    {"streamCallbacks.multiThreadMode", Kind::choice, "singleThread|collaborative|dedicated"},
    {"streamCallbacks.numWorkerThreads", Kind::text},
    {"streamCallbacks.numaAware", Kind::boolean},
    {"target.deterministicWorkers", Kind::choice, "true|false|portable"},
    {"target.exceptionPollPeriodUs", Kind::number},
    {"target.extendedMemory", Kind::boolean},
    {"target.firstRuntimeReplica", Kind::number},
    {"target.gatewayMode", Kind::boolean},
    {"target.hostSyncTimeout", Kind::number},
    {"target.maxStreamCallbackThreadsPerNumaNode", Kind::text},
    {"target.numberRuntimeReplica", Kind::number},
    {"target.saveArchive", Kind::text},
    {"target.syncMethod", Kind::choice, "polling|hybrid|default"},
    {"target.syncPollPeriodUs", Kind::number},
    {"target.syncReplicasIndependently", Kind::boolean},
};

std::vector<OptionRow> all_rows() {
  std::vector<OptionRow> rows;
  for (const EngineOption& r : kRows) rows.push_back({r.name, r.kind, r.choices, r.effect, r.take});
  for (const compile::Switch& w : compile::kSwitches)
    rows.push_back({std::string("pando.") + w.name, Kind::boolean, "", w.what,
                    [&w](const std::string& v, EngineSettings& s) { s.compile.*w.field = is_true(v); }});
  for (const exec::Switch& w : exec::kSwitches)
    rows.push_back({std::string("pando.") + w.name, Kind::boolean, "", w.what,
                    [&w](const std::string& v, EngineSettings& s) { s.exec.*w.field = is_true(v); }});
  std::ranges::sort(rows, {}, &OptionRow::name);
  return rows;
}

std::string values_of(const OptionRow& row) {
  switch (row.kind) {
    case Kind::boolean: return "true, false";
    case Kind::number: return "a number";
    case Kind::whole: return "a whole number";
    case Kind::text: return "text";
    case Kind::choice: break;
  }
  std::string out;
  for (const char c : row.choices) out += c == '|' ? std::string(", ") : std::string(1, c);
  return out;
}

}  // namespace

const std::vector<OptionRow>& engine_option_rows() {
  static const std::vector<OptionRow> rows = all_rows();
  return rows;
}

std::string describe_engine_options() {
  std::string out = "| option | values | effect |\n| --- | --- | --- |\n";
  for (const OptionRow& row : engine_option_rows())
    if (row.take) fmt::format_to(std::back_inserter(out), "| `{}` | {} | {} |\n", row.name, values_of(row), row.effect);
  out +=
      "\nAccepted for the sake of programs that set them; they have no effect, and the first use of each in a process says so on standard "
      "error:\n\n";
  for (const OptionRow& row : engine_option_rows())
    if (!row.take) fmt::format_to(std::back_inserter(out), "* `{}` ({})\n", row.name, values_of(row));
  return out;
}

}  // namespace pando::facade
