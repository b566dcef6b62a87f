// What a codelet is: the fields, the kernel, where its code and its globals are. popc writes this description into a .gp;
// `graph` checks connections against it; `exec` fills the host objects it describes and calls the kernel.
//
// The host object of a vertex ("descriptor") is raw memory of `host_size` bytes that is never constructed in the C++ sense.
// Its edge fields have one of these forms, which include/poplar/Vertex.hpp lays out:
//   scalar edge            T*                                8 bytes
//   vector edge or state   {T* data; uint64 size}           16 bytes   (VectorEdge)
//   vector of vectors      {VectorEdge* rows; uint64 size}  16 bytes   (rows: contiguous VectorEdge)
//   vector list            the same as vector of vectors
// State scalars are their own bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/element_type.h"
#include "base/ids.h"

namespace pando {

enum class FieldKind : std::uint8_t { state, input, output, inout };
enum class FieldShape : std::uint8_t { scalar, vector, vector_of_vectors, vector_list };
// In the order of poplar::VectorLayout, then those only a VectorList has.
enum class FieldLayout : std::uint8_t {
  one_ptr,
  span,
  short_span,
  scaled_ptr32,
  scaled_ptr64,
  scaled_ptr128,
  compact_ptr,
  delta_n,
  delta_n_elements,
  compact_delta_n
};
enum class VertexKind : std::uint8_t { worker, multi, supervisor };

struct VectorEdge {
  void* data;
  std::uint64_t size;
};

struct Field {
  std::string name;
  FieldKind kind = FieldKind::state;
  FieldShape shape = FieldShape::scalar;
  ElementType type = ElementType::float_;
  FieldLayout layout = FieldLayout::span;        // of the outer vector
  FieldLayout inner_layout = FieldLayout::span;  // of the rows of a vector of vectors
  std::uint32_t min_align = 1;                   // bytes; of the elements of a vector or of each row
  bool interleaved = false;
  bool scalar_rows = false;       // vector of vectors whose rows are scalar edges: Vector<Input<float>>; a row has one element
  std::uint32_t host_offset = 0;  // in the descriptor
  std::uint32_t host_size = 0;

