// A vertex that runs an expression's program (kernels/elementwise/elementwise_program.h) on operands and results of any types. They are
// grouped by the size of their elements and keep their bits; the words of the program say what they are.
#pragma once

#include <poplar/Vertex.hpp>

#include "kernels/elementwise/elementwise_program.h"

namespace popops {

// `Result`: poplar::Output, or poplar::InOut where results replace operands.
template <template <class> class Result>
class ProgramVertex : public poplar::Vertex {
 public:
  poplar::Vector<poplar::Input<poplar::Vector<unsigned char>>> in1;
  poplar::Vector<poplar::Input<poplar::Vector<unsigned short>>> in2;
  poplar::Vector<poplar::Input<poplar::Vector<unsigned int>>> in4;
  poplar::Vector<poplar::Input<poplar::Vector<unsigned long long>>> in8;
  poplar::Vector<Result<poplar::Vector<unsigned char>>> out1;
  poplar::Vector<Result<poplar::Vector<unsigned short>>> out2;
  poplar::Vector<Result<poplar::Vector<unsigned int>>> out4;
  poplar::Vector<Result<poplar::Vector<unsigned long long>>> out8;
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
