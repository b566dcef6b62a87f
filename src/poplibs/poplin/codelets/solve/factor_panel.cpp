// Householder's reflections of the columns of a panel, one after the other: R on and above the diagonal, below it the reflections' vectors
// v (the first element that is not 0 is 1, and not stored). Reflection i is 1 - tau[i] v v^T. Sums in float.
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

namespace poplin {

template <class T>
class FactorPanel : public poplar::Vertex {
 public:
  FactorPanel();
  poplar::InOut<poplar::Vector<T>> panel;  // rows x columns
  poplar::Output<poplar::Vector<T>> tau;   // columns
  const unsigned columns;

  float at(unsigned row, unsigned column) const { return static_cast<float>(panel[row * columns + column]); }

  bool compute() {
    const unsigned rows = panel.size() / columns;
    for (unsigned i = 0; i < columns; ++i) {
      // Scaled by the greatest element: squares neither overflow nor vanish.
      float greatest = 0, below = 0;
      for (unsigned r = i; r < rows; ++r) greatest = __builtin_fmaxf(greatest, __builtin_fabsf(at(r, i)));
      for (unsigned r = i + 1; r < rows; ++r) {
        const float scaled = greatest > 0 ? at(r, i) / greatest : 0;
        below += scaled * scaled;
      }
      if (!(below > 0)) {
        tau[i] = static_cast<T>(0.0f);
        continue;
      }
      const float first = at(i, i) / greatest, length = __builtin_sqrtf(first * first + below);
      // Away from the first element, so that nothing cancels.
      const float result = first > 0 ? -length : length, divisor = first - result;
      const float factor = -divisor / result;
      tau[i] = static_cast<T>(factor);
      for (unsigned r = i + 1; r < rows; ++r) panel[r * columns + i] = static_cast<T>(at(r, i) / greatest / divisor);
      panel[i * columns + i] = static_cast<T>(result * greatest);
      for (unsigned j = i + 1; j < columns; ++j) {
        float sum = at(i, j);
        for (unsigned r = i + 1; r < rows; ++r) sum += at(r, i) * at(r, j);
        sum *= static_cast<float>(tau[i]);
        panel[i * columns + j] = static_cast<T>(at(i, j) - sum);
        for (unsigned r = i + 1; r < rows; ++r) panel[r * columns + j] = static_cast<T>(at(r, j) - sum * at(r, i));
      }
    }
    return true;
  }
};

template class FactorPanel<float>;
template class FactorPanel<half>;

}  // namespace poplin
#else
#include <algorithm>

#include "poplibs/codelet_file.h"

namespace poplin {

using namespace pando::poplibs;

// For each pair of columns a product and an update, of which an element takes a cycle each.
Estimates estimates_factor_panel() {
  return for_types("poplin::FactorPanel", {poplar::FLOAT, poplar::HALF}, [](const poplar::Type&) {
    return [](const VertexIntrospector& vertex, const Target& target) {
      const std::size_t columns = std::max(1u, vertex.getFieldInfo("columns").getInitialValue<unsigned>(target));
      const std::size_t elements = vertex.getFieldInfo("panel").size();
      return VertexPerfEstimate(20 + columns * 60 + elements * (12 + columns), elements * columns * 2);
    };
  });
}

}  // namespace poplin
#endif
