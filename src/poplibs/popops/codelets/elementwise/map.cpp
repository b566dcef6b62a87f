// out = expression(in ...), element by element, for expressions over operands of any types. Operands and results are
// grouped by the size of their elements and keep their bits; the words of the expression say what they are
// (kernels/elementwise/elementwise_program.h).
#ifdef __POPC__
#include <poplar/Vertex.hpp>

#include "kernels/elementwise/elementwise_program.h"

namespace popops {

class Map : public poplar::Vertex {
 public:
  Map();
  poplar::Vector<poplar::Input<poplar::Vector<unsigned char>>> in1;
  poplar::Vector<poplar::Input<poplar::Vector<unsigned short>>> in2;
  poplar::Vector<poplar::Input<poplar::Vector<unsigned int>>> in4;
  poplar::Vector<poplar::Input<poplar::Vector<unsigned long long>>> in8;
  poplar::Vector<poplar::Output<poplar::Vector<unsigned char>>> out1;
  poplar::Vector<poplar::Output<poplar::Vector<unsigned short>>> out2;
  poplar::Vector<poplar::Output<poplar::Vector<unsigned int>>> out4;
  poplar::Vector<poplar::Output<poplar::Vector<unsigned long long>>> out8;
  poplar::Vector<unsigned int> code;

  bool compute() {
    using pando::kernels::Rows;
    const Rows in[4] = {rows_of(in1), rows_of(in2), rows_of(in4), rows_of(in8)};
    const Rows out[4] = {rows_of(out1), rows_of(out2), rows_of(out4), rows_of(out8)};
    pando_program(code.data(), in, out);
    return true;
  }

 private:
  template <class V>
  static pando::kernels::Rows rows_of(const V& v) {
    return {reinterpret_cast<const pando::kernels::Row*>(v.data()), v.size()};
  }
};

}  // namespace popops
#else
#include "poplibs/popops/elementwise/estimate.h"

namespace popops {

pando::poplibs::Estimates estimates_map() { return {{"popops::Map", internal::estimate_program}}; }

}  // namespace popops
#endif
