// A view's elements as a set: which there are, in whatever order.
#include <algorithm>
#include <cstdlib>
#include <limits>

#include "base/sizes.h"
#include "graph/views/view.h"
#include "graph/views/view_walk.h"

namespace pando::graph {

namespace {

template <class Emit>
bool walk_in_any_order(const Strided& grid, Emit emit) {
  bool repeated = false;
  const Strided sorted = in_source_order(grid, &repeated);
  Walker<Emit> walker(std::move(emit), true);
  walker.range(sorted, 0, elements_of(sorted.dims));
  return repeated || walker.repeated();
}

// Many short regions close to each other, of one variable, as a set of bits: in order, those that meet joined. False if it takes less to
// sort them.
bool join_as_bits(std::vector<Region>& list, bool& twice) {
  constexpr std::size_t kMany = 4096, kMostBits = 64, kMostElements = 8;  // for each region
  if (list.size() < kMany) return false;
  std::uint64_t begin = list[0].elements.begin, end = 0, elements = 0;
  for (const Region& r : list) {
    if (r.variable != list[0].variable) return false;
    begin = std::min(begin, r.elements.begin);
    end = std::max(end, r.elements.end);
    elements += r.elements.size();
  }
  if (end - begin > kMostBits * list.size() || elements > kMostElements * list.size()) return false;
  const VariableId variable = list[0].variable;
  std::vector<std::uint64_t> words((end - begin + 63) / 64 + 1, 0);
  for (const Region& r : list)
    for (std::uint64_t e = r.elements.begin - begin; e < r.elements.end - begin; ++e) {
      std::uint64_t& word = words[e / 64];
      const std::uint64_t bit = std::uint64_t{1} << e % 64;
      twice = twice || (word & bit) != 0;
      word |= bit;
    }
  list.clear();
  const auto is_set = [&](std::uint64_t e) { return (words[e / 64] >> e % 64 & 1) != 0; };
  for (std::uint64_t e = 0; e < end - begin;) {
    if (words[e / 64] == 0) {
      e = (e / 64 + 1) * 64;
      continue;
    }
    if (!is_set(e)) {
      ++e;
      continue;
    }
    const std::uint64_t first = e;
    while (is_set(e)) ++e;  // a word of zeros ends all
    list.push_back({variable, {begin + first, begin + e}});
  }
  return true;
}

}  // namespace

void View::for_each_run_in_any_order(const std::function<void(const Run&)>& sink) const {
  if (num_elements() == 0) return;
  if (!node_) return sink(Run{variable_, offset_, 1, num_elements()});
  auto keep = [&](const Run& run) {
    Run r = run;
    if (r.stride < 0) {
      r.offset += static_cast<std::uint64_t>(r.stride) * (r.count - 1);
      r.stride = -r.stride;
    }
    if (r.stride == 0) r = {r.variable, r.offset, 1, 1};
    sink(r);
    return true;
  };
  Joiner<decltype(keep)> joiner(keep);
  walk_in_any_order(
      *node_, [&](VariableId v, std::uint64_t offset, std::int64_t stride, std::uint64_t n) { return joiner.add(v, offset, stride, n); });
  joiner.finish();
}

std::vector<Region> View::element_set(bool* repeated) const {
  if (repeated) *repeated = false;
  std::vector<Region> list;
  Region region;
  if (num_elements() == 0) return list;
  if (!node_) {
    single_region(region);
    return {region};
  }
  bool again = false;
  bool twice = walk_in_any_order(*node_, [&](VariableId v, std::uint64_t offset, std::int64_t stride, std::uint64_t n) {
    if (stride == 0) {
      again = again || n > 1;
      n = 1;
    }
    if (stride == -1) offset -= n - 1;
    if (n == 1 || stride == 1 || stride == -1) {
      list.push_back({v, {offset, offset + n}});
      return true;
    }
    make_room(list, n, ErrorKind::tensor_creation_error, "the elements of a tensor");
    for (std::uint64_t i = 0; i < n; ++i, offset += static_cast<std::uint64_t>(stride)) list.push_back({v, {offset, offset + 1}});
    return true;
  });
  twice = twice || again;
  if (!std::is_sorted(list.begin(), list.end())) {
    if (join_as_bits(list, twice)) {
      if (repeated) *repeated = twice;
      return list;
    }
    std::sort(list.begin(), list.end());
  }
  std::size_t out = 0;
  for (const Region& r : list) {
    if (out == 0 || list[out - 1].variable != r.variable || list[out - 1].elements.end < r.elements.begin) {
      list[out++] = r;
      continue;
    }
    Interval& last = list[out - 1].elements;
    twice = twice || last.end > r.elements.begin;
    last.end = std::max(last.end, r.elements.end);
  }
  list.resize(out);
  list.shrink_to_fit();
  if (repeated) *repeated = twice;
  return list;
}

namespace {

enum class Answer { no, yes, unknown };

// Whether a grid meets an element twice, as far as its strides alone say: it does not if each stride passes all that is inside.
Answer repeats(const Strided& grid) {
  constexpr std::size_t kMost = 16;
  std::pair<std::int64_t, std::uint64_t> dims[kMost];  // stride and size, the least stride first
  std::size_t n = 0;
  for (const Dim& d : grid.dims) {
    if (d.size == 1) continue;
    if (d.stride == 0) return Answer::yes;
    if (n == kMost) return Answer::unknown;
    const std::pair next(std::abs(d.stride), d.size);
    std::size_t at = n++;
    for (; at > 0 && next < dims[at - 1]; --at) dims[at] = dims[at - 1];
    dims[at] = next;
  }
  std::int64_t extent = 0;
  for (std::size_t d = 0; d < n; ++d) {
    if (dims[d].first <= extent) return Answer::unknown;
    extent += dims[d].first * static_cast<std::int64_t>(dims[d].second - 1);
  }
  return grid.source.variable.valid() ? Answer::no : Answer::unknown;
}

}  // namespace

bool View::variable_order(std::vector<unsigned>& reversed, std::vector<unsigned>& permutation) const {
  if (num_elements() == 0) return false;
  const Node own = node_ ? Node() : node();
  const Strided& grid = node_ ? *node_ : own;
  if (!grid.source.variable.valid()) return false;
  reversed.clear();
  permutation.clear();
  permutation.reserve(rank());
  Strided once{grid.source, grid.offset, {}};
  once.dims.reserve(rank());
  for (unsigned d = 0; d < rank(); ++d) {
    permutation.push_back(d);
    if (grid.dims[d].size > 1 && grid.dims[d].stride < 0) reversed.push_back(d);
    if (grid.dims[d].stride != 0) once.dims.push_back(grid.dims[d]);
  }
  if (repeats(once) != Answer::no) return false;
  auto distance = [&](unsigned d) {
    return grid.dims[d].stride == 0 ? std::numeric_limits<std::int64_t>::max() : std::abs(grid.dims[d].stride);
  };
  std::sort(permutation.begin(), permutation.end(),
            [&](unsigned a, unsigned b) { return std::pair(distance(b), a) < std::pair(distance(a), b); });
  return true;
}

namespace {

// Takes a grid over the row-major order of a block apart into a grid over what the block is made of.
class Unfolding {
 public:
  Unfolding(const Strided& block, std::uint64_t offset) : block_(block), along_(block.dims.size()) {
    std::uint64_t inner = 1;
    for (std::size_t j = along_.size(); j-- > 0; inner *= block.dims[j].size)
      along_[j] = {.inner = inner, .at = offset / inner % block.dims[j].size, .reach = 0};
  }

