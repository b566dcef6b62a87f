#include <fmt/format.h>

#include "allocate/allocate.h"

namespace pando::allocate {
namespace {

bool live_together(const Buffer& a, const Buffer& b) {
  for (const Interval& i : a.live)
    for (const Interval& j : b.live)
      if (i.begin < j.end && j.begin < i.end) return true;
  return false;
}

std::string check_buffer(const Buffer& b, std::uint64_t offset, std::uint64_t capacity) {
  if (offset > capacity || b.size > capacity - offset)
    return fmt::format("[{}, {} + {}) passes the capacity {}", offset, offset, b.size, capacity);
  if (b.fixed && offset != *b.fixed) return fmt::format("lies at {}, expected fixed offset {}", offset, *b.fixed);
  if (!b.fixed && offset % b.align != 0) return fmt::format("lies at {}, not a multiple of {}", offset, b.align);
  if (offset < b.lowest) return fmt::format("lies at {}, below its lowest offset {}", offset, b.lowest);
  if (offset + b.size > b.highest_end) return fmt::format("ends at {}, above its highest end {}", offset + b.size, b.highest_end);
  return "";
}

}  // namespace

std::string check_allocation(const AllocationProblem& problem, const std::vector<std::uint64_t>& offsets) {
  const std::vector<Buffer>& buffers = problem.buffers;
  if (offsets.size() != buffers.size()) return fmt::format("{} offsets for {} buffers", offsets.size(), buffers.size());
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const std::string wrong = check_buffer(buffers[i], offsets[i], problem.capacity);
    if (!wrong.empty()) return fmt::format("buffer {}: {}", i, wrong);
  }
  for (std::size_t i = 0; i < buffers.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      if (buffers[i].size == 0 || buffers[j].size == 0 || !live_together(buffers[i], buffers[j])) continue;
      if (offsets[i] < offsets[j] + buffers[j].size && offsets[j] < offsets[i] + buffers[i].size)
        return fmt::format("buffers {} [{}, {}) and {} [{}, {}) overlap while both are live", j, offsets[j], offsets[j] + buffers[j].size,
                           i, offsets[i], offsets[i] + buffers[i].size);
    }
  return "";
}

}  // namespace pando::allocate
