// What epilogues of products, convolutions and reductions have in common.
#pragma once

#include <poplar/Graph.hpp>
#include <popops/Epilogue.hpp>

#include <optional>
#include <string>
#include <vector>

#include "poplibs/popops/elementwise/epilogue.h"

namespace popops::internal {

// How a vertex has an operand of its epilogue: a matrix whose rows are so many elements apart, or one of these
// (codelets/finish_elements.h).
constexpr unsigned kOneRow = 0, kOneNumber = ~0u;

struct FinishOperand {
  poplar::Tensor tensor;  // a matrix's: of the result's shape; else flat
  bool is_matrix = false;
  unsigned stride = kOneNumber;  // of others than matrices
};

// An epilogue as vertices evaluate it, with those operands that they read.
struct Finish {
  std::vector<unsigned> words;
  std::vector<FinishOperand> operands;
};

// Of a result of that type and shape, whose columns (channels) are dimension `columns`. Empty where vertices cannot do it.
POPLAR_EXPORT std::optional<Finish> finish_of(const std::string& where, const poplar::Graph& graph, const Epilogue& epilogue,
                                              const poplar::Type& type, const std::vector<std::size_t>& shape, unsigned columns);

// The words for a vertex whose results follow each other in rows of `columns` elements: the first row begins with element `from` of a row.
POPLAR_EXPORT std::vector<unsigned> words_for(const Finish& finish, std::size_t columns, std::size_t from = 0);
// As a vertex's field `code`.
POPLAR_EXPORT void set_words(poplar::Graph& graph, const poplar::VertexRef& vertex, const std::vector<unsigned>& words);

// Rejects `outs` that are no place for the results; makes none.
POPLAR_EXPORT void check_outs(const std::string& where, const poplar::Graph& graph, const Epilogue& epilogue, const poplar::Type& type,
                              const std::vector<std::size_t>& shape, const std::vector<poplar::Tensor>& outs);

// Whether results that share elements with each other or with what is read forbid that they are written part by part.
POPLAR_EXPORT bool interfere(const std::vector<poplar::Tensor>& outs, const std::vector<poplar::Tensor>& read);

}  // namespace popops::internal
