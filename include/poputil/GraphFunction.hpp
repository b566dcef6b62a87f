#ifndef poputil_GraphFunction_hpp
#define poputil_GraphFunction_hpp

#include <poplar/DebugContext.hpp>
#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace poputil {

/// Functions of tensors: a part of the program that is built once, on tensors of its own, and called several times. A call copies
/// the arguments in, runs the part and copies results out, so that its vertices exist once.
namespace graphfn {

/// Input: copied in. Output: copied out. InOut: both. Created: made by the function; each call returns a copy.
enum ArgType : int { InputArg, OutputArg, InOutArg, CreatedArg };

/// A parameter: its kind, and a tensor whose shape, type and tile mapping it has (invalid for created ones).
struct ArgSig {
  ArgType type;
  poplar::Tensor similarTensor;
  std::string debugName;
  ArgSig(ArgType type, poplar::Tensor tensor, std::string debugName)
      : type(type), similarTensor(std::move(tensor)), debugName(std::move(debugName)) {}
};

inline ArgSig input(poplar::Tensor similar, std::string debugName = "") {
  return ArgSig(InputArg, std::move(similar), std::move(debugName));
}
inline ArgSig inout(poplar::Tensor similar, std::string debugName = "") {
  return ArgSig(InOutArg, std::move(similar), std::move(debugName));
}
inline ArgSig output(poplar::Tensor similar, std::string debugName = "") {
  return ArgSig(OutputArg, std::move(similar), std::move(debugName));
}
inline ArgSig created(std::string debugName = "") { return ArgSig(CreatedArg, poplar::Tensor(), std::move(debugName)); }

using Signature = std::vector<ArgSig>;

/// A function without a result.
class POPLAR_EXPORT VoidFunction {
  poplar::Graph& graph;
  Signature sig;
  bool inlined;
  poplar::program::Sequence prog;
  poplar::Function func;
  std::vector<poplar::Tensor> params;

 public:
  VoidFunction(VoidFunction&& fn);
  /// Calls \p f once, with the parameters; it adds to the program and sets the created ones. \p inlined: calls repeat the program
  /// instead of calling it. Throws poplibs_error if \p f is empty, leaves a created parameter invalid or changes the shape or
  /// type of another one, graph_connection_error if it leaves what belongs to another graph. \p graph must live as long.
  VoidFunction(poplar::Graph& graph, Signature sig, std::function<void(std::vector<poplar::Tensor>&, poplar::program::Sequence&)> f,
               bool inlined = false, const poplar::DebugContext& debugContext = {});
  VoidFunction(poplar::Graph& graph, Signature sig,
               std::function<void(std::vector<poplar::Tensor>&, poplar::program::Sequence&, const poplar::DebugNameAndId&)> f,
               bool inlined = false, const poplar::DebugContext& debugContext = {});
  /// Adds a call to \p seq. One argument per parameter; sets those of created parameters. Throws poplibs_error for another number
  /// of arguments or one whose shape or type is not the parameter's, graph_connection_error for one of another graph.
  void operator()(std::vector<poplar::Tensor>& args, poplar::program::Sequence& seq, const poplar::DebugContext& dc = {});
};

/// The same with programs returned instead of added to.
class POPLAR_EXPORT ProgramFunction {
  VoidFunction voidFunc;

 public:
  ProgramFunction(poplar::Graph& graph, Signature sig, std::function<poplar::program::Program(std::vector<poplar::Tensor>&)> f,
                  bool inlined = false, const poplar::DebugContext& debugContext = {});
  ProgramFunction(poplar::Graph& graph, Signature sig,
                  std::function<poplar::program::Program(std::vector<poplar::Tensor>&, const poplar::DebugNameAndId&)> f,
                  bool inlined = false, const poplar::DebugContext& debugContext = {});
  poplar::program::Program operator()(std::vector<poplar::Tensor>& args, const poplar::DebugContext& debugContext = {});
};

/// A function that returns a tensor.
class POPLAR_EXPORT TensorFunction {
  VoidFunction voidFunc;

 public:
  TensorFunction(poplar::Graph& graph, Signature sig,
                 std::function<poplar::Tensor(std::vector<poplar::Tensor>&, poplar::program::Sequence&)> f, bool inlined = false,
                 const poplar::DebugContext& debugContext = {});
  TensorFunction(poplar::Graph& graph, Signature sig,
                 std::function<poplar::Tensor(std::vector<poplar::Tensor>&, poplar::program::Sequence&, const poplar::DebugNameAndId&)> f,
                 bool inlined = false, const poplar::DebugContext& debugContext = {});
  poplar::Tensor operator()(std::vector<poplar::Tensor>& args, poplar::program::Sequence& prog,
                            const poplar::DebugContext& debugContext = {});
};

}  // namespace graphfn
}  // namespace poputil

#endif
