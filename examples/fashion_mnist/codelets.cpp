// What one tile does in each step of the network. Batches lie sample-innermost, so that every loop below runs over
// neighbouring samples, eight at a time.
#include <poplar/Vertex.hpp>

#include <cmath>

#include "shape.h"

using namespace poplar;

#pragma clang fp contract(fast)

namespace {

constexpr unsigned kLanes = kGroupSamples;

// Eight neighbouring samples; element-aligned, as the edges of a vertex are.
typedef float Lanes __attribute__((ext_vector_type(8), aligned(4)));
typedef unsigned char Bytes __attribute__((ext_vector_type(8), aligned(1)));

inline Lanes load(const float* p) { return *reinterpret_cast<const Lanes*>(p); }
inline void store(float* p, Lanes v) { *reinterpret_cast<Lanes*>(p) = v; }
inline Lanes pixels(const unsigned char* p) { return __builtin_convertvector(*reinterpret_cast<const Bytes*>(p), Lanes); }
inline float sum(Lanes v) { return ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7])); }

constexpr float kPixelScale = 1.0f / 255;

}  // namespace

// A block's share of the hidden units' sums: out[part][unit][sample] = sum over the block's pixels of weight * pixel.
// Worker w does part w of the batch.
class ForwardBlock : public MultiVertex {
 public:
  Input<Vector<unsigned char>> images;  // [pixel][batch]
  Input<Vector<float>> weights;         // [pixel][unit]
  Output<Vector<float>> out;            // [part][unit][sample]

  bool compute(unsigned worker) {
    const unsigned char* in = &images[worker * kSamples];
    float* o = &out[worker * kBlockUnits * kSamples];
    for (unsigned s = 0; s < kSamples; s += kLanes) {
      Lanes total[kBlockUnits] = {};
      for (unsigned p = 0; p < kBlockPixels; ++p) {
        const Lanes x = pixels(in + p * kBatch + s) * kPixelScale;
        const float* w = &weights[p * kBlockUnits];
        for (unsigned u = 0; u < kBlockUnits; ++u) total[u] += w[u] * x;
      }
      for (unsigned u = 0; u < kBlockUnits; ++u) store(o + u * kSamples + s, total[u]);
    }
    return true;
  }
};

// out = bias + sum of the rows; negative results become 0 if Rectify. Workers take eight samples each.
template <bool Rectify>
class SumRows : public MultiVertex {
 public:
  Vector<Input<Vector<float>>> rows;
  Input<float> bias;
  Output<Vector<float>> out;

  bool compute(unsigned worker) {
    for (unsigned s = worker * kLanes; s < kSamples; s += kLanes * MultiVertex::numWorkers()) {
      Lanes total = *bias;
      for (unsigned r = 0; r < rows.size(); ++r) total += load(&rows[r][s]);
      if (Rectify) total = total < 0.0f ? Lanes(0.0f) : total;
      store(&out[s], total);
    }
    return true;
  }
};
template class SumRows<false>;
template class SumRows<true>;

// A block's share of the logits of one part: out[class][sample] = sum over eight hidden units of weight * hidden.
class LogitsBlock : public MultiVertex {
 public:
  Vector<Input<Vector<float>>> hidden;  // [unit][sample]
  Input<Vector<float>> weights;         // [unit][class]
  Output<Vector<float>> out;            // [class][sample]

  bool compute(unsigned worker) {
    for (unsigned k = worker; k < kClasses; k += MultiVertex::numWorkers()) {
      for (unsigned s = 0; s < kSamples; s += kLanes) {
        Lanes total = 0.0f;
        for (unsigned u = 0; u < kBlockUnits; ++u) total += weights[u * kClasses + k] * load(&hidden[u][s]);
        store(&out[k * kSamples + s], total);
      }
    }
    return true;
  }
};

// Softmax, cross-entropy and their gradient for one group of the batch. An image without a label counts for nothing.
class Loss : public Vertex {
 public:
  Vector<Input<Vector<float>>> logits;  // [class][sample]
  Input<Vector<unsigned char>> labels;  // [sample]
  Output<Vector<float>> gradient;       // [class][sample], of the mean loss of the batch
  Output<Vector<float>> bias_gradient;  // [class]
  Output<Vector<float>> result;         // {sum of losses, number of right answers}

