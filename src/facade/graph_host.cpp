// Graph: streams, remote buffers, host handles, functions.
#include "poplar/Graph.hpp"

#include "codelet/quarter_field.h"
#include "facade/state/state.h"

namespace pando::facade {

const poplar::core::StreamState& Access::state(const poplar::DataStream& s) {
  if (!s.state_) fail(ErrorKind::poplar_error, "no-stream", "this stream is default-constructed");
  return *s.state_;
}
poplar::DataStream Access::stream(poplar::core::StreamState state) {
  poplar::DataStream s;
  s.state_ = std::make_shared<const poplar::core::StreamState>(std::move(state));
  return s;
}
const poplar::core::RemoteBufferState& Access::state(const poplar::RemoteBuffer& b) {
  if (!b.state_) fail(ErrorKind::poplar_error, "no-remote-buffer", "this remote buffer is default-constructed");
  return *b.state_;
}
poplar::RemoteBuffer Access::remote_buffer(poplar::core::RemoteBufferState state) {
  poplar::RemoteBuffer b;
  b.state_ = std::make_shared<const poplar::core::RemoteBufferState>(std::move(state));
  return b;
}

}  // namespace pando::facade

namespace poplar {

using core::GraphShared;
using pando::ErrorKind;
using pando::fail;
using pando::facade::Access;

DataStream::DataStream() = default;
DataStream::~DataStream() = default;
DataStream::DataStream(const DataStream&) = default;
DataStream::DataStream(DataStream&&) noexcept = default;
DataStream& DataStream::operator=(const DataStream&) = default;
DataStream& DataStream::operator=(DataStream&&) noexcept = default;
std::string DataStream::handle() const { return Access::state(*this).handle; }
std::size_t DataStream::numElements() const { return Access::state(*this).elements; }
unsigned DataStream::replicationFactor() const { return Access::state(*this).replication; }
ReplicatedStreamMode DataStream::replicatedMode() const { return Access::state(*this).mode; }
DataStreamType DataStream::type() const { return Access::state(*this).kind; }
Type DataStream::elementType() const { return Access::state(*this).type; }
bool operator==(const DataStream& a, const DataStream& b) { return a.state_ == b.state_; }

RemoteBuffer::RemoteBuffer() = default;
RemoteBuffer::~RemoteBuffer() = default;
RemoteBuffer::RemoteBuffer(const RemoteBuffer&) = default;
RemoteBuffer::RemoteBuffer(RemoteBuffer&&) noexcept = default;
RemoteBuffer& RemoteBuffer::operator=(const RemoteBuffer&) = default;
RemoteBuffer& RemoteBuffer::operator=(RemoteBuffer&&) noexcept = default;
std::string RemoteBuffer::handle() const { return Access::state(*this).handle; }
std::size_t RemoteBuffer::numElements() const { return Access::state(*this).elements; }
std::size_t RemoteBuffer::getRepeats() const { return Access::state(*this).repeats; }
Type RemoteBuffer::elementType() const { return Access::state(*this).type; }
bool RemoteBuffer::isRearrangeOnHost() const { return Access::state(*this).rearrange_on_host; }
bool RemoteBuffer::isOptimisedForMemory() const { return Access::state(*this).optimise_memory; }
bool operator==(const RemoteBuffer& a, const RemoteBuffer& b) { return a.state_ == b.state_; }

namespace {

DataStream stream_of(const core::RemoteBufferState& b, DataStreamType kind) {
  return Access::stream({b.graph, {}, b.handle, b.type, b.elements, b.replication, ReplicatedStreamMode::REPLICATE, kind});
}

unsigned whole_number(const std::string& option, const std::string& value) {
  std::size_t used = 0;
  unsigned long n = 0;
  try {
    n = std::stoul(value, &used);
  } catch (const std::exception&) { used = 0; }
  if (used == 0 || used != value.size() || n > 1u << 20)
    fail(ErrorKind::invalid_option, "option-value", "option '{}' has the value '{}'; expected a number", option, value);
  return static_cast<unsigned>(n);
}

unsigned buffering_depth(const OptionFlags& options) {
  unsigned depth = 1;
  for (const auto& [key, value] : options) {
    if (key == "bufferingDepth")
      depth = whole_number(key, value);
    else if (key == "splitLimit" || key == "streamBufferOverlap")
      continue;  // hints for hardware transfers
    else
      fail(ErrorKind::invalid_option, "unknown-option", "Unrecognised option '{}' of a stream", key);
  }
  return depth;
}

DataStream add_fifo(const Graph& graph, StringRef handle, const Type& type, std::size_t elements, bool to_device, ReplicatedStreamMode mode,
                    const OptionFlags& options) {
  GraphShared& shared = Access::shared(graph);
  pando::graph::Fifo fifo;
  fifo.handle = handle.cloneAsString();
  fifo.to_device = to_device;
  fifo.type = Access::element_type(type);
  fifo.elements = elements;
  fifo.mode = mode == ReplicatedStreamMode::BROADCAST ? pando::graph::ReplicatedFifo::broadcast : pando::graph::ReplicatedFifo::replicate;
  fifo.buffering_depth = buffering_depth(options);
  fifo.replication = Access::replication(graph);
  const pando::FifoId id = shared.graph.add_fifo(std::move(fifo));
  return Access::stream({shared.graph.serial(), id, handle.cloneAsString(), type, elements, Access::replication_factor(graph), mode,
                         to_device ? DataStreamType::HostToDeviceFIFO : DataStreamType::DeviceToHostFIFO});
}

}  // namespace

DataStream RemoteBuffer::getIpuToHostStream() const { return stream_of(Access::state(*this), DataStreamType::DeviceToHostBuffer); }
DataStream RemoteBuffer::getHostToIpuStream() const { return stream_of(Access::state(*this), DataStreamType::HostToDeviceBuffer); }

DataStream Graph::addHostToDeviceFIFO(StringRef handle, const Type& elementType, std::size_t numElements,
                                      ReplicatedStreamMode replicatedMode, const OptionFlags& options) {
  return add_fifo(*this, handle, elementType, numElements, true, replicatedMode, options);
}

DataStream Graph::addDeviceToHostFIFO(StringRef handle, const Type& elementType, std::size_t numElements, const OptionFlags& options) {
  return add_fifo(*this, handle, elementType, numElements, false, ReplicatedStreamMode::REPLICATE, options);
}

RemoteBuffer Graph::addRemoteBuffer(StringRef handle, const Type& elementType, std::size_t numElements, std::size_t repeats,
                                    bool rearrangeOnHost, bool optimiseMemory) {
  pando::graph::Graph& g = Access::shared(*this).graph;
  const pando::RemoteBufferId id =
      g.add_remote_buffer({handle.cloneAsString(), Access::element_type(elementType), numElements, repeats, Access::replication(*this)});
  return Access::remote_buffer({g.serial(), id, handle.cloneAsString(), elementType, numElements, repeats,
                                Access::replication_factor(*this), rearrangeOnHost, optimiseMemory});
}

// The metadata of quarters has a handle of its own; that of constants cannot be written.
void Graph::createHostWrite(StringRef handle, const Tensor& t, bool) {
  pando::graph::Graph& g = Access::shared(*this).graph;
  g.add_host_handle(handle.cloneAsString(), Access::view(*this, t, "the tensor of createHostWrite"), false, true);
  if (t.elementType() != QUARTER || !t.hasMetadata() || t.getMetadata().containsConstant()) return;
  g.add_host_handle(pando::metadata_field_name(handle.cloneAsString()), Access::view(t.getMetadata()), false, true);
}
void Graph::createHostRead(StringRef handle, const Tensor& t, bool) {
  pando::graph::Graph& g = Access::shared(*this).graph;
  g.add_host_handle(handle.cloneAsString(), Access::view(*this, t, "the tensor of createHostRead"), true, false);
  if (t.elementType() != QUARTER || !t.hasMetadata()) return;
  g.add_host_handle(pando::metadata_field_name(handle.cloneAsString()), Access::view(t.getMetadata()), true, false);
}

HostFunction Graph::addHostFunction(StringRef handle, ArrayRef<HostFunctionArgument> inputs, ArrayRef<HostFunctionArgument> outputs,
                                    const OptionFlags&) {
  const auto list = [](ArrayRef<HostFunctionArgument> arguments) {
    std::vector<std::pair<pando::ElementType, std::uint64_t>> result;
    for (const HostFunctionArgument& a : arguments) result.emplace_back(Access::element_type(std::get<0>(a)), std::get<1>(a));
    return result;
  };
  pando::graph::Graph& g = Access::shared(*this).graph;
  return HostFunction(g.add_host_function({handle.cloneAsString(), list(inputs), list(outputs), Access::replication(*this)}).value,
                      g.serial());
}

Function Graph::addFunction(const program::Program& program, const DebugContext& debugContext) {
  pando::graph::Graph& g = Access::shared(*this).graph;
  Access::check_owner(*this, Access::owner(program), "the program of addFunction");
  std::string name = debugContext.getPathName();
  if (name.empty()) name = fmt::format("function{}", g.functions().size());
  return Function(g.add_function(Access::node(program), std::move(name)).value, g.serial());
}

FunctionBuffer Graph::addFunctionBuffer(const Function& function, FunctionBufferMappingType mappingType) {
  core::GraphShared& shared = Access::shared(*this);
  Access::check_owner(*this, function.graph(), "the function of addFunctionBuffer");
  const pando::FunctionId id(function.getId());
  if (id.index() >= shared.graph.functions().size())
    fail(ErrorKind::graph_object_creation_error, "no-such-function", "addFunctionBuffer: there is no function {}", function.getId());
  if (mappingType == FunctionBufferMappingType::REMOTE) shared.graph.functions()[id].in_streaming_memory = true;
  shared.function_buffers.push_back(id);
  return FunctionBuffer(static_cast<unsigned>(shared.function_buffers.size() - 1), shared.graph.serial());
}

}  // namespace poplar
