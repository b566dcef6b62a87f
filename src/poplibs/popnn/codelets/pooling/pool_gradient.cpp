// The gradient of the operand: for every element the sum of the gradients of the windows that it is in (times `scale`), or of those only
// whose maximum it is.
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

#include "poplibs/popnn/pooling/pool_geometry.h"

namespace popnn {

constexpr int kGradientChunk = 1024;  // elements that are summed up at a time

// acc[i * stride] += gradient[i], over n windows of `channels`; with Max where in[i * stride] == pooled[i].
template <bool Max, class T>
inline void scatter(float* __restrict acc, const T* __restrict in, const T* __restrict pooled, const T* __restrict gradient, int n,
                    int stride, int channels) {
  const auto one = [&](int to, int from) {
    const float g = static_cast<float>(gradient[from]);
    if constexpr (Max)
      acc[to] += in[to] == pooled[from] ? g : 0.0f;
    else
      acc[to] += g;
  };
  if (stride == 1) {
    for (int i = 0; i < n * channels; ++i) one(i, i);
  } else if (channels == 1) {
    for (int i = 0; i < n; ++i) one(i * stride, i);
  } else {
    for (int i = 0; i < n; ++i)
      for (int c = 0; c < channels; ++c) one(i * stride * channels + c, i * channels + c);
  }
}

template <bool Max, class T>
inline void spread_image(const PoolGeometry& g, const T* in, const T* pooled, const T* gradient, float scale, T* out) {
  float acc[kGradientChunk];
  const PoolDimension &d = g.depth, &h = g.height, &w = g.width;
  const int step = kGradientChunk / g.channels;
  for (int id = d.in_begin; id < d.in_begin + d.in_size; ++id)
    for (int ih = h.in_begin; ih < h.in_begin + h.in_size; ++ih)
      for (int begin = w.in_begin, last = w.in_begin + w.in_size; begin < last; begin += step) {
        const int end = begin + step < last ? begin + step : last, n = (end - begin) * g.channels;
        for (int i = 0; i < n; ++i) acc[i] = 0;
        for (int kd = 0; kd < d.kernel; ++kd) {
          const PoolRange od = windows_with(d, kd, id, id + 1, d.out_begin, d.out_begin + d.out_size);
          if (od.end <= od.begin) continue;
          for (int kh = 0; kh < h.kernel; ++kh) {
            const PoolRange oh = windows_with(h, kh, ih, ih + 1, h.out_begin, h.out_begin + h.out_size);
            if (oh.end <= oh.begin) continue;
            const int row = ((od.begin - d.out_begin) * h.out_size + oh.begin - h.out_begin) * w.out_size;
            for (int k = 0; k < w.kernel; ++k) {
              const PoolRange o = windows_with(w, k, begin, end, w.out_begin, w.out_begin + w.out_size);
              if (o.end <= o.begin) continue;
              const int from = (row + o.begin - w.out_begin) * g.channels, to = (o.begin * w.stride + k - w.padding - begin) * g.channels;
              scatter<Max>(acc + to, Max ? in + to : in, Max ? pooled + from : pooled, gradient + from, o.end - o.begin, w.stride,
                           g.channels);
            }
          }
        }
        for (int i = 0; i < n; ++i) out[i] = static_cast<T>(acc[i] * scale);
        out += n;
        if (Max) in += n;
      }
}

template <class T>
class PoolSumGradient : public poplar::Vertex {
 public:
  PoolSumGradient();
  poplar::Input<poplar::Vector<T>> gradient;
  poplar::Output<poplar::Vector<T>> out;
  poplar::Vector<int> geometry;
  const float scale;
  bool compute() {
    const PoolGeometry& g = *reinterpret_cast<const PoolGeometry*>(&geometry[0]);
    const unsigned from = gradient.size() / g.images, to = out.size() / g.images;
    for (int i = 0; i < g.images; ++i) spread_image<false, T>(g, nullptr, nullptr, &gradient[i * from], scale, &out[i * to]);
    return true;
  }
};

template <class T>
class PoolMaxGradient : public poplar::Vertex {
 public:
  PoolMaxGradient();
  poplar::Input<poplar::Vector<T>> in;
  poplar::Input<poplar::Vector<T>> pooled;
  poplar::Input<poplar::Vector<T>> gradient;
  poplar::Output<poplar::Vector<T>> out;
  poplar::Vector<int> geometry;
  bool compute() {
    const PoolGeometry& g = *reinterpret_cast<const PoolGeometry*>(&geometry[0]);
    const unsigned from = gradient.size() / g.images, to = out.size() / g.images;
    for (int i = 0; i < g.images; ++i) spread_image<true, T>(g, &in[i * to], &pooled[i * from], &gradient[i * from], 1, &out[i * to]);
    return true;
  }
};

template class PoolSumGradient<float>;
template class PoolSumGradient<half>;
template class PoolMaxGradient<float>;
template class PoolMaxGradient<half>;

}  // namespace popnn
#else
#include "poplibs/popnn/pooling/pool_cost.h"

namespace popnn {

using namespace pando::poplibs;

Estimates estimates_pool_gradient() {
  Estimates out = pool_estimates("popnn::PoolSumGradient", "gradient");
  const Estimates max = pool_estimates("popnn::PoolMaxGradient", "gradient");
  out.insert(out.end(), max.begin(), max.end());
  return out;
}

}  // namespace popnn
#endif
