// A window's gradient, divided by the number of elements that share it: of those that lie in the field, or of those that are its maximum.
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

#include "poplibs/popnn/pooling/pool_geometry.h"

namespace popnn {

template <class T>
class PoolShareGradient : public poplar::Vertex {
 public:
  PoolShareGradient();
  poplar::Input<poplar::Vector<T>> gradient;
  poplar::Output<poplar::Vector<T>> out;
  poplar::Vector<int> geometry;
  bool compute() {
    const PoolGeometry& g = *reinterpret_cast<const PoolGeometry*>(&geometry[0]);
    const PoolDimension &d = g.depth, &h = g.height, &w = g.width;
    unsigned at = 0;
    for (int i = 0; i < g.images; ++i)
      for (int od = d.out_begin; od < d.out_begin + d.out_size; ++od)
        for (int oh = h.out_begin; oh < h.out_begin + h.out_size; ++oh)
          for (int ow = w.out_begin; ow < w.out_begin + w.out_size; ++ow) {
            const int count = size_of(window_in_field(d, od)) * size_of(window_in_field(h, oh)) * size_of(window_in_field(w, ow));
            const float share = count > 1 ? 1.0f / static_cast<float>(count) : 1.0f;
            for (int c = 0; c < g.channels; ++c, ++at) out[at] = static_cast<T>(static_cast<float>(gradient[at]) * share);
          }
    return true;
  }
};

template <class T>
class PoolShareMaxGradient : public poplar::Vertex {
 public:
  PoolShareMaxGradient();
  poplar::Input<poplar::Vector<T>> in;
  poplar::Input<poplar::Vector<T>> pooled;
  poplar::Input<poplar::Vector<T>> gradient;
  poplar::Output<poplar::Vector<T>> out;
  poplar::Vector<int> geometry;
  bool compute() {
    const PoolGeometry& g = *reinterpret_cast<const PoolGeometry*>(&geometry[0]);
    const PoolDimension &d = g.depth, &h = g.height, &w = g.width;
    const unsigned image = in.size() / g.images;
    unsigned at = 0;
    for (int i = 0; i < g.images; ++i)
      for (int od = d.out_begin; od < d.out_begin + d.out_size; ++od)
        for (int oh = h.out_begin; oh < h.out_begin + h.out_size; ++oh)
          for (int ow = w.out_begin; ow < w.out_begin + w.out_size; ++ow)
            for (int c = 0; c < g.channels; ++c, ++at) {
              const int count = matches(g, &in[i * image], {od, oh, ow, c}, pooled[at]);
              out[at] = static_cast<T>(static_cast<float>(gradient[at]) / static_cast<float>(count > 1 ? count : 1));
            }
    return true;
  }

 private:
  struct Place {
    int depth, height, width, channel;
  };
  static int matches(const PoolGeometry& g, const T* in, Place o, T max) {
    const PoolDimension &d = g.depth, &h = g.height, &w = g.width;
    const PoolRange depths = window_in_field(d, o.depth), heights = window_in_field(h, o.height), widths = window_in_field(w, o.width);
    int count = 0;
    for (int id = depths.begin; id < depths.end; ++id)
      for (int ih = heights.begin; ih < heights.end; ++ih) {
        const T* row = in + ((id - d.in_begin) * h.in_size + ih - h.in_begin) * w.in_size * g.channels + o.channel;
        for (int iw = widths.begin; iw < widths.end; ++iw) count += row[(iw - w.in_begin) * g.channels] == max;
      }
    return count;
  }
};

template class PoolShareGradient<float>;
template class PoolShareGradient<half>;
template class PoolShareMaxGradient<float>;
template class PoolShareMaxGradient<half>;

}  // namespace popnn
#else
#include "poplibs/popnn/pooling/pool_cost.h"

namespace popnn {

using namespace pando::poplibs;

Estimates estimates_pool_share_gradient() {
  Estimates out;
  for (const poplar::Type& type : {poplar::FLOAT, poplar::HALF})
    out.push_back({"popnn::PoolShareGradient<" + type.toString() + ">", [type](const VertexIntrospector& vertex, const Target& target) {
                     const std::size_t n = vertex.getFieldInfo("out").size();
                     return VertexPerfEstimate(30 + 4 * (n / target.getVectorWidth(type) + 1), n);
                   }});
  const Estimates max = pool_estimates("popnn::PoolShareMaxGradient", "out");
  out.insert(out.end(), max.begin(), max.end());
  return out;
}

}  // namespace popnn
#endif
