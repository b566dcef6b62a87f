// What codelet sources include: the vertex classes and their fields.
//
// A codelet is a class that derives from one of these and has `void compute()` or `bool compute()`; a multi-vertex has
// `compute(unsigned worker)`, which runs once for each worker.
#ifndef POPLAR_VERTEX_HPP
#define POPLAR_VERTEX_HPP

#ifdef __POPC__

#include <math.h>  // public codelets call fmod and others unqualified: the overloads for float
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <ipu_builtins.h>
#include <poplar/HalfFloat.hpp>
#include <poplar/HalfMath.hpp>
#include <poplar/InOutTypes.hpp>
#include <poplar/Loops.hpp>
#include <poplar/QuarterFloat.hpp>
#include <poplar/VectorTypes.hpp>

#define WORKER_ALIGN
#define NO_INSTRUMENT __attribute__((no_instrument_function))

namespace poplar {

class Vertex {};
class SupervisorVertex {};
class ExternalExchangeVertex {};
class MultiVertex {
 public:
  static constexpr unsigned numWorkers() { return 6; }
};

template <bool Predicate>
using SupervisorVertexIf = typename std::conditional<Predicate, SupervisorVertex, Vertex>::type;

}  // namespace poplar

#endif  // __POPC__
#endif
