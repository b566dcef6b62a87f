// How elementwise work over a tensor is cut into vertices: per tile, the contiguous runs of what the tile holds, cut into parts of
// about equal size, one vertex each.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <poplar/Graph.hpp>

namespace popops::internal {

using poplar::ArrayRef;
using poplar::ComputeSet;
using poplar::DebugContext;
using poplar::Graph;
using poplar::Interval;
using poplar::Tensor;
using poplar::Type;
using poplar::VertexRef;

// Intervals of a flattened tensor. Each list is contiguous in its tile's memory.
using Runs = std::vector<std::vector<Interval>>;
using Mapping = Graph::TileToTensorMapping;

// Calls f(tile, runs) for each vertex there should be: at most vertices_per_tile a tile, each of a multiple of 8 bytes and of no
// fewer than some 32 elements (on the CPU device, more). `bytes` is the size of the smallest element that a vertex writes. Elements that
// occur twice in `flat` are in one run only if `once`.
void for_each_part(const Graph& graph, const Tensor& flat, const Mapping& mapping, std::size_t bytes, bool once,
                   const std::function<void(unsigned, const Runs&)>& f);
// The same for regions of one tile.
void for_each_part_of_tile(const Graph& graph, const Tensor& flat, const std::vector<Interval>& regions, std::size_t bytes, bool once,
                           const std::function<void(const Runs&)>& f);

// The two forms of a vertex: for one run, and for several.
struct VertexPair {
  std::string one;   // "popops::Fill<float>"
  std::string many;  // "popops::Fill2d<float>"
};
VertexPair vertex_pair(const std::string& name, const std::string& arguments);

// Adds the vertex on that tile with every field connected to the runs of its flat tensor: a vector in the form for one run, a
// vector of vectors in the other.
VertexRef add_part(Graph& graph, const ComputeSet& cs, const VertexPair& vertex, unsigned tile, const Runs& runs,
                   std::initializer_list<std::pair<const char*, const Tensor*>> fields);

// A new tensor of that shape for the result of elementwise work on `like`: where `like` is, unless that would leave most tiles idle
// and there is enough to do; then linearly over the tiles.
Tensor output_like(Graph& graph, const Type& type, const Tensor& like, const DebugContext& debug);

// Work on blocks (matrices, rows, pixels): the tile of the first element of each block of `size` elements of a flat tensor; the
// numbers of the blocks by tile, where they are, or in order in equal shares if that would leave many tiles idle; and the mapping
// of the elements that a mapping of blocks makes.
std::vector<unsigned> owners_of(const Graph& graph, const Tensor& flat, std::size_t size);
Mapping spread(const std::vector<unsigned>& owner, unsigned tiles);
Mapping of_elements(Mapping blocks, std::size_t size);

// Throw poplibs_error; `where` is the public function, "popops::fill".
void check_writable(const char* where, const char* what, const Tensor& t);
void check_own(const char* where, const Graph& graph, std::initializer_list<const Tensor*> tensors);
void check_same_shape(const char* where, const char* name_a, const Tensor& a, const char* name_b, const Tensor& b);
[[noreturn]] void fail(const char* where, const std::string& message);

// The unsigned integer type of that many bytes (1, 2, 4 or 8): for work that only moves bits. Vertices over bits need few types.
const Type& bits_type(std::size_t bytes);

}  // namespace popops::internal
