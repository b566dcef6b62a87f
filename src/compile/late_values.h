// Values of vertices' fields that depend on where the vertices' operands lie.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"

namespace pando::compile {

struct StoredRow {
  std::uint64_t address;  // in the memory of the vertex's tile
  std::uint32_t bytes;
};
// The rows of each edge field, by its name; a field without rows has one.
using StoredEdges = std::map<std::string, std::vector<StoredRow>>;
// Of state fields, which are scalars: by vertex and field, what gives the field's bytes. Asked once for each way in which the
// vertex's operands lie where the program executes it, in the program's order.
using LateValues = std::map<std::pair<VertexId, std::uint16_t>, std::function<std::string(const StoredEdges&)>>;

}  // namespace pando::compile
