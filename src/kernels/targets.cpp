// What Highway's dynamic dispatch asks at run time. These few functions stand for libhwy.so, whose start alone takes 15 ms: it
// calibrates the timer of its own benchmarks. The vector code is in Highway's headers.
#include <hwy/base.h>
#include <hwy/targets.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace hwy {

namespace {

std::int64_t detected_targets() {
#if HWY_ARCH_X86
  std::int64_t targets = 0;
  __builtin_cpu_init();
  const bool ssse3 = __builtin_cpu_supports("ssse3");
  const bool sse4 = ssse3 && __builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("aes") &&
                    __builtin_cpu_supports("pclmul");
  const bool avx2 = sse4 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c") &&
                    __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("lzcnt");
  const bool avx3 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd");
  if (ssse3) targets |= HWY_SSSE3;
  if (sse4) targets |= HWY_SSE4;
  if (avx2) targets |= HWY_AVX2;
  if (avx3) targets |= HWY_AVX3;
  if (!ssse3) Abort(__FILE__, __LINE__, "vector kernels need a processor with SSSE3, which this one has not");
#else
  const std::int64_t targets = HWY_STATIC_TARGET;
#endif
  return targets;
}

// PANDO_VECTORS=ssse3 or avx2: no instruction set above that one. How results are tested that other processors give.
std::int64_t wanted_targets() {
  const char* text = std::getenv("PANDO_VECTORS");
  if (text == nullptr || *text == '\0') return ~std::int64_t{0};
  const std::string_view most = text;
  // Better instruction sets are lower bits.
  if (most == "ssse3") return -std::int64_t{HWY_SSSE3};
  if (most == "avx2") return -std::int64_t{HWY_AVX2};
  if (most == "avx512") return -std::int64_t{HWY_AVX3};
  std::fprintf(stderr, "PANDO_VECTORS is \"%s\": ssse3, avx2 or avx512 was expected; it does not count\n", text);
  return ~std::int64_t{0};
}

}  // namespace

std::int64_t SupportedTargets() {
  static const std::int64_t targets = detected_targets() & wanted_targets();
  return targets;
}

ChosenTarget& GetChosenTarget() {
  static ChosenTarget chosen;
  return chosen;
}

void Abort(const char* file, int line, const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  std::fprintf(stderr, "%s:%d: ", file, line);
  std::vfprintf(stderr, format, arguments);
  va_end(arguments);
  std::fputc('\n', stderr);
  std::abort();
}

}  // namespace hwy
