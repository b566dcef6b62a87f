// What a graph shares with the host, functions, and tile groups.
#include <algorithm>

#include "base/check.h"
#include "base/error.h"
#include "base/sizes.h"
#include "graph/graph.h"

namespace pando::graph {

namespace {

// Handles of FIFOs, remote buffers and host functions are one name space each.
template <class List>
void check_new_handle(const List& list, const std::string& handle, const char* kind) {
  for (const auto& item : list)
    if (item.handle == handle)
      fail(ErrorKind::graph_object_creation_error, "handle-in-use", "{} '{}': the graph has one of that name", kind, handle);
}

}  // namespace

FifoId Graph::add_fifo(Fifo fifo) {
  check_new_handle(fifos_, fifo.handle, "stream");
  if (fifo.buffering_depth == 0) fail(ErrorKind::invalid_option, "buffering-depth-0", "stream '{}' with bufferingDepth 0", fifo.handle);
  const std::uint64_t block = checked_product(fifo.elements, size_of(fifo.type), kMostBytes, ErrorKind::graph_object_creation_error,
                                              "bytes of a block of stream '" + fifo.handle + "'");
  checked_product(block, fifo.buffering_depth, kMostBytes, ErrorKind::graph_object_creation_error,
                  "bytes of the buffer of stream '" + fifo.handle + "'");
  return fifos_.push(std::move(fifo));
}

RemoteBufferId Graph::add_remote_buffer(RemoteBuffer buffer) {
  check_new_handle(remote_buffers_, buffer.handle, "remote buffer");
  if (buffer.elements == 0 || buffer.repeats == 0)
    fail(ErrorKind::graph_object_creation_error, "empty-remote-buffer", "remote buffer '{}' with {} elements in {} rows", buffer.handle,
         buffer.elements, buffer.repeats);
  const std::string what = "bytes of remote buffer '" + buffer.handle + "'";
  const ErrorKind kind = ErrorKind::graph_object_creation_error;
  const std::uint64_t row = checked_product(buffer.elements, size_of(buffer.type), kMostBytes, kind, what);
  checked_product(row, buffer.repeats, kMostBytes, kind, what);
  return remote_buffers_.push(std::move(buffer));
}

HostFunctionId Graph::add_host_function(HostFunction function) {
  check_new_handle(host_functions_, function.handle, "host function");
  std::uint64_t bytes = 0;
  for (const auto* list : {&function.inputs, &function.outputs})
    for (const auto& [type, elements] : *list) bytes = saturating_add(bytes, saturating_mul(elements, size_of(type)));
  checked_product(bytes, 1, kMostBytes, ErrorKind::graph_object_creation_error,
                  "bytes of the arguments of host function '" + function.handle + "'");
  return host_functions_.push(std::move(function));
}

ChannelId Graph::add_channel(Channel channel) {
  if (channel.elements == 0)
    fail(ErrorKind::graph_object_creation_error, "empty-channel", "channel '{}' with blocks of no elements", channel.name);
  const std::string what = "bytes of the slots of channel '" + channel.name + "'";
  const std::uint64_t block =
      checked_product(channel.elements, size_of(channel.type), kMostBytes, ErrorKind::graph_object_creation_error, what);
  checked_product(block, channel.capacity, kMostBytes, ErrorKind::graph_object_creation_error, what);
  return channels_.push(std::move(channel));
}

FunctionId Graph::add_function(ProgramPtr body, std::string name) { return functions_.push({std::move(name), std::move(body), false}); }

void Graph::add_host_handle(std::string name, const View& tensor, bool read, bool write) {
  if (!tensor.valid()) fail(ErrorKind::tensor_io_state_error, "invalid-tensor", "host handle '{}' of a tensor that is not valid", name);
  if (write) {
    for (VariableId id : tensor.variables())
      if (variables_[id].constant)
        fail(ErrorKind::tensor_io_state_error, "constant-is-fixed", "createHostWrite '{}': constant '{}' cannot be written", name,
             variables_[id].name);
    if (tensor.contains_aliases())
      fail(ErrorKind::tensor_io_state_error, "write-of-aliases", "createHostWrite '{}': the tensor of shape {} holds an element twice",
           name, to_string(tensor.shape()));
  }
  // A read and a write may share a name: tutorials do `createHostWrite("x", x); createHostRead("x", x)`.
  std::vector<std::size_t>& alike = handles_by_name_[name];
  for (const std::size_t i : alike) {
    if (!(host_handles_[i].readable && read) && !(host_handles_[i].writable && write)) continue;
    fail(ErrorKind::graph_object_creation_error, "handle-in-use", "host {} '{}': the graph has one of that name", write ? "write" : "read",
         name);
  }
  for (const std::size_t i : alike) {
    HostHandle& h = host_handles_[i];
    if (!(h.tensor == tensor)) continue;
    h.readable = h.readable || read;
    h.writable = h.writable || write;
    return;
  }
  alike.push_back(host_handles_.size());
  host_handles_.push_back({std::move(name), tensor, read, write});
}

void Graph::drop_host_handles(std::size_t kept) {
  for (; host_handles_.size() > kept; host_handles_.pop_back()) handles_by_name_[host_handles_.back().name].pop_back();
}

void Graph::set_tile_group(TileId tile, bool io) {
  check_tile(tile, "tile group");
  tile_groups_[tile.index()] = io;
}

}  // namespace pando::graph
