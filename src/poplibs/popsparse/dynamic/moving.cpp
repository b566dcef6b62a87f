#include "poplibs/popsparse/dynamic/moving.h"

#include "poplibs/popsparse/bucket.h"

namespace popsparse {
namespace {

using namespace poplar;
using namespace poplar::program;

// Each bucket to the place of the one before it, or after it.
void move(Graph& graph, Sequence& prog, const Tensor& buckets, unsigned dimension, bool back, const DebugContext& name) {
  const std::size_t n = buckets.dim(dimension);
  const Tensor moved = graph.clone(buckets, {name, "moved"});
  const Tensor from = back ? concat(buckets.slice(n - 1, n, dimension), buckets.slice(0, n - 1, dimension), dimension)
                           : concat(buckets.slice(1, n, dimension), buckets.slice(0, 1, dimension), dimension);
  prog.add(Copy(from, moved, false, name));
  prog.add(Copy(moved, buckets, false, name));
}

}  // namespace

void in_turn(Graph& graph, Sequence& prog, const SparsePlan& plan, const Tensor& words, const Tensor& values, Values kind, const Step& step,
             const DebugContext& name) {
  step(prog, words, values, false);
  if (plan.parts() == 1) return;

  const Tensor moved = graph.addVariable(UNSIGNED_INT, {}, {name, "moves"}), more = graph.addVariable(BOOL, {}, {name, "more"});
  const Tensor zero = graph.addConstant(UNSIGNED_INT, {}, 0u, {name, "zero"});
  for (const Tensor& t : {moved, more, zero}) graph.setTileMapping(t, 0);
  const auto ask = [&](const char* vertex) {
    const ComputeSet cs = graph.addComputeSet({name, "more"});
    const VertexRef v = graph.addVertex(cs, vertex, {{"moved", moved}, {"more", more}});
    graph.setTileMapping(v, 0);
    return std::pair(Sequence(Execute(cs, name)), v);
  };
  const auto [forward, asks] = ask("popsparse::MoreBuckets");
  graph.connect(asks["header"], words[0].slice(0, kBucketHeader));

  // The originals stay where they are.
  const Tensor moving_words = graph.clone(words, {name, "words"});
  const Tensor moving_values = values.valid() ? graph.clone(values, {name, "values"}) : values;
  Sequence turn;
  move(graph, turn, moving_words, 0, false, name);
  if (values.valid()) move(graph, turn, moving_values, 1, false, name);
  step(turn, moving_words, moving_values, true);

  Sequence turns(Copy(words, moving_words, false, name));
  if (values.valid()) turns.add(Copy(values, moving_values, false, name));
  turns.add(turn);
  turns.add(RepeatWhileTrue(forward, more, turn, name));
  if (kind == Values::kChanged) {
    const auto [backward, asks_back] = ask("popsparse::FewerBuckets");
    Sequence back;
    move(graph, back, moving_values, 1, true, name);
    turns.add(RepeatWhileTrue(backward, more, back, name));
    turns.add(Copy(moving_values, values, false, name));
  }
  prog.add(Copy(zero, moved, false, name));
  prog.add(forward);
  prog.add(If(more, turns, Sequence(), name));
}

}  // namespace popsparse
