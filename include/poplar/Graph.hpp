#ifndef poplar_Graph_hpp
#define poplar_Graph_hpp

#include <poplar/ArrayRef.hpp>
#include <poplar/CodeletFileType.hpp>
#include <poplar/DataStream.hpp>
#include <poplar/DebugContext.hpp>
#include <poplar/Device.hpp>
#include <poplar/Export.hpp>
#include <poplar/FunctionBufferMappingType.hpp>
#include <poplar/GraphElements.hpp>
#include <poplar/Interval.hpp>
#include <poplar/LateInitCallback.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplar/PerfEstimateFunc.hpp>
#include <poplar/Program.hpp>
#include <poplar/ReplicatedStreamMode.hpp>
#include <poplar/SerializationFormat.hpp>
#include <poplar/StringRef.hpp>
#include <poplar/Target.hpp>
#include <poplar/Tensor.hpp>
#include <poplar/TensorCloneMethod.hpp>
#include <poplar/TensorRearranger.hpp>
#include <poplar/Type.hpp>
#include <poplar/TypeTraits.hpp>
#include <poplar/VariableMappingMethod.hpp>
#include <poplar/VariableRef.hpp>
#include <poplar/exceptions.hpp>
#include <poplar/replication_factor.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <istream>
#include <memory>
#include <ostream>
#include <sstream>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

// Unused here: programs count on getting them from this header.
#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#if __cplusplus >= 201703L
#include <optional>
#endif

namespace poplar {

namespace core {
struct GraphState;
}

/// The version of this library, as text.
POPLAR_EXPORT StringRef versionString();
/// Names the build; executables of another build are rejected by it.
POPLAR_EXPORT StringRef packageHash();

namespace pando_detail {
template <class T> struct IsNumber : std::integral_constant<bool, std::is_arithmetic<T>::value> {};
template <class T> using IfNumber = typename std::enable_if<IsNumber<T>::value>::type;
/// A number or an enumerator; enumerators count as their integers.
template <class T> using IfValue = typename std::enable_if<IsNumber<T>::value || std::is_enum<T>::value>::type;
template <class T, bool = std::is_enum<T>::value> struct ValueType {
  using type = T;
};
template <class T> struct ValueType<T, true> {
  using type = typename std::underlying_type<T>::type;
};
template <class T> const Type& valueType() { return equivalent_device_type<typename ValueType<T>::type>().value; }
template <class P, class T>
using IfPointerTo = typename std::enable_if<std::is_same<P, T*>::value || std::is_same<P, const T*>::value>::type;
}  // namespace pando_detail

/// What a program works on: variables with a shape, mapped to tiles; vertices that compute on them, grouped in compute sets; and
/// the streams and handles that connect the host. Can be moved, not copied. const members may be called from several threads.
///
/// Every variable, constant and vertex needs a tile before an Engine is made of the graph (invalid_tile_mapping). In a compute
/// set each vertex reads its inputs as they were when the set began; an element that two vertices write, or one writes and
/// another reads, is an error (graph_cycle_error).
///
/// Tensors, streams, programs, functions, compute sets and vertices belong to one graph, and to its virtual graphs: all members
/// throw graph_connection_error for one of another graph, and poplar_error if this graph was moved from.
class POPLAR_EXPORT Graph {
 public:
  /// List t holds the intervals of a tensor's flattened elements that are on tile t.
  using TileToTensorMapping = std::vector<std::vector<Interval>>;
  /// Type and number of elements.
  using HostFunctionArgument = std::tuple<Type, std::size_t>;

  /// A field with what it is connected to or set to, for addVertex.
  class POPLAR_EXPORT ConnectionDesc {
   public:
    ConnectionDesc(StringRef field, Tensor tensor);
    ConnectionDesc(StringRef field, std::vector<Tensor> tensors);
    ConnectionDesc(StringRef field, ArrayRef<Tensor> tensors);
    template <class T, class = pando_detail::IfValue<T>> ConnectionDesc(StringRef field, T value) {
      setConstant(field, pando_detail::valueType<T>(), &value, 1, true);
    }
    template <class T, class = pando_detail::IfValue<T>> ConnectionDesc(StringRef field, ArrayRef<T> values) {
      setConstant(field, pando_detail::valueType<T>(), values.data(), values.size(), false);
    }
    template <class T, class = pando_detail::IfValue<T>> ConnectionDesc(StringRef field, const std::vector<T>& values) {
      setConstant(field, pando_detail::valueType<T>(), values.data(), values.size(), false);
    }

