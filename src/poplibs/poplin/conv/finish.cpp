#include "poplibs/poplin/conv/finish.h"

namespace poplin::conv {

using poplar::Tensor;

bool computes_all(const Problem& p, const std::vector<std::size_t>& shape) {
  for (std::size_t d = 0; d + 2 < shape.size(); ++d)
    if (shape[2 + d] != static_cast<std::size_t>(p.lines[d].out)) return false;
  return true;
}

FinishedBox finished_box(const FinishViews& finish, const Problem& p, const Block& b, const std::vector<Range>& ranges) {
  FinishedBox of;
  of.channels = static_cast<std::size_t>(b.out_channels.size());
  const std::size_t first = static_cast<std::size_t>(b.groups.begin * p.out_channels + b.out_channels.begin);
  for (std::size_t i = 0; i < finish.matrices.size(); ++i) {
    const internal::FinishOperand& o = finish.finish->operands[i];
    of.operands.push_back(o.is_matrix                     ? box(finish.matrices[i], ranges).flatten()
                          : o.stride == internal::kOneRow ? o.tensor.slice(first, first + of.channels)
                                                          : o.tensor);
  }
  for (const Tensor& t : finish.more) of.more.push_back(box(t, ranges).flatten());
  return of;
}

void connect_finish(poplar::Graph& graph, const poplar::VertexRef& vertex, const FinishViews& finish, const Problem& p, const Block& b,
                    const std::vector<Range>& ranges) {
  std::vector<Tensor> operands, more;
  for (std::int64_t g = b.groups.begin; g < b.groups.end; ++g) {
    std::vector<Range> mine = ranges;
    Block group = b;
    mine[0] = group.groups = {g, g + 1};
    const FinishedBox of = finished_box(finish, p, group, mine);
    operands.insert(operands.end(), of.operands.begin(), of.operands.end());
    more.insert(more.end(), of.more.begin(), of.more.end());
  }
  graph.connect(vertex["operands"], operands);
  graph.connect(vertex["more"], more);
  internal::set_words(graph, vertex, internal::words_for(*finish.finish, static_cast<std::size_t>(b.out_channels.size())));
}

}  // namespace poplin::conv
