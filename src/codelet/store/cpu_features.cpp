#include "codelet/store/cpu_features.h"

#include <algorithm>
#include <cstdlib>

#if defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace pando {

std::vector<std::string> host_cpu_features() {
  std::vector<std::string> out;
#if defined(__x86_64__)
  __builtin_cpu_init();
#define PANDO_FEATURE(name) \
  if (__builtin_cpu_supports(name)) out.push_back(name);
  PANDO_FEATURE("avx")
  PANDO_FEATURE("avx2")
  PANDO_FEATURE("avx512bw")
  PANDO_FEATURE("avx512cd")
  PANDO_FEATURE("avx512dq")
  PANDO_FEATURE("avx512f")
  PANDO_FEATURE("avx512fp16")
  PANDO_FEATURE("avx512vbmi")
  PANDO_FEATURE("avx512vl")
  PANDO_FEATURE("bmi")
  PANDO_FEATURE("bmi2")
  PANDO_FEATURE("f16c")
  PANDO_FEATURE("fma")
  PANDO_FEATURE("lzcnt")
  PANDO_FEATURE("popcnt")
  PANDO_FEATURE("sse4.2")
#undef PANDO_FEATURE
#elif defined(__aarch64__)
  const unsigned long have = ::getauxval(AT_HWCAP), have2 = ::getauxval(AT_HWCAP2);
#define PANDO_FEATURE(name, word, bit) \
  if ((word & bit) != 0) out.push_back(name);
  PANDO_FEATURE("bf16", have2, HWCAP2_BF16)
  PANDO_FEATURE("dotprod", have, HWCAP_ASIMDDP)
  PANDO_FEATURE("fp16fml", have, HWCAP_ASIMDFHM)
  PANDO_FEATURE("fullfp16", have, HWCAP_ASIMDHP)
  PANDO_FEATURE("i8mm", have2, HWCAP2_I8MM)
  PANDO_FEATURE("lse", have, HWCAP_ATOMICS)
  PANDO_FEATURE("rcpc", have, HWCAP_LRCPC)
  PANDO_FEATURE("sve", have, HWCAP_SVE)
  PANDO_FEATURE("sve2", have2, HWCAP2_SVE2)
#undef PANDO_FEATURE
#endif
  return out;
}

std::vector<std::string> missing_cpu_features(const std::vector<std::string>& needed) {
  const std::vector<std::string> have = host_cpu_features();
  std::vector<std::string> missing;
  for (const std::string& feature : needed)
    if (std::find(have.begin(), have.end(), feature) == have.end()) missing.push_back(feature);
  return missing;
}

namespace {

[[maybe_unused]] std::vector<ProcessorLevel> levels_of_x86() {
  std::vector<ProcessorLevel> out = {{"x86-64-v2", "ssse3", {"popcnt", "sse4.2"}}};
  const auto add = [&](std::string_view name, std::string_view vectors, const std::vector<std::string>& more) {
    std::vector<std::string> features = out.back().features;
    features.insert(features.end(), more.begin(), more.end());
    std::sort(features.begin(), features.end());
    out.push_back({name, vectors, std::move(features)});
  };
  add("x86-64-v3", "avx2", {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt"});
  add("x86-64-v4", "avx512", {"avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"});
  return out;
}

}  // namespace

std::span<const ProcessorLevel> processor_levels() {
#if defined(__x86_64__)
  static const std::vector<ProcessorLevel> levels = levels_of_x86();
  return levels;
#else
  return {};
#endif
}

const ProcessorLevel* processor_level(std::string_view name) {
  for (const ProcessorLevel& level : processor_levels())
    if (level.name == name) return &level;
  return nullptr;
}

bool is_allowed(const ProcessorLevel& level) {
  const char* const most = std::getenv("PANDO_VECTORS");
  const auto levels = processor_levels();
  if (most == nullptr) return true;
  const auto at = std::find_if(levels.begin(), levels.end(), [&](const ProcessorLevel& l) { return l.vectors == most; });
  return at == levels.end() || &level <= &*at;
}

std::string_view level_in_use() {
  std::string_view best;
  for (const ProcessorLevel& level : processor_levels())
    if (is_allowed(level) && missing_cpu_features(level.features).empty()) best = level.name;
  return best;
}

}  // namespace pando
