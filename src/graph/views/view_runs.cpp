// Enumerating a view's elements in order.
#include "base/check.h"
#include "base/sizes.h"
#include "graph/views/view.h"
#include "graph/views/view_walk.h"

namespace pando::graph {

namespace {

// Joined runs of the flat elements [begin, end); `sink` returns false to stop.
template <class Sink>
void joined(const Strided& coalesced, std::uint64_t begin, std::uint64_t end, Sink sink) {
  Joiner<Sink> joiner(std::move(sink));
  auto add = [&](VariableId v, std::uint64_t offset, std::int64_t stride, std::uint64_t n) { return joiner.add(v, offset, stride, n); };
  Walker<decltype(add)> walker(add, false);
  if (walker.range(coalesced, begin, end)) joiner.finish();
}

Strided coalesced(const Strided& grid) { return {grid.source, grid.offset, coalesce(grid.dims)}; }

}  // namespace

void View::for_each_run(const std::function<void(const Run&)>& sink) const { for_each_run(0, num_elements(), sink); }

void View::for_each_run(std::uint64_t begin, std::uint64_t end, const std::function<void(const Run&)>& sink) const {
  PANDO_CHECK(begin <= end && end <= num_elements());
  if (begin == end) return;
  if (!node_) return sink(Run{variable_, offset_ + begin, 1, end - begin});
  joined(coalesced(*node_), begin, end, [&](const Run& run) {
    sink(run);
    return true;
  });
}

std::vector<Run> View::runs() const {
  std::vector<Run> list;
  for_each_run([&](const Run& run) { list.push_back(run); });
  return list;
}

std::vector<Region> View::regions() const {
  std::vector<Region> list;
  auto add = [&](VariableId v, std::uint64_t begin, std::uint64_t n) {
    if (!list.empty() && list.back().variable == v && list.back().elements.end == begin)
      list.back().elements.end += n;
    else
      list.push_back({v, {begin, begin + n}});
  };
  for_each_run([&](const Run& run) {
    if (run.stride == 1) return add(run.variable, run.offset, run.count);
    make_room(list, run.count, ErrorKind::tensor_creation_error, "the regions of a tensor");
    std::uint64_t at = run.offset;
    for (std::uint64_t i = 0; i < run.count; ++i, at += static_cast<std::uint64_t>(run.stride)) add(run.variable, at, 1);
  });
  return list;
}

bool View::single_region(Region& out) const {
  const std::uint64_t n = num_elements();
  if (n == 0) return false;
  if (!node_) {
    out = {variable_, {offset_, offset_ + n}};
    return true;
  }
  // A grid over a variable that is contiguous has no node (make).
  if (node_->source.variable.valid()) return false;
  bool whole = false;
  joined(coalesced(*node_), 0, n, [&](const Run& run) {
    whole = run.stride == 1 && run.count == n;
    if (whole) out = {run.variable, {run.offset, run.offset + n}};
    return false;
  });
  return whole;
}

bool View::is_contiguous() const {
  Region region;
  return num_elements() == 0 || single_region(region);
}

}  // namespace pando::graph
