#include "poplibs/popsparse/dynamic/problem.h"

namespace popsparse {
namespace {

Problem checked(const char* function, std::size_t groups, const dynamic::SparsityParams& sparsity, std::size_t rows, std::size_t columns,
                std::size_t width, std::size_t elements, const poplar::Type& type) {
  check_groups_and_type(function, groups, type);
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
