#include "poplar/engine_options.h"

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <span>

#include "base/error.h"
#include "poplar/EngineOptions.hpp"
#include "poplar/RuntimeOptions.hpp"

namespace pando::facade {

using poplar::OptionFlags;

namespace {

enum class Kind { boolean, number, text, choice };

// One option: its name, what its value is, and for a choice the values, separated by '|'.
struct Row {
  const char* name;
  Kind kind;
  const char* choices = "";
};

constexpr Row kEngineOptions[] = {
    {"autoReport.all", Kind::boolean},
    {"autoReport.directory", Kind::text},
    {"autoReport.executionProfileProgramRunCount", Kind::number},
    {"autoReport.outputArchive", Kind::boolean},
    {"autoReport.outputDebugInfo", Kind::boolean},
    {"autoReport.outputExecutionProfile", Kind::boolean},
    {"autoReport.outputGraphProfile", Kind::boolean},
    {"autoReport.outputLoweredVars", Kind::boolean},
    {"autoReport.outputProgramGraph", Kind::boolean},
    {"autoReport.outputSerializedGraph", Kind::boolean},
    {"autoReport.streamAtEachRun", Kind::boolean},
    {"debug.allowOutOfMemory", Kind::boolean},
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
    {"debug.instrument", Kind::boolean},
    {"debug.instrumentCompute", Kind::boolean},
    {"debug.instrumentControlFlow", Kind::boolean},
    {"debug.instrumentExternalExchange", Kind::boolean},
    {"debug.logStackSizeAnalysis", Kind::boolean},
    {"debug.loweredProgsFile", Kind::text},
    {"debug.loweredVarDumpFile", Kind::text},
    {"debug.nanOverflowException", Kind::boolean},
    {"debug.nanOverflowMode", Kind::boolean},
    {"debug.outputAllSymbols", Kind::boolean},
    {"debug.profilingTile", Kind::number},
    {"debug.retainDebugInformation", Kind::boolean},
    {"debug.runtimeVerify", Kind::boolean},
    {"debug.supervisorStackSizeInBytes", Kind::number},
    {"debug.trace", Kind::boolean},
    {"debug.traceFile", Kind::text},
    {"debug.verify", Kind::boolean},
    {"debug.verifyExchange", Kind::boolean},
    {"exchange.enablePrefetch", Kind::boolean},
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
    {"pando.askEarly", Kind::boolean},
    {"pando.bind", Kind::boolean},
    {"pando.cycleModel", Kind::boolean},
    {"pando.exchangeModel", Kind::choice, "landing|simple"},
    {"pando.inferIoTiles", Kind::boolean},
    {"pando.mergeMoves", Kind::boolean},
    {"pando.poisonUndefined", Kind::boolean},
    {"pando.shareMemory", Kind::boolean},
    {"pando.splitVariables", Kind::boolean},
    {"pando.threads", Kind::number},
    {"pando.tileByTile", Kind::boolean},
    {"pando.validate", Kind::boolean},
    {"prng.enableStochasticRounding", Kind::boolean},
    {"prng.seed", Kind::number},
    {"profiler.blocks.filter", Kind::text},
    {"profiler.blocks.implicitFlush", Kind::text},
    {"profiler.format", Kind::choice, "v1|v3|v4|experimental|unstable"},
    {"profiler.includeCycleEstimates", Kind::boolean},
    {"profiler.includeFlopEstimates", Kind::boolean},
    {"profiler.perExecutionStreamCopyCycles", Kind::boolean},
    {"profiler.programs.filter", Kind::text},
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

constexpr Row kRuntimeOptions[] = {
    {"streamCallbacks.multiThreadMode", Kind::choice, "singleThread|collaborative|dedicated"},
    {"streamCallbacks.numWorkerThreads", Kind::text},
    {"streamCallbacks.numaAware", Kind::boolean},
    {"target.exceptionPollPeriodUs", Kind::number},
    {"target.hostSyncTimeout", Kind::number},
    {"target.syncMethod", Kind::choice, "polling|hybrid|default"},
    {"target.syncPollPeriodUs", Kind::number},
};

constexpr Row kSummaryOptions[] = {
    {"showExecutionSteps", Kind::boolean}, {"showOptimizations", Kind::boolean}, {"showPerIpuMemoryUsage", Kind::boolean},
    {"showVarStorage", Kind::boolean},     {"colours", Kind::boolean},
};

// Names that other SDK versions had.
constexpr const char* kObsolete[] = {
    "debug.instrumentSync",
    "debug.json",
    "debug.tree",
    "profiler.cacheEnabled",
    "target.supervisorStackSizeInBytes",
    "target.textSectionSizeInBytes",
    "target.useBufferedCompletions",
    "target.workerStackSizeInBytes",
};

const Row* find(std::span<const Row> rows, const std::string& name) {
  for (const Row& r : rows)
    if (name == r.name) return &r;
  return nullptr;
}

bool is_obsolete(const std::string& name) {
  for (const char* o : kObsolete)
    if (name == o) return true;
  return false;
}

void warn_once(const std::string& name) {
  static std::mutex mutex;
  static std::set<std::string> warned;
  const std::lock_guard lock(mutex);
  if (warned.insert(name).second) std::fprintf(stderr, "warning: option '%s' is obsolete and has no effect\n", name.c_str());
}

[[noreturn]] void bad_value(const std::string& name, const std::string& value, std::string_view expected) {
  fail(ErrorKind::invalid_option, "option-value", "option '{}' has the value '{}'; expected {}", name, value, expected);
}

bool is_number(const std::string& value) {
  if (value.empty()) return false;
  char* end = nullptr;
  std::strtod(value.c_str(), &end);
  return *end == 0;
}

bool is_choice(const std::string& value, std::string_view choices) {
  const std::string list = '|' + std::string(choices) + '|';
  return list.find('|' + value + '|') != std::string::npos;
}

void check_value(const Row& row, const std::string& value) {
  switch (row.kind) {
    case Kind::boolean:
      if (value != "true" && value != "false" && value != "1" && value != "0") bad_value(row.name, value, "true or false");
      return;
    case Kind::number:
      if (!is_number(value)) bad_value(row.name, value, "a number");
      return;
    case Kind::choice:
      if (!is_choice(value, row.choices)) bad_value(row.name, value, "one of " + std::string(row.choices));
      return;
    case Kind::text: return;
  }
}

void check_all(std::span<const Row> rows, const OptionFlags& flags, bool check_names) {
  for (const auto& [name, value] : flags) {
    if (const Row* row = find(rows, name)) {
      check_value(*row, value);
    } else if (is_obsolete(name)) {
      warn_once(name);
    } else if (check_names) {
      fail(ErrorKind::invalid_option, "unknown-option", "Unrecognised option '{}'", name);
    }
  }
}

class Reader {
 public:
  explicit Reader(const OptionFlags& flags) : flags_(flags) {}
  void get(const char* name, bool& out) const {
    if (const std::string* v = value(name)) out = *v == "true" || *v == "1";
  }
  void get(const char* name, unsigned& out) const {
    if (const std::string* v = value(name)) out = static_cast<unsigned>(std::max(0.0, std::strtod(v->c_str(), nullptr)));
  }
  void get(const char* name, std::string& out) const {
    if (const std::string* v = value(name)) out = *v;
  }

 private:
  const std::string* value(const char* name) const {
    const auto it = flags_.find(name);
    return it == flags_.end() ? nullptr : &it->second;
  }
  const OptionFlags& flags_;
};

void read_reports(const Reader& r, EngineSettings& s) {
  bool all = false;
  r.get("autoReport.all", all);
  s.graph_report = s.execution_report = all;
  r.get("autoReport.outputGraphProfile", s.graph_report);
  r.get("autoReport.outputExecutionProfile", s.execution_report);
  s.report_directory = ".";
  r.get("autoReport.directory", s.report_directory);
  r.get("autoReport.executionProfileProgramRunCount", s.report_runs);
}

}  // namespace

EngineSettings parse_engine_options(const OptionFlags& flags, bool check) {
  EngineSettings s;
  s.flags = flags;
  if (const char* env = std::getenv("POPLAR_ENGINE_OPTIONS"); env && *env) readJSON(poplar::StringRef(env), s.flags);
  check_all(kEngineOptions, s.flags, check);
  const Reader r(s.flags);
  r.get("debug.allowOutOfMemory", s.compile.allow_out_of_memory);
  r.get("pando.bind", s.compile.bind);
  r.get("pando.mergeMoves", s.compile.merge_moves);
  r.get("pando.shareMemory", s.compile.share_memory);
  r.get("pando.splitVariables", s.compile.split_variables);
  r.get("pando.inferIoTiles", s.compile.infer_io_tiles);
  r.get("pando.validate", s.compile.validate);
  r.get("pando.threads", s.exec.threads);
  r.get("pando.tileByTile", s.exec.tile_by_tile);
  r.get("pando.askEarly", s.exec.ask_early);
  r.get("pando.poisonUndefined", s.exec.poison_undefined);
  r.get("exchange.enablePrefetch", s.exec.prefetch);
  r.get("pando.cycleModel", s.cycle_model);
  std::string exchange = "landing";
  r.get("pando.exchangeModel", exchange);
  s.cycles.exchange = exchange == "simple" ? cycles::Options::Exchange::simple : cycles::Options::Exchange::landing;
  read_reports(r, s);
  return s;
}

profile::SummaryOptions parse_summary_options(const OptionFlags& flags) {
  check_all(kSummaryOptions, flags, true);
  profile::SummaryOptions options;
  const Reader r(flags);
  r.get("showExecutionSteps", options.execution_steps);
  r.get("showVarStorage", options.var_storage);
  r.get("showPerIpuMemoryUsage", options.per_ipu_memory);
  return options;
}

void check_runtime_options(const OptionFlags& flags) { check_all(kRuntimeOptions, flags, true); }

}  // namespace pando::facade

namespace poplar {

EngineOptions::EngineOptions(const OptionFlags& flags) : flags_(pando::facade::parse_engine_options(flags).flags) {}

RuntimeOptions::RuntimeOptions(const OptionFlags& flags) : flags_(flags) { pando::facade::check_runtime_options(flags); }

}  // namespace poplar
