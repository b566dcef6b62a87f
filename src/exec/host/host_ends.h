// The host's side of a run: buffers and callbacks behind FIFOs, remote buffers, host functions.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "exec/memory.h"
#include "exec/runner.h"
#include "tile/program.h"

namespace pando::exec {

class HostEnds {
 public:
  HostEnds(const tile::Program& program, bool prefetch);

  void connect(std::string_view handle, void* begin, void* end);
  void connect(std::string_view handle, unsigned replica, std::unique_ptr<FifoCallback> callback);
  void connect_host_function(std::string_view handle, unsigned replica, HostFunctionCallback callback);
  void copy_to_remote(std::string_view handle, const void* source, std::uint64_t row, unsigned replica);
  void copy_from_remote(std::string_view handle, void* destination, std::uint64_t row, unsigned replica);

  // Throws stream_connection_error if the FIFO or host function has no end for some replica.
  void check_connected(FifoId fifo) const;
  void check_connected(HostFunctionId function) const;

  // One transfer: `begin_block` returns the host's block (to device: filled), `end_block` hands it back (from device: full).
  char* begin_block(FifoId fifo, unsigned replica);
  void end_block(FifoId fifo, unsigned replica);
  // The same with the tiles' bytes as the block, where the end takes that: false, and nothing is done, where it does not.
  bool pass_in_place(FifoId fifo, unsigned replica, char* block);
  void end_run();

  // Throws application_runtime_error for a row that the buffer does not have.
  char* row(RemoteBufferId buffer, unsigned replica, std::uint64_t row);
  void call(HostFunctionId function, unsigned replica, const char* inputs, char* outputs);

 private:
  // One replica's end of a FIFO.
  struct End {
    char* begin = nullptr;      // of a buffer
    std::uint64_t blocks = 0;   // in the buffer; 0: no buffer
    std::uint64_t next = 0;     // block of this replica's next transfer
    std::uint64_t advance = 0;  // blocks from one transfer to the next
    std::unique_ptr<FifoCallback> callback;
    std::vector<char> block;      // of a callback
    std::uint64_t transfers = 0;  // of a callback, to the device, in this run
  };
  FifoId find_fifo(std::string_view handle) const;
  RemoteBufferId find_remote(std::string_view handle) const;
  std::uint64_t block_bytes(FifoId fifo) const;
  // Of a broadcast FIFO with a callback, replica 0 has the block for all.
  End& end_of(FifoId fifo, unsigned replica);
  bool shares_block(FifoId fifo) const;
  // Of a callback; to the device.
  void fill(End& end, char* block);

  const tile::Program& program_;
  const bool prefetch_;
  std::vector<std::vector<End>> fifos_;                            // [fifo][replica]
  std::vector<std::vector<HostFunctionCallback>> host_functions_;  // [function][replica]
  std::vector<std::vector<Mapping>> remote_;                       // [buffer][replica]
};

}  // namespace pando::exec
