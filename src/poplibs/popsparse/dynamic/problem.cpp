#include "poplibs/popsparse/dynamic/problem.h"

#include "poplibs/poputil/refuse.h"

namespace popsparse {
namespace {

Problem checked(const char* function, std::size_t groups, const dynamic::SparsityParams& sparsity, std::size_t rows, std::size_t columns,
                std::size_t width, std::size_t elements, const poplar::Type& type) {
  if (groups != 1) poputil::refuse("popsparse-one-group", "{}: {} groups; sparse products have one", function, groups);
  if (type != poplar::FLOAT && type != poplar::HALF)
    poputil::refuse("popsparse-type", "{}: elements of type {}; expected float or half", function, type.toString());
  Problem p;
  p.shape = {rows, columns, sparsity.blockDimensions};
  p.width = width;
  p.blocks = elements / p.shape.area();
  p.type = type;
  return p;
}

}  // namespace

Problem problem_of(const char* function, const dynamic::MatMulParams& p, const poplar::Type& type) {
  return checked(function, p.getNumGroups(), p.getSparsityParams(), p.getM(), p.getK(), p.getN(), p.getNumNonZeroValues(), type);
}
Problem problem_of(const char* function, const dynamic::FullyConnectedParams& p, const poplar::Type& type) {
  return checked(function, p.getNumGroups(), p.getSparsityParams(), p.getOutputChannels(), p.getInputChannels(), p.getBatchSize(),
                 p.getNumNonZeroValues(), type);
}

}  // namespace popsparse
