// Finding the order of a tensor's elements in their variables.
#include <algorithm>
#include <tuple>

#include "base/check.h"
#include "base/error.h"
#include "base/sizes.h"
#include "graph/graph.h"

namespace pando::graph {

namespace {

// Elements [offset, offset + size) of a variable at positions [at, at + size) of the tensor.
struct Part {
  VariableId variable;
  std::uint64_t offset = 0;
  std::uint64_t at = 0;
  std::uint64_t size = 0;
  std::size_t copy = 0;     // 0: the first part of the tensor that holds these elements, 1: the second ...
  std::uint64_t first = 0;  // where the first is
  bool shared = false;      // there are several

  std::uint64_t end() const { return offset + size; }
  bool in_memory_before(const Part& o) const { return std::tuple(variable, offset, at) < std::tuple(o.variable, o.offset, o.at); }
};

// `once`: of an element that stands many times in a row, the first two are enough; the second shows that there are several.
std::vector<Part> parts_of(const View& tensor, std::span<const Interval> intervals, bool once) {
  std::vector<Part> parts;
  for (const Interval& interval : intervals) {
    std::uint64_t at = interval.begin;
    if (interval.begin > interval.end || interval.end > tensor.num_elements())
      fail(ErrorKind::index_error, "interval-out-of-range", "elements [{}, {}) of a tensor of shape {}, which has {}", interval.begin,
           interval.end, to_string(tensor.shape()), tensor.num_elements());
    if (interval.empty()) continue;
    tensor.for_each_run(interval.begin, interval.end, [&](const Run& run) {
      if (run.stride == 1) {
        parts.push_back({run.variable, run.offset, at, run.count});
        at += run.count;
        return;
      }
      const std::uint64_t listed = once && run.stride == 0 ? std::min<std::uint64_t>(run.count, 2) : run.count;
      make_room(parts, listed, ErrorKind::tensor_creation_error, "the regions of a tensor");
      std::uint64_t offset = run.offset;
      for (std::uint64_t i = 0; i < listed; ++i, offset += static_cast<std::uint64_t>(run.stride))
        parts.push_back({run.variable, offset, at + i, 1});
      at += run.count;
    });
  }
  auto before = [](const Part& a, const Part& b) { return a.in_memory_before(b); };
  if (!std::is_sorted(parts.begin(), parts.end(), before)) std::sort(parts.begin(), parts.end(), before);
  return parts;
}

// Cuts parts[begin, end), which overlap in one chain, at all their ends, and numbers the copies of each piece.
void cut(const std::vector<Part>& parts, std::size_t begin, std::size_t end, std::vector<Part>& out) {
  std::vector<std::uint64_t> cuts;
  for (std::size_t i = begin; i < end; ++i) {
    cuts.push_back(parts[i].offset);
    cuts.push_back(parts[i].end());
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  const std::size_t from = out.size();
  for (std::size_t i = begin; i < end; ++i) {
    const Part& p = parts[i];
    for (auto c = std::lower_bound(cuts.begin(), cuts.end(), p.offset); *c < p.end(); ++c)
      out.push_back({p.variable, *c, p.at + (*c - p.offset), *(c + 1) - *c});
  }
  std::sort(out.begin() + static_cast<std::ptrdiff_t>(from), out.end(), [](const Part& a, const Part& b) { return a.in_memory_before(b); });
  for (std::size_t i = from, first = from; i < out.size(); ++i) {
    if (out[i].offset != out[first].offset) first = i;
    out[i].copy = i - first;
    out[i].first = out[first].at;
    out[i].shared = true;
  }
}

// Parts in which elements either are the same or do not overlap, in memory order.
std::vector<Part> cut_overlaps(std::vector<Part> parts) {
  std::vector<Part> out;
  out.reserve(parts.size());
  for (std::size_t begin = 0; begin < parts.size();) {
    std::uint64_t upto = parts[begin].end();
    std::size_t end = begin + 1;
    for (; end < parts.size() && parts[end].variable == parts[begin].variable && parts[end].offset < upto; ++end)
      upto = std::max(upto, parts[end].end());
    if (end == begin + 1) {
      out.push_back(parts[begin]);
      out.back().first = out.back().at;
    } else {
      cut(parts, begin, end, out);
    }
    begin = end;
  }
  return out;
}

}  // namespace

std::vector<std::vector<Interval>> Graph::sorted_contiguous_regions(const View& tensor, std::span<const Interval> intervals,
                                                                    bool remove_aliased, std::vector<std::size_t>* aliases) const {
  std::vector<Part> parts = cut_overlaps(parts_of(tensor, intervals, remove_aliased));
  if (remove_aliased)
    std::erase_if(parts, [](const Part& p) { return p.copy != 0; });
  else if (std::any_of(parts.begin(), parts.end(), [](const Part& p) { return p.copy != 0; }))
    std::sort(parts.begin(), parts.end(),
              [](const Part& a, const Part& b) { return a.copy != b.copy ? a.copy < b.copy : a.in_memory_before(b); });

  std::vector<std::vector<Interval>> lists;
  if (aliases) aliases->clear();
  const Part* last = nullptr;
  for (const Part& p : parts) {
    const bool goes_on = last && last->variable == p.variable && last->end() == p.offset;
    if (!goes_on) lists.emplace_back();
    std::vector<Interval>& list = lists.back();
    const bool keeps_length = aliases && (p.shared || last == nullptr || last->shared);
    if (goes_on && list.back().end == p.at && !keeps_length) {
      list.back().end += p.size;
    } else {
      list.push_back({p.at, p.at + p.size});
      if (aliases) aliases->push_back(p.first);
    }
    last = &p;
  }
  return lists;
}

namespace {

View gathered(const View& flat, const std::vector<std::vector<Interval>>& lists) {
  std::vector<View> parts;
  for (const std::vector<Interval>& list : lists)
    for (const Interval& i : list) parts.push_back(flat.slice(i.begin, i.end, 0));
  return parts.empty() ? flat : View::concat(parts, 0);
}

}  // namespace

void Graph::reorder_to_simplify(View* tensor, std::span<View* const> others) const {
  for (const View* other : others)
    if (other->num_elements() != tensor->num_elements())
      fail(ErrorKind::tensor_creation_error, "reorder-sizes",
           "reorderToSimplify of a tensor of shape {} with one of shape {}; they must have as many elements", to_string(tensor->shape()),
           to_string(other->shape()));
  const View open = tensor->unfolded();
  const Shape shape = open.shape();
  std::vector<View*> all(others.begin(), others.end());
  all.push_back(tensor);
  std::vector<unsigned> reversed, permutation;
  if (open.variable_order(reversed, permutation)) {
    for (View* v : all) {
      View ordered = v->reshape(shape);
      for (unsigned d : reversed) ordered = ordered.reverse(d);
      *v = ordered.dim_shuffle(permutation).flatten();
    }
    return;
  }
  const Interval whole{0, tensor->num_elements()};
  const std::vector<std::vector<Interval>> lists = sorted_contiguous_regions(*tensor, {&whole, 1}, false, nullptr);
  for (View* v : all) *v = gathered(v->flatten(), lists);
}

View Graph::find_unbroadcast(const View& tensor) const {
  View source = tensor;
  if (!tensor.valid() || !tensor.contains_aliases()) return source;
  for (unsigned d = 0; d < source.rank(); ++d) {
    const std::size_t n = source.dim(d);
    for (std::size_t period = 1; period < n; ++period) {
      if (n % period != 0 || !(source.slice(0, 1, d) == source.slice(period, period + 1, d))) continue;
      const View once = source.slice(0, period, d);
      if (!(once.broadcast(static_cast<unsigned>(n / period), d) == source)) continue;
      source = once;
      break;
    }
  }
  return source;
}

}  // namespace pando::graph
