// Engine: streams, host functions, tensors and remote buffers of the host.
#include <algorithm>

#include "codelet/quarter_field.h"
#include "facade/engine/engine_state.h"
#include "pando/in_place.hpp"
#include "poplar/Engine.hpp"

namespace pando::facade {

using poplar::core::Connection;

namespace {

// A callback of the public API as the runner calls it. Replicas may share one.
class StreamEnd final : public exec::FifoCallback {
 public:
  explicit StreamEnd(std::shared_ptr<poplar::StreamCallback> callback)
      : callback_(std::move(callback)), in_place_(dynamic_cast<const InPlaceCallback*>(callback_.get()) != nullptr) {}
  bool prefetch(void* block) override { return callback_->prefetch(block) == poplar::StreamCallback::Result::Success; }
  void fetch(void* block) override { callback_->fetch(block); }
  void complete() override { callback_->complete(); }
  bool is_in_place() const override { return in_place_; }

 private:
  std::shared_ptr<poplar::StreamCallback> callback_;
  const bool in_place_;
};

template <class List>
std::string handles(const List& list) {
  std::string text;
  for (const auto& item : list) text += (text.empty() ? "" : ", ") + item.handle;
  return text.empty() ? "none" : text;
}

}  // namespace

void check_stream(const tile::Program& program, const std::string& handle) {
  for (const tile::FifoInfo& f : program.fifos)
    if (f.handle == handle) return;
  fail(ErrorKind::stream_connection_error, "unknown-stream", "the program has no stream '{}'; it has: {}", handle, handles(program.fifos));
}

void apply(exec::Runner& runner, const std::string& handle, const Connection& connection) {
  if (connection.callbacks.empty()) return runner.connect(handle, connection.begin, connection.end);
  for (const auto& [replica, callback] : connection.callbacks) runner.connect(handle, replica, std::make_unique<StreamEnd>(callback));
}

void apply(exec::Runner& runner, const std::string& handle, unsigned replica, std::shared_ptr<poplar::HostCallback> callback) {
  runner.connect_host_function(handle, replica, [callback](const std::vector<const void*>& inputs, const std::vector<void*>& outputs) {
    (*callback)(inputs, outputs);
  });
}

}  // namespace pando::facade

namespace poplar {

using core::Connection;
using core::EngineState;
using pando::ErrorKind;
using pando::fail;
using pando::facade::Access;
using pando::facade::apply;
using pando::facade::handles;

namespace {

// Connects at once if the engine is loaded, and remembers it for the next load.
void connect(EngineState& s, const std::string& handle, Connection connection) {
  pando::facade::check_stream(*s.executable->program, handle);
  if (s.runner) apply(*s.runner, handle, connection);
  s.streams[handle] = std::move(connection);
}

void check_replica(const EngineState& s, unsigned replica, const std::string& handle) {
  const unsigned replicas = s.replicas();
  if (replica >= replicas)
    fail(ErrorKind::graph_replication_error, "replica-range", "'{}': there is no replica {}; there are {}", handle, replica, replicas);
}

void check_callback(bool callback, const std::string& handle) {
  if (!callback) fail(ErrorKind::stream_connection_error, "null-callback", "'{}' is connected to no callback", handle);
}

const pando::tile::RemoteInfo& remote_buffer(const EngineState& s, const std::string& handle) {
  const auto& buffers = s.executable->program->remote_buffers;
  for (const pando::tile::RemoteInfo& r : buffers)
    if (r.handle == handle) return r;
  fail(ErrorKind::stream_connection_error, "unknown-remote-buffer", "the program has no remote buffer '{}'; it has: {}", handle,
       handles(buffers));
}

std::uint64_t checked_row(const EngineState& s, const std::string& handle, int row, unsigned replica) {
  const pando::tile::RemoteInfo& r = remote_buffer(s, handle);
  if (row < 0 || static_cast<std::uint64_t>(row) >= r.repeats)
    fail(ErrorKind::index_error, "remote-row", "remote buffer '{}' has no row {}; it has {}", handle, row, r.repeats);
  check_replica(s, replica, handle);
  return static_cast<std::uint64_t>(row);
}

}  // namespace

}  // namespace poplar

namespace pando {

InPlaceCallback::InPlaceCallback(std::function<void(void*)> f) : f_(std::move(f)) {
  if (!f_) fail(ErrorKind::stream_connection_error, "null-callback", "InPlaceCallback: the function is empty");
}
void InPlaceCallback::fetch(void* block) { f_(block); }

}  // namespace pando

