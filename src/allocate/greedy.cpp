#include "allocate/greedy.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "base/check.h"

namespace pando::allocate {
namespace {

// Trying all orders is quadratic in the buffers; a problem this large gets the first order only.
constexpr std::size_t kTryAllOrders = 4000;

// What first fit asks of a buffer again and again, flat.
struct Box {
  std::uint64_t begin = 0, end = 0;   // the hull of its times
  std::uint64_t offset = 0, top = 0;  // once placed
  const Buffer* buffer = nullptr;
};

bool conflict(const Box& a, const Box& b) {
  if (a.begin >= b.end || b.begin >= a.end) return false;
  if (a.buffer->live.size() == 1 && b.buffer->live.size() == 1) return true;
  return overlap(a.buffer->live, b.buffer->live);
}

std::uint64_t align_up(std::uint64_t offset, std::uint64_t align) { return (offset + align - 1) / align * align; }

bool bounded(const Buffer& b) { return b.lowest != 0 || b.highest_end != ~std::uint64_t{0}; }

std::vector<std::uint32_t> placing_order(const std::vector<Buffer>& buffers, GreedyOrder order) {
  // Sorted by: fixed, bounded, then the order's key, largest first; ties by index.
  using Key = std::tuple<int, double, double, std::uint32_t>;
  std::vector<Key> keys;
  keys.reserve(buffers.size());
  for (std::uint32_t i = 0; i < buffers.size(); ++i) {
    const Buffer& b = buffers[i];
    const int kind = b.fixed ? 0 : bounded(b) ? 1 : 2;
    const double size = static_cast<double>(b.size), lifetime = static_cast<double>(total_size(b.live));
    const double begin = b.live.empty() ? 0 : static_cast<double>(b.live.front().begin);
    switch (order) {
      case GreedyOrder::size: keys.emplace_back(kind, -size, -lifetime, i); break;
      case GreedyOrder::area: keys.emplace_back(kind, -size * lifetime, -size, i); break;
      case GreedyOrder::lifetime: keys.emplace_back(kind, -lifetime, -size, i); break;
      case GreedyOrder::begin: keys.emplace_back(kind, begin, -size, i); break;
    }
  }
  std::sort(keys.begin(), keys.end());
  std::vector<std::uint32_t> result;
  result.reserve(keys.size());
  for (const Key& key : keys) result.push_back(std::get<3>(key));
  return result;
}

// `placed` is sorted by offset, so the first gap that is large enough is the lowest.
std::uint64_t lowest_gap(const std::vector<Box>& placed, const Box& box) {
  const Buffer& b = *box.buffer;
  std::uint64_t offset = align_up(b.lowest, b.align);
  if (b.size == 0) return offset;
  for (const Box& other : placed) {
    if (other.offset >= offset + b.size) break;
    if (other.top > offset && conflict(other, box)) offset = align_up(other.top, b.align);
  }
  return offset;
}

bool collides(const std::vector<Box>& placed, const Box& box) {
  return std::any_of(placed.begin(), placed.end(),
                     [&](const Box& other) { return other.offset < box.top && box.offset < other.top && conflict(other, box); });
}

}  // namespace

GreedyPlacement first_fit(const std::vector<Buffer>& buffers, GreedyOrder order) {
  GreedyPlacement result;
  result.offsets.resize(buffers.size());
  std::vector<Box> placed;
  placed.reserve(buffers.size());
  for (const std::uint32_t i : placing_order(buffers, order)) {
    const Buffer& b = buffers[i];
    PANDO_CHECK(b.align != 0);
    Box box{.buffer = &b};
    if (!b.live.empty()) box = {b.live.front().begin, b.live.back().end, 0, 0, &b};
    box.offset = b.fixed ? *b.fixed : lowest_gap(placed, box);
    box.top = box.offset + b.size;
    if (box.offset < b.lowest || box.top > b.highest_end) result.within_bounds = false;
    if (b.fixed && collides(placed, box)) result.within_bounds = false;
    result.offsets[i] = box.offset;
    result.high_water = std::max(result.high_water, box.top);
    if (b.size == 0) continue;
    const auto at = std::upper_bound(placed.begin(), placed.end(), box.offset,
                                     [](std::uint64_t offset, const Box& other) { return offset < other.offset; });
    placed.insert(at, box);
  }
  return result;
}

AllocationResult allocate_greedy(const AllocationProblem& problem) {
  GreedyPlacement best = first_fit(problem.buffers, kGreedyOrders[0]);
  for (std::size_t k = 1; k < std::size(kGreedyOrders) && problem.buffers.size() <= kTryAllOrders; ++k) {
    GreedyPlacement next = first_fit(problem.buffers, kGreedyOrders[k]);
    if (std::tuple(!next.within_bounds, next.high_water) < std::tuple(!best.within_bounds, best.high_water)) best = std::move(next);
  }
  AllocationResult result;
  result.status = best.within_bounds ? AllocationStatus::solved : AllocationStatus::infeasible;
  result.offsets = std::move(best.offsets);
  result.high_water = best.high_water;
  return result;
}

}  // namespace pando::allocate
