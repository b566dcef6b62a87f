// Conversions from and to 8-bit floats, whose format and scale are in a byte of metadata.
#ifdef __POPC__
#include <poplar/QuarterFloat.hpp>
#include <poplar/Vertex.hpp>

namespace popops {

template <class T>
class CastFromQuarter : public poplar::Vertex {
 public:
  CastFromQuarter();
  poplar::Vector<poplar::Input<poplar::Vector<unsigned char>>> in;
  poplar::Vector<poplar::Output<poplar::Vector<T>>> out;
  poplar::Input<unsigned char> metadata;

  bool compute() {
    const poplar::quarter_metadata m = poplar::unpackMetadata(&*metadata);
    for (unsigned r = 0; r < out.size(); ++r)
      for (unsigned i = 0; i < out[r].size(); ++i) out[r][i] = static_cast<T>(poplar::toFloat(poplar::quarter::fromBits(in[r][i]), m));
    return true;
  }
};

template <class T>
class CastToQuarter : public poplar::Vertex {
 public:
  CastToQuarter();
  poplar::Vector<poplar::Input<poplar::Vector<T>>> in;
  poplar::Vector<poplar::Output<poplar::Vector<unsigned char>>> out;
  poplar::Input<unsigned char> metadata;

  bool compute() {
    const poplar::quarter_metadata m = poplar::unpackMetadata(&*metadata);
    for (unsigned r = 0; r < out.size(); ++r)
      for (unsigned i = 0; i < out[r].size(); ++i) out[r][i] = poplar::toQuarter(static_cast<float>(in[r][i]), m).bits();
    return true;
  }
};

class CastQuarterToQuarter : public poplar::Vertex {
 public:
  CastQuarterToQuarter();
  poplar::Vector<poplar::Input<poplar::Vector<unsigned char>>> in;
  poplar::Vector<poplar::Output<poplar::Vector<unsigned char>>> out;
  poplar::Input<unsigned char> metadataIn;
  poplar::Input<unsigned char> metadata;

  bool compute() {
    const poplar::quarter_metadata from = poplar::unpackMetadata(&*metadataIn), to = poplar::unpackMetadata(&*metadata);
    for (unsigned r = 0; r < out.size(); ++r)
      for (unsigned i = 0; i < out[r].size(); ++i)
        out[r][i] = poplar::toQuarter(poplar::toFloat(poplar::quarter::fromBits(in[r][i]), from), to).bits();
    return true;
  }
};

template class CastFromQuarter<float>;
template class CastFromQuarter<half>;
template class CastToQuarter<float>;
template class CastToQuarter<half>;

}  // namespace popops
#else
#include "poplibs/popops/data/estimate.h"

namespace popops {

// The machine converts four quarters to or from halfs in a cycle.
Estimates estimates_cast_quarter() {
  Estimates out;
  for (const char* vertex : {"popops::CastFromQuarter<float>", "popops::CastFromQuarter<half>", "popops::CastToQuarter<float>",
                             "popops::CastToQuarter<half>", "popops::CastQuarterToQuarter"})
    out.push_back({vertex, internal::loop_cost("out", {.cycles_per_element = 0.5, .overhead = 30})});
  return out;
}

}  // namespace popops
#endif
