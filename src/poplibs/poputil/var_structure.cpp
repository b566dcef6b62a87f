#include "poplibs/poputil/reject.h"
#include "poputil/VarStructure.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "poputil/exceptions.hpp"

namespace poputil {
namespace {

using poplar::Graph;
using poplar::Interval;
using poplar::Tensor;
using Shape = std::vector<std::size_t>;

std::size_t common_run(const Tensor& t, std::size_t run) {
  for (const Interval& region : t.getContiguousRegions()) {
    run = std::gcd(run, region.begin());
    if (run == 1) break;
  }
  return run;
}

// detectInnermostGrouping for rank >= 1 and at least one element. Looks at one row first: most tensors show there what they are.
std::size_t innermost_run(const Tensor& t) {
  const std::size_t size = t.dim(static_cast<unsigned>(t.rank()) - 1);
  const Tensor rows = t.reshape({t.numElements() / size, size});
  const std::size_t run = common_run(rows[0], size);
  return run == 1 || rows.dim(0) == 1 ? run : common_run(rows.flatten(), run);
}

Interval part(std::size_t size, std::size_t parts, std::size_t i) {
  const std::size_t length = size / parts + (size % parts != 0);
  return Interval(std::min(i * length, size), std::min((i + 1) * length, size));
}

void check_partitions(const char* function, const Shape& shape, const Shape& parts) {
  if (shape.size() != parts.size() || std::find(parts.begin(), parts.end(), 0u) != parts.end())
    poputil::reject("parts", "{}: [{}] parts for shape [{}]; expected a positive number for each dimension", function,
                    fmt::join(parts, ","), fmt::join(shape, ","));
  // As many blocks as a host can hold.
  constexpr std::size_t kMostBlocks = std::size_t{1} << 26;
  unsigned __int128 blocks = 1;
  for (const std::size_t n : parts)
    if ((blocks *= n) > kMostBlocks)
      poputil::reject("part-count", "{}: [{}] parts are more than {} blocks", function, fmt::join(parts, ","), kMostBlocks);
}

// The block of `shape` from dimension d on, taken from the front of `left` in units of `block`.
Tensor blocks(Tensor& left, const Shape& shape, const Shape& parts, Shape& block, std::size_t d) {
  if (d == shape.size()) {
    const std::size_t n = std::accumulate(block.begin(), block.end(), std::size_t{1}, std::multiplies<>());
    const Tensor out = left.slice(0, n).reshape(block);
    left = left.slice(n, left.numElements());
    return out;
  }
  std::vector<Tensor> pieces;
  for (std::size_t i = 0; i < parts[d]; ++i) {
    block[d] = part(shape[d], parts[d], i).size();
    if (block[d] != 0 || i == 0) pieces.push_back(blocks(left, shape, parts, block, d + 1));
  }
  return pieces.size() == 1 ? pieces[0] : poplar::concat(pieces, static_cast<unsigned>(d));
}

}  // namespace

unsigned detectInnermostGrouping(const Graph&, const Tensor& t) {
  if (t.rank() == 0 || t.numElements() == 0) return 1;
  return static_cast<unsigned>(innermost_run(t));
}

std::vector<GroupingInfo> detectDimGroupings(const Graph&, const Tensor& t) {
  std::vector<GroupingInfo> groupings;
  if (t.rank() == 0 || t.numElements() == 0) return groupings;
  // The blocks found so far are one last dimension of `unit` elements; the others have one element for each of them.
  Tensor rest = t.expand({t.rank()});
  const unsigned rank = static_cast<unsigned>(t.rank());
  for (std::size_t unit = 1;;) {
    GroupingInfo best(0, 1);
    for (unsigned d = 0; d < rank; ++d) {
      if (rest.dim(d) == 1) continue;
      const Tensor with_block = rest.dimRoll(d, rank - 1).flatten(rank - 1, rank + 1);
      const unsigned group = static_cast<unsigned>(innermost_run(with_block) / unit);
      if (group > 1 && group >= best.second) best = {d, group};
    }
    if (best.second == 1) return groupings;
    groupings.push_back(best);
    const auto [d, group] = best;
    rest = rest.reshapePartial(d, d + 1, {rest.dim(d) / group, group}).dimRoll(d + 1, rank).flatten(rank, rank + 2);
    unit *= group;
  }
}

Tensor createPartitionableTensor(Graph& graph, const poplar::Type& type, const Shape& shape, const Shape& nPartitions,
                                 const poplar::DebugContext& debugContext) {
  check_partitions("createPartitionableTensor", shape, nPartitions);
  const std::size_t n = std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
  if (n == 0) return graph.addVariable(type, shape, debugContext);
  Tensor variable = graph.addVariable(type, {n}, debugContext);
  Shape block(shape.size());
  return blocks(variable, shape, nPartitions, block, 0);
}

void iterateTensorPartitions(const Tensor& t, const Shape& nPartitions, const std::function<void(const Shape&, const Tensor&)>& f) {
  const Shape shape = t.shape();
  check_partitions("iterateTensorPartitions", shape, nPartitions);
  const std::size_t blocks = std::accumulate(nPartitions.begin(), nPartitions.end(), std::size_t{1}, std::multiplies<>());
  Shape position(shape.size(), 0), begin(shape.size()), end(shape.size());
  for (std::size_t b = 0; b < blocks; ++b) {
    std::size_t rest = b;
    for (std::size_t d = shape.size(); d-- > 0; rest /= nPartitions[d]) {
      position[d] = rest % nPartitions[d];
      const Interval p = part(shape[d], nPartitions[d], position[d]);
      begin[d] = p.begin(), end[d] = p.end();
    }
    f(position, shape.empty() ? t : t.slice(begin, end));
  }
}

}  // namespace poputil
