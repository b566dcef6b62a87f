#include "poplibs/poplin/conv/plan/grid.h"

namespace poplin::conv {
namespace {

// Counts like an odometer: the last digit runs fastest. False when it is back at the beginning.
bool advance(std::vector<std::int64_t>& digits, const std::vector<std::int64_t>& bases) {
  for (std::size_t d = digits.size(); d-- > 0;) {
    if (++digits[d] < bases[d]) return true;
    digits[d] = 0;
  }
  return false;
}

}  // namespace

void each_block(const poplar::Graph& graph, const Problem& p, const Partition& cut, std::int64_t step,
                const std::function<void(const Block&)>& f) {
  const unsigned tiles = graph.getTarget().getNumTiles();
  std::vector<std::int64_t> bases = {cut.groups, cut.batch};
  bases.insert(bases.end(), cut.field.begin(), cut.field.end());
  bases.push_back(cut.out_channels);
  bases.push_back(cut.in_channels);
  std::vector<std::int64_t> at(bases.size(), 0);
  const std::size_t out = bases.size() - 2, in = bases.size() - 1;
  std::int64_t index = cut.first;
  do {
    Block b;
    b.tile = static_cast<unsigned>(index++ % tiles);
    b.groups = part(p.groups, cut.groups, at[0]);
    b.batch = part(p.batch, cut.batch, at[1]);
    b.among_weights = at[1];
    bool empty = b.groups.empty() || b.batch.empty();
    for (std::size_t d = 0; d < cut.field.size(); ++d) {
      b.field.push_back(part(p.lines[d].out, cut.field[d], at[2 + d]));
      b.among_weights = b.among_weights * cut.field[d] + at[2 + d];
      empty = empty || b.field.back().empty();
    }
    b.out_channels = part(p.out_channels, cut.out_channels * cut.serial, step * cut.out_channels + at[out]);
    b.in_channels = part(p.in_channels, cut.in_channels, at[in]);
    b.among_inputs = at[out];
    b.among_outputs = at[in];
    if (!empty && !b.out_channels.empty()) f(b);
  } while (advance(at, bases));
}

poplar::Tensor box(const poplar::Tensor& t, const std::vector<Range>& ranges) {
  std::vector<std::size_t> begins, ends;
  for (const Range& r : ranges) {
    begins.push_back(static_cast<std::size_t>(r.begin));
    ends.push_back(static_cast<std::size_t>(r.end));
  }
  return t.slice(begins, ends);
}

poplar::Tensor share(const poplar::Tensor& t, std::int64_t parts, std::int64_t n, std::int64_t grain) {
  const std::int64_t size = static_cast<std::int64_t>(t.numElements()), grains = (size + grain - 1) / grain;
  const Range r = part(grains, parts, n);
  return t.flatten().slice(static_cast<std::size_t>(std::min(size, r.begin * grain)),
                           static_cast<std::size_t>(std::min(size, r.end * grain)));
}

}  // namespace poplin::conv
