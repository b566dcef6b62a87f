// One channel of the gradients of all images, from that channel of all regions' bins; added up in the order of the regions.
#include "poplibs/popnn/codelets/roi/samples.h"
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

namespace popnn {

template <class T>
class RoiAlignGradient : public poplar::Vertex {
 public:
  RoiAlignGradient();
  poplar::Output<poplar::Vector<float>> images;   // one after the other
  poplar::Input<poplar::Vector<float>> rois;      // four numbers each
  poplar::Input<poplar::Vector<unsigned>> image;  // of each region
  poplar::Input<poplar::Vector<T>> gradient;      // the bins of each region
  const unsigned height, width, binsHigh, binsWide, points;
  const float scale;
  const bool aligned;

  bool compute() {
    const RoiGrid grid = {height, width, binsHigh, binsWide, points, scale, aligned};
    const unsigned bins = binsHigh * binsWide, pixels = height * width, count = images.size() / pixels;
    for (unsigned i = 0; i < images.size(); ++i) images[i] = 0;
    for (unsigned r = 0; r < image.size(); ++r) {
      if (image[r] >= count) continue;
      float* const pixel = &images[image[r] * pixels];
      const T* const mine = &gradient[r * bins];
      for_each_sample(grid, &rois[4 * r],
                      [&](unsigned bin, unsigned at, float weight) { pixel[at] += weight * static_cast<float>(mine[bin]); });
    }
    return true;
  }
};

template class RoiAlignGradient<float>;
template class RoiAlignGradient<half>;

}  // namespace popnn
#else
#include <algorithm>

#include "poplibs/codelet_file.h"

namespace popnn {

using namespace pando::poplibs;

Estimates estimates_roi_align_gradient() {
  return for_types("popnn::RoiAlignGradient", {poplar::FLOAT, poplar::HALF}, [](const poplar::Type&) {
    return [](const VertexIntrospector& vertex, const Target& target) {
      const std::size_t side = vertex.getFieldInfo("points").getInitialValue<unsigned>(target), points = side == 0 ? 4 : side * side;
      const std::size_t bins = vertex.getFieldInfo("gradient").size(), pixels = vertex.getFieldInfo("images").size();
      return VertexPerfEstimate(50 + pixels + bins * (10 + 48 * points), bins * points * 8);
    };
  });
}

}  // namespace popnn
#endif