  bool compute() {
    float loss = 0, right = 0;
    for (unsigned k = 0; k < kClasses; ++k) bias_gradient[k] = 0;
    for (unsigned s = 0; s < kGroupSamples; ++s) {
      unsigned best = 0;
      for (unsigned k = 1; k < kClasses; ++k)
        if (logits[k][s] > logits[best][s]) best = k;
      const float top = logits[best][s];
      float e[kClasses], total = 0;
      for (unsigned k = 0; k < kClasses; ++k) total += e[k] = std::exp(logits[k][s] - top);
      const unsigned label = labels[s];
      const bool counts = label != kNoLabel;
      for (unsigned k = 0; k < kClasses; ++k) {
        const float g = counts ? (e[k] / total - (k == label ? 1.0f : 0.0f)) / kBatch : 0.0f;
        gradient[k * kGroupSamples + s] = g;
        bias_gradient[k] += g;
      }
      if (!counts) continue;
      loss += std::log(total) + top - logits[label][s];
      right += best == label ? 1.0f : 0.0f;
    }
    result[0] = loss;
    result[1] = right;
    return true;
  }
};

// Gradients at one hidden unit for one part: of its sum (out), of its ten weights and of its bias (parameters, summed over
// the part).
class HiddenGradient : public MultiVertex {
 public:
  Input<Vector<float>> hidden;            // [sample]
  Vector<Input<Vector<float>>> gradient;  // [group][class * sample of the group]
  Input<Vector<float>> weights;           // [class]
  Output<Vector<float>> out;              // [sample]
  Output<Vector<float>> parameters;       // [class], then the bias

  bool compute(unsigned worker) {
    for (unsigned s = worker * kLanes; s < kSamples; s += kLanes * MultiVertex::numWorkers()) store(&out[s], at_sum(s));
    for (unsigned k = worker; k <= kClasses; k += MultiVertex::numWorkers()) {
      Lanes total = 0.0f;
      for (unsigned s = 0; s < kSamples; s += kLanes) total += k < kClasses ? load(&hidden[s]) * gradient_at(k, s) : at_sum(s);
      parameters[k] = sum(total);
    }
    return true;
  }

 private:
  // The gradient before the ReLU, for eight samples.
  Lanes at_sum(unsigned s) const {
    Lanes total = 0.0f;
    for (unsigned k = 0; k < kClasses; ++k) total += weights[k] * gradient_at(k, s);
    return load(&hidden[s]) > 0.0f ? total : Lanes(0.0f);
  }

  Lanes gradient_at(unsigned k, unsigned s) const { return load(&gradient[s / kLanes][k * kLanes]); }
};

// The gradient of a block of the first layer's weights, and the step of momentum that uses it. Workers take every sixth pixel.
class UpdateBlock : public MultiVertex {
 public:
  Input<Vector<unsigned char>> images;    // [pixel][batch]
  Vector<Input<Vector<float>>> gradient;  // [part * unit][sample]
  InOut<Vector<float>> weights;           // [pixel][unit]
  InOut<Vector<float>> velocity;          // [pixel][unit]
  Input<float> rate;
  float momentum;

  bool compute(unsigned worker) {
    for (unsigned p = worker; p < kBlockPixels; p += MultiVertex::numWorkers()) {
      Lanes total[kBlockUnits] = {};
      for (unsigned part = 0; part < kParts; ++part) {
        const float* g[kBlockUnits];
        for (unsigned u = 0; u < kBlockUnits; ++u) g[u] = &gradient[part * kBlockUnits + u][0];
        for (unsigned s = 0; s < kSamples; s += kLanes) {
          const Lanes x = pixels(&images[p * kBatch + part * kSamples + s]);
          for (unsigned u = 0; u < kBlockUnits; ++u) total[u] += x * load(g[u] + s);
        }
      }
      for (unsigned u = 0; u < kBlockUnits; ++u) {
        float& v = velocity[p * kBlockUnits + u];
        v = momentum * v + sum(total[u]) * kPixelScale;
        weights[p * kBlockUnits + u] -= *rate * v;
      }
    }
    return true;
  }
};

// A step of momentum for a few parameters whose gradient comes in rows.
class UpdateParameters : public Vertex {
 public:
  Vector<Input<Vector<float>>> gradients;
  InOut<Vector<float>> parameters;
  InOut<Vector<float>> velocity;
  Input<float> rate;
  float momentum;

  bool compute() {
    for (unsigned i = 0; i < parameters.size(); ++i) {
      float g = 0;
      for (unsigned r = 0; r < gradients.size(); ++r) g += gradients[r][i];
      velocity[i] = momentum * velocity[i] + g;
      parameters[i] -= *rate * velocity[i];
    }
    return true;
  }
};
