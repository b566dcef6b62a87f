#ifndef popops_Reduce_hpp
#define popops_Reduce_hpp

#include <popops/Operation.hpp>

#include <poplar/DebugContext.hpp>
#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>
#include <poputil/exceptions.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace popops {

/// What to reduce with, and what becomes of the result r:
///   out = r, or with a scale out = scale * r; with `update` out = out op (scale *) r.
/// MIN, MAX, MUL, LOGICAL_AND and LOGICAL_OR take no scale. With LOG_ADD the scale is a logarithm, too: it is added.
struct ReduceParams {
  ReduceParams() = default;
  // Not explicit: an operation stands for its parameters.
  ReduceParams(popops::Operation op, bool update = false) : op(op), update(update), useScale(false) {}
  /// \p scale is a FLOAT of one element.
  ReduceParams(popops::Operation op, bool update, poplar::Tensor scale) : op(op), update(update), useScale(true), scale(scale) {}
  /// Scales are tensors; a number would be taken for `update`.
  ReduceParams(popops::Operation op, float constantScale, bool update = false) = delete;

  popops::Operation op = popops::Operation::ADD;
  bool update = false;
  bool useScale = false;
  poplar::Tensor scale;
};

/// Reduces the dimensions \p dims of \p in, in any order, to a new tensor whose shape is that of \p in without them. Nothing to
/// reduce (dims empty) copies; a dimension of size 0 gives the identity of the operation (0, 1, the greatest or least value ...).
///
/// Types: ADD, SQUARE_ADD, MUL, MIN, MAX take HALF, FLOAT, INT, UNSIGNED_INT, LONGLONG and UNSIGNED_LONGLONG, LOG_ADD HALF and FLOAT, the
/// logical operations BOOL. \p outType is the input's type, or either of HALF and FLOAT if the input is one of them. Floating-point numbers
/// are combined in float or better whatever the types; integers wrap around.
///
/// The data are reduced on their tiles, in one step if no other tile has elements of the same result; else the parts are collected in as
/// many further steps as it takes for no tile to gather too much. The result is spread over the tiles that computed it.
///
/// Options:
///   accumType.interTile   "float" or "half": the type of partial results that go to another tile; by default float, but the input's
///                         type for MIN and MAX.
///   accumType.intraTile   "float" or "half": the least precise type that a tile may add up in. It never adds up in less than float.
///   accumType.inVertex    the same, for one vertex.
///   pando.readColumns     "true" (default): workers of a tile share its rows and each reduces some columns; "false": each reduces some
///   rows. pando.readBlocks      "true" (default): a tensor that lies in blocks is reduced in the order of its memory; "false": in that of
///   its dimensions. pando.tree            "true" (default): many parts of a result are collected in several steps; "false": in one.
///
/// Throws poputil::poplibs_error for dimensions that \p in does not have or that occur twice, types and scales that the operation does not
/// take, and `update` without an output; poplar::invalid_option.
POPLAR_EXPORT poplar::Tensor reduce(poplar::Graph& graph, const poplar::Tensor& in, const poplar::Type& outType,
                                    const std::vector<std::size_t>& dims, ReduceParams params, poplar::program::Sequence& prog,
                                    const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {});

/// The same with the input's type for the result.
POPLAR_EXPORT poplar::Tensor reduce(poplar::Graph& graph, const poplar::Tensor& in, const std::vector<std::size_t>& dims,
                                    ReduceParams params, poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},
                                    const poplar::OptionFlags& options = {});

/// Reduces into \p out, whose shape is that of \p in without \p dims. Throws poputil::poplibs_error if it is not, or if \p out is not
/// parallel writeable.
POPLAR_EXPORT void reduceWithOutput(poplar::Graph& graph, const poplar::Tensor& in, const poplar::Tensor& out,
                                    const std::vector<std::size_t>& dims, ReduceParams params, poplar::program::Sequence& prog,
                                    const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {});

/// These put step i of the reduction in compute set css[i], and append what is missing: reductions that do not need each other's
/// results share compute sets. The caller executes them in order.
POPLAR_EXPORT poplar::Tensor reduce(poplar::Graph& graph, const poplar::Tensor& in, const poplar::Type& outType,
                                    const std::vector<std::size_t>& dims, ReduceParams params, std::vector<poplar::ComputeSet>& css,
                                    const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {});
POPLAR_EXPORT poplar::Tensor reduce(poplar::Graph& graph, const poplar::Tensor& in, const std::vector<std::size_t>& dims,
                                    ReduceParams params, std::vector<poplar::ComputeSet>& css,
                                    const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {});
POPLAR_EXPORT void reduceWithOutput(poplar::Graph& graph, const poplar::Tensor& in, const poplar::Tensor& out,
                                    const std::vector<std::size_t>& dims, ReduceParams params, std::vector<poplar::ComputeSet>& css,
                                    const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {});

/// One of the reductions of reduceMany. Without `useOutType` the result has the input's type.
struct SingleReduceOp {
  poplar::Tensor in;
  std::vector<std::size_t> dims;
  ReduceParams params;
  bool useOutType;
  poplar::Type outType;
  std::string debugName;

  SingleReduceOp(poplar::Tensor in, std::vector<std::size_t> dims, ReduceParams params, poplar::Type outType, std::string debugName = "")
      : in(std::move(in)),
        dims(std::move(dims)),
        params(std::move(params)),
        useOutType(true),
        outType(outType),
        debugName(std::move(debugName)) {}
  SingleReduceOp(poplar::Tensor in, std::vector<std::size_t> dims, ReduceParams params, std::string debugName = "")
      : in(std::move(in)),
        dims(std::move(dims)),
        params(std::move(params)),
        useOutType(false),
        outType(poplar::BOOL),
        debugName(std::move(debugName)) {}
};

/// Several independent reductions in the compute sets of the longest one. If \p outputs is empty it receives the results; else it has
/// one entry for each reduction, which is reduced into if valid, and set if not. Throws like reduce and reduceWithOutput.
POPLAR_EXPORT void reduceMany(poplar::Graph& graph, const std::vector<SingleReduceOp>& reductions, std::vector<poplar::Tensor>& outputs,
                              poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},
                              const poplar::OptionFlags& options = {});

}  // namespace popops

#endif