   private:
    friend class Graph;
    void setConstant(StringRef field, const Type& type, const void* values, std::size_t n, bool scalar);
    std::string field_;
    std::vector<Tensor> tensors_;
    bool list_ = false;
    bool constant_ = false;
    Type type_;
    std::size_t count_ = 0;
    std::string bytes_;
  };

  /// A graph for the CPU target.
  Graph();
  /// Throws graph_replication_error if the target's IPUs cannot be shared out to that many replicas. The graph describes one
  /// replica: getTarget() has the IPUs of one.
  explicit Graph(const Target& target, replication_factor replicationFactor = replication_factor(1));
  explicit Graph(const Device& device, replication_factor replicationFactor = replication_factor(1));
  Graph(Graph&&) noexcept;
  Graph& operator=(Graph&&) noexcept;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph();

  const Target& getTarget() const;
  unsigned getReplicationFactor() const;

  /// Compiles a source file, or loads a .gp; relative names are relative to the working directory. Results are cached by
  /// content: compiling the same source again starts no compiler. Throws file_load_error, graph_program_compilation_error
  /// (with the compiler's diagnostics), graph_object_load_error. Returns false if exactly this has been added before.
  bool addCodelets(StringRef src, CodeletFileType type = CodeletFileType::Auto, StringRef compileFlags = "", StringRef targetName = "");
  bool addCodelets(StringRef src, CodeletFileType type, StringRef compileFlags, std::ostream& compileOutput, StringRef targetName = "");
  /// Several files, linked together.
  bool addCodelets(ArrayRef<std::string> srcs, StringRef compileFlags = "", StringRef targetName = "");
  bool addCodelets(ArrayRef<std::string> srcs, StringRef compileFlags, std::ostream& compileOutput, StringRef targetName = "");
  /// A source text.
  void addCodelets(std::stringstream& stream, StringRef compileFlags = "", CodeletFileType type = CodeletFileType::CppSource,
                   StringRef targetName = "");
  void addCodelets(std::stringstream& stream, StringRef compileFlags, std::ostream& compileOutput,
                   CodeletFileType type = CodeletFileType::CppSource, StringRef targetName = "");
  bool hasCodelet(StringRef vertexType) const;

  Tensor addVariable(const Type& type, ArrayRef<std::size_t> shape, const DebugContext& debugContext = {});
  Tensor addVariable(const Type& type, ArrayRef<std::size_t> shape, VariableMappingMethod mappingMethod,
                     const DebugContext& debugContext = {});
  /// A QUARTER variable with its metadata tensor.
  Tensor addVariable(const Type& type, const Tensor& metadata, ArrayRef<std::size_t> shape, const DebugContext& debugContext = {});
  Tensor addVariable(const Type& type, const Tensor& metadata, ArrayRef<std::size_t> shape, VariableMappingMethod mappingMethod,
                     const DebugContext& debugContext = {});

