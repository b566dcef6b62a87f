#include "poplibs/poputil/reject.h"
#include "poprand/RandomGen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <poplar/RandomSeed.hpp>
#include <popops/ElementWise.hpp>
#include <poputil/Util.hpp>
#include <poputil/VertexTemplates.hpp>

#include "poplibs/work.h"

namespace poprand {

using namespace poplar;
using poplar::program::Copy;
using poplar::program::Execute;
using poplar::program::Sequence;
using poputil::poplibs_error;

namespace {

// A state field of a vertex and its value.
struct Parameter {
  const char* field;
  Type type;
  double value;
};

void check_type(const char* function, const Type& type, std::initializer_list<Type> known) {
  if (std::find(known.begin(), known.end(), type) != known.end()) return;
  std::string names;
  for (const Type& t : known) names += (names.empty() ? "" : ", ") + t.toString();
  poputil::reject("output-type", "poprand::{}: the output type is {}, expected one of {}", function, type.toString(), names);
}

void check_seed(const char* function, const Tensor& seed) {
  if (seed.elementType() == UNSIGNED_INT && seed.shape() == std::vector<std::size_t>{2}) return;
  poputil::reject("seed", "poprand::{}: the seed is {} {}, expected {} {{2}}", function, seed.elementType().toString(),
                  seed.shapeToString(), UNSIGNED_INT.toString());
}

void check_range(const char* function, double low, double high) {
  if (std::isfinite(low) && std::isfinite(high) && low <= high) return;
  poputil::reject("range", "poprand::{}: the range is [{}, {}], expected two finite numbers in ascending order", function, low, high);
}

// 2^32 times a probability.
double threshold_of(const char* function, const char* what, double probability, bool zero_allowed) {
  if ((zero_allowed ? probability >= 0 : probability > 0) && probability <= 1) return std::round(probability * 0x1p32);
  poputil::reject("probability", "poprand::{}: {} is {}, expected a number in {}0, 1]", function, what, probability,
                  zero_allowed ? '[' : '(');
}

void check_deviation(const char* function, double mean, double deviation) {
  if (std::isfinite(mean) && std::isfinite(deviation) && deviation >= 0) return;
  poputil::reject("distribution", "poprand::{}: mean {} and standard deviation {}, expected finite numbers and a deviation of 0 or more",
                  function, mean, deviation);
}

// The four words of the graph's generator lie with the seeds of the first worker of tile 0; all others follow them.
Tensor generator_of(const Tensor& hw_seeds) { return hw_seeds[0][0]; }

// A key {2} for one call: the seed, or the next one of the graph's generator.
Tensor key_of(Graph& graph, const char* function, const Tensor* seed, Sequence& prog, const DebugContext& debug) {
  if (seed != nullptr) {
    check_seed(function, *seed);
    return *seed;
  }
  const Tensor seeds = getHwSeeds(graph, prog, {debug, "generator"});
  const Tensor key = graph.addVariable(UNSIGNED_INT, {2}, {debug, "key"});
  graph.setTileMapping(key, 0);
  const ComputeSet set = graph.addComputeSet({debug, "nextKey"});
  const VertexRef vertex = graph.addVertex(set, "poprand::NextKey", {{"generator", generator_of(seeds)}, {"key", key}});
  graph.setTileMapping(vertex, 0);
  prog.add(Execute(set, {debug}));
  setHwSeeds(graph, seeds, prog, {debug, "generator"});
  return key;
}

void set_parameter(Graph& graph, const VertexRef& vertex, const Parameter& p) {
  if (p.type == FLOAT)
    graph.setInitialValue(vertex[p.field], static_cast<float>(p.value));
  else if (p.type == INT)
    graph.setInitialValue(vertex[p.field], static_cast<int>(p.value));
  else
    graph.setInitialValue(vertex[p.field], static_cast<unsigned long long>(p.value));
}

// One compute set that fills `out` in the order of its elements; `in`, if valid, is read element by element.
void fill(Graph& graph, const std::string& name, const Tensor& key, std::uint32_t stream, const std::vector<Parameter>& parameters,
          const Tensor& in, const Tensor& out, Sequence& prog, const DebugContext& debug) {
  const Tensor flat = out.flatten(), from = in.valid() ? in.flatten() : in;
  const ComputeSet set = graph.addComputeSet(debug);
  const unsigned vertices = pando::poplibs::vertices_per_tile(graph.getTarget());
  const auto mapping = graph.getTileMapping(flat);
  for (unsigned tile = 0; tile < mapping.size(); ++tile) {
    if (mapping[tile].empty()) continue;
    for (const std::vector<Interval>& rows : poputil::splitRegions(mapping[tile], 4, vertices, 32)) {
      std::vector<unsigned> places;
      for (const Interval& row : rows) {
        places.push_back(static_cast<unsigned>(row.begin()));
        places.push_back(static_cast<unsigned>(static_cast<std::uint64_t>(row.begin()) >> 32));
      }
      const VertexRef vertex = graph.addVertex(set, name, {{"key", key}, {"out", flat.slices(rows)}});
      if (from.valid()) graph.connect(vertex["in"], from.slices(rows));
      graph.setInitialValue(vertex["places"], ArrayRef<unsigned>(places));
      graph.setInitialValue(vertex["stream"], stream);
      for (const Parameter& p : parameters) set_parameter(graph, vertex, p);
      graph.setTileMapping(vertex, tile);
    }
  }
  prog.add(Execute(set, debug));
}

// A new tensor of random numbers with the reference's shape and mapping.
Tensor generate(Graph& graph, const char* function, const char* vertex, const Tensor* seed, std::uint32_t modifier, const Tensor& reference,
                const Type& type, const std::vector<Parameter>& parameters, Sequence& prog, const DebugContext& debug) {
  const Tensor key = key_of(graph, function, seed, prog, debug);
  const Tensor out = graph.clone(type, reference, {debug, function});
  fill(graph, poputil::templateVertex(vertex, type), key, modifier, parameters, Tensor(), out, prog, {debug, function});
  return out;
}

// The shape that `reference` has as a factor of `input`: dimensions of size 1 and missing leading ones repeat.
Tensor broadcast_to(const Tensor& mask, const Tensor& input) {
  const auto fail = [&] {
    poputil::reject("reference-shape", "poprand::shapedDropout: a reference of shape {} cannot be broadcast to the input's {}",
                    mask.shapeToString(), input.shapeToString());
  };
  if (mask.rank() > input.rank()) fail();
  Tensor out = mask;
  while (out.rank() < input.rank()) out = out.expand({0});
  for (unsigned d = 0; d < out.rank(); ++d) {
    if (out.dim(d) == input.dim(d)) continue;
    if (out.dim(d) != 1) fail();
    out = out.broadcast(static_cast<unsigned>(input.dim(d)), d);
  }
  return out;
}

void check_scale(const char* function, double scale) {
  if (!std::isfinite(scale)) poputil::reject("scale", "poprand::{}: the scale is {}, expected a finite number", function, scale);
}

}  // namespace

Tensor dropout(Graph& graph, const Tensor* seed, const uint32_t modifier, const Tensor& input, const Tensor& reference, double keep,
               double scale, Sequence& prog, const DebugContext& debug) {
  return dropout(graph, seed, modifier, input, reference, keep, scale, true, prog, debug);
}

Tensor dropout(Graph& graph, const Tensor* seed, const uint32_t modifier, const Tensor& input, const Tensor& reference, double keep,
               double scale, bool clone_reference, Sequence& prog, const DebugContext& debug) {
  check_type("dropout", input.elementType(), {FLOAT, HALF});
  check_scale("dropout", scale);
  if (input.shape() != reference.shape())
    poputil::reject("reference-shape", "poprand::dropout: the input has shape {}, the reference {}; expected the same",
                    input.shapeToString(), reference.shapeToString());
  const double threshold = threshold_of("dropout", "the probability to keep", keep, false);
  const Tensor key = key_of(graph, "dropout", seed, prog, debug);
  const Tensor out = graph.clone(input.elementType(), clone_reference ? reference : input, {debug, "dropout"});
  fill(graph, poputil::templateVertex("poprand::Dropout", input.elementType()), key, modifier,
       {{"threshold", UNSIGNED_LONGLONG, threshold}, {"scale", FLOAT, scale}}, input, out, prog, {debug, "dropout"});
  return out;
}

Tensor shapedDropout(Graph& graph, const Tensor* seed, const uint32_t modifier, const Tensor& input, const Tensor& reference, double keep,
                     double scale, Sequence& prog, const DebugContext& debug) {
  check_type("shapedDropout", input.elementType(), {FLOAT, HALF});
  check_scale("shapedDropout", scale);
  broadcast_to(reference, input);  // the error comes before anything is added
  const double threshold = threshold_of("shapedDropout", "the probability to keep", keep, false);
  const Tensor mask = generate(graph, "shapedDropout", "poprand::Bernoulli", seed, modifier, reference, input.elementType(),
                               {{"threshold", UNSIGNED_LONGLONG, threshold}}, prog, debug);
  namespace expr = popops::expr;
  return popops::map(graph, expr::Select(expr::_1 * expr::Const(static_cast<float>(scale)), expr::Const(0.0f), expr::Cast(expr::_2, BOOL)),
                     {input, broadcast_to(mask, input)}, prog, {debug, "shapedDropout"});
}

Tensor uniform(Graph& graph, const Tensor* seed, uint32_t modifier, const Tensor& reference, const Type& type, double low, double high,
               Sequence& prog, const DebugContext& debug) {
  check_type("uniform", type, {FLOAT, HALF, INT});
  check_range("uniform", low, high);
  if (type != INT)
    return generate(graph, "uniform", "poprand::Uniform", seed, modifier, reference, type, {{"low", FLOAT, low}, {"high", FLOAT, high}},
                    prog, debug);
  const double first = std::ceil(low), last = std::floor(high);
  if (first > last || first < std::numeric_limits<int>::min() || last > std::numeric_limits<int>::max())
    poputil::reject("integer-range", "poprand::uniform: no int lies in [{}, {}], or one of its ends is none", low, high);
  return generate(graph, "uniform", "poprand::UniformInt", seed, modifier, reference, type,
                  {{"low", INT, first}, {"count", UNSIGNED_LONGLONG, last - first + 1}}, prog, debug);
}

Tensor logUniform(Graph& graph, const Tensor* seed, uint32_t modifier, const Tensor& reference, const Type& type, double low, double high,
                  Sequence& prog, double base, const DebugContext& debug) {
  check_type("logUniform", type, {FLOAT, HALF, INT});
  check_range("logUniform", low, high);
  if (low <= 0) poputil::reject("least-value", "poprand::logUniform: the least value is {}, expected more than 0", low);
  if (!(base > 0) || base == 1 || !std::isfinite(base))
    poputil::reject("base", "poprand::logUniform: the base is {}, expected a number above 0 other than 1", base);
  return generate(graph, "logUniform", "poprand::LogUniform", seed, modifier, reference, type,
                  {{"low", FLOAT, std::log(low)}, {"high", FLOAT, std::log(high)}, {"least", FLOAT, low}, {"most", FLOAT, high}}, prog,
                  debug);
}

Tensor bernoulli(Graph& graph, const Tensor* seed, uint32_t modifier, const Tensor& reference, const Type& type, double probability,
                 Sequence& prog, const DebugContext& debug) {
  check_type("bernoulli", type, {FLOAT, HALF, INT});
  return generate(graph, "bernoulli", "poprand::Bernoulli", seed, modifier, reference, type,
                  {{"threshold", UNSIGNED_LONGLONG, threshold_of("bernoulli", "the probability", probability, true)}}, prog, debug);
}

Tensor normal(Graph& graph, const Tensor* seed, uint32_t modifier, const Tensor& reference, const Type& type, double mean, double deviation,
              Sequence& prog, const DebugContext& debug) {
  check_type("normal", type, {FLOAT, HALF});
  check_deviation("normal", mean, deviation);
  return generate(graph, "normal", "poprand::Normal", seed, modifier, reference, type,
                  {{"mean", FLOAT, mean}, {"deviation", FLOAT, deviation}}, prog, debug);
}

Tensor truncatedNormal(Graph& graph, const Tensor* seed, uint32_t modifier, const Tensor& reference, const Type& type, double mean,
                       double deviation, double alpha, Sequence& prog, const DebugContext& debug) {
  check_type("truncatedNormal", type, {FLOAT, HALF});
  check_deviation("truncatedNormal", mean, deviation);
  if (!(alpha > 0)) poputil::reject("alpha", "poprand::truncatedNormal: alpha is {}, expected more than 0", alpha);
  return generate(graph, "truncatedNormal", "poprand::TruncatedNormal", seed, modifier, reference, type,
                  {{"mean", FLOAT, mean}, {"deviation", FLOAT, deviation}, {"alpha", FLOAT, alpha}}, prog, debug);
}

void setSeed(Graph& graph, const Tensor& master_seed, uint32_t modifier, Sequence& prog, const DebugContext& debug) {
  check_seed("setSeed", master_seed);
  const Tensor start = graph.addVariable(UNSIGNED_INT, {4}, {debug, "start"});
  graph.setTileMapping(start, 0);
  const ComputeSet set = graph.addComputeSet({debug, "setSeed"});
  const VertexRef vertex = graph.addVertex(set, "poprand::StartGenerator", {{"seed", master_seed}, {"generator", start}});
  graph.setInitialValue(vertex["modifier"], modifier);
  graph.setTileMapping(vertex, 0);
  prog.add(Execute(set, {debug}));
  const Target& target = graph.getTarget();
  const std::size_t tiles = target.getNumTiles(), workers = target.getNumWorkerContexts();
  setHwSeeds(graph, start.broadcast(static_cast<unsigned>(tiles * workers), 0).reshape({tiles, workers, 4}), prog, {debug, "setSeed"});
}

}  // namespace poprand
