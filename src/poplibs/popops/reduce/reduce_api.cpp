#include <pando/ownership.hpp>
#include <poputil/OptionParsing.hpp>
#include <poputil/exceptions.hpp>

#include <algorithm>
#include <limits>
#include <optional>
#include <sstream>

#include "kernels/rows/reduce_rows.h"
#include "poplibs/popops/reduce/build.h"
#include "poplibs/popops/reduce/plan.h"
#include "poplibs/popops/reduce/view.h"
#include "poplibs/poputil/reject.h"
#include "poplibs/work.h"
#include "popops/Epilogue.hpp"
#include "popops/Fill.hpp"
#include "popops/OperationDefUtil.hpp"
#include "popops/Reduce.hpp"

namespace popops {

namespace {

using poplar::Tensor;
using poplar::Type;
using poputil::poplibs_error;

struct Options {
  std::optional<Type> between_tiles, on_tile, in_vertex;
  bool columns = true, blocks = true, tree = true;
};

Options options_of(const poplar::OptionFlags& flags) {
  Options options;
  const auto type_into = [](std::optional<Type>& to) {
    return poplibs::OptionHandler(
        [&to](poplar::StringRef value) { to = poplibs::parse::asEnum<Type>(value, {{"float", poplar::FLOAT}, {"half", poplar::HALF}}); });
  };
  const poplibs::OptionSpec spec{{"accumType.interTile", type_into(options.between_tiles)},
                                 {"accumType.intraTile", type_into(options.on_tile)},
                                 {"accumType.inVertex", type_into(options.in_vertex)},
                                 {"pando.readColumns", poplibs::OptionHandler::createWithBool(options.columns)},
                                 {"pando.readBlocks", poplibs::OptionHandler::createWithBool(options.blocks)},
                                 {"pando.tree", poplibs::OptionHandler::createWithBool(options.tree)}};
  for (const auto& flag : flags) spec.parse(flag.first, flag.second);
  return options;
}

bool is_real(const Type& type) { return type == poplar::FLOAT || type == poplar::HALF; }

bool is_integer(const Type& type) {
  return type == poplar::INT || type == poplar::UNSIGNED_INT || type == poplar::LONGLONG || type == poplar::UNSIGNED_LONGLONG;
}

bool takes(Operation op, const Type& type) {
  const bool floats = is_real(type), numbers = floats || is_integer(type), booleans = type == poplar::BOOL;
  switch (op) {
#define PANDO_ROW(NAME, name, types, ...) \
  case Operation::NAME: return types;
    PANDO_REDUCE_ROWS(PANDO_ROW)
#undef PANDO_ROW
  }
  return false;
}

bool takes_scale(Operation op) {
  constexpr bool scaled = true, plain = false;
  switch (op) {
#define PANDO_ROW(NAME, name, types, scale, ...) \
  case Operation::NAME: return scale;
    PANDO_REDUCE_ROWS(PANDO_ROW)
#undef PANDO_ROW
  }
  return false;
}

// The output in this shape, if it differs from it only in dimensions of size 1.
Tensor in_shape(const Tensor& t, const std::vector<std::size_t>& shape) {
  const auto greater = [](std::vector<std::size_t> s) {
    s.erase(std::remove(s.begin(), s.end(), std::size_t{1}), s.end());
    return s;
  };
  return greater(t.shape()) == greater(shape) ? t.reshape(shape) : t;
}

std::string text_of(const std::vector<std::size_t>& shape) {
  std::ostringstream text;
  text << '{';
  for (std::size_t i = 0; i < shape.size(); ++i) text << (i == 0 ? "" : ",") << shape[i];
  text << '}';
  return text.str();
}

void check_params(const Tensor& in, const Type& out_type, const ReduceParams& params) {
  const auto fail = [&](const std::string& why) {
    poputil::reject("reduce-type", "{}", "popops::reduce with " + std::string(poputil::asString(params.op)) + ": " + why);
  };
  if (!takes(params.op, in.elementType())) fail("the operation does not take elements of type " + in.elementType().toString());
  if (out_type != in.elementType() && !(is_real(in.elementType()) && is_real(out_type)))
    fail("elements of type " + in.elementType().toString() + " cannot give results of type " + out_type.toString());
  if (!params.useScale) return;
  if (!takes_scale(params.op)) fail("only Add, Square Add and Log Add take a scale");
  if (!is_real(out_type)) fail("a scale needs floating-point results, not " + out_type.toString());
  if (!params.scale.valid()) fail("the scale is an invalid tensor");
  if (params.scale.elementType() != poplar::FLOAT || params.scale.numElements() != 1)
    fail("the scale must be one float, not " + params.scale.shapeToString() + " of type " + params.scale.elementType().toString());
}

// Which dimensions are reduced.
std::vector<bool> checked_dims(const Tensor& in, const std::vector<std::size_t>& dims) {
  std::vector<bool> reduced(in.rank(), false);
  for (const std::size_t d : dims) {
    if (d >= in.rank())
      poputil::reject("no-such-dimension", "{}",
                      "popops::reduce: there is no dimension " + std::to_string(d) + " in a tensor of shape " + in.shapeToString());
    if (reduced[d]) poputil::reject("dimension-twice", "{}", "popops::reduce: dimension " + std::to_string(d) + " is to be reduced twice");
    reduced[d] = true;
  }
  return reduced;
}

std::vector<std::size_t> output_shape(const Tensor& in, const std::vector<bool>& reduced) {
  std::vector<std::size_t> shape;
  for (unsigned d = 0; d < in.rank(); ++d)
    if (!reduced[d]) shape.push_back(in.dim(d));
  return shape;
}

Type partial_type(const Type& in, Operation op, const Options& options) {
  if (!is_real(in)) return in;
  if (options.between_tiles) return *options.between_tiles;
  return op == Operation::MIN || op == Operation::MAX ? in : poplar::FLOAT;
}

// The value of a reduction of nothing, in the numbers T.
template <class T>
T identity_of(Operation op) {
  using Limits = std::numeric_limits<T>;
  const T zero(0), one(1);
  const T greatest = Limits::has_infinity ? Limits::infinity() : Limits::max(),
          least = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  switch (op) {
#define PANDO_ROW(NAME, name, types, scale, identity, ...) \
  case Operation::NAME: return identity;
    PANDO_REDUCE_ROWS(PANDO_ROW)
#undef PANDO_ROW
  }
  return zero;
}

// A dimension of size 0 is reduced: out is the identity, or with `update` what it was.
void fill_with_identity(poplar::Graph& graph, const Tensor& out, const ReduceParams& params, std::vector<poplar::ComputeSet>& css,
                        const poplar::DebugContext& context) {
  if (params.update) return;
  if (css.empty()) css.push_back(graph.addComputeSet({context, "Reduce"}));
  const auto fill_as = [&](auto zero) { fill(graph, out, graph.getTileMapping(out), css[0], identity_of<decltype(zero)>(params.op)); };
  const Type type = out.elementType();
  if (type == poplar::INT)
    fill_as(0);
  else if (type == poplar::UNSIGNED_INT)
    fill_as(0u);
  else if (type == poplar::LONGLONG)
    fill_as(0LL);
  else if (type == poplar::UNSIGNED_LONGLONG)
    fill_as(0ULL);
  else if (type == poplar::BOOL)
    fill_as(false);
  else
    fill_as(0.0f);
}

Tensor add_output(poplar::Graph& graph, const Type& type, const std::vector<std::size_t>& shape, const internal::ReductionView& view,
                  const poplar::Graph::TileToTensorMapping& mapping, const poplar::DebugContext& context) {
  std::vector<std::size_t> stored;
  for (const unsigned d : view.kept_order) stored.push_back(view.kept_shape[d]);
  const Tensor out = graph.addVariable(type, stored, {context, "reduced"});
  graph.setTileMapping(out, mapping);
  return out.dimShuffle(internal::inverse_of(view.kept_order)).reshape(shape);
}

// An epilogue, and where its results are to lie: the first is the output, those that are invalid are made.
struct Finishing {
  internal::Finish finish;
  std::vector<Tensor>& outs;
};

// The tile that an element lies on; 0 if it lies on none.
unsigned tile_of(const std::vector<std::vector<poplar::Interval>>& on_tiles, std::size_t element) {
  for (unsigned tile = 0; tile < on_tiles.size(); ++tile)
    for (const poplar::Interval& i : on_tiles[tile])
      if (i.begin() <= element && element < i.end()) return tile;
  return 0;
}

// Reduces into `given`, or a new tensor if that is null; returns the output. `of_many`: the number of the reduction among others. What has
// to be collected is collected where the output begins, or without one on a tile of the input, another for each.
Tensor reduce_into(poplar::Graph& graph, const Tensor& in, const Tensor* given, const Type& out_type, const std::vector<std::size_t>& dims,
                   const ReduceParams& params, std::vector<poplar::ComputeSet>& css, const poplar::DebugContext& context,
                   const Options& options, const Finishing* finishing = nullptr, std::optional<std::size_t> of_many = std::nullopt) {
  pando::require_own(graph, in, "popops::reduce");
  for (const poplar::ComputeSet& cs : css) pando::require_own(graph, cs, "popops::reduce");
  if (given != nullptr) pando::require_own(graph, *given, "popops::reduceWithOutput");
  check_params(in, out_type, params);
  const std::vector<bool> reduced = checked_dims(in, dims);
  const std::vector<std::size_t> shape = output_shape(in, reduced);
  if (given == nullptr && params.update)
    poputil::reject("update-without-output", "popops::reduce: `update` needs an output: use reduceWithOutput");
  if (given != nullptr && given->shape() != shape)
    poputil::reject("output-shape", "{}",
                    "popops::reduceWithOutput: the output has shape " + given->shapeToString() + ", expected " + text_of(shape));
  if (given != nullptr && !given->isParallelWriteable())
    poputil::reject("output-not-writable",
                    "popops::reduceWithOutput: the output is not parallel writeable (it has elements twice, or constants)");
  const internal::ReductionView view = internal::view_of(in, reduced, options.blocks);
  if (view.outputs == 0) return given != nullptr ? *given : graph.addVariable(out_type, shape, {context, "reduced"});
  const unsigned tiles = graph.getTarget().getNumTiles();
  if (view.inputs_per_output == 0) {
    poplar::Graph::TileToTensorMapping mapping(tiles);
    for (std::size_t t = 0; t < tiles; ++t)
      if (view.outputs * t / tiles < view.outputs * (t + 1) / tiles)
        mapping[t] = {{view.outputs * t / tiles, view.outputs * (t + 1) / tiles}};
    const Tensor out = given != nullptr ? *given : add_output(graph, out_type, shape, view, mapping, context);
    fill_with_identity(graph, out, params, css, context);
    return out;
  }
  internal::PlanOptions how;
  how.tiles = tiles;
  how.vertices_per_tile = pando::poplibs::vertices_per_tile(graph.getTarget());
  const Type partials = partial_type(in.elementType(), params.op, options);
  how.input_is_partial = partials == in.elementType() && params.op != Operation::SQUARE_ADD;
  const internal::TileIntervals on_tiles = internal::intervals_on_tiles(graph, view.in);
  how.columns = options.columns && on_tiles.lies_whole;
  how.tree = options.tree;
  how.finishes = params.useScale || params.update;
  const auto flat = [&](const Tensor& t) { return t.reshape(view.kept_shape).dimShuffle(view.kept_order).flatten(); };
  if (of_many)
    how.first_tile = given != nullptr ? tile_of(graph.getTileMapping(flat(*given), nullptr), 0)
                                      : tile_of(on_tiles.of_tile, *of_many % view.in.numElements());
  const internal::ReductionPlan plan = internal::plan_reduction(view.dims, on_tiles.of_tile, how);
  const auto new_output = [&] { return add_output(graph, out_type, shape, view, internal::output_mapping(plan, tiles), context); };
  const Tensor out = given != nullptr ? *given : new_output();
  internal::Reduction reduction{view.in, flat(out), partials, params};
  internal::ReductionFinish finish;
  if (finishing != nullptr) {
    finish.finish = finishing->finish;
    for (const internal::FinishOperand& o : finish.finish.operands) finish.operands.push_back(o.is_matrix ? flat(o.tensor) : o.tensor);
    finishing->outs[0] = out;
    for (std::size_t i = 1; i < finishing->outs.size(); ++i) {
      if (!finishing->outs[i].valid()) finishing->outs[i] = new_output();
      finish.more.push_back(flat(finishing->outs[i]));
    }
    reduction.finish = &finish;
  }
  internal::build_reduction(graph, reduction, plan, css, context);
  return out;
}

// A tensor that broadcasts to the shape, in it; else what it was.
Tensor spread_to(Tensor t, const std::vector<std::size_t>& shape) {
  if (t.numElements() == 1 || t.rank() > shape.size()) return t;
  while (t.rank() < shape.size()) t = t.expand({0});
  for (unsigned d = 0; d < shape.size(); ++d)
    if (t.dim(d) == 1 && shape[d] != 1) t = t.broadcast(static_cast<unsigned>(shape[d]), d);
  return t;
}

void add_steps(poplar::program::Sequence& prog, const std::vector<poplar::ComputeSet>& css, const poplar::DebugContext& context) {
  for (const poplar::ComputeSet& cs : css) prog.add(poplar::program::Execute(cs, {context, "Reduce"}));
}

}  // namespace

Tensor reduce(poplar::Graph& graph, const Tensor& in, const Type& outType, const std::vector<std::size_t>& dims, ReduceParams params,
              std::vector<poplar::ComputeSet>& css, const poplar::DebugContext& debugContext, const poplar::OptionFlags& options) {
  return reduce_into(graph, in, nullptr, outType, dims, params, css, debugContext, options_of(options));
}

Tensor reduce(poplar::Graph& graph, const Tensor& in, const std::vector<std::size_t>& dims, ReduceParams params,
              std::vector<poplar::ComputeSet>& css, const poplar::DebugContext& debugContext, const poplar::OptionFlags& options) {
  return reduce(graph, in, in.elementType(), dims, std::move(params), css, debugContext, options);
}

void reduceWithOutput(poplar::Graph& graph, const Tensor& in, const Tensor& out, const std::vector<std::size_t>& dims, ReduceParams params,
                      std::vector<poplar::ComputeSet>& css, const poplar::DebugContext& debugContext, const poplar::OptionFlags& options) {
  pando::require_own(graph, in, "popops::reduceWithOutput");
  const Tensor to = in_shape(out, output_shape(in, checked_dims(in, dims)));
  reduce_into(graph, in, &to, to.elementType(), dims, params, css, debugContext, options_of(options));
}

Tensor reduce(poplar::Graph& graph, const Tensor& in, const Type& outType, const std::vector<std::size_t>& dims, ReduceParams params,
              poplar::program::Sequence& prog, const poplar::DebugContext& debugContext, const poplar::OptionFlags& options) {
  std::vector<poplar::ComputeSet> css;
  const Tensor out = reduce(graph, in, outType, dims, std::move(params), css, debugContext, options);
  add_steps(prog, css, debugContext);
  return out;
}

Tensor reduce(poplar::Graph& graph, const Tensor& in, const std::vector<std::size_t>& dims, ReduceParams params,
              poplar::program::Sequence& prog, const poplar::DebugContext& debugContext, const poplar::OptionFlags& options) {
  return reduce(graph, in, in.elementType(), dims, std::move(params), prog, debugContext, options);
}

void reduceWithOutput(poplar::Graph& graph, const Tensor& in, const Tensor& out, const std::vector<std::size_t>& dims, ReduceParams params,
                      poplar::program::Sequence& prog, const poplar::DebugContext& debugContext, const poplar::OptionFlags& options) {
  std::vector<poplar::ComputeSet> css;
  reduceWithOutput(graph, in, out, dims, std::move(params), css, debugContext, options);
  add_steps(prog, css, debugContext);
}

bool reduceWithEpilogue(poplar::Graph& graph, const Tensor& in, const Type& outType, const std::vector<std::size_t>& dims,
                        const ReduceParams& params, const Epilogue& epilogue, std::vector<Tensor>& outs, poplar::program::Sequence& prog,
                        const poplar::DebugContext& debugContext, const poplar::OptionFlags& options) {
  const std::string where = "popops::reduceWithEpilogue";
  pando::require_own(graph, in, where);
  check_params(in, outType, params);
  if (params.update) poputil::reject("epilogue-update", "{}: `update` has no epilogue", where);
  const std::vector<std::size_t> shape = output_shape(in, checked_dims(in, dims));
  internal::check_outs(where, graph, epilogue, outType, shape, outs);
  Epilogue whole = epilogue;
  for (std::size_t i = 0; i < whole.operands.size(); ++i)
    if (i != epilogue.product && whole.operands[i].valid()) whole.operands[i] = spread_to(whole.operands[i], shape);
  const auto finish = internal::finish_of(where, graph, whole, outType, shape, shape.empty() ? 0 : static_cast<unsigned>(shape.size() - 1));
  if (!finish || !is_real(in.elementType()) || in.numElements() == 0) return false;
  std::vector<Tensor> read{in};
  if (params.useScale) read.push_back(params.scale);
  for (const internal::FinishOperand& o : finish->operands) read.push_back(o.tensor);
  if (internal::interfere(outs, read)) return false;
  std::vector<poplar::ComputeSet> css;
  std::vector<Tensor> results = outs;
  const Finishing finishing{*finish, results};
  reduce_into(graph, in, outs[0].valid() ? &outs[0] : nullptr, outType, dims, params, css, debugContext, options_of(options), &finishing);
  outs = std::move(results);
  add_steps(prog, css, debugContext);
  return true;
}

void reduceMany(poplar::Graph& graph, const std::vector<SingleReduceOp>& reductions, std::vector<Tensor>& outputs,
                poplar::program::Sequence& prog, const poplar::DebugContext& debugContext, const poplar::OptionFlags& options) {
  if (!outputs.empty() && outputs.size() != reductions.size())
    poputil::reject("output-count", "{}",
                    "popops::reduceMany: " + std::to_string(outputs.size()) + " outputs for " + std::to_string(reductions.size()) +
                        " reductions; expected one for each, or none");
  const Options parsed = options_of(options);
  std::vector<poplar::ComputeSet> css;
  std::vector<Tensor> results = outputs;
  results.resize(reductions.size());
  for (std::size_t i = 0; i < reductions.size(); ++i) {
    const SingleReduceOp& r = reductions[i];
    const Tensor* given = results[i].valid() ? &results[i] : nullptr;
    const Type type = r.useOutType ? r.outType : given != nullptr ? given->elementType() : r.in.elementType();
    if (given != nullptr && given->elementType() != type)
      poputil::reject("output-type", "{}",
                      "popops::reduceMany: output " + std::to_string(i) + " has type " + given->elementType().toString() + ", expected " +
                          type.toString());
    if (given != nullptr) results[i] = in_shape(*given, output_shape(r.in, checked_dims(r.in, r.dims)));
    results[i] = reduce_into(graph, r.in, given, type, r.dims, r.params, css, {debugContext, r.debugName}, parsed, nullptr, i);
  }
  add_steps(prog, css, debugContext);
  outputs.resize(results.size());
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (!outputs[i].valid()) outputs[i] = results[i];
}

}  // namespace popops
