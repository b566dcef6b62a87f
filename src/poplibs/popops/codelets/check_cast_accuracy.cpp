// Does a float keep its value as a half, up to a relative error?
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

namespace popops {

class CheckCastAccuracy : public poplar::Vertex {
 public:
  CheckCastAccuracy();
  poplar::Input<float> in;
  poplar::Output<bool> out;
  const float tolerance;

  bool compute() {
    const float x = *in, magnitude = x < 0 ? -x : x;
    const float error = static_cast<float>(static_cast<half>(x)) - x;
    *out = magnitude <= 65504.0f && (error < 0 ? -error : error) <= tolerance * magnitude;
    return true;
  }
};

}  // namespace popops
#else
#include "poplibs/codelet_file.h"

namespace popops {

using namespace pando::poplibs;

Estimates estimates_check_cast_accuracy() {
  return {{"popops::CheckCastAccuracy", [](const VertexIntrospector&, const Target&) { return VertexPerfEstimate(25, 3); }}};
}

}  // namespace popops
#endif