  bool is_edge() const { return kind != FieldKind::state; }
  // Its elements are vectors.
  bool has_rows() const { return shape == FieldShape::vector_of_vectors || shape == FieldShape::vector_list; }
  bool is_read() const { return kind == FieldKind::input || kind == FieldKind::inout; }
  bool is_written() const { return kind == FieldKind::output || kind == FieldKind::inout; }
};

// A fixed piece of the tile's memory that a codelet asks for through include/pando/tile.hpp.
struct ReservedRange {
  std::uint64_t begin = 0;
  std::uint64_t size = 0;  // 0: none
  std::string image;       // name of the initial image, or empty
};

// Code that codelets of one or several modules share, whose size on a tile someone declared.
struct DeclaredCode {
  std::string name;
  std::uint32_t bytes = 0;
};

// Calls compute() on `count` descriptors that lie `stride` bytes apart, and writes before each of the calls which one it is to *at. A
// multi-vertex is called for each of the machine's six workers. Returns the AND of the results. The caller has set the tile context
// (exec/tile_context.h) to the vertices' tile: all vertices of one call are on one tile if the module has globals or the codelet
// `uses_tile`.
using KernelRange = bool (*)(char* first, std::uint64_t stride, std::uint64_t count, std::uint64_t* at);

// Bytes from where a vertex has an edge to where the next has it, and from the first of a row of vertices to that of the next row.
struct EdgeStride {
  std::int64_t inner = 0, outer = 0;
};

// The same for `outer` rows of `inner` vertices that differ from `first`, a descriptor, in nothing but where their edges lie: at equal
// strides, one for each edge in the order of the fields. Neither count is 0. Edges are then not read from memory.
using KernelStrided = bool (*)(const char* first, const EdgeStride* strides, std::uint64_t inner, std::uint64_t outer, std::uint64_t* at);
inline constexpr const char* kStridedSuffix = ".strided";  // of its symbol, after that of the KernelRange

// The cycles of one vertex, in the unit of estimates (tile::VertexInstance::cycles). Reads the descriptor, and of what edges point to only
// what the codelet's control depends on; writes nothing.
using KernelCount = std::uint64_t (*)(const char* vertex);
inline constexpr const char* kCountSuffix = ".count";
// A KernelRange that also writes the cycles of each vertex. Same results.
using KernelCounted = bool (*)(char* first, std::uint64_t stride, std::uint64_t count, std::uint64_t* at, std::uint64_t* cycles);
inline constexpr const char* kCountedSuffix = ".counted";

// What the cycles of a codelet's vertices follow from (docs/cycles.md).
enum class CountedBy : std::uint8_t {
  nothing,  // it is not counted
  sizes,    // sizes of its edges and values of its state: known before it runs. By KernelCount
  inputs,   // elements of edges that it only reads, too: by KernelCount, just before it runs
  run       // what it computes, or when: by KernelCounted, which runs in its place
};

struct Codelet {
  std::string name;  // normalised vertex name: "popops::Fill<float>"
  VertexKind kind = VertexKind::worker;
  std::vector<Field> fields;  // in declaration order
  std::uint32_t host_size = 0;
  std::uint32_t host_align = 1;
  std::uint32_t code_bytes = 0;  // estimate: the kernel's host code; tagged as an estimate in reports
  bool code_declared = false;    // code_bytes is what the codelet says instead
  // What libraries need that it calls (pando::Needs): once per tile, whoever of its codelets names it.
  std::vector<DeclaredCode> shared_code;
  std::vector<ReservedRange> shared_ranges;
  std::uint32_t stack_bytes = 0;  // per worker, estimate
  bool uses_tile = false;         // calls something of include/pando/tile.hpp, or touches per-tile globals
  ReservedRange reserved;
  std::string entry;  // symbol of the KernelRange in the module
  CountedBy counting = CountedBy::nothing;
  std::string uncounted;        // why it is not counted; empty: it is, or popc was told not to
  bool in_assembly = false;     // its code is an IPU's assembly
  bool addresses_tile = false;  // it computes with addresses of its tile: its operands have to lie there
  bool reads_cycles = false;    // it reads the cycle counter: KernelCounted runs in its place in every run
  ModuleId module;
  KernelRange kernel = nullptr;     // set when the module is loaded
  KernelStrided strided = nullptr;  // the same; null where it gains nothing, or a vertex changes its state
  KernelCount count = nullptr;      // of those that `counting` names
  KernelCounted counted = nullptr;

  const Field* find_field(std::string_view field) const;
  std::size_t field_index(const Field& f) const { return static_cast<std::size_t>(&f - fields.data()); }
  // Bytes of one vertex's state in the target's layout: 32-bit pointers, 32-bit sizes for SPAN, 11+21 bits for SHORT_SPAN ...
  // `row_counts` holds, per field, the number of rows of a 2-D field and 0 otherwise.
  std::uint64_t target_state_bytes(const std::vector<std::uint32_t>& row_counts) const;
};

// The mutable globals and function statics of one module: one copy per tile, in its memory.
struct ModuleGlobals {
  std::uint64_t size = 0;
  std::uint32_t align = 1;
  // Writes the initial bytes of one tile's copy at `globals`: constants, addresses of other globals of that copy, dynamic
  // initialisers. The tile context is set to that tile. Set when the module is loaded; null if size is 0.
  void (*initialise)(char* globals) = nullptr;
};

// Normalises a vertex name: whitespace around commas and brackets, `unsigned` -> `unsigned int`, ...
std::string normalised_vertex_name(std::string_view name);

// The greatest size a field of this layout can have in dimension `dim` (Graph::getMaxFieldDim).
std::uint64_t max_field_size(const Field& field, unsigned dim);

// The greatest value that a state field, or an element of the field, can hold (Graph::getMaxVertexFieldValue).
double max_field_value(const Field& field);

}  // namespace pando
