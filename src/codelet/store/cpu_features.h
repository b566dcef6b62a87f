// What the host's processor can do, as far as compiled codelets depend on it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pando {

// Names as clang's -m options have them, sorted.
std::vector<std::string> host_cpu_features();
// Those of `needed` that the host lacks.
std::vector<std::string> missing_cpu_features(const std::vector<std::string>& needed);

// A kind of processor that code can be compiled for beside others (popc --levels). `vectors`: what PANDO_VECTORS calls its vectors.
struct ProcessorLevel {
  std::string_view name;
  std::string_view vectors;
  std::vector<std::string> features;  // that its code needs, of those that host_cpu_features() knows
};

// x86-64-v2, v3 and v4: each has all that the one before has.
std::span<const ProcessorLevel> processor_levels();
const ProcessorLevel* processor_level(std::string_view name);  // null if there is none of that name

// The best level that the host runs, and PANDO_VECTORS allows; empty if it runs none.
std::string_view level_in_use();
// Whether PANDO_VECTORS allows code of that level. What it does not know allows all; so does code of the lowest level.
bool is_allowed(const ProcessorLevel& level);

}  // namespace pando
