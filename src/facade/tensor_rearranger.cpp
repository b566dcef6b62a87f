#include "poplar/TensorRearranger.hpp"

#include <algorithm>

#include "facade/state/state.h"

namespace poplar {

using pando::ErrorKind;
using pando::fail;
using pando::facade::Access;

namespace {

// Runs of one order with their beginnings in the other one, sorted by `from`.
struct Run {
  std::size_t from, to, size;
};

std::vector<Run> runs_of(const std::vector<Interval>& runs, bool back) {
  std::vector<Run> out;
  std::size_t position = 0;
  for (const Interval& r : runs) {
    out.push_back(back ? Run{position, r.begin(), r.size()} : Run{r.begin(), position, r.size()});
    position += r.size();
  }
  std::sort(out.begin(), out.end(), [](const Run& a, const Run& b) { return a.from < b.from; });
  return out;
}

Tensor in_order(const Tensor& t, std::vector<Run> runs, std::size_t elements) {
  if (t.numElements() != elements)
    fail(ErrorKind::tensor_creation_error, "rearrange-size", "a rearranger of {} elements was given {}", elements, t.getDebugStr());
  std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.to < b.to; });
  const Tensor flat = t.flatten();
  if (runs.empty()) return flat;
  std::vector<Tensor> parts;
  for (const Run& r : runs) parts.push_back(flat.slice(r.from, r.from + r.size));
  return concat(parts);
}

std::vector<Interval> moved(ArrayRef<Interval> intervals, const std::vector<Run>& runs, std::size_t elements) {
  std::vector<Interval> pieces;
  for (const Interval& i : intervals) {
    if (i.begin() > i.end() || i.end() > elements)
      fail(ErrorKind::index_error, "rearrange-interval", "the interval [{}, {}) of a rearranger of {} elements", i.begin(), i.end(),
           elements);
    auto run = std::upper_bound(runs.begin(), runs.end(), i.begin(), [](std::size_t at, const Run& r) { return at < r.from; });
    if (run != runs.begin()) --run;
    for (; run != runs.end() && run->from < i.end(); ++run) {
      const std::size_t begin = std::max(i.begin(), run->from), end = std::min(i.end(), run->from + run->size);
      if (begin < end) pieces.emplace_back(run->to + begin - run->from, run->to + end - run->from);
    }
  }
  std::sort(pieces.begin(), pieces.end());
  std::vector<Interval> out;
  for (const Interval& p : pieces) {
    if (!out.empty() && out.back().end() == p.begin())
      out.back() = Interval(out.back().begin(), p.end());
    else
      out.push_back(p);
  }
  return out;
}

}  // namespace

Tensor TensorRearranger::rearrange(const Tensor& t) const { return in_order(t, runs_of(runs_, false), elements_); }
Tensor TensorRearranger::undoRearrangement(const Tensor& t) const { return in_order(t, runs_of(runs_, true), elements_); }
std::vector<Interval> TensorRearranger::rearrange(ArrayRef<Interval> intervals) const {
  return moved(intervals, runs_of(runs_, false), elements_);
}
std::vector<Interval> TensorRearranger::undoRearrangement(ArrayRef<Interval> intervals) const {
  return moved(intervals, runs_of(runs_, true), elements_);
}

TensorRearranger Graph::getSimplifyingRearranger(const Tensor& t) const {
  pando::graph::View ordered = Access::view(*this, t, "the tensor of getSimplifyingRearranger");
  const pando::graph::Shape shape = {ordered.num_elements()};
  // What the order does to a variable of the same size: its runs are those of the permutation.
  pando::graph::View counted = pando::graph::View::of_variable(pando::VariableId(0), ordered.type(), shape);
  Access::shared(*this).graph.reorder_to_simplify(&ordered, std::vector<pando::graph::View*>{&counted});
  std::vector<Interval> runs;
  counted.for_each_run([&](const pando::graph::Run& r) {
    if (r.stride == 1 || r.count == 1) return runs.emplace_back(r.offset, r.offset + r.count), void();
    for (std::uint64_t i = 0; i < r.count; ++i) {
      const std::size_t at = r.offset + static_cast<std::uint64_t>(r.stride * static_cast<std::int64_t>(i));
      runs.emplace_back(at, at + 1);
    }
  });
  return TensorRearranger(std::move(runs), shape[0]);
}

}  // namespace poplar
