// Losses and deltas of rows, or of a piece of a row. The expected values are a label for each row (E: unsigned) or as many as outputs (E:
// T).
#include "poplibs/popnn/loss/loss_constants.h"
#include "poplibs/popnn/loss/loss_kinds.h"
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

#include <type_traits>

namespace popnn {

template <class T> constexpr float least_probability();
template <> constexpr float least_probability<float>() { return kLeastFloat; }
template <> constexpr float least_probability<half>() { return kLeastHalf; }

// The loss of n outputs of a row, whose label is output `label` of them, or none if that is no less than n.
template <class Kind, class T>
inline float row_loss(unsigned n, const T* outputs, unsigned label, const LossScales& scales, T* deltas) {
  const float factor = scales.deltas * scales.inverse;
  for (unsigned i = 0; i < n; ++i) deltas[i] = static_cast<T>(factor * static_cast<float>(outputs[i]));
  if (label < n) deltas[label] = static_cast<T>(scales.deltas * (static_cast<float>(outputs[label]) * scales.inverse - 1));
  if (Kind::of_expected_only) return label < n ? Kind::term(static_cast<float>(outputs[label]), 1, scales) : 0;
  float sum = 0;
  for (unsigned i = 0; i < n; ++i) sum += Kind::term(static_cast<float>(outputs[i]), i == label ? 1 : 0, scales);
  return sum;
}

template <class Kind, class T>
inline float row_loss(unsigned n, const T* outputs, const T* expected, const LossScales& scales, T* deltas) {
  float sum = 0;
  for (unsigned i = 0; i < n; ++i) {
    const float output = static_cast<float>(outputs[i]), e = static_cast<float>(expected[i]);
    deltas[i] = static_cast<T>(scales.deltas * (output * scales.inverse - e));
    sum += Kind::term(output, e, scales);
  }
  return sum;
}

// Row r of those that a vertex has; its first output is number `offset` of the row.
template <class Kind, class T, class E>
inline float loss_of(unsigned r, unsigned columns, unsigned offset, const T* outputs, const E* expected, const LossScales& scales,
                     T* deltas) {
  outputs += r * columns;
  deltas += r * columns;
  if constexpr (!std::is_same<E, unsigned>::value) {
    return row_loss<Kind>(columns, outputs, expected + r * columns, scales, deltas);
  } else {
    if (expected[r] != kMaskedLabel) return row_loss<Kind>(columns, outputs, expected[r] - offset, scales, deltas);
    for (unsigned i = 0; i < columns; ++i) deltas[i] = 0;
    return 0;
  }
}

template <class T, class E>
inline float loss_of(unsigned kind, unsigned r, unsigned columns, unsigned offset, const T* outputs, const E* expected, const T* scales,
                     T* deltas) {
  const float of_outputs = static_cast<float>(scales[1]);
  const LossScales all = {static_cast<float>(scales[0]), of_outputs, 1 / of_outputs, least_probability<T>()};
  switch (static_cast<LossKind>(kind)) {
#define PANDO_LOSS_CASE(number, meaning) \
  case LossKind::number: return loss_of<meaning>(r, columns, offset, outputs, expected, all, deltas);
    PANDO_LOSS_KINDS(PANDO_LOSS_CASE)
#undef PANDO_LOSS_CASE
  }
  return 0;
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
  const unsigned kind;
  bool compute() {
    const unsigned rows = loss.size(), columns = outputs.size() / rows;
    for (unsigned r = 0; r < rows; ++r)
      loss[r] = static_cast<T>(loss_of(kind, r, columns, 0, &outputs[0], &expected[0], &scales[0], &deltas[0]));
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
  const unsigned kind;
  bool compute() {
    loss[0] = loss_of(kind, 0, outputs.size(), offset, &outputs[0], &expected[0], &scales[0], &deltas[0]);
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
