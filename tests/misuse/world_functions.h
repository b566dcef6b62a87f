// Functions of tensors (poputil/GraphFunction.hpp) and what the user's part of them may do. world.h includes it.
#pragma once

#include <poputil/GraphFunction.hpp>

#include "misuse/world.h"

namespace misuse {

namespace graphfn = poputil::graphfn;

using Tensors = std::vector<poplar::Tensor>;

// What a user's function may do to its parameters and its program.
void do_something(World& w, Tensors& parameters, poplar::program::Sequence& program);

// Calls of them: their operators have no rows of the headers.
void add_graph_function_rows(std::vector<Row>& rows);

template <>
struct Maker<graphfn::ArgSig> {
  static graphfn::ArgSig make(World& w);
};
template <>
struct Maker<graphfn::VoidFunction> {
  static graphfn::VoidFunction make(World& w);
};

template <class... More>
struct Maker<std::function<void(Tensors&, poplar::program::Sequence&, More...)>> {
  using Function = std::function<void(Tensors&, poplar::program::Sequence&, More...)>;
  static Function make(World& w) {
    if (w.roll(8) == 0) return {};
    return [&w](Tensors& parameters, poplar::program::Sequence& program, More...) { do_something(w, parameters, program); };
  }
};
template <class... More>
struct Maker<std::function<poplar::program::Program(Tensors&, More...)>> {
  using Function = std::function<poplar::program::Program(Tensors&, More...)>;
  static Function make(World& w) {
    if (w.roll(8) == 0) return {};
    return [&w](Tensors& parameters, More...) -> poplar::program::Program {
      poplar::program::Sequence program;
      do_something(w, parameters, program);
      return program;
    };
  }
};
template <class... More>
struct Maker<std::function<poplar::Tensor(Tensors&, poplar::program::Sequence&, More...)>> {
  using Function = std::function<poplar::Tensor(Tensors&, poplar::program::Sequence&, More...)>;
  static Function make(World& w) {
    if (w.roll(8) == 0) return {};
    return [&w](Tensors& parameters, poplar::program::Sequence& program, More...) {
      do_something(w, parameters, program);
      return Maker<poplar::Tensor>::make(w);
    };
  }
};

}  // namespace misuse