  /// A tensor of constant values, converted from T to `type`. As many values as the shape has elements; a single value fills the
  /// tensor. Throws tensor_creation_error if the numbers differ, and overflow_error for values that the type does not have; between
  /// signed and unsigned integers it is the bits that count.
  template <class T, class = pando_detail::IfNumber<T>>
  Tensor addConstant(const Type& type, ArrayRef<std::size_t> shape, ArrayRef<T> values, const DebugContext& debugContext = {"<const>"}) {
    return makeConstant(type, nullptr, shape, pando_detail::valueType<T>(), values.data(), values.size(), false, debugContext);
  }
  // The allocator is deduced, so that a braced list is an ArrayRef only.
  template <class T, class Allocator, class = pando_detail::IfNumber<T>>
  Tensor addConstant(const Type& type, ArrayRef<std::size_t> shape, const std::vector<T, Allocator>& values,
                     const DebugContext& debugContext = {"<const>"}) {
    return addConstant(type, shape, ArrayRef<T>(values), debugContext);
  }
  template <class T, class = pando_detail::IfNumber<T>>
  Tensor addConstant(const Type& type, ArrayRef<std::size_t> shape, T value, const DebugContext& debugContext = {"<const>"}) {
    return makeConstant(type, nullptr, shape, pando_detail::valueType<T>(), &value, 1, true, debugContext);
  }
  template <class T, class P, class = pando_detail::IfNumber<T>, class = pando_detail::IfPointerTo<P, T>>
  Tensor addConstant(const Type& type, ArrayRef<std::size_t> shape, P values, const DebugContext& debugContext = {"<const>"}) {
    return makeConstant(type, nullptr, shape, pando_detail::valueType<T>(), values, elements(shape), false, debugContext);
  }
  template <class T, class = pando_detail::IfNumber<T>>
  Tensor addConstant(const Type& type, ArrayRef<std::size_t> shape, const T* values, const DebugContext& debugContext = {"<const>"}) {
    return makeConstant(type, nullptr, shape, pando_detail::valueType<T>(), values, elements(shape), false, debugContext);
  }
  template <class T, class = pando_detail::IfNumber<T>>
  Tensor addConstant(const Type& type, const Tensor& metadata, ArrayRef<std::size_t> shape, ArrayRef<T> values,
                     const DebugContext& debugContext = {"<const>"}) {
    return makeConstant(type, &metadata, shape, pando_detail::valueType<T>(), values.data(), values.size(), false, debugContext);
  }
  template <class T, class = pando_detail::IfNumber<T>>
  Tensor addConstant(const Type& type, const Tensor& metadata, ArrayRef<std::size_t> shape, T value,
                     const DebugContext& debugContext = {"<const>"}) {
    return makeConstant(type, &metadata, shape, pando_detail::valueType<T>(), &value, 1, true, debugContext);
  }
  /// Constants of a host type that is known when the program runs: `values` points to one value, if `fill`, or to as many as the
  /// shape has elements. Throws type_error for traits that are no number's.
  Tensor addConstant(const Type& type, ArrayRef<std::size_t> shape, const void* values, const TypeTraits& traits, bool fill,
                     const DebugContext& debugContext = {"<const>"});
  /// HALF constants given by their bits.
  Tensor addConstantHalf(const Type& type, ArrayRef<std::size_t> shape, std::uint16_t value,
                         const DebugContext& debugContext = {"<const>"});
  Tensor addConstantHalf(const Type& type, ArrayRef<std::size_t> shape, ArrayRef<std::uint16_t> values,
                         const DebugContext& debugContext = {"<const>"});
  /// As many as the shape has elements.
  Tensor addConstantHalf(const Type& type, ArrayRef<std::size_t> shape, const std::uint16_t* values,
                         const DebugContext& debugContext = {"<const>"}) {
    return addConstantHalf(type, shape, ArrayRef<std::uint16_t>(values, elements(shape)), debugContext);
  }
  /// An UNSIGNED_INT scalar that is the replica's number on each replica.
  Tensor addReplicationIndexConstant(const DebugContext& debugContext = {});

  /// New variables of the same shape and tile mapping; `method` says in which order and with which aliases.
  Tensor clone(const Type& type, const Tensor& t, const DebugContext& debugContext = {},
               TensorCloneMethod method = TensorCloneMethod::PRESERVE_ORDER_UNLESS_ALIASES);
  Tensor clone(const Tensor& t, const DebugContext& debugContext = {},
               TensorCloneMethod method = TensorCloneMethod::PRESERVE_ORDER_UNLESS_ALIASES);
  Tensor clone(const Type& type, const Tensor& metadata, const Tensor& t, const DebugContext& debugContext = {},
               TensorCloneMethod method = TensorCloneMethod::PRESERVE_ORDER_UNLESS_ALIASES);
  Tensor clone(const Tensor& metadata, const Tensor& t, const DebugContext& debugContext = {},
               TensorCloneMethod method = TensorCloneMethod::PRESERVE_ORDER_UNLESS_ALIASES);
  /// n clones, one after the other in a new dimension 0.
  Tensor cloneN(const Tensor& t, std::size_t n, const DebugContext& debugContext = {},
                TensorCloneMethod method = TensorCloneMethod::PRESERVE_ORDER_UNLESS_ALIASES,
                TensorCloneDuplicationMethod duplicationMethod = TensorCloneDuplicationMethod::DUPLICATE_BY_OUTER_DIMENSION);
  Tensor cloneN(const Type& type, const Tensor& t, std::size_t n, const DebugContext& debugContext = {},
                TensorCloneMethod method = TensorCloneMethod::PRESERVE_ORDER_UNLESS_ALIASES,
                TensorCloneDuplicationMethod duplicationMethod = TensorCloneDuplicationMethod::DUPLICATE_BY_OUTER_DIMENSION);
  /// All of a variable.
  Tensor getVariable(VariableRef v) const;
  bool isConstant(VariableRef v) const;

