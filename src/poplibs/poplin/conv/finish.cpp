#include "poplibs/poplin/conv/finish.h"

namespace poplin::conv {

using poplar::Tensor;

bool computes_all(const Problem& p, const std::vector<std::size_t>& shape) {
  for (std::size_t d = 0; d + 2 < shape.size(); ++d)
    if (shape[2 + d] != static_cast<std::size_t>(p.lines[d].out)) return false;
  return true;
}

void connect_finish(poplar::Graph& graph, const poplar::VertexRef& vertex, const FinishViews& finish, const Problem& p, const Block& b,
                    const std::vector<Range>& ranges) {
  const std::size_t channels = static_cast<std::size_t>(b.out_channels.size());
  std::vector<Tensor> operands, more;
  for (std::int64_t g = b.groups.begin; g < b.groups.end; ++g) {
    std::vector<Range> mine = ranges;
    mine[0] = {g, g + 1};
    const std::size_t first = static_cast<std::size_t>(g * p.out_channels + b.out_channels.begin);
    for (std::size_t i = 0; i < finish.matrices.size(); ++i) {
      const internal::FinishOperand& o = finish.finish->operands[i];
      operands.push_back(o.is_matrix                     ? box(finish.matrices[i], mine).flatten()
                         : o.stride == internal::kOneRow ? o.tensor.slice(first, first + channels)
                                                         : o.tensor);
    }
    for (const Tensor& t : finish.more) more.push_back(box(t, mine).flatten());
  }
  graph.connect(vertex["operands"], operands);
  graph.connect(vertex["more"], more);
  internal::set_words(graph, vertex, internal::words_for(*finish.finish, channels));
}

}  // namespace poplin::conv
