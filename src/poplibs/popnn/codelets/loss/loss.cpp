// Losses and deltas of rows, or of a piece of a row. The expected values are a label for each row (E: unsigned) or as many as outputs (E:
// T).
#include "poplibs/popnn/loss/loss_constants.h"
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

#include <type_traits>

namespace popnn {

template <class T> constexpr float least_probability();
template <> constexpr float least_probability<float>() { return kLeastFloat; }
template <> constexpr float least_probability<half>() { return kLeastHalf; }

struct LossForm {
  float deltas_scale;
  float outputs_scale;
  bool cross_entropy;
};

// -log(p / scale), of probability 0 a great number.
template <class T>
inline float surprise(T p, float scale) {
  const float value = static_cast<float>(p);
  return -__builtin_logf((value < least_probability<T>() ? least_probability<T>() : value) / scale);
}

// The loss of n outputs of a row, whose label is output `label` of them, or none if that is no less than n.
template <class T>
inline float row_loss(unsigned n, const T* outputs, unsigned label, LossForm form, T* deltas) {
  const float inverse = 1 / form.outputs_scale, factor = form.deltas_scale * inverse;
  for (unsigned i = 0; i < n; ++i) deltas[i] = static_cast<T>(factor * static_cast<float>(outputs[i]));
  if (label < n) deltas[label] = static_cast<T>(form.deltas_scale * (static_cast<float>(outputs[label]) * inverse - 1));
  if (form.cross_entropy) return label < n ? surprise(outputs[label], form.outputs_scale) : 0;
  float sum = 0;
  for (unsigned i = 0; i < n; ++i) {
    const float difference = static_cast<float>(outputs[i]) * inverse - (i == label ? 1 : 0);
    sum += difference * difference;
  }
  return sum / 2;
}

template <class T>
inline float row_loss(unsigned n, const T* outputs, const T* expected, LossForm form, T* deltas) {
  const float inverse = 1 / form.outputs_scale;
  float sum = 0;
  for (unsigned i = 0; i < n; ++i) {
    const float e = static_cast<float>(expected[i]), difference = static_cast<float>(outputs[i]) * inverse - e;
    deltas[i] = static_cast<T>(form.deltas_scale * difference);
    if (form.cross_entropy)
      sum += e != 0 ? e * surprise(outputs[i], form.outputs_scale) : 0;
    else
      sum += difference * difference / 2;
  }
  return sum;
}

// Row r of those that a vertex has; its first output is number `offset` of the row.
template <class T, class E>
inline float loss_of(unsigned r, unsigned columns, unsigned offset, const T* outputs, const E* expected, LossForm form, T* deltas) {
  outputs += r * columns;
  deltas += r * columns;
  if constexpr (!std::is_same<E, unsigned>::value) {
    return row_loss(columns, outputs, expected + r * columns, form, deltas);
  } else {
    if (expected[r] != kMaskedLabel) return row_loss(columns, outputs, expected[r] - offset, form, deltas);
    for (unsigned i = 0; i < columns; ++i) deltas[i] = 0;
    return 0;
  }
}

template <class T, class E>
class LossRows : public poplar::Vertex {
 public:
  LossRows();
  poplar::Input<poplar::Vector<T>> outputs;
  poplar::Input<poplar::Vector<E>> expected;
  poplar::Input<poplar::Vector<T>> scales;  // of deltas, of outputs
  poplar::Output<poplar::Vector<T>> loss;
  poplar::Output<poplar::Vector<T>> deltas;
  const bool crossEntropy;
  bool compute() {
    const LossForm form = {static_cast<float>(scales[0]), static_cast<float>(scales[1]), crossEntropy};
    const unsigned rows = loss.size(), columns = outputs.size() / rows;
    for (unsigned r = 0; r < rows; ++r) loss[r] = static_cast<T>(loss_of(r, columns, 0, &outputs[0], &expected[0], form, &deltas[0]));
    return true;
  }
};

template <class T, class E>
class LossPiece : public poplar::Vertex {
 public:
  LossPiece();
  poplar::Input<poplar::Vector<T>> outputs;
  poplar::Input<poplar::Vector<E>> expected;
  poplar::Input<poplar::Vector<T>> scales;
  poplar::Output<poplar::Vector<float>> loss;
  poplar::Output<poplar::Vector<T>> deltas;
  const unsigned offset;
  const bool crossEntropy;
  bool compute() {
    const LossForm form = {static_cast<float>(scales[0]), static_cast<float>(scales[1]), crossEntropy};
    loss[0] = loss_of(0, outputs.size(), offset, &outputs[0], &expected[0], form, &deltas[0]);
    return true;
  }
};

template <class T>
class LossMerge : public poplar::Vertex {
 public:
  LossMerge();
  poplar::Input<poplar::Vector<float>> in;
  poplar::Output<poplar::Vector<T>> out;
  bool compute() {
    float sum = 0;
    for (unsigned i = 0, n = in.size(); i < n; ++i) sum += in[i];
    out[0] = static_cast<T>(sum);
    return true;
  }
};

template class LossRows<float, unsigned int>;
template class LossRows<half, unsigned int>;
template class LossRows<float, float>;
template class LossRows<half, half>;
template class LossPiece<float, unsigned int>;
template class LossPiece<half, unsigned int>;
template class LossPiece<float, float>;
template class LossPiece<half, half>;
template class LossMerge<float>;
template class LossMerge<half>;

}  // namespace popnn
#else
#include <popops/EncodingConstants.hpp>

#include "poplibs/popnn/loss/loss_cost.h"

namespace popnn {

static_assert(kMaskedLabel == MASKED_LABEL_CODE && kLeastFloat == EPS_LOG_N_FLOAT && kLeastHalf == EPS_LOG_N_HALF);

using namespace pando::poplibs;

Estimates estimates_loss() {
  Estimates out;
  for (const char* name : {"popnn::LossRows", "popnn::LossPiece"})
    for (const poplar::Type& type : {poplar::FLOAT, poplar::HALF})
      for (const poplar::Type& expected : {poplar::UNSIGNED_INT, type}) append_loss_estimate(out, name, type, expected);
  for (const poplar::Type& type : {poplar::FLOAT, poplar::HALF})
    out.push_back({"popnn::LossMerge<" + type.toString() + ">", [](const VertexIntrospector& vertex, const Target&) {
                     const std::size_t n = vertex.getFieldInfo("in").size();
                     return VertexPerfEstimate(15 + 2 * n, n);
                   }});
  return out;
}

}  // namespace popnn
#endif