  ComputeSet addComputeSet(const DebugContext& debugContext = {});
  /// Throws unknown_vertex_type, with similar names.
  VertexRef addVertex(ComputeSet cs, StringRef vertexType);
  VertexRef addVertex(ComputeSet cs, StringRef vertexType, ArrayRef<ConnectionDesc> connections,
                      const SourceLocation& at = SourceLocation::Current());

  /// Connects a field to a tensor: a scalar field to one element, a vector to all elements, a vector of vectors to the rows of
  /// dimension 0. Throws unknown_field, type_error, graph_connection_error. Later errors name the call's place, `at`.
  void connect(FieldRef field, const Tensor& tensor, const SourceLocation& at = SourceLocation::Current());
  /// Each tensor is a row of a two-dimensional field, or an element of a vector.
  void connect(FieldRef field, ArrayRef<Tensor> tensors, const SourceLocation& at = SourceLocation::Current());
  /// Connects an input to constants.
  template <class T, class = pando_detail::IfValue<T>>
  void connect(FieldRef field, T value, const SourceLocation& at = SourceLocation::Current()) {
    connectConstant(field, pando_detail::valueType<T>(), &value, 1, at);
  }
  template <class T, class = pando_detail::IfValue<T>>
  void connect(FieldRef field, ArrayRef<T> values, const SourceLocation& at = SourceLocation::Current()) {
    connectConstant(field, pando_detail::valueType<T>(), values.data(), values.size(), at);
  }
  template <class T, class Allocator, class = pando_detail::IfValue<T>>
  void connect(FieldRef field, const std::vector<T, Allocator>& values, const SourceLocation& at = SourceLocation::Current()) {
    connect(field, ArrayRef<T>(values), at);
  }

  /// Sets a state field of a vertex.
  template <class T, class = pando_detail::IfValue<T>> void setInitialValue(FieldRef field, T value) {
    setFieldValue(field, pando_detail::valueType<T>(), &value, 1, true);
  }
  template <class T, class = pando_detail::IfValue<T>> void setInitialValue(FieldRef field, ArrayRef<T> values) {
    setFieldValue(field, pando_detail::valueType<T>(), values.data(), values.size(), false);
  }
  template <class T, class Allocator, class = pando_detail::IfValue<T>>
  void setInitialValue(FieldRef field, const std::vector<T, Allocator>& values) {
    setInitialValue(field, ArrayRef<T>(values));
  }
  /// A scalar state field whose value depends on where the vertex's edges lie: the callback is called when the graph is compiled, once for
  /// each way in which they lie where the program executes the vertex: mostly once.
  template <class T> void setInitialValue(FieldRef field, LateInitCallback<T> callback) {
    if (!callback) return setLateValue(field, pando_detail::valueType<T>(), nullptr);
    setLateValue(field, pando_detail::valueType<T>(), [callback](const VertexEdgeInfo& info) {
      const T value = callback(info);
      return std::string(reinterpret_cast<const char*>(&value), sizeof value);
    });
  }
  void setInitialValueHalf(FieldRef field, std::uint16_t value);
  void setInitialValueHalf(FieldRef field, ArrayRef<std::uint16_t> values);
  /// Sets what a tensor holds when the program is loaded.
  template <class T, class = pando_detail::IfNumber<T>> void setInitialValue(const Tensor& t, T value) {
    setTensorValue(t, pando_detail::valueType<T>(), &value, 1, true);
  }
  template <class T, class = pando_detail::IfNumber<T>> void setInitialValue(const Tensor& t, ArrayRef<T> values) {
    setTensorValue(t, pando_detail::valueType<T>(), values.data(), values.size(), false);
  }
  template <class T, class Allocator, class = pando_detail::IfNumber<T>>
  void setInitialValue(const Tensor& t, const std::vector<T, Allocator>& values) {
    setInitialValue(t, ArrayRef<T>(values));
  }
  void setInitialValueHalf(const Tensor& t, ArrayRef<std::uint16_t> values);

