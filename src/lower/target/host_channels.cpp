#include "lower/target/host_channels.h"

#include "lower/lower.h"
#include "lower/terms/element_types.h"

#include <fmt/format.h>

namespace pando::lower {

std::string stream_handle(ir::HostStreamId stream) { return fmt::format("stream{}", stream.value); }
std::string buffer_handle(ir::BufferId buffer) { return fmt::format("buffer{}", buffer.value); }

poplar::DataStream HostChannels::stream(ir::HostStreamId id) {
  const auto known = streams_.find(id);
  if (known != streams_.end()) return known->second;
  const ir::HostStream& s = module_.stream(id);
  const auto elements = static_cast<std::size_t>(ir::elements_of(s.shape));
  const poplar::Type type = element_type(s.dtype);
  const poplar::DataStream made =
      s.direction == ir::HostStream::Direction::host_to_device
          ? graph_.addHostToDeviceFIFO(stream_handle(id), type, elements, poplar::ReplicatedStreamMode::REPLICATE)
          : graph_.addDeviceToHostFIFO(stream_handle(id), type, elements);
  return streams_.emplace(id, made).first->second;
}

poplar::RemoteBuffer HostChannels::buffer(ir::BufferId id) {
  const auto known = buffers_.find(id);
  if (known != buffers_.end()) return known->second;
  const ir::RemoteBuffer& b = module_.buffer(id);
  const poplar::RemoteBuffer made = graph_.addRemoteBuffer(
      buffer_handle(id), element_type(b.dtype), static_cast<std::size_t>(ir::elements_of(b.shape)), static_cast<std::size_t>(b.entries));
  return buffers_.emplace(id, made).first->second;
}

}  // namespace pando::lower
