#ifndef poplar_Program_hpp
#define poplar_Program_hpp

#include <poplar/ArrayRef.hpp>
#include <poplar/DataStream.hpp>
#include <poplar/DebugContext.hpp>
#include <poplar/Export.hpp>
#include <poplar/GraphElements.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplar/PrintTensor.hpp>
#include <poplar/StringRef.hpp>
#include <poplar/SyncType.hpp>
#include <poplar/Tensor.hpp>

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace pando {
namespace graph {
struct Program;
}
}  // namespace pando

namespace poplar {

class Graph;

namespace program {

/// A control program: what the device does, step by step. Programs are values: adding a step to one never changes another,
/// whether it is a copy or a part of it. Copying is cheap. A default-constructed program does nothing.
class POPLAR_EXPORT Program {
 public:
  Program();
  Program(const Program&);
  Program(Program&&) noexcept;
  Program& operator=(const Program&);
  Program& operator=(Program&&) noexcept;
  virtual ~Program();

  /// Does it hold no step?
  bool isEmpty() const;
  /// Are they copies of one program?
  friend bool operator==(const Program& a, const Program& b) { return a.node_ == b.node_; }
  friend bool operator!=(const Program& a, const Program& b) { return !(a == b); }

 protected:
  friend struct pando::facade::Access;
  std::shared_ptr<pando::graph::Program> node_;
};

/// Writes the program as the text of the graph level.
POPLAR_EXPORT void dumpProgram(const Graph& graph, const Program& program, std::ostream& out);

namespace pando_detail {
template <class... Ts> struct AreAllPrograms : std::true_type {};
template <class T, class... Ts> struct AreAllPrograms<T, Ts...> {
  static constexpr bool value = std::is_base_of<Program, T>::value && AreAllPrograms<Ts...>::value;
};
}  // namespace pando_detail

/// Steps that run one after the other.
class POPLAR_EXPORT Sequence : public Program {
 public:
  Sequence(const DebugContext& debugContext = {});
  Sequence(std::initializer_list<Program> programs, const DebugContext& debugContext = {});
  Sequence(const Program& first, const DebugContext& debugContext = {});
  /// The old form: Sequence(a, b, c).
  template <class... Rest, class = typename std::enable_if<pando_detail::AreAllPrograms<Rest...>::value>::type>
  Sequence(const Program& first, const Program& second, const Rest&... rest) : Sequence({first, second, rest...}) {}
  Sequence(const Sequence&) = default;
  Sequence(Sequence&&) noexcept = default;
  Sequence& operator=(const Sequence&) = default;
  Sequence& operator=(Sequence&&) noexcept = default;