  /// The number of sub-vectors of a two-dimensional field whose rows are then connected one by one.
  void setFieldSize(FieldRef field, std::size_t size);
  std::size_t getFieldSize(FieldRef field) const;
  /// The greatest size that the layout of a field can express in that dimension.
  std::size_t getMaxFieldDim(StringRef vertexName, StringRef fieldName, unsigned dimIndex) const;
  /// The greatest value of a scalar state field.
  double getMaxVertexFieldValue(StringRef vertexName, StringRef fieldName) const;
  template <class T> T getMaxVertexFieldValueAs(StringRef vertexName, StringRef fieldName) const {
    return static_cast<T>(getMaxVertexFieldValue(vertexName, fieldName));
  }

  /// Cycles (and floating-point operations) of one run of the vertex, for profiles.
  void setPerfEstimate(const VertexRef& v, std::uint64_t cycles, std::uint64_t flops = 0);
  void setPerfEstimate(const VertexRef& v, VertexPerfEstimate estimate) { setPerfEstimate(v, estimate.cycles, estimate.flops); }
  /// Estimates all vertices of a type that have no estimate of their own. Throws unknown_vertex_type.
  void registerPerfEstimator(StringRef vertexTypeName, PerfEstimateFunc f);
  /// Old names.
  void setCycleEstimate(const VertexRef& v, std::uint64_t cycles) { setPerfEstimate(v, cycles); }
  void registerCycleEstimator(StringRef vertexTypeName, CycleEstimateFunc f);

  /// Throw invalid_tile_mapping for a tile that does not exist.
  void setTileMapping(VertexRef v, unsigned tileNum);
  void setTileMapping(const Tensor& t, unsigned tileNum);
  void setTileMapping(const Tensor& t, const TileToTensorMapping& mapping);
  /// With `requireComplete`, throws invalid_tile_mapping if an element has no tile.
  TileToTensorMapping getTileMapping(const Tensor& t, bool requireComplete = true) const;
  TileToTensorMapping getTileMapping(const Tensor& t, bool* isComplete) const;

  /// Replaces *t by a one-dimensional permutation of its elements with fewer regions, and permutes the tensors `ts`, of as many
  /// elements, in the same way.
  void reorderToSimplify(Tensor* t, ArrayRef<Tensor*> ts, bool requireSimplestOrder = true) const;
  /// What reorderToSimplify would do to `t`, for any tensor of as many elements.
  TensorRearranger getSimplifyingRearranger(const Tensor& t) const;
  /// Groups intervals of the flattened tensor into lists that are contiguous in the variables' memory, ordered by variable. With
  /// `removeAliased` each element of a variable occurs once; `aliases` receives, per interval, the position of its first copy.
  std::vector<std::vector<Interval>> getSortedContiguousRegions(const Tensor& t, ArrayRef<Interval> regions,
                                                                bool removeAliasedIntervals = false,
                                                                std::vector<std::size_t>* aliases = nullptr) const;
  /// What the tensor was before it was broadcast: dimensions that repeat the same elements have size 1.
  Tensor findUnbroadcastTensor(const Tensor& t) const;

  /// A stream of blocks of `numElements` elements. Options: bufferingDepth, splitLimit. Throws graph_object_creation_error if
  /// the handle is taken.
  DataStream addHostToDeviceFIFO(StringRef handle, const Type& elementType, std::size_t numElements,
                                 ReplicatedStreamMode replicatedMode = ReplicatedStreamMode::REPLICATE, const OptionFlags& options = {});
  DataStream addDeviceToHostFIFO(StringRef handle, const Type& elementType, std::size_t numElements, const OptionFlags& options = {});
  RemoteBuffer addRemoteBuffer(StringRef handle, const Type& elementType, std::size_t numElements, std::size_t repeats = 1,
                               bool rearrangeOnHost = false, bool optimiseMemory = false);
  /// Lets Engine::writeTensor(handle) write the tensor, and Engine::readTensor(handle) read it.
  void createHostWrite(StringRef handle, const Tensor& t, bool rearrangeOnHost = false);
  void createHostRead(StringRef handle, const Tensor& t, bool rearrangeOnHost = false);
  HostFunction addHostFunction(StringRef handle, ArrayRef<HostFunctionArgument> inputs, ArrayRef<HostFunctionArgument> outputs,
                               const OptionFlags& options = {});

  /// A part of the program whose code exists once; program::Call runs it.
  Function addFunction(const program::Program& program, const DebugContext& debugContext = {});
  /// Keeps the function's code in Streaming Memory (REMOTE); Copy(buffer, function) brings it to the tiles.
  FunctionBuffer addFunctionBuffer(const Function& function, FunctionBufferMappingType mappingType);

