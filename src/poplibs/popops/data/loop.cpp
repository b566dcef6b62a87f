#include "popops/Loop.hpp"

#include <limits>

#include <poputil/Loop.hpp>

#include "poplibs/popops/data/parts.h"

namespace popops {

namespace {

using namespace poplar;
using program::Sequence;

unsigned checked(std::size_t number, const char* name) {
  if (number > std::numeric_limits<unsigned>::max())
    internal::fail("popops::countedLoop", std::string(name) + " is " + std::to_string(number) + ", which has more than 32 bits");
  return static_cast<unsigned>(number);
}

void check_counter(const char* where, const Tensor& count, const Tensor& limit, int step) {
  const Type type = count.elementType();
  if (type != INT && type != UNSIGNED_INT)
    internal::fail(where, "the count is of type " + type.toString() + "; expected int or unsigned int");
  if (limit.elementType() != type)
    internal::fail(where, "the limit is of type " + limit.elementType().toString() + "; expected that of the count, " + type.toString());
  if (count.numElements() != 1 || limit.numElements() != 1)
    internal::fail(
        where, "count and limit have shapes " + count.shapeToString() + " and " + limit.shapeToString() + "; expected one element each");
  internal::check_writable(where, "the count", count);
  if (step == 0) internal::fail(where, "a step of 0");
}

unsigned tile_of(const Graph& graph, const Tensor& element) {
  const auto mapping = graph.getTileMapping(element, nullptr);
  for (unsigned tile = 0; tile < mapping.size(); ++tile)
    if (!mapping[tile].empty()) return tile;
  return 0;
}

// Sets one element to a number, modulo 2^32.
void set(Graph& graph, const Tensor& t, unsigned value, Sequence& prog, const DebugContext& debug) {
  const Tensor constant = t.elementType() == INT ? graph.addConstant(INT, t.shape(), static_cast<int>(value), {debug, "initial"})
                                                 : graph.addConstant(t.elementType(), t.shape(), value, {debug, "initial"});
  graph.setTileMapping(constant, tile_of(graph, t));
  prog.add(program::Copy(constant, t, false, debug));
}

}  // namespace

Sequence countedLoop(Graph& graph, std::size_t begin, std::size_t end, std::size_t step, const CountedLoopBodyType& body,
                     const DebugContext& debug) {
  if (step == 0) internal::fail("popops::countedLoop", "a step of 0");
  if (end < begin)
    internal::fail("popops::countedLoop", "the end, " + std::to_string(end) + ", is before the beginning, " + std::to_string(begin));
  const unsigned rounds = checked((end - begin + step - 1) / step, "the number of rounds");
  const unsigned first = checked(begin, "the beginning"), by = checked(step, "the step");
  checked(end, "the end");
  const Tensor i = graph.addVariable(UNSIGNED_INT, {1}, {debug, "i"});
  graph.setTileMapping(i, 0);
  const ComputeSet cs = graph.addComputeSet({debug, "CountedLoop/Increment"});
  graph.setTileMapping(graph.addVertex(cs, "popops::Increment", {{"number", i[0]}, {"step", by}}), 0);
  Sequence prog({}, debug);
  set(graph, i, first, prog, debug);
  prog.add(program::Repeat(rounds, Sequence({body(i), program::Execute(cs, debug)}, debug), debug));
  return prog;
}

Sequence countedLoop(Graph& graph, std::size_t count, const CountedLoopBodyType& body, const DebugContext& debug) {
  return countedLoop(graph, 0, count, 1, body, debug);
}

Tensor addForLoopCounterVertex(Graph& graph, const Tensor& count, const Tensor& limit, int step, unsigned tile, Sequence& prog,
                               const DebugContext& debug) {
  check_counter("popops::addForLoopCounterVertex", count, limit, step);
  const Tensor goes_on = graph.addVariable(BOOL, {}, {debug, "goesOn"});
  graph.setTileMapping(goes_on, tile);
  const ComputeSet cs = graph.addComputeSet({debug, "ForLoopCounter"});
  const VertexRef v = graph.addVertex(cs, "popops::ForLoopCounter");
  graph.connect(v["count"], count.reshape({}).reinterpret(UNSIGNED_INT));
  graph.connect(v["limit"], limit.reshape({}).reinterpret(UNSIGNED_INT));
  graph.connect(v["goesOn"], goes_on);
  graph.setInitialValue(v["step"], step);
  graph.setInitialValue(v["isSigned"], count.elementType() == INT);
  graph.setTileMapping(v, tile);
  prog.add(program::Execute(cs, {debug, "ForLoopCounter"}));
  return goes_on;
}

Sequence countedForLoop(Graph& graph, const Tensor& count, int initial, const Tensor& limit, int step, const program::Program& body,
                        const DebugContext& debug) {
  check_counter("popops::countedForLoop", count, limit, step);
  Sequence prog({}, debug), condition({}, debug);
  // The condition counts before it compares.
  set(graph, count, static_cast<unsigned>(initial) - static_cast<unsigned>(step), prog, debug);
  const Tensor goes_on = addForLoopCounterVertex(graph, count, limit, step, tile_of(graph, count), condition, debug);
  prog.add(program::RepeatWhileTrue(condition, goes_on, body, debug));
  return prog;
}

Sequence countedForLoop(Graph& graph, int initial, const Tensor& limit, int step, const program::Program& body, const DebugContext& debug) {
  const Tensor count = graph.addVariable(limit.elementType(), {1}, {debug, "count"});
  graph.setTileMapping(count, tile_of(graph, limit));
  return countedForLoop(graph, count, initial, limit, step, body, debug);
}

}  // namespace popops

namespace poputil {

using namespace poplar;
using program::Sequence;

Sequence countedLoop(Graph& graph, std::size_t begin, std::size_t end, std::size_t step, const DebugContext& debug,
                     const CountedLoopBodyType& body) {
  if (end <= begin)
    popops::internal::fail("poputil::countedLoop",
                           "the end, " + std::to_string(end) + ", is not behind the beginning, " + std::to_string(begin));
  return popops::countedLoop(graph, begin, end, step, body, debug);
}

Sequence countedLoop(Graph& graph, std::size_t count, const DebugContext& debug, const CountedLoopBodyType& body) {
  return countedLoop(graph, 0, count, 1, debug, body);
}

}  // namespace poputil
