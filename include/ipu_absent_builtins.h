/* Builtin functions of the tile's compiler that a host does not have: included by <ipu_builtins.h>. A call is an error at its line that
 * says so, instead of a name that is not declared. They work on accumulators, weights and registers of an IPU, or nothing
 * public says what they return. */
#ifndef PANDO_IPU_ABSENT_BUILTINS_H
#define PANDO_IPU_ABSENT_BUILTINS_H

#if defined(__POPC__) && defined(__cplusplus)

namespace pando_builtins {
struct Anything {
  template <class T> operator T() const;
};
}  // namespace pando_builtins

#define PANDO_ABSENT(name, why)                                               \
  __attribute__((unavailable("hosts do not have this builtin of an IPU: " why \
                             "; give hosts C++ in its place (#ifndef __IPU__)"))) pando_builtins::Anything __builtin_ipu_##name(...);

#define PANDO_ABSENT_ACCUMULATOR(name) PANDO_ABSENT(name, "it works on accumulators")
PANDO_ABSENT_ACCUMULATOR(f32v2axpy)
PANDO_ABSENT_ACCUMULATOR(f32v2aop)
PANDO_ABSENT_ACCUMULATOR(gina)
PANDO_ABSENT_ACCUMULATOR(f32v2gina)
PANDO_ABSENT_ACCUMULATOR(f16v2gina)
PANDO_ABSENT_ACCUMULATOR(cmac)
PANDO_ABSENT_ACCUMULATOR(f16v2cmac)
PANDO_ABSENT_ACCUMULATOR(f16v4cmac)

#define PANDO_ABSENT_REGISTER(name) PANDO_ABSENT(name, "it reads or writes a register or the weights")
PANDO_ABSENT_REGISTER(put)
PANDO_ABSENT_REGISTER(uput)
PANDO_ABSENT_REGISTER(uputf)
PANDO_ABSENT_REGISTER(uget)
PANDO_ABSENT_REGISTER(ugetf)
PANDO_ABSENT_REGISTER(ld64putcs)
PANDO_ABSENT_REGISTER(ld128putcs)
PANDO_ABSENT_REGISTER(get_vertex_base)

#define PANDO_ABSENT_MEANING(name) PANDO_ABSENT(name, "what it returns is not public")
PANDO_ABSENT_MEANING(is_worker_mode)
PANDO_ABSENT_MEANING(f32class)
PANDO_ABSENT_MEANING(rmask)
PANDO_ABSENT_MEANING(cms)
PANDO_ABSENT_MEANING(roll8l)
PANDO_ABSENT_MEANING(roll8r)

#undef PANDO_ABSENT_MEANING
#undef PANDO_ABSENT_REGISTER
#undef PANDO_ABSENT_ACCUMULATOR
#undef PANDO_ABSENT

#endif
#endif
