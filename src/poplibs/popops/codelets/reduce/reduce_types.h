// What the codelets of reductions share.
#pragma once

#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

#include "kernels/rows/reduce.h"

namespace popops {

template <class T>
inline constexpr PandoReduceType kReduceType = PandoReduceType::f32;
template <> inline constexpr PandoReduceType kReduceType<half> = PandoReduceType::f16;
template <> inline constexpr PandoReduceType kReduceType<int> = PandoReduceType::i32;
template <> inline constexpr PandoReduceType kReduceType<unsigned> = PandoReduceType::u32;
template <> inline constexpr PandoReduceType kReduceType<long long> = PandoReduceType::i64;
template <> inline constexpr PandoReduceType kReduceType<unsigned long long> = PandoReduceType::u64;
template <> inline constexpr PandoReduceType kReduceType<bool> = PandoReduceType::boolean;

// A list of blocks with its regions, as the kernel takes them: four numbers for each block.
template <class In, class Regions, class Blocks>
void reduce_list(unsigned op, PandoReduceType out_type, const Regions& regions, const Blocks& blocks, void* out, const float* scale,
                 bool update) {
  static_assert(sizeof(regions[0]) == sizeof(PandoReduceRegion));
  pando_reduce(static_cast<PandoReduceOp>(op), kReduceType<In>, out_type,
               regions.size() == 0 ? nullptr : reinterpret_cast<const PandoReduceRegion*>(&regions[0]),
               reinterpret_cast<const PandoReduceBlock*>(&blocks[0]), blocks.size() / 4, out, scale, update);
}

}  // namespace popops

// Input and output types of each vertex.
#define POPOPS_REDUCE_INSTANTIATIONS(V)                     \
  template class V<float, float>;                           \
  template class V<float, half>;                            \
  template class V<half, float>;                            \
  template class V<half, half>;                             \
  template class V<int, int>;                               \
  template class V<unsigned, unsigned>;                     \
  template class V<long long, long long>;                   \
  template class V<unsigned long long, unsigned long long>; \
  template class V<bool, bool>;
#else
#include "kernels/rows/reduce_rows.h"
#include "poplibs/codelet_file.h"
#include "popops/OperationDef.hpp"

namespace popops {

// Of an element.
inline std::uint64_t flops_of(unsigned op) {
#define PANDO_ROW(NAME, name, types, scale, identity, flops, ...) flops,
  constexpr unsigned kFlops[] = {PANDO_REDUCE_ROWS(PANDO_ROW)};
#undef PANDO_ROW
  return kFlops[op];
}

// What a vertex reads: elements, the regions that they are in, and rows of these that do not follow each other.
struct ReduceWork {
  std::uint64_t elements, regions, rows = 0;
};

// Worker cycles and operations to make `outputs` of elements of type `in`: as many lanes a cycle as a 64-bit load brings (integers have no
// vector instructions), and an exponential for each element of LOG_ADD.
inline poplar::VertexPerfEstimate reduce_estimate(unsigned op, const poplar::Type& in, const ReduceWork& work, std::uint64_t outputs) {
  const std::uint64_t elements = work.elements;
  const bool real = in == poplar::FLOAT || in == poplar::HALF;
  const std::uint64_t lanes = in == poplar::HALF ? 4 : in == poplar::FLOAT ? 2 : 1;
  const bool logs = op == static_cast<unsigned>(Operation::LOG_ADD);
  const std::uint64_t per_vector = logs ? 2 + 5 * lanes : 1;
  return {20 + 6 * work.regions + work.rows + (elements + lanes - 1) / lanes * per_vector + 3 * outputs,
          real ? flops_of(op) * elements : 0};
}

inline ReduceWork work_of_list(const poplar::VertexIntrospector& vertex, const poplar::Target&) {
  const poplar::FieldData from = vertex.getFieldInfo("in");
  ReduceWork work{0, from.size()};
  for (std::size_t i = 0; i < from.size(); ++i) work.elements += from.getSizeAtIndex(i);
  return work;
}

// A row for each instantiation of vertex `name`.
inline pando::poplibs::Estimates reduce_estimates(const std::string& name,
                                                  ReduceWork (*work)(const poplar::VertexIntrospector&, const poplar::Target&)) {
  using namespace poplar;
  static const std::pair<Type, Type> kTypes[] = {{FLOAT, FLOAT},       {FLOAT, HALF},
                                                 {HALF, FLOAT},        {HALF, HALF},
                                                 {INT, INT},           {UNSIGNED_INT, UNSIGNED_INT},
                                                 {LONGLONG, LONGLONG}, {UNSIGNED_LONGLONG, UNSIGNED_LONGLONG},
                                                 {BOOL, BOOL}};
  pando::poplibs::Estimates rows;
  for (const auto& [in, out] : kTypes)
    rows.push_back(
        {name + "<" + in.toString() + "," + out.toString() + ">", [in = in, work](const VertexIntrospector& vertex, const Target& target) {
           return reduce_estimate(vertex.getFieldInfo("op").getInitialValue<unsigned>(target), in, work(vertex, target),
                                  vertex.getFieldInfo("out").size());
         }});
  return rows;
}

}  // namespace popops
#endif
