// One element of each row of a matrix, at an index that is known when the program runs. Vertices work where the matrix lies; a row
// over several vertices has several partial results.
#include <popops/SelectScalarFromRows.hpp>
#include <popops/UpdateScalarInRows.hpp>

#include <algorithm>

#include <poputil/TileMapping.hpp>

#include "poplibs/popops/data/parts.h"

namespace popops {

namespace {

using namespace poplar;

struct Rows {
  Tensor params;   // flat
  Tensor indices;  // UNSIGNED_INT
  std::size_t width = 0;
};

Rows checked(const char* where, const Tensor& params, const Tensor& indices) {
  const Type type = params.elementType();
  if (type != FLOAT && type != HALF) internal::fail(where, "params are of type " + type.toString() + "; expected float or half");
  if (params.rank() != 2) internal::fail(where, "params have shape " + params.shapeToString() + "; expected rank 2");
  if (indices.elementType() != UNSIGNED_INT && indices.elementType() != INT)
    internal::fail(where, "indices are of type " + indices.elementType().toString() + "; expected unsigned int or int");
  if (indices.rank() != 1 || indices.dim(0) != params.dim(0))
    internal::fail(where, "indices have shape " + indices.shapeToString() + "; expected one for each row of params, of shape " +
                              params.shapeToString());
  if (params.dim(0) != 0 && params.dim(1) == 0)
    internal::fail(where, "params have shape " + params.shapeToString() + ": rows without an element");
  return {params.flatten(), indices.reinterpret(UNSIGNED_INT), params.dim(1)};
}

// What a vertex works on: intervals of the flattened matrix and the rows that they touch.
struct Part {
  unsigned tile = 0;
  std::vector<Interval> elements;
  std::vector<Interval> rows;
  std::vector<unsigned> begin;
};

std::vector<Part> parts_of(const Graph& graph, const Rows& rows) {
  std::vector<Part> parts;
  const std::size_t bytes = graph.getTarget().getTypeSize(rows.params.elementType());
  internal::for_each_part(graph, rows.params, graph.getTileMapping(rows.params), bytes, false,
                          [&](unsigned tile, const internal::Runs& runs) {
                            Part part;
                            part.tile = tile;
                            for (const auto& run : runs)
                              for (const Interval& i : run) {
                                part.elements.push_back(i);
                                part.rows.emplace_back(i.begin() / rows.width, (i.end() + rows.width - 1) / rows.width);
                                part.begin.push_back(static_cast<unsigned>(i.begin() % rows.width));
                              }
                            parts.push_back(std::move(part));
                          });
  return parts;
}

VertexRef add_vertex(Graph& graph, const ComputeSet& cs, const std::string& vertex, const Rows& rows, const Part& part) {
  const VertexRef v = graph.addVertex(cs, vertex);
  graph.setTileMapping(v, part.tile);
  graph.connect(v["params"], rows.params.slices(part.elements));
  graph.connect(v["indices"], rows.indices.slices(part.rows));
  graph.setInitialValue(v["begin"], part.begin);
  graph.setInitialValue(v["width"], static_cast<unsigned>(rows.width));
  return v;
}

// Adds up the partial results of each row; `of_row` says where they are.
Tensor combined(Graph& graph, const Tensor& partials, const std::vector<std::vector<Interval>>& of_row, program::Sequence& prog,
                const DebugContext& debug) {
  const Tensor out = graph.addVariable(partials.elementType(), {of_row.size()}, {debug, "selected"});
  poputil::mapTensorLinearly(graph, out);
  const ComputeSet cs = graph.addComputeSet({debug, "SelectScalarFromRows/Combine"});
  const std::string vertex = "popops::SelectCombine<" + partials.elementType().toString() + ">";
  const std::vector<Tensor> by_row = partials.slices(of_row);
  internal::for_each_part(graph, out, graph.getTileMapping(out), 8, false, [&](unsigned tile, const internal::Runs& runs) {
    for (const auto& run : runs)
      for (const Interval& i : run) {
        const std::vector<Tensor> mine(by_row.begin() + static_cast<std::ptrdiff_t>(i.begin()),
                                       by_row.begin() + static_cast<std::ptrdiff_t>(i.end()));
        const VertexRef v = graph.addVertex(cs, vertex, {{"partials", mine}, {"out", out.slice(i)}});
        graph.setTileMapping(v, tile);
      }
  });
  prog.add(program::Execute(cs, {debug, "SelectScalarFromRows/Combine"}));
  return out;
}

}  // namespace

Tensor selectScalarFromRows(Graph& graph, const Tensor& params, const Tensor& indices, program::Sequence& prog, const DebugContext& debug) {
  const Rows rows = checked("popops::selectScalarFromRows", params, indices);
  const Type type = params.elementType();
  const std::vector<Part> parts = parts_of(graph, rows);
  std::size_t count = 0;
  std::vector<std::vector<Interval>> of_row(params.dim(0));
  for (const Part& part : parts)
    for (const Interval& i : part.rows)
      for (std::size_t row = i.begin(); row < i.end(); ++row, ++count) of_row[row].emplace_back(count, count + 1);
  const Tensor partials = graph.addVariable(type, {count}, {debug, "selected"});
  if (count == 0) return partials;
  const ComputeSet cs = graph.addComputeSet({debug, "SelectScalarFromRows"});
  const std::string vertex = "popops::SelectFromRows<" + type.toString() + ">";
  std::size_t at = 0;
  for (const Part& part : parts) {
    std::vector<Interval> mine;
    const std::size_t first = at;
    for (const Interval& i : part.rows) mine.emplace_back(at, at + i.size()), at += i.size();
    graph.setTileMapping(partials.slice(first, at), part.tile);
    graph.connect(add_vertex(graph, cs, vertex, rows, part)["out"], partials.slices(mine));
  }
  prog.add(program::Execute(cs, {debug, "SelectScalarFromRows"}));
  if (count != params.dim(0)) return combined(graph, partials, of_row, prog, debug);
  // One part for each row: its partial result is the result.
  std::vector<Interval> order;
  for (const auto& row : of_row) {
    if (!order.empty() && order.back().end() == row[0].begin())
      order.back() = Interval(order.back().begin(), row[0].end());
    else
      order.push_back(row[0]);
  }
  return concat(partials.slices(order));
}

void updateScalarInRows(Graph& graph, const Tensor& params, const Tensor& indices, program::Sequence& prog, const DebugContext& debug) {
  const Rows rows = checked("popops::updateScalarInRows", params, indices);
  internal::check_writable("popops::updateScalarInRows", "params", params);
  if (params.numElements() == 0) return;
  const ComputeSet cs = graph.addComputeSet({debug, "UpdateScalarInRows"});
  const std::string vertex = "popops::UpdateInRows<" + params.elementType().toString() + ">";
  for (const Part& part : parts_of(graph, rows)) add_vertex(graph, cs, vertex, rows, part);
  prog.add(program::Execute(cs, {debug, "UpdateScalarInRows"}));
}

}  // namespace popops