  // The dimensions that stand for `dim`, outermost first; false if its steps do not follow the block's dimensions.
  bool split(const Dim& dim, std::vector<Dim>& out) {
    if (dim.stride == 0 || dim.size == 1) return out.push_back({dim.size, 0}), true;
    if (dim.stride < 0) return false;
    const auto step = static_cast<std::uint64_t>(dim.stride);
    std::size_t j = 0;
    while (j < along_.size() && (step % along_[j].inner != 0 || step / along_[j].inner >= block_.dims[j].size)) ++j;
    if (j == along_.size()) return false;
    const auto first = static_cast<std::ptrdiff_t>(out.size());
    std::uint64_t left = dim.size, steps = step / along_[j].inner;
    for (;; --j, steps = 1) {  // innermost first
      const Dim& along = block_.dims[j];
      const std::uint64_t last = along_[j].at + along_[j].reach + steps * (left - 1);
      if (last < along.size) {
        out.push_back({left, along.stride * static_cast<std::int64_t>(steps)});
        along_[j].reach += steps * (left - 1);
        break;
      }
      if (steps != 1 || along_[j].at + along_[j].reach != 0 || left % along.size != 0 || j == 0) return false;
      out.push_back(along);
      along_[j].reach = along.size - 1;
      left /= along.size;
    }
    std::reverse(out.begin() + first, out.end());
    return true;
  }

