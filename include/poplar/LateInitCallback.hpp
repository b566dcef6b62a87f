#ifndef poplar_LateInitCallback_hpp
#define poplar_LateInitCallback_hpp

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace poplar {

/// Where the edges of a vertex lie, as far as a late value may depend on it.
struct VertexEdgeInfo {
  struct StorageInfo {
    std::uint64_t startOffs;  ///< of the tile's memory, in bytes
    std::uint32_t len;        ///< bytes
  };
  /// By the field's name: one for each row of a two-dimensional field, one for any other.
  std::map<std::string, std::vector<StorageInfo>> storage;
};

/// Gives the value of a vertex's field when the graph is compiled and its memory is laid out: see Graph::setInitialValue.
template <typename T> using LateInitCallback = std::function<T(const VertexEdgeInfo&)>;

}  // namespace poplar

#endif