namespace poplar {

StreamCallback::Result StreamCallback::prefetch(void*) { return Result::NotAvailable; }
void StreamCallback::complete() {}
void StreamCallback::invalidatePrefetched() {}

void Engine::connectStream(StringRef handle, void* begin, void* end) { connect(Access::idle(*this), handle, {begin, end, {}}); }
void Engine::connectStream(StringRef handle, void* p) { connect(Access::idle(*this), handle, {p, nullptr, {}}); }
void Engine::connectStream(const DataStream& stream, void* begin, void* end) { connectStream(stream.handle(), begin, end); }
void Engine::connectStream(const DataStream& stream, void* p) { connectStream(stream.handle(), p); }

void Engine::connectStreamToCallback(StringRef handle, StreamCallbackHandle callback) {
  check_callback(static_cast<bool>(callback), handle);
  const std::shared_ptr<StreamCallback> shared(callback.release());
  Connection c;
  for (unsigned r = 0; r < Access::idle(*this).replicas(); ++r) c.callbacks[r] = shared;
  connect(Access::idle(*this), handle, std::move(c));
}

void Engine::connectStreamToCallback(StringRef handle, unsigned index, StreamCallbackHandle callback) {
  check_callback(static_cast<bool>(callback), handle);
  check_replica(Access::idle(*this), index, handle);
  Connection c;
  if (const auto it = Access::idle(*this).streams.find(handle.cloneAsString()); it != Access::idle(*this).streams.end())
    c.callbacks = it->second.callbacks;
  c.callbacks[index] = std::shared_ptr<StreamCallback>(callback.release());
  connect(Access::idle(*this), handle, std::move(c));
}

void Engine::connectStreamToCallback(const DataStream& stream, StreamCallbackHandle callback) {
  connectStreamToCallback(stream.handle(), std::move(callback));
}
void Engine::connectStreamToCallback(const DataStream& stream, unsigned index, StreamCallbackHandle callback) {
  connectStreamToCallback(stream.handle(), index, std::move(callback));
}

void Engine::connectHostFunction(StringRef handle, unsigned index, HostCallbackHandle callback) {
  const std::string name = handle;
  check_callback(static_cast<bool>(callback), name);
  check_replica(Access::idle(*this), index, name);
  const auto& functions = Access::idle(*this).executable->program->host_functions;
  if (std::none_of(functions.begin(), functions.end(), [&](const auto& f) { return f.handle == name; }))
    fail(ErrorKind::stream_connection_error, "unknown-host-function", "the program has no host function '{}'; it has: {}", name,
         handles(functions));
  const std::shared_ptr<HostCallback> shared(callback.release());
  if (Access::idle(*this).runner) apply(*Access::idle(*this).runner, name, index, shared);
  Access::idle(*this).host_functions[{name, index}] = shared;
}

void Engine::writeTensor(StringRef handle, const void* begin, const void* end) {
  Access::idle(*this).loaded().write(handle.cloneAsString(), begin, end);
}
void Engine::writeTensor(StringRef handle, const void* begin) {
  Access::idle(*this).loaded().write(handle.cloneAsString(), begin, nullptr);
}
void Engine::readTensor(StringRef handle, void* begin, void* end) { Access::idle(*this).loaded().read(handle.cloneAsString(), begin, end); }
void Engine::writeTensor(StringRef handle, const QuarterMetadata& metadata, const void* begin, const void* end) {
  const unsigned char packed = metadata.getBinary();
  writeTensor(handle, begin, end);
  writeTensor(pando::metadata_field_name(handle.cloneAsString()), &packed);
}
void Engine::readTensor(StringRef handle, QuarterMetadata& metadata, void* begin, void* end) {
  unsigned char packed = 0;
  readTensor(handle, begin, end);
  readTensor(pando::metadata_field_name(handle.cloneAsString()), &packed, &packed + 1);
  metadata = QuarterMetadata(packed);
}
void Engine::readTensor(StringRef handle, void* begin) { Access::idle(*this).loaded().read(handle.cloneAsString(), begin, nullptr); }

void Engine::copyToRemoteBuffer(const void* src, std::string handle, int repeatIndex, unsigned replicationIndex) {
  const std::uint64_t row = checked_row(Access::idle(*this), handle, repeatIndex, replicationIndex);
  Access::idle(*this).loaded().copy_to_remote(handle, src, row, replicationIndex);
}
void Engine::copyFromRemoteBuffer(std::string handle, void* dst, int repeatIndex, unsigned replicationIndex) {
  const std::uint64_t row = checked_row(Access::idle(*this), handle, repeatIndex, replicationIndex);
  Access::idle(*this).loaded().copy_from_remote(handle, dst, row, replicationIndex);
}

void Engine::checkRow(const std::string& handle, std::size_t bytes) const {
  const pando::tile::RemoteInfo& r = remote_buffer(Access::idle(*this), handle);
  const std::size_t row = r.elements * pando::size_of(r.type);
  if (bytes != row)
    fail(ErrorKind::stream_connection_error, "remote-row-size", "a row of remote buffer '{}' has {} bytes, the host's block {}", handle,
         row, bytes);
}

}  // namespace poplar
