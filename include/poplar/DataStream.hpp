#ifndef poplar_DataStream_hpp
#define poplar_DataStream_hpp

#include <poplar/Export.hpp>
#include <poplar/ReplicatedStreamMode.hpp>
#include <poplar/Type.hpp>

#include <cstddef>
#include <memory>
#include <string>

namespace poplar {

namespace core {
struct StreamState;
struct RemoteBufferState;
}  // namespace core

enum class DataStreamType { HostToDeviceFIFO, DeviceToHostFIFO, HostToDeviceBuffer, DeviceToHostBuffer };

/// A stream of blocks of elements between the host and the device (Graph::addHostToDeviceFIFO, addDeviceToHostFIFO).
class POPLAR_EXPORT DataStream {
 public:
  DataStream();
  ~DataStream();
  DataStream(const DataStream&);
  DataStream(DataStream&&) noexcept;
  DataStream& operator=(const DataStream&);
  DataStream& operator=(DataStream&&) noexcept;

  std::string handle() const;
  /// Elements of one block.
  std::size_t numElements() const;
  unsigned replicationFactor() const;
  ReplicatedStreamMode replicatedMode() const;
  DataStreamType type() const;
  Type elementType() const;
  friend POPLAR_EXPORT bool operator==(const DataStream& a, const DataStream& b);
  friend bool operator!=(const DataStream& a, const DataStream& b) { return !(a == b); }

 private:
  friend struct pando::facade::Access;
  std::shared_ptr<const core::StreamState> state_;
};

/// A buffer in Streaming Memory: `getRepeats()` rows of `numElements()` elements (Graph::addRemoteBuffer).
class POPLAR_EXPORT RemoteBuffer {
 public:
  RemoteBuffer();
  ~RemoteBuffer();
  RemoteBuffer(const RemoteBuffer&);
  RemoteBuffer(RemoteBuffer&&) noexcept;
  RemoteBuffer& operator=(const RemoteBuffer&);
  RemoteBuffer& operator=(RemoteBuffer&&) noexcept;

  std::string handle() const;
  /// Streams of the buffer's name and shape; what is copied is always a row of the buffer.
  DataStream getIpuToHostStream() const;
  DataStream getHostToIpuStream() const;
  std::size_t numElements() const;
  std::size_t getRepeats() const;
  Type elementType() const;
  bool isRearrangeOnHost() const;
  bool isOptimisedForMemory() const;
  friend POPLAR_EXPORT bool operator==(const RemoteBuffer& a, const RemoteBuffer& b);
  friend bool operator!=(const RemoteBuffer& a, const RemoteBuffer& b) { return !(a == b); }

 private:
  friend struct pando::facade::Access;
  std::shared_ptr<const core::RemoteBufferState> state_;
};

}  // namespace poplar

#endif
