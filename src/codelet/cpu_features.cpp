#include "codelet/cpu_features.h"

#include <algorithm>

namespace pando {

std::vector<std::string> host_cpu_features() {
  __builtin_cpu_init();
  std::vector<std::string> out;
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
  return out;
}

std::vector<std::string> missing_cpu_features(const std::vector<std::string>& needed) {
  const std::vector<std::string> have = host_cpu_features();
  std::vector<std::string> missing;
  for (const std::string& feature : needed)
    if (std::find(have.begin(), have.end(), feature) == have.end()) missing.push_back(feature);
  return missing;
}

}  // namespace pando
