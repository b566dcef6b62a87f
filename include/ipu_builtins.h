/* Builtin functions of the tile's compiler, in software. Here: what asks the machine. <ipu_arithmetic_builtins.h> has the arithmetic,
 * <ipu_absent_builtins.h> those that a host does not have: code that calls them does not compile.
 *
 * Random numbers differ from call to call and are the same in each run of a program: a tile's generator begins at the tile's number. */
#ifndef PANDO_IPU_BUILTINS_H
#define PANDO_IPU_BUILTINS_H

#ifdef __POPC__

#include <pando/device_runtime.h>
#include <poplar/VectorTypes.hpp>

#ifdef __cplusplus
extern "C"
#else
extern
#endif
    const struct PandoRuntime* pando_runtime;

static inline unsigned __builtin_ipu_get_tile_id(void) { return pando_runtime->tile_id(); }
static inline unsigned __builtin_ipu_get_scount_l(void) { return (unsigned)pando_runtime->cycle_count(); }
static inline unsigned __builtin_ipu_get_scount_u(void) { return (unsigned)(pando_runtime->cycle_count() >> 32); }

#ifdef __cplusplus

/* Set by what popc puts around the compute() of a multi-vertex; 0 in all other vertices. */
inline unsigned pando_worker = 0;
static inline unsigned __builtin_ipu_get_worker_id() { return pando_worker; }
/* The registers that there are, by their numbers in <arch/gc_tile_defines.h>: WSR, whose lowest three bits are the worker's number (0 gives
 * the same), COUNT_L and COUNT_U. */
template <unsigned Register> inline unsigned pando_get_register() {
  static_assert(Register <= 1 || Register == 96 || Register == 97,
                "of a tile's registers only WSR, COUNT_L and COUNT_U (1, 96 and 97) can be read on a host");
  return Register == 96 ? __builtin_ipu_get_scount_l() : Register == 97 ? __builtin_ipu_get_scount_u() : pando_worker;
}
#define __builtin_ipu_get(number) (::pando_get_register<(number)>())

/* Bits of the next number of this tile's generator. */
static inline unsigned long long __builtin_ipu_urand64() {
  unsigned long long x = pando_runtime->cycle_count() + 0x9e3779b97f4a7c15ull * (1ull + pando_runtime->tile_id());
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}
static inline unsigned __builtin_ipu_urand32() { return static_cast<unsigned>(__builtin_ipu_urand64() >> 32); }
/* Uniform in [-0.5, 0.5). */
static inline float __builtin_ipu_urand_f32() { return static_cast<float>(static_cast<int>(__builtin_ipu_urand32()) >> 8) * 0x1p-24f; }
static inline half __builtin_ipu_urand_f16() {
  return static_cast<half>(static_cast<float>(static_cast<int>(__builtin_ipu_urand32()) >> 21) * 0x1p-11f);
}
/* Two numbers of a normal distribution of mean 0 and deviation 1. */
static inline pando_types::float2 __builtin_ipu_f32v2grand() {
  const unsigned long long bits = __builtin_ipu_urand64();
  const float u = static_cast<float>((bits >> 40) + 1) * 0x1p-24f;
  const float angle = static_cast<float>(bits & 0xffffff) * (6.28318530718f * 0x1p-24f);
  const float radius = __builtin_sqrtf(-2.0f * __builtin_logf(u));
  return pando_types::float2{radius * __builtin_cosf(angle), radius * __builtin_sinf(angle)};
}
static inline pando_types::half2 __builtin_ipu_f16v2grand() {
  return __builtin_convertvector(__builtin_ipu_f32v2grand(), pando_types::half2);
}

/* Three addresses of a tile as the instructions that step them take them. */
static inline pando_types::uint2 __builtin_ipu_tapack(const void* first, const void* second, const void* third) {
  pando_types::uint2 packed;
  __asm__("tapack %0, %1, %2, %3" : "=r"(packed) : "r"(first), "r"(second), "r"(third));
  return packed;
}

#include <ipu_absent_builtins.h>
#include <ipu_arithmetic_builtins.h>

#endif /* __cplusplus */

#endif /* __POPC__ */
#endif
