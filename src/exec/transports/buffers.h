// Memory of messages that have been taken, for messages to come: memory that goes back to the system each time costs more than the copy
// does.
#pragma once

#include "exec/transports/transport.h"

#include <cstddef>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace pando::exec {

class Buffers {
 public:
  // So many bytes, of any values, with Packet::kRoom of capacity more.
  std::string take(std::size_t bytes) {
    std::string out;
    {
      const std::lock_guard lock(mutex_);
      for (std::string& s : spare_) {
        if (s.capacity() < bytes + Packet::kRoom || s.capacity() / kWaste > bytes + Packet::kRoom) continue;
        std::swap(s, spare_.back());
        out = std::move(spare_.back());
        spare_.pop_back();
        break;
      }
    }
    out.reserve(bytes + Packet::kRoom);
    out.resize(bytes);
    return out;
  }
  void give(std::string bytes) {
    if (bytes.capacity() < Packet::kRoom) return;  // the heap is as quick
    const std::lock_guard lock(mutex_);
    if (spare_.size() < kMost) spare_.push_back(std::move(bytes));
  }

 private:
  // Four devices that reduce four tensors have 48 messages under way.
  static constexpr std::size_t kMost = 128, kWaste = 4;
  std::mutex mutex_;
  std::vector<std::string> spare_;
};

}  // namespace pando::exec
