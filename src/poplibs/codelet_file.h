// The host half of a codelet file.
//
// A file src/poplibs/LIB/codelets/name.cpp holds one codelet: its vertex class for popc (under __POPC__), and for the library the
// function `Estimates estimates_name()` in namespace LIB: what each instantiation costs. LIB::addCodelets loads LIB.gp and
// registers the estimates of all files.
#pragma once

#include <poplar/Graph.hpp>
#include <poplar/PerfEstimateFunc.hpp>
#include <poplar/VertexIntrospector.hpp>

#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace pando::poplibs {

struct Estimate {
  std::string vertex;  // "popops::Fill<float>"
  poplar::PerfEstimateFunc cost;
};
using Estimates = std::vector<Estimate>;

using poplar::Target;
using poplar::VertexIntrospector;
using poplar::VertexPerfEstimate;

// One row per type T for vertex "name<T>"; `cost(T)` gives that row's estimate.
inline Estimates for_types(const std::string& name, std::initializer_list<poplar::Type> types,
                           const std::function<poplar::PerfEstimateFunc(const poplar::Type&)>& cost) {
  Estimates out;
  for (const poplar::Type& type : types) out.push_back({name + "<" + type.toString() + ">", cost(type)});
  return out;
}

// Loads the .gp file `name` that lies beside the library of `inside`, or the file that the environment variable IPU_<NAME>_GP
// names; then registers the estimates. Does nothing if the graph has `name`'s codelets. `kernels` is the symbol of the kernels that
// the library was built for (PANDO_KERNELS_VERSION_NAME); throws poplibs_error if the loaded ones are others.
void add_codelet_file(poplar::Graph& graph, const char* name, const void* inside, const char* kernels,
                      const std::vector<Estimates (*)()>& files);

}  // namespace pando::poplibs
