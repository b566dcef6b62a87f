// Packed numbers of a format as floats or halfs.
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>

#include "poplibs/popfloat/codelets/gfloat_vertex.h"

namespace popfloat {

template <class In, class Out>
class FromGfloat : public GfloatVertex {
 public:
  FromGfloat();
  poplar::Input<poplar::Vector<In>> in;
  poplar::Output<poplar::Vector<Out>> out;

  bool compute() {
    const Gfloat f = format(8 * sizeof(In), false);
    for (unsigned i = 0, n = in.size(); i < n; ++i) out[i] = static_cast<Out>(unpack(static_cast<uint32_t>(in[i]), f));
    return true;
  }
};

template class FromGfloat<char, float>;
template class FromGfloat<char, half>;
template class FromGfloat<signed char, float>;
template class FromGfloat<signed char, half>;
template class FromGfloat<short, float>;
template class FromGfloat<short, half>;

}  // namespace popfloat
#else
#include "poplibs/codelet_file.h"

namespace popfloat {

using namespace pando::poplibs;

Estimates estimates_from_gfloat() {
  Estimates out;
  for (const char* name : {"<char,float>", "<char,half>", "<signed char,float>", "<signed char,half>", "<short,float>", "<short,half>"})
    out.push_back({std::string("popfloat::FromGfloat") + name, [](const VertexIntrospector& vertex, const Target&) {
                     return VertexPerfEstimate(30 + 10 * vertex.getFieldInfo("in").size());
                   }});
  return out;
}

}  // namespace popfloat
#endif
