// Vertices as cycle estimators see them (poplar::VertexIntrospector), and the estimates of a whole graph.
#pragma once

#include "facade/state/state.h"
#include "poplar/VertexIntrospector.hpp"

namespace poplar::core {

struct VertexState {
  const pando::graph::Graph* graph = nullptr;
  pando::VertexId id;
};

struct FieldState {
  const pando::graph::Graph* graph = nullptr;
  const pando::Codelet* codelet = nullptr;
  const pando::Field* field = nullptr;
  const pando::graph::Edge* edge = nullptr;         // edge fields
  const pando::graph::StateValue* value = nullptr;  // state fields; null: not set
};

}  // namespace poplar::core

namespace pando::facade {

// Calls the registered estimators for all vertices that have no estimate.
void estimate_vertices(poplar::core::GraphShared& shared);

}  // namespace pando::facade
