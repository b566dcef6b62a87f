// Codelets without code, for this folder's tests, and a check of errors.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "codelet/hand_made.h"
#include "graph/graph.h"
#include "poplar/exceptions.hpp"

namespace pando::graph::testing {

// Add<float>: in, out vectors. Dot: 2-D rows, scalar result. Scale: data in place, state `factor`. Pick: state vector `table`.
inline std::vector<Codelet> codelets() {
  const FieldKind in = FieldKind::input, out = FieldKind::output, inout = FieldKind::inout, state = FieldKind::state;
  const FieldShape scalar = FieldShape::scalar, vector = FieldShape::vector, matrix = FieldShape::vector_of_vectors;
  const ElementType f = ElementType::float_;
  return {
      hand_made_codelet("Add<float>",
                        {hand_made_field("a", in, vector, f), hand_made_field("b", in, vector, f), hand_made_field("out", out, vector, f)}),
      hand_made_codelet("Dot", {hand_made_field("rows", in, matrix, f), hand_made_field("result", out, scalar, f)}),
      hand_made_codelet("Scale", {hand_made_field("data", inout, vector, f), hand_made_field("factor", state, scalar, ElementType::half)}),
      hand_made_codelet("Pick", {hand_made_field("index", in, scalar, ElementType::unsigned_int),
                                 hand_made_field("table", state, vector, ElementType::short_), hand_made_field("out", out, scalar, f)}),
  };
}

inline Machine machine(unsigned tiles = 4, unsigned ipus = 2) {
  Machine m;
  m.name = "tiny";
  m.ipus = ipus;
  m.tiles_per_ipu = tiles;
  return m;
}

inline Graph make_graph(unsigned tiles = 4, unsigned ipus = 2) {
  Graph graph(machine(tiles, ipus), 1);
  graph.library().add_builtin("test", codelets());
  return graph;
}

template <class Exception, class F>
void expect_error(F f, const std::string& text) {
  try {
    f();
    ADD_FAILURE() << "no error; expected one with: " << text;
  } catch (const Exception& e) { EXPECT_THAT(e.what(), ::testing::HasSubstr(text)); } catch (const std::exception& e) {
    ADD_FAILURE() << "an error of another class: " << e.what();
  }
}

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

}  // namespace pando::graph::testing
