#include "poplibs/popops/elementwise/finish.h"

#include <algorithm>

#include <pando/ownership.hpp>

#include "kernels/elementwise/elementwise_program.h"
#include "poplibs/poputil/reject.h"

namespace popops::internal {
namespace {

using poplar::Tensor;
using Shape = std::vector<std::size_t>;

std::string text_of(const Shape& shape) { return fmt::format("{{{}}}", fmt::join(shape, ",")); }

bool broadcasts(const Shape& from, const Shape& to) {
  if (from.size() > to.size()) return false;
  return std::equal(from.rbegin(), from.rend(), to.rbegin(),
                    [](std::size_t mine, std::size_t theirs) { return mine == 1 || mine == theirs; });
}

// Empty for what is broadcast otherwise.
std::optional<FinishOperand> finish_operand(const Tensor& t, const Shape& shape, unsigned columns) {
  if (t.numElements() == 1) return FinishOperand{t.flatten(), false, kOneNumber};
  if (t.shape() == shape) return FinishOperand{t, true, 0};
  const std::size_t behind = shape.size() - columns;
  const bool is_row =
      t.numElements() == shape[columns] && t.rank() >= behind && t.dim(static_cast<unsigned>(t.rank() - behind)) == shape[columns];
  if (!is_row || !t.flatten().isContiguous()) return {};
  return FinishOperand{t.flatten(), false, kOneRow};
}

}  // namespace

std::optional<Finish> finish_of(const std::string& where, const poplar::Graph& graph, const Epilogue& epilogue, const poplar::Type& type,
                                const Shape& shape, unsigned columns) {
  if (epilogue.product >= epilogue.operands.size())
    poputil::reject("epilogue-operand", "{}: operand {} is to be the product, of {} operands of the epilogue", where, epilogue.product,
                    epilogue.operands.size());
  bool is_of_type = true;
  for (std::size_t i = 0; i < epilogue.operands.size(); ++i) {
    if (i == epilogue.product) continue;
    pando::require_own(graph, epilogue.operands[i], where);
    const Shape mine = epilogue.operands[i].shape();
    is_of_type = is_of_type && epilogue.operands[i].elementType() == type;
    if (!broadcasts(mine, shape))
      poputil::reject("epilogue-operand", "{}: operand {} of the epilogue has shape {}, which does not broadcast to the result's, {}",
                      where, i, text_of(mine), text_of(shape));
  }
  if (!is_of_type) return {};
  const auto program = epilogue_program(epilogue.results, type, epilogue.operands.size(), epilogue.product, where);
  if (!program) return {};
  Finish finish{program->words, {}};
  for (const std::size_t o : program->operands) {
    const Tensor& t = epilogue.operands[o];
    const std::optional<FinishOperand> operand = finish_operand(t, shape, columns);
    if (!operand) return {};
    finish.operands.push_back(*operand);
  }
  return finish;
}

std::vector<unsigned> words_for(const Finish& finish, std::size_t columns, std::size_t from) {
  using namespace pando::kernels;
  std::vector<unsigned> words = finish.words;
  if (words.empty()) return words;
  std::size_t at = kHeaderWords;
  for (unsigned i = 0; i < finish.operands.size(); ++i, at += kOperandWords) {
    const FinishOperand& o = finish.operands[i];
    const bool is_row = !o.is_matrix && o.stride == kOneRow;
    words[at + 1] = i;
    words[at + 2] = 1;
    words[at + 3] = o.is_matrix ? 0 : is_row ? static_cast<unsigned>(columns) : 1;
    words[at + 4] = is_row ? static_cast<unsigned>(from) : 0;
  }
  const unsigned results = finish.words[0] >> 8 & 255;
  for (unsigned r = 0; r < results; ++r, at += kOutputWords) words[at + 1] = r;
  return words;
}

void set_words(poplar::Graph& graph, const poplar::VertexRef& vertex, const std::vector<unsigned>& words) {
  graph.setFieldSize(vertex["code"], words.size());
  if (!words.empty()) graph.setInitialValue(vertex["code"], words);
}

void check_outs(const std::string& where, const poplar::Graph& graph, const Epilogue& epilogue, const poplar::Type& type,
                const Shape& shape, const std::vector<Tensor>& outs) {
  if (epilogue.results.empty()) poputil::reject("epilogue-results", "{}: the epilogue has no result", where);
  if (outs.size() != epilogue.results.size())
    poputil::reject("epilogue-results", "{}: {} tensors for {} results of the epilogue", where, outs.size(), epilogue.results.size());
  for (const Tensor& t : outs) {
    if (!t.valid()) continue;
    pando::require_own(graph, t, where);
    if (t.shape() != shape || t.elementType() != type)
      poputil::reject("epilogue-results", "{}: a tensor to write has type {} and shape {}, expected {} and {}", where,
                      t.elementType().toString(), t.shapeToString(), type.toString(), text_of(shape));
    if (!t.isParallelWriteable()) poputil::reject("epilogue-results", "{}: a tensor to write is not parallel writeable", where);
  }
}

bool interfere(const std::vector<Tensor>& outs, const std::vector<Tensor>& read) {
  for (std::size_t i = 0; i < outs.size(); ++i) {
    if (!outs[i].valid()) continue;
    for (const Tensor& t : read)
      if (t.intersectsWith(outs[i])) return true;
    for (std::size_t j = 0; j < i; ++j)
      if (outs[j].valid() && outs[j].intersectsWith(outs[i])) return true;
  }
  return false;
}

}  // namespace popops::internal