  /// Adds a step at the end.
  void add(const Program& program);
};

/// Steps under a name, measured as a whole if the engine's option profiler.blocks.filter names it: pva::Execution::blocks().
class POPLAR_EXPORT Block : public Program {
 public:
  Block(const Program& program, const DebugContext& debugContext = {});
};

/// Runs the vertices of a compute set, all at the same time.
class POPLAR_EXPORT Execute : public Program {
 public:
  Execute(ComputeSet cs, const DebugContext& debugContext = {});
  /// Also writes into `result`, one BOOL element, whether all vertices returned true.
  Execute(ComputeSet cs, Tensor result, const DebugContext& debugContext = {});
};

/// Copies element i of the source to element i of the destination. Both have the same type and number of elements; each may be
/// any view (the copy rearranges). All reads come before all writes. Throws type_error if the types differ, and
/// control_program_error if the sizes differ or the destination holds an element twice, or a constant.
class POPLAR_EXPORT Copy : public Program {
 public:
  Copy(Tensor src, Tensor dst, bool dontOutline = false, const DebugContext& debugContext = {});
  Copy(const DataStream& stream, Tensor dst, bool optimiseMemory = false, const DebugContext& debugContext = {});
  Copy(Tensor src, const DataStream& stream, bool optimiseMemory = false, const DebugContext& debugContext = {});
  /// Row 0 of the buffer.
  Copy(const RemoteBuffer& buffer, Tensor dst, const DebugContext& debugContext = {});
  /// Row offset[i] of the buffer to row i of `dst`. Offsets are UNSIGNED_INT.
  Copy(const RemoteBuffer& buffer, Tensor dst, Tensor offset, const DebugContext& debugContext = {});
  Copy(Tensor src, const RemoteBuffer& buffer, const DebugContext& debugContext = {});
  Copy(Tensor src, const RemoteBuffer& buffer, Tensor offset, const DebugContext& debugContext = {});
  /// Brings the code of a function to the tiles.
  Copy(const FunctionBuffer& buffer, const Function& function, const DebugContext& debugContext = {});
};

/// Runs the body `count` times.
class POPLAR_EXPORT Repeat : public Program {
 public:
  Repeat(unsigned count, const Program& body, const DebugContext& debugContext = {});
};

/// Runs `cond`; while the predicate is true then, runs `body` and `cond` again. The predicate has one element of an integer type.
class POPLAR_EXPORT RepeatWhileTrue : public Program {
 public:
  RepeatWhileTrue(const Program& cond, Tensor predicate, const Program& body, const DebugContext& debugContext = {});
};

/// The same while the predicate is false.
class POPLAR_EXPORT RepeatWhileFalse : public Program {
 public:
  RepeatWhileFalse(const Program& cond, Tensor predicate, const Program& body, const DebugContext& debugContext = {});
};

/// Runs one of two programs. The predicate has one element of an integer type.
class POPLAR_EXPORT If : public Program {
 public:
  If(Tensor predicate, const Program& trueBody, const Program& falseBody, const DebugContext& debugContext = {});
};

/// Runs the program of the case that equals the control, one INT or UNSIGNED_INT element; the default program if none does.
class POPLAR_EXPORT Switch : public Program {
 public:
  Switch(Tensor control, const DebugContext& debugContext = {});
  Switch(Tensor control, const Program& defaultCaseBody, const DebugContext& debugContext = {});
  Switch(Tensor control, const std::vector<std::pair<std::int32_t, Program>>& cases, const DebugContext& debugContext = {});
  Switch(Tensor control, const std::vector<std::pair<std::int32_t, Program>>& cases, const Program& defaultCaseBody,
         const DebugContext& debugContext = {});
  /// A control without a case stops the program with an error.
  static Switch switchWithBoundsChecking(Tensor control, const std::vector<std::pair<std::int32_t, Program>>& cases,
                                         const DebugContext& debugContext = {});
  /// The user promises that there is a case for every control; the last case is then also the default.
  static Switch switchWithUnreachableDefault(Tensor control, const DebugContext& debugContext = {});
  /// Adds a case. Throws control_program_error if there is one with that value.
  Switch& add(std::int32_t value, const Program& body);
};

/// Runs a function, a host function, or (the old form) a program in place.
class POPLAR_EXPORT Call : public Program {
 public:
  Call(Function function, const DebugContext& debugContext = {});
  Call(HostFunction function, ArrayRef<Tensor> inputs, ArrayRef<Tensor> outputs, const DebugContext& debugContext = {});
  Call(const Program& program, const DebugContext& debugContext = {});
};

/// Makes tiles wait for each other.
class POPLAR_EXPORT Sync : public Program {
 public:
  explicit Sync(SyncType type, const DebugContext& debugContext = {});
};

/// Prints a tensor: "title: [1 2 3]".
class POPLAR_EXPORT PrintTensor : public Program {
 public:
  PrintTensor(Tensor t, const DebugContext& debugContext = {});
  PrintTensor(Tensor t, const PrintTensorFmt& fmt, const DebugContext& debugContext = {});
  PrintTensor(StringRef title, Tensor t, const DebugContext& debugContext = {});
  PrintTensor(StringRef title, Tensor t, const PrintTensorFmt& fmt, const DebugContext& debugContext = {});
};

/// Stops the program: Engine::run throws application_runtime_error with the message and the tensor's value.
class POPLAR_EXPORT ErrorProgram : public Program {
 public:
  ErrorProgram(StringRef message, Tensor debugTensor, const DebugContext& debugContext = {});
};

/// Stops the program with an error.
class POPLAR_EXPORT Abort : public Program {
 public:
  Abort(const DebugContext& debugContext = {});
  Abort(const char* message, const DebugContext& debugContext = {});
  Abort(const std::string& message, const DebugContext& debugContext = {});
};

/// Stops the program with an error if the predicate, one element of an integer type, is true.
class POPLAR_EXPORT AbortOnCondition : public Program {
 public:
  AbortOnCondition(Tensor predicate, const DebugContext& debugContext = {});
  AbortOnCondition(Tensor predicate, const char* message, const DebugContext& debugContext = {});
  AbortOnCondition(Tensor predicate, const std::string& message, const DebugContext& debugContext = {});
};

/// Says that the contents of a tensor are not needed any more.
class POPLAR_EXPORT WriteUndef : public Program {
 public:
  WriteUndef(Tensor t, const DebugContext& debugContext = {});
};

/// Says that a tensor has the same value on every replica. A promise of the user; nothing is done.
class POPLAR_EXPORT AssumeEqualAcrossReplicas : public Program {
 public:
  AssumeEqualAcrossReplicas(Tensor t, const DebugContext& debugContext = {});
};

/// Replica r's `src` goes to replica replicaMap[r]'s `dst`. The map is a permutation: throws graph_replication_error otherwise.
class POPLAR_EXPORT CrossReplicaCopy : public Program {
 public:
  CrossReplicaCopy(Tensor src, Tensor dst, std::map<unsigned, unsigned> replicaMap, const DebugContext& debugContext = {});
};

}  // namespace program
}  // namespace poplar

#endif
