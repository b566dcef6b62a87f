#include <algorithm>
#include <cstring>

#include "codelet/hand_made.h"
#include "facade/builtin/builtin_codelets.h"
#include "poplar/VertexIntrospector.hpp"

namespace pando::facade {

namespace {

using poplar::Target;
using poplar::VertexIntrospector;

// The descriptors, in the order of the fields below.
struct SingleWorker {
  VectorEdge src, dst;
  std::uint16_t rows, columns, matrices_but_one;
};
struct ManyWorkers {
  VectorEdge src, dst;
  std::uint16_t rows, columns, most_matrices, workers_with_most;
};
struct Split {
  VectorEdge src, dst;
  std::uint16_t rows, columns;
  VectorEdge work_list;
};
struct Matrices {
  VectorEdge src, dst;  // their data: a VectorEdge for each matrix
  std::uint16_t rows, columns;
};

constexpr std::uint64_t kWorkers = 6;

// Rows and columns are counted in these: 8 elements of one byte, 4 of two.
constexpr std::uint64_t sub_size(std::uint64_t bytes) { return bytes == 1 ? 8 : 4; }

void check_elements(const char* field, std::uint64_t found, std::uint64_t wanted) {
  if (found < wanted)
    fail(ErrorKind::graph_connection_error, "transpose-size", "{} of a transpose has {} elements; its numbers of rows and columns need {}",
         field, found, wanted);
}

// out[c * out_stride + r] = in[r * in_stride + c], in squares whose lines stay in the cache between their uses.
template <class T>
void turn(const T* in, std::uint64_t in_stride, T* out, std::uint64_t out_stride, std::uint64_t rows, std::uint64_t columns) {
  constexpr std::uint64_t kSide = 16;
  for (std::uint64_t r0 = 0; r0 < rows; r0 += kSide) {
    const std::uint64_t r1 = std::min(rows, r0 + kSide);
    for (std::uint64_t c0 = 0; c0 < columns; c0 += kSide) {
      const std::uint64_t c1 = std::min(columns, c0 + kSide);
      for (std::uint64_t c = c0; c < c1; ++c)
        for (std::uint64_t r = r0; r < r1; ++r) out[c * out_stride + r] = in[r * in_stride + c];
    }
  }
}

template <class T>
void turn_all(const VectorEdge& src, const VectorEdge& dst, std::uint64_t rows, std::uint64_t columns, std::uint64_t matrices) {
  check_elements("src", src.size, matrices * rows * columns);
  check_elements("dst", dst.size, matrices * rows * columns);
  for (std::uint64_t m = 0; m < matrices; ++m)
    turn(static_cast<const T*>(src.data) + m * rows * columns, columns, static_cast<T*>(dst.data) + m * rows * columns, rows, rows,
         columns);
}

template <class T>
void run(const SingleWorker& v) {
  turn_all<T>(v.src, v.dst, v.rows * sub_size(sizeof(T)), v.columns * sub_size(sizeof(T)), v.matrices_but_one + std::uint64_t{1});
}

template <class T>
void run(const ManyWorkers& v) {
  const std::uint64_t with_most = std::min<std::uint64_t>(v.workers_with_most, kWorkers), most = v.most_matrices;
  const std::uint64_t matrices = with_most * most + (kWorkers - with_most) * (most > 0 ? most - 1 : 0);
  turn_all<T>(v.src, v.dst, v.rows * sub_size(sizeof(T)), v.columns * sub_size(sizeof(T)), matrices);
}

template <class T>
void run(const Split& v) {
  constexpr std::uint64_t kSub = sub_size(sizeof(T));
  const std::uint64_t rows = v.rows * kSub, columns = v.columns * kSub;
  const auto* work = static_cast<const std::uint16_t*>(v.work_list.data);
  for (std::uint64_t w = 0; w + 4 <= v.work_list.size; w += 4, work += 4) {
    const std::uint64_t in = work[0] * kSub, out = work[1] * kSub, part_rows = work[2] * kSub, part_columns = work[3] * kSub;
    if (part_rows == 0 || part_columns == 0) continue;
    check_elements("src", v.src.size, in + (part_rows - 1) * columns + part_columns);
    check_elements("dst", v.dst.size, out + (part_columns - 1) * rows + part_rows);
    turn(static_cast<const T*>(v.src.data) + in, columns, static_cast<T*>(v.dst.data) + out, rows, part_rows, part_columns);
  }
}

template <class T>
void run(const Matrices& v) {
  const auto *in = static_cast<const VectorEdge*>(v.src.data), *out = static_cast<const VectorEdge*>(v.dst.data);
  check_elements("dst", v.dst.size, v.src.size);
  for (std::uint64_t m = 0; m < v.src.size; ++m) turn_all<T>(in[m], out[m], v.rows, v.columns, 1);
}

template <class T, class Vertex>
bool run_range(char* first, std::uint64_t stride, std::uint64_t count, std::uint64_t* at) {
  for (std::uint64_t i = 0; i < count; ++i) {
    *at = i;
    Vertex v;
    std::memcpy(&v, first + i * stride, sizeof v);
    run<T>(v);
  }
  return true;
}

template <class Vertex>
KernelRange kernel_of(ElementType type) {
  switch (size_of(type)) {
    case 1: return run_range<std::uint8_t, Vertex>;
    case 2: return run_range<std::uint16_t, Vertex>;
    default: return run_range<std::uint32_t, Vertex>;
  }
}

// A worker turns whole blocks of 8 bytes by 8 bytes at 8 bytes a cycle; without them it loads and stores element by element.
std::uint64_t worker_cycles(ElementType type, std::uint64_t rows, std::uint64_t columns, std::uint64_t matrices) {
  const std::uint64_t bytes = size_of(type), block = 8 / bytes, elements = rows * columns;
  const bool fast = rows % block == 0 && columns % block == 0;
  return 20 + matrices * (12 + (fast ? elements * bytes / 8 : elements * 2));
}

std::uint64_t number(const VertexIntrospector& v, const Target& t, const char* field) {
  return v.getFieldInfo(field).getInitialValue<std::uint16_t>(t);
}

std::uint64_t flat_cycles(const VertexIntrospector& v, const Target& t, ElementType type, std::uint64_t matrices) {
  const std::uint64_t sub = sub_size(size_of(type));
  return worker_cycles(type, number(v, t, "numSrcRowsD4Or8") * sub, number(v, t, "numSrcColumnsD4Or8") * sub, matrices);
}

std::uint64_t split_cycles(const VertexIntrospector& v, const Target& t, ElementType type) {
  const std::uint64_t sub = sub_size(size_of(type));
  const std::vector<std::uint16_t> work = v.getFieldInfo("workList").getInitialValues<std::uint16_t>(t);
  std::uint64_t slowest = 0;
  for (std::size_t w = 0; w + 4 <= work.size(); w += 4)
    slowest = std::max(slowest, worker_cycles(type, work[w + 2] * sub, work[w + 3] * sub, 1));
  return slowest;
}

Field matrices_field(const char* name, FieldKind kind, FieldShape shape, ElementType type) {
  Field f = hand_made_field(name, kind, shape, type);
  f.layout = shape == FieldShape::vector ? FieldLayout::compact_ptr : FieldLayout::span;
  f.inner_layout = FieldLayout::one_ptr;
  f.min_align = 8;
  return f;
}

std::vector<Field> fields_of(FieldShape shape, ElementType type, std::initializer_list<const char*> numbers) {
  std::vector<Field> out = {matrices_field("src", FieldKind::input, shape, type), matrices_field("dst", FieldKind::output, shape, type)};
  for (const char* name : numbers) out.push_back(hand_made_field(name, FieldKind::state, FieldShape::scalar, ElementType::unsigned_short));
  return out;
}

template <class Vertex>
EstimatedCodelet transpose(const char* name, ElementType type, VertexKind kind, std::vector<Field> fields, poplar::PerfEstimateFunc cost) {
  Codelet c = hand_made_codelet<Vertex>(std::string(kRuntimeCodelets) + name + "<" + std::string(name_of(type)) + ">", std::move(fields),
                                        kernel_of<Vertex>(type));
  c.kind = kind;
  c.code_bytes = 256;
  return {std::move(c), std::move(cost)};
}

}  // namespace

std::vector<EstimatedCodelet> transposes() {
  std::vector<EstimatedCodelet> out;
  for (const ElementType type : {ElementType::unsigned_char, ElementType::half, ElementType::short_, ElementType::unsigned_short}) {
    const auto fields = [&](std::initializer_list<const char*> more) {
      std::vector<Field> all = fields_of(FieldShape::vector, type, {"numSrcRowsD4Or8", "numSrcColumnsD4Or8"});
      for (const char* name : more) all.push_back(hand_made_field(name, FieldKind::state, FieldShape::scalar, ElementType::unsigned_short));
      return all;
    };
    out.push_back(transpose<SingleWorker>(
        "Transpose1DSingleWorker", type, VertexKind::worker, fields({"numTranspositionsM1"}),
        [type](const VertexIntrospector& v, const Target& t) { return flat_cycles(v, t, type, number(v, t, "numTranspositionsM1") + 1); }));
    out.push_back(transpose<ManyWorkers>("Transpose1D", type, VertexKind::multi, fields({"numTranspositions", "workerCount"}),
                                         [type](const VertexIntrospector& v, const Target& t) {
                                           return kWorkers * flat_cycles(v, t, type, number(v, t, "numTranspositions"));
                                         }));
    std::vector<Field> split = fields({});
    split.push_back(hand_made_field("workList", FieldKind::input, FieldShape::vector, ElementType::unsigned_short));
    out.push_back(transpose<Split>("SplitTranspose1D", type, VertexKind::multi, std::move(split),
                                   [type](const VertexIntrospector& v, const Target& t) { return kWorkers * split_cycles(v, t, type); }));
  }
  for (const ElementType type : {ElementType::unsigned_char, ElementType::half, ElementType::short_, ElementType::unsigned_short,
                                 ElementType::float_, ElementType::int_, ElementType::unsigned_int})
    out.push_back(transpose<Matrices>(
        "Transpose2D", type, VertexKind::worker, fields_of(FieldShape::vector_of_vectors, type, {"numSrcRows", "numSrcColumns"}),
        [type](const VertexIntrospector& v, const Target& t) {
          return worker_cycles(type, number(v, t, "numSrcRows"), number(v, t, "numSrcColumns"), v.getFieldInfo("dst").size());
        }));
  return out;
}

}  // namespace pando::facade
