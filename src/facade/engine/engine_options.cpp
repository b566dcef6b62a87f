#include "facade/engine/engine_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <set>

#include "base/error.h"
#include "facade/engine/engine_option_rows.h"
#include "poplar/EngineOptions.hpp"
#include "poplar/RuntimeOptions.hpp"

namespace pando::facade {

using poplar::OptionFlags;

namespace {

using Kind = OptionKind;

// An option of a smaller list: its name, what its value is, and for a choice the values, separated by '|'.
struct Row {
  const char* name;
  Kind kind;
  const char* choices = "";
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
    "debug.instrumentSync",          "debug.json", "debug.tree", "profiler.cacheEnabled", "target.textSectionSizeInBytes",
    "target.useBufferedCompletions",
};

// Of options with two names in different releases either is taken. The rows have the newer one.
struct Renamed {
  const char *old_name, *name;
};
constexpr Renamed kRenamed[] = {
    {"prng.enable", "prng.enableStochasticRounding"},
    {"target.supervisorStackSizeInBytes", "debug.supervisorStackSizeInBytes"},
    {"target.workerStackSizeInBytes", "debug.workerStackSizeInBytes"},
};

bool is_old_name(const std::string& name) {
  return std::any_of(std::begin(kRenamed), std::end(kRenamed), [&](const Renamed& r) { return name == r.old_name; });
}

// With the newer names beside the older ones; what is given by its newer name counts.
OptionFlags with_new_names(OptionFlags flags) {
  for (const Renamed& r : kRenamed)
    if (const auto old = flags.find(r.old_name); old != flags.end() && flags.find(r.name) == flags.end()) flags.set(r.name, old->second);
  return flags;
}

template <class Rows>
auto find(const Rows& rows, const std::string& name) -> decltype(&*std::begin(rows)) {
  for (const auto& r : rows)
    if (name == r.name) return &r;
  return nullptr;
}

bool is_obsolete(const std::string& name) {
  for (const char* o : kObsolete)
    if (name == o) return true;
  return false;
}

// `why`: "is obsolete and has no effect".
void warn_once(const std::string& name, const char* why) {
  static std::mutex mutex;
  static std::set<std::string> warned;
  const std::lock_guard lock(mutex);
  if (warned.insert(name).second) std::fprintf(stderr, "warning: option '%s' %s\n", name.c_str(), why);
}

[[noreturn]] void bad_value(const std::string& name, const std::string& value, std::string_view expected) {
  fail(ErrorKind::invalid_option, "option-value", "option '{}' has the value '{}'; expected {}", name, value, expected);
}

bool is_number(const std::string& value) {
  if (value.empty()) return false;
  char* end = nullptr;
  const double n = std::strtod(value.c_str(), &end);
  return *end == 0 && std::isfinite(n);
}

bool is_whole(const std::string& value) {
  if (!is_number(value)) return false;
  const double n = std::strtod(value.c_str(), nullptr);
  return n >= 0 && n <= std::numeric_limits<std::uint32_t>::max() && n == std::floor(n);
}

bool is_choice(const std::string& value, std::string_view choices) {
  const std::string list = '|' + std::string(choices) + '|';
  return list.find('|' + value + '|') != std::string::npos;
}

template <class Row>
void check_value(const Row& row, const std::string& value) {
  switch (row.kind) {
    case Kind::boolean:
      if (value != "true" && value != "false" && value != "1" && value != "0") bad_value(row.name, value, "true or false");
      return;
    case Kind::number:
      if (!is_number(value)) bad_value(row.name, value, "a number");
      return;
    case Kind::whole:
      if (!is_whole(value)) bad_value(row.name, value, "a whole number from 0 to 4294967295");
      return;
    case Kind::choice:
      if (!is_choice(value, row.choices)) bad_value(row.name, value, fmt::format("one of {}", row.choices));
      return;
    case Kind::text: return;
  }
}

template <class Rows>
void check_all(const Rows& rows, const OptionFlags& flags, bool check_names) {
  for (const auto& [name, value] : flags) {
    if (const auto* row = find(rows, name)) {
      check_value(*row, value);
    } else if (is_old_name(name)) {
      continue;  // checked by its newer name
    } else if (is_obsolete(name)) {
      warn_once(name, "is obsolete and has no effect");
    } else if (check_names) {
      fail(ErrorKind::invalid_option, "unknown-option", "Unrecognised option '{}'", name);
    }
  }
}

// An option that says less is taken first: autoReport.all before what it stands for, which the order of names gives.
void take_all(const OptionFlags& flags, EngineSettings& settings) {
  for (const OptionRow& row : engine_option_rows()) {
    const auto it = flags.find(row.name);
    if (it == flags.end()) continue;
    if (row.take)
      row.take(it->second, settings);
    else
      warn_once(row.name, "has no effect here");
  }
}

}  // namespace

EngineSettings parse_engine_options(const OptionFlags& flags, bool check) {
  EngineSettings s;
  s.flags = flags;
  if (const char* env = std::getenv("POPLAR_ENGINE_OPTIONS"); env && *env) readJSON(poplar::StringRef(env), s.flags);
  const OptionFlags flags_by_row = with_new_names(s.flags);
  check_all(engine_option_rows(), flags_by_row, check);
  take_all(flags_by_row, s);
  for (const char* of_watch : {"pando.watchNaN", "pando.watchSkip"})
    if (const auto it = flags_by_row.find(of_watch);
        it != flags_by_row.end() && s.watch.tensors.empty() && (s.watch.only_nan || s.watch.skip))
      fail(ErrorKind::invalid_option, "option-value",
           "option '{}' has the value '{}', and no tensor is watched: expected pando.watch with it", it->first, it->second);
  return s;
}

profile::SummaryOptions parse_summary_options(const OptionFlags& flags) {
  check_all(kSummaryOptions, flags, true);
  profile::SummaryOptions options;
  const auto is_set = [&](const char* name) {
    const auto it = flags.find(name);
    return it != flags.end() && (it->second == "true" || it->second == "1");
  };
  options.execution_steps = is_set("showExecutionSteps");
  options.var_storage = is_set("showVarStorage");
  options.per_ipu_memory = is_set("showPerIpuMemoryUsage");
  return options;
}

void check_runtime_options(const OptionFlags& flags) { check_all(kRuntimeOptions, flags, true); }

}  // namespace pando::facade

namespace poplar {

EngineOptions::EngineOptions(const OptionFlags& flags) : flags_(pando::facade::parse_engine_options(flags).flags) {}

RuntimeOptions::RuntimeOptions(const OptionFlags& flags) : flags_(flags) { pando::facade::check_runtime_options(flags); }

}  // namespace poplar
