#include "exec/host/host_ends.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "base/sizes.h"

namespace pando::exec {
namespace {

// Index of the item with this handle, or an error of `kind` that lists the handles there are.
template <class Items>
std::size_t find(const Items& items, std::string_view handle, ErrorKind kind, const char* what) {
  for (std::size_t i = 0; i < items.size(); ++i)
    if (items[i].handle == handle) return i;
  std::string names;
  for (std::size_t i = 0; i < items.size() && i < 20; ++i) names += (i ? ", '" : "'") + items[i].handle + "'";
  fail(kind, "unknown-handle", "no {} has the handle '{}'; there are: {}", what, handle, names.empty() ? "none" : names);
}

}  // namespace

HostEnds::HostEnds(const tile::Program& program, bool prefetch) : program_(program), prefetch_(prefetch) {
  fifos_.resize(program.fifos.size());
  for (auto& ends : fifos_) ends.resize(program.replication);
  host_functions_.resize(program.host_functions.size());
  for (auto& ends : host_functions_) ends.resize(program.replication);
  remote_.resize(program.remote_buffers.size());
  for (std::size_t b = 0; b < remote_.size(); ++b) {
    const tile::RemoteInfo& info = program.remote_buffers[b];
    const std::uint64_t bytes = saturating_mul(saturating_mul(info.elements, size_of(info.type)), info.repeats);
    check_host_memory(saturating_mul(bytes, program.replication), ErrorKind::stream_memory_allocation_error,
                      "remote buffer '" + info.handle + "'");
    for (unsigned r = 0; r < program.replication; ++r) remote_[b].emplace_back(bytes, "a remote buffer");
  }
}

FifoId HostEnds::find_fifo(std::string_view handle) const {
  return FifoId(static_cast<std::uint32_t>(find(program_.fifos, handle, ErrorKind::stream_connection_error, "stream")));
}

RemoteBufferId HostEnds::find_remote(std::string_view handle) const {
  return RemoteBufferId(
      static_cast<std::uint32_t>(find(program_.remote_buffers, handle, ErrorKind::stream_connection_error, "remote buffer")));
}

std::uint64_t HostEnds::block_bytes(FifoId fifo) const {
  const tile::FifoInfo& info = program_.fifos[fifo.index()];
  return info.elements * size_of(info.type);
}

void HostEnds::connect(std::string_view handle, void* begin, void* end) {
  const FifoId fifo = find_fifo(handle);
  const std::uint64_t block = block_bytes(fifo);
  const bool is_empty = block == 0 && begin == end;  // a stream without elements, and a vector without: its data may be null
  static char nothing = 0;
  if (is_empty && !begin) begin = end = &nothing;
  if (!begin) fail(ErrorKind::stream_connection_error, "null-buffer", "stream '{}' is connected to a null buffer", handle);
  std::uint64_t blocks = 0;
  if (end) {
    const auto bytes = static_cast<std::uint64_t>(static_cast<char*>(end) - static_cast<char*>(begin));
    if (end < begin || (end == begin && !is_empty) || bytes % std::max<std::uint64_t>(block, 1) != 0)
      fail(ErrorKind::stream_connection_error, "buffer-size",
           "stream '{}' is connected to {} bytes, which is not a multiple of its block of {} bytes", handle,
           static_cast<std::int64_t>(bytes), block);
    blocks = block ? bytes / block : 1;
  }
  const bool broadcast = program_.fifos[fifo.index()].broadcast;
  const unsigned replicas = program_.replication;
  auto& ends = fifos_[fifo.index()];
  for (unsigned r = 0; r < replicas; ++r) {
    End& e = ends[r];
    e = End();
    e.begin = static_cast<char*>(begin);
    e.next = broadcast ? 0 : r;
    e.blocks = end ? blocks : e.next + 1;
    e.advance = !end ? 0 : broadcast ? 1 : replicas;
    e.next %= e.blocks;
  }
}

void HostEnds::connect(std::string_view handle, unsigned replica, std::unique_ptr<FifoCallback> callback) {
  const FifoId fifo = find_fifo(handle);
  if (replica >= program_.replication)
    fail(ErrorKind::stream_connection_error, "replica", "stream '{}' has no replica {}; there are {}", handle, replica,
         program_.replication);
  if (!callback) fail(ErrorKind::stream_connection_error, "null-callback", "stream '{}' is connected to no callback", handle);
  End& e = fifos_[fifo.index()][replica];
  e = End();
  e.callback = std::move(callback);
  const std::uint64_t bytes = block_bytes(fifo);
  check_host_memory(bytes, ErrorKind::stream_memory_allocation_error, fmt::format("the block of stream '{}'", handle));
  e.block.resize(bytes);
}

void HostEnds::connect_host_function(std::string_view handle, unsigned replica, HostFunctionCallback callback) {
  const std::size_t f = find(program_.host_functions, handle, ErrorKind::stream_connection_error, "host function");
  if (replica >= program_.replication)
    fail(ErrorKind::stream_connection_error, "replica", "host function '{}' has no replica {}; there are {}", handle, replica,
         program_.replication);
  host_functions_[f][replica] = std::move(callback);
}

bool HostEnds::shares_block(FifoId fifo) const {
  return program_.fifos[fifo.index()].broadcast && program_.fifos[fifo.index()].to_device && fifos_[fifo.index()][0].callback;
}

HostEnds::End& HostEnds::end_of(FifoId fifo, unsigned replica) { return fifos_[fifo.index()][shares_block(fifo) ? 0 : replica]; }

void HostEnds::check_connected(FifoId fifo) const {
  const auto& ends = fifos_[fifo.index()];
  for (unsigned r = 0; r < (shares_block(fifo) ? 1u : ends.size()); ++r)
    if (!ends[r].callback && ends[r].blocks == 0)
      fail(ErrorKind::stream_connection_error, "unconnected", "stream '{}'{} is not connected to a buffer or callback",
           program_.fifos[fifo.index()].handle, program_.replication > 1 ? fmt::format(" of replica {}", r) : "");
}

void HostEnds::check_connected(HostFunctionId function) const {
  for (unsigned r = 0; r < program_.replication; ++r)
    if (!host_functions_[function.index()][r])
      fail(ErrorKind::stream_connection_error, "unconnected", "host function '{}'{} is not connected",
           program_.host_functions[function.index()].handle, program_.replication > 1 ? fmt::format(" of replica {}", r) : "");
}

char* HostEnds::begin_block(FifoId fifo, unsigned replica) {
  End& e = end_of(fifo, replica);
  if (!e.callback) {
    char* const block = e.begin + e.next * block_bytes(fifo);
    e.next = (e.next + e.advance) % e.blocks;
    return block;
  }
  // The positions of host steps put all replicas' transfers of one round next to each other, replica 0 first.
  const bool first = !shares_block(fifo) || replica == 0;
  if (program_.fifos[fifo.index()].to_device && first) fill(e, e.block.data());
  return e.block.data();
}

void HostEnds::fill(End& e, char* block) {
  // Asked for no earlier than here, a prefetch may wait for what the host learns from earlier steps.
  const bool prefetched = prefetch_ && e.transfers > 0 && e.callback->prefetch(block);
  if (!prefetched) e.callback->fetch(block);
  ++e.transfers;
}

bool HostEnds::pass_in_place(FifoId fifo, unsigned replica, char* block) {
  End& e = end_of(fifo, replica);
  if (!e.callback || !e.callback->is_in_place() || shares_block(fifo)) return false;
  if (program_.fifos[fifo.index()].to_device)
    fill(e, block);
  else
    e.callback->fetch(block);
  e.callback->complete();
  return true;
}

void HostEnds::end_block(FifoId fifo, unsigned replica) {
  End& e = end_of(fifo, replica);
  if (!e.callback) return;
  const bool to_device = program_.fifos[fifo.index()].to_device;
  if (!to_device) e.callback->fetch(e.block.data());
  if (shares_block(fifo) && replica + 1 != program_.replication) return;
  e.callback->complete();
}

void HostEnds::end_run() {
  for (auto& ends : fifos_)
    for (End& e : ends) e.transfers = 0;
}

char* HostEnds::row(RemoteBufferId buffer, unsigned replica, std::uint64_t row) {
  const tile::RemoteInfo& info = program_.remote_buffers[buffer.index()];
  if (row >= info.repeats)
    fail(ErrorKind::application_runtime_error, "remote-row", "remote buffer '{}': row {} of {}", info.handle, row, info.repeats);
  return remote_[buffer.index()][replica].data() + row * info.elements * size_of(info.type);
}

void HostEnds::copy_to_remote(std::string_view handle, const void* source, std::uint64_t at, unsigned replica) {
  if (!source) fail(ErrorKind::stream_connection_error, "null-buffer", "remote buffer '{}': the host's block is a null pointer", handle);
  const RemoteBufferId b = find_remote(handle);
  if (replica >= program_.replication)
    fail(ErrorKind::stream_connection_error, "replica", "remote buffer '{}' has no replica {}; there are {}", handle, replica,
         program_.replication);
  const tile::RemoteInfo& info = program_.remote_buffers[b.index()];
  std::memcpy(row(b, replica, at), source, info.elements * size_of(info.type));
}

void HostEnds::copy_from_remote(std::string_view handle, void* destination, std::uint64_t at, unsigned replica) {
  if (!destination)
    fail(ErrorKind::stream_connection_error, "null-buffer", "remote buffer '{}': the host's block is a null pointer", handle);
  const RemoteBufferId b = find_remote(handle);
  if (replica >= program_.replication)
    fail(ErrorKind::stream_connection_error, "replica", "remote buffer '{}' has no replica {}; there are {}", handle, replica,
         program_.replication);
  const tile::RemoteInfo& info = program_.remote_buffers[b.index()];
  std::memcpy(destination, row(b, replica, at), info.elements * size_of(info.type));
}

void HostEnds::call(HostFunctionId function, unsigned replica, const char* inputs, char* outputs) {
  const tile::HostFunctionInfo& info = program_.host_functions[function.index()];
  std::vector<const void*> in;
  std::vector<void*> out;
  for (const auto& [type, elements] : info.inputs) {
    in.push_back(inputs);
    inputs += elements * size_of(type);
  }
  for (const auto& [type, elements] : info.outputs) {
    out.push_back(outputs);
    outputs += elements * size_of(type);
  }
  host_functions_[function.index()][replica](in, out);
}

}  // namespace pando::exec
