// One channel of some regions' bins, from that channel of all images.
#include "poplibs/popnn/codelets/roi/samples.h"
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

namespace popnn {

template <class T>
class RoiAlign : public poplar::Vertex {
 public:
  RoiAlign();
  poplar::Input<poplar::Vector<T>> images;        // one after the other
  poplar::Input<poplar::Vector<float>> rois;      // four numbers each
  poplar::Input<poplar::Vector<unsigned>> image;  // of each region
  poplar::Output<poplar::Vector<T>> out;          // the bins of each region
  const unsigned height, width, binsHigh, binsWide, points;
  const float scale;
  const bool aligned;

  bool compute() {
    const RoiGrid grid = {height, width, binsHigh, binsWide, points, scale, aligned};
    const unsigned bins = binsHigh * binsWide, pixels = height * width, count = images.size() / pixels;
    for (unsigned r = 0; r < image.size(); ++r) {
      // A bin's points come one after the other.
      unsigned current = 0;
      float sum = 0;
      T* const mine = &out[r * bins];
      for (unsigned b = 0; b < bins; ++b) mine[b] = static_cast<T>(0.0f);
      if (image[r] >= count) continue;
      const T* const pixel = &images[image[r] * pixels];
      for_each_sample(grid, &rois[4 * r], [&](unsigned bin, unsigned at, float weight) {
        if (bin != current) {
          mine[current] = static_cast<T>(sum);
          current = bin;
          sum = 0;
        }
        sum += weight * static_cast<float>(pixel[at]);
      });
      mine[current] = static_cast<T>(sum);
    }
    return true;
  }
};

template class RoiAlign<float>;
template class RoiAlign<half>;

}  // namespace popnn
#else
#include <algorithm>

#include "poplibs/codelet_file.h"

namespace popnn {

using namespace pando::poplibs;

// Some 40 cycles a point; where regions decide how many there are, four a bin.
Estimates estimates_roi_align() {
  return for_types("popnn::RoiAlign", {poplar::FLOAT, poplar::HALF}, [](const poplar::Type&) {
    return [](const VertexIntrospector& vertex, const Target& target) {
      const std::size_t side = vertex.getFieldInfo("points").getInitialValue<unsigned>(target), points = side == 0 ? 4 : side * side;
      const std::size_t bins = vertex.getFieldInfo("out").size();
      return VertexPerfEstimate(50 + bins * (10 + 40 * points), bins * points * 8);
    };
  });
}

}  // namespace popnn
#endif
