// table[rows[i]] = table[rows[i]] op slices[i], in the order of i, for the rows of the table that lie here. Layout of the operands
// as in multi_update. Computed in float for half, and rounded after each update.
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

#include "poplibs/popops/codelets/slice/hits.h"

namespace popops {

template <class T>
struct Wide {
  using type = T;
};
template <>
struct Wide<half> {
  using type = float;
};

template <class T, class S>
class MultiUpdateOp : public poplar::Vertex {
 public:
  MultiUpdateOp();
  poplar::Vector<poplar::InOut<poplar::Vector<T>>> table;
  poplar::Input<poplar::Vector<unsigned>> rows;
  poplar::Vector<poplar::Input<poplar::Vector<T>>> slices;
  poplar::Input<S> scale;
  const unsigned firstRow;
  const unsigned numRows;
  const unsigned chunkRows;
  const unsigned op;  // internal::UpdateOp: 1 add scale * slice, 2 max, 3 multiply, 4 min

  using W = typename Wide<T>::type;

  void combine(T* to, const T* from, unsigned n, W factor) {
    if (op == 1) {
      for (unsigned c = 0; c < n; ++c) to[c] = static_cast<T>(static_cast<W>(to[c]) + factor * static_cast<W>(from[c]));
    } else if (op == 2) {
      for (unsigned c = 0; c < n; ++c) to[c] = to[c] < from[c] || from[c] != from[c] ? from[c] : to[c];  // NaN wins
    } else if (op == 4) {
      for (unsigned c = 0; c < n; ++c) to[c] = from[c] < to[c] || from[c] != from[c] ? from[c] : to[c];
    } else {
      for (unsigned c = 0; c < n; ++c) to[c] = static_cast<T>(static_cast<W>(to[c]) * static_cast<W>(from[c]));
    }
  }

  const T* slice(unsigned block, unsigned i, unsigned cols) {
    const unsigned chunks = slices.size() / table.size(), chunk = i / chunkRows;
    return &slices[block * chunks + chunk][(i - chunk * chunkRows) * cols];
  }

  bool compute() {
    const W factor = static_cast<W>(*scale);
    const unsigned first = table[0].size() / numRows;
    const auto early = [&](unsigned i, unsigned row) {
      ask_for<true>(&table[0][row * first], first);
      ask_for<false>(slice(0, i, first), first);
    };
    for_each_hit(rows.data(), rows.size(), firstRow, numRows, early, [&](unsigned i, unsigned row) {
      for (unsigned b = 0; b < table.size(); ++b) {
        const unsigned cols = table[b].size() / numRows;
        combine(&table[b][row * cols], slice(b, i, cols), cols, factor);
      }
    });
    return true;
  }
};

template class MultiUpdateOp<float, float>;
template class MultiUpdateOp<half, half>;
template class MultiUpdateOp<half, float>;
template class MultiUpdateOp<int, int>;
template class MultiUpdateOp<unsigned int, unsigned int>;
template class MultiUpdateOp<char, char>;
template class MultiUpdateOp<signed char, signed char>;
template class MultiUpdateOp<unsigned char, unsigned char>;
template class MultiUpdateOp<short, short>;
template class MultiUpdateOp<unsigned short, unsigned short>;
template class MultiUpdateOp<long long, long long>;
template class MultiUpdateOp<unsigned long long, unsigned long long>;

}  // namespace popops
#else
#include <algorithm>

#include "poplibs/codelet_file.h"

namespace popops {

using namespace pando::poplibs;

namespace {

poplar::PerfEstimateFunc cost(const poplar::Type& type) {
  return [type](const VertexIntrospector& vertex, const Target& target) {
    const auto table = vertex.getFieldInfo("table");
    const std::size_t n = vertex.getFieldInfo("rows").size();
    const auto rows = vertex.getFieldInfo("numRows").getInitialValue<unsigned>(target);
    std::size_t elements = 0;
    for (std::size_t b = 0; b < table.size(); ++b) elements += table.getSizeAtIndex(b);
    // An index in a row of this part is taken to be as likely as any: at most one hit per row.
    const std::size_t hits = std::min<std::size_t>(n, rows), columns = elements / std::max(1u, rows);
    return VertexPerfEstimate(20 + 2 * n + hits * (10 * table.size() + 2 * columns * target.getTypeSize(type) / 8), 2 * hits * columns);
  };
}

}  // namespace

Estimates estimates_multi_update_op() {
  using namespace poplar;
  Estimates out;
  for (const Type& type :
       {FLOAT, HALF, INT, UNSIGNED_INT, CHAR, SIGNED_CHAR, UNSIGNED_CHAR, SHORT, UNSIGNED_SHORT, LONGLONG, UNSIGNED_LONGLONG})
    out.push_back({"popops::MultiUpdateOp<" + type.toString() + "," + type.toString() + ">", cost(type)});
  out.push_back({"popops::MultiUpdateOp<half,float>", cost(HALF)});
  return out;
}

}  // namespace popops
#endif