  std::int64_t offset() const {
    std::int64_t offset = block_.offset;
    for (std::size_t j = 0; j < along_.size(); ++j) offset += static_cast<std::int64_t>(along_[j].at) * block_.dims[j].stride;
    return offset;
  }

 private:
  struct Along {              // of each dimension of the block
    std::uint64_t inner = 1;  // elements of the block inside one step
    std::uint64_t at = 0;     // the first element's place
    std::uint64_t reach = 0;  // how far the dimensions split so far go along it
  };
  const Strided& block_;
  std::vector<Along> along_;
};

// A grid over a chain of one block as one over a variable; false if there is none.
bool unfold(const Strided& grid, Strided& out) {
  const Strided* from = &grid;
  while (!from->source.variable.valid()) {
    const std::vector<Extent>& extents = from->source.chain->extents;
    if (extents.size() != 1 || !extents.front().block) return false;
    const Strided& block = *extents.front().block;
    Unfolding unfolding(block, extents.front().offset + static_cast<std::uint64_t>(from->offset));
    std::vector<Dim> dims;
    dims.reserve(from->dims.size() + block.dims.size());
    for (const Dim& dim : from->dims)
      if (!unfolding.split(dim, dims)) return false;
    out = Strided{block.source, unfolding.offset(), std::move(dims)};
    from = &out;
  }
  return true;
}

}  // namespace

bool View::contains_aliases() const {
  if (!node_) return false;
  Answer answer = repeats(*node_);
  Strided open;
  if (answer == Answer::unknown && !node_->source.variable.valid() && unfold(*node_, open)) answer = repeats(open);
  if (answer != Answer::unknown) return answer == Answer::yes;
  bool repeated = false;
  element_set(&repeated);
  return repeated;
}

View View::unfolded() const {
  Node open;
  if (!node_ || node_->source.variable.valid() || !unfold(*node_, open)) return *this;
  Shape shape;
  shape.reserve(open.dims.size());
  for (const Dim& dim : open.dims) shape.push_back(dim.size);
  return make(type_, std::move(shape), std::move(open));
}

bool View::intersects(const View& other) const {
  Region a, b;
  if (!node_ && !other.node_) {
    if (!single_region(a) || !other.single_region(b)) return false;
    return a.variable == b.variable && a.elements.overlaps(b.elements);
  }
  const std::vector<VariableId> first = variables(), second = other.variables();
  if (std::none_of(first.begin(), first.end(), [&](VariableId v) { return std::binary_search(second.begin(), second.end(), v); }))
    return false;
  const std::vector<Region> mine = element_set(), theirs = other.element_set();
  for (std::size_t i = 0, j = 0; i < mine.size() && j < theirs.size();) {
    if (mine[i].variable == theirs[j].variable && mine[i].elements.overlaps(theirs[j].elements)) return true;
    if (std::pair(mine[i].variable, mine[i].elements.end) < std::pair(theirs[j].variable, theirs[j].elements.end))
      ++i;
    else
      ++j;
  }
  return false;
}

std::vector<VariableId> View::variables() const {
  if (!node_) return num_elements() == 0 ? std::vector<VariableId>() : std::vector<VariableId>{variable_};
  if (const VariableId only = only_variable(node_->source); only.valid()) return {only};
  std::vector<VariableId> list;
  for_each_run_in_any_order([&](const Run& run) {
    if (list.empty() || list.back() != run.variable) list.push_back(run.variable);
  });
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

}  // namespace pando::graph
