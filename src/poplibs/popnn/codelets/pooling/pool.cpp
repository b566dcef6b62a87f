// Maximum, average or sum of the elements of each window that lie in the field. The maximum of none is 0, as is their sum; NaN wins.
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

#include "poplibs/popnn/pooling/pool_geometry.h"

namespace popnn {

constexpr int kChunk = 1024;  // results that are summed up at a time

// acc[i] (op)= in[i], over n results, each of `channels`, whose operands are `stride` apart.
template <bool Max, class T>
inline void combine(float* __restrict acc, const T* __restrict in, int n, int stride, int channels) {
  const auto one = [](float a, float x) { return Max ? (x > a || x != x ? x : a) : a + x; };
  if (stride == 1) {
    for (int i = 0; i < n * channels; ++i) acc[i] = one(acc[i], static_cast<float>(in[i]));
  } else if (channels == 1) {
    for (int i = 0; i < n; ++i) acc[i] = one(acc[i], static_cast<float>(in[i * stride]));
  } else {
    for (int i = 0; i < n; ++i)
      for (int c = 0; c < channels; ++c)
        acc[i * channels + c] = one(acc[i * channels + c], static_cast<float>(in[i * stride * channels + c]));
  }
}

template <bool Max, class T>
inline void pool_image(const PoolGeometry& g, const T* in, T* out) {
  float acc[kChunk];
  const PoolDimension &d = g.depth, &h = g.height, &w = g.width;
  const int step = kChunk / g.channels;
  for (int od = d.out_begin; od < d.out_begin + d.out_size; ++od)
    for (int oh = h.out_begin; oh < h.out_begin + h.out_size; ++oh) {
      const PoolRange depths = window_in_field(d, od), heights = window_in_field(h, oh);
      for (int begin = w.out_begin, last = w.out_begin + w.out_size; begin < last; begin += step) {
        const int end = begin + step < last ? begin + step : last;
        for (int i = 0; i < (end - begin) * g.channels; ++i) acc[i] = Max ? -__builtin_inff() : 0;
        for (int id = depths.begin; id < depths.end; ++id)
          for (int ih = heights.begin; ih < heights.end; ++ih) {
            const T* row = in + ((id - d.in_begin) * h.in_size + ih - h.in_begin) * w.in_size * g.channels;
            for (int k = 0; k < w.kernel; ++k) {
              const PoolRange o = windows_with(w, k, 0, w.field, begin, end);
              if (o.end <= o.begin) continue;
              combine<Max>(acc + (o.begin - begin) * g.channels, row + (o.begin * w.stride + k - w.padding - w.in_begin) * g.channels,
                           o.end - o.begin, w.stride, g.channels);
            }
          }
        for (int o = begin; o < end; ++o) {
          const int count = size_of(depths) * size_of(heights) * size_of(window_in_field(w, o));
          const float scale = g.operation == kPoolAverage && count > 1 ? 1.0f / static_cast<float>(count) : 1.0f;
          for (int c = 0; c < g.channels; ++c) *out++ = static_cast<T>(count == 0 ? 0 : acc[(o - begin) * g.channels + c] * scale);
        }
      }
    }
}

template <class T>
class Pool : public poplar::Vertex {
 public:
  Pool();
  poplar::Input<poplar::Vector<T>> in;
  poplar::Output<poplar::Vector<T>> out;
  poplar::Vector<int> geometry;
  bool compute() {
    const PoolGeometry& g = *reinterpret_cast<const PoolGeometry*>(&geometry[0]);
    const unsigned from = in.size() / g.images, to = out.size() / g.images;
    for (int i = 0; i < g.images; ++i)
      if (g.operation == kPoolMax)
        pool_image<true>(g, &in[i * from], &out[i * to]);
      else
        pool_image<false>(g, &in[i * from], &out[i * to]);
    return true;
  }
};

template class Pool<float>;
template class Pool<half>;

}  // namespace popnn
#else
#include "poplibs/popnn/pooling/pool_cost.h"

namespace popnn {

using namespace pando::poplibs;

Estimates estimates_pool() { return pool_estimates("popnn::Pool", "out"); }

}  // namespace popnn
#endif