  /// A graph of the same variables and vertices that sees some of the tiles, numbered from 0: the first n of each IPU; a range; the listed
  /// tiles of each IPU (or, if a number is that of no tile of the first IPU, the tiles with these numbers). Throws invalid_tile_mapping
  /// for tiles that do not exist.
  Graph createVirtualGraph(unsigned numTilesPerIPU);
  Graph createVirtualGraph(unsigned lowerTile, unsigned upperTile);
  Graph createVirtualGraph(const std::vector<unsigned>& perIpuTiles);
  /// A graph of `replicationFactor` replicas on equal shares of this graph's tiles, whole IPUs or equal parts of one: what is added to it
  /// exists on each of them, and its tiles are those of one. With one replica it is this graph. An engine is made of either graph. Steps
  /// over its tensors are done on each replica, and host handles reach all replicas' elements, one replica after the other. Where
  /// everything belongs to it and replicas have whole IPUs, its streams and remote buffers are each replica's own; beside things of
  /// this graph it can have none. Throws graph_replication_error if the tiles cannot be shared out evenly.
  Graph createReplicatedGraph(unsigned replicationFactor);
  /// All replicas' tensors of which `t`, of a replicated graph, is one, in a new dimension 0: a tensor of the graph that the replicated
  /// one was made from. A tensor of no replicated graph is given with a dimension of size 1. Throws graph_replication_error for one of a
  /// graph that was constructed with a replication factor: one replica of an executable cannot name another one's tensor.
  Tensor getNonReplicatedTensor(const Tensor& t) const;
  /// The graph that virtual graphs were made from, with all its tiles.
  Graph getTopLevelGraph();
  /// The tile of the top-level graph that is tile `virtualTile` of this one.
  unsigned convertVirtualTileToPhysicalTile(unsigned virtualTile) const;

  /// Graphviz text: variables, vertices and their connections.
  void outputVertexGraph(std::ostream& out, ArrayRef<program::Program> programs = {}) const;
  /// Graphviz text: compute sets in program order.
  void outputComputeGraph(std::ostream& out, ArrayRef<program::Program> programs) const;
  /// Runs `build`. The names say what it builds, for a reader of the program: nothing is measured.
  void trace(ArrayRef<StringRef> names, const std::function<void()>& build) {
    static_cast<void>(names);
    if (build) build();
  }

  /// The text of the graph level, as `pando dump` shows it.
  void serialize(std::ostream& out) const;
  /// The graph as data, for other programs to read: target, variables with their tile mappings, compute sets, vertices with what they are
  /// connected to, streams, functions, and the steps of \p progs. JSON, or the same as CBOR (Binary). No graph can be made of it again.
  void serialize(std::ostream& out, SerializationFormat format) const;
  void serialize(std::ostream& out, ArrayRef<program::Program> progs, SerializationFormat format) const;
  /// Type, shape, layout and tile mapping of tensors; another graph can make tensors of them with deserializeTensors.
  void serializeTensors(std::ostream& out, ArrayRef<Tensor> tensors, SerializationFormat format = SerializationFormat::Binary) const;
  std::vector<Tensor> deserializeTensors(std::istream& in, SerializationFormat format = SerializationFormat::Binary);
  std::size_t getNumVertices() const;

 private:
  friend struct pando::facade::Access;
  explicit Graph(std::unique_ptr<core::GraphState> state);
  Graph subgraph(const std::vector<unsigned>& tiles);
  static std::size_t elements(ArrayRef<std::size_t> shape);
  Tensor makeConstant(const Type& type, const Tensor* metadata, ArrayRef<std::size_t> shape, const Type& from, const void* values,
                      std::size_t n, bool fill, const DebugContext& debugContext);
  void connectConstant(const FieldRef& field, const Type& type, const void* values, std::size_t n, const SourceLocation& at);
  void setFieldValue(const FieldRef& field, const Type& type, const void* values, std::size_t n, bool scalar);
  void setLateValue(const FieldRef& field, const Type& type, std::function<std::string(const VertexEdgeInfo&)> callback);
  void setTensorValue(const Tensor& t, const Type& type, const void* values, std::size_t n, bool fill);
  std::unique_ptr<core::GraphState> state_;
};

}  // namespace poplar

#endif
