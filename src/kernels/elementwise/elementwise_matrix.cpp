#include "kernels/elementwise/elementwise_matrix.h"

#include <algorithm>
#include <cstring>

namespace pando::kernels {
namespace {

constexpr std::size_t kRowsAtOnce = 32;
constexpr unsigned kFloat = size_class_of(sizeof(float));

// A part of the epilogue's matrices, and the expression's words with what they say of operands filled in.
class Part {
 public:
  Part(const PandoEpilogue& e, std::size_t row, std::size_t column, std::size_t columns)
      : e_(e), row_(row), column_(column), columns_(columns) {
    std::memcpy(words_, e.code, e.words * sizeof(std::uint32_t));
    operands_ = words_[0] & 255;
    results_ = words_[0] >> 8 & 255;
  }

  // Whether rows of all matrices follow each other without gaps.
  bool is_in_one_piece() const {
    const auto whole = [this](std::size_t row) { return row == columns_; };
    return std::all_of(e_.operands, e_.operands + operands_,
                       [&](const MatrixOperand& o) { return o.spread != Spread::matrix || whole(o.row); }) &&
           std::all_of(e_.results, e_.results + results_, [&](const MatrixResult& r) { return whole(r.row); });
  }

  // Rows [first, first + rows) of the part, each of `length` elements: its columns, or of a part in one piece those of several rows.
  void run(std::size_t first, std::size_t rows, std::size_t length) {
    Row in[kMostEpilogueMatrices * kRowsAtOnce], out[kMostEpilogueMatrices * kRowsAtOnce];
    std::size_t inputs = 0, outputs = 0;
    std::uint32_t* word = words_ + kHeaderWords;
    for (unsigned k = 0; k < operands_; ++k, word += kOperandWords) {
      const MatrixOperand& o = e_.operands[k];
      word[1] = static_cast<std::uint32_t>(inputs);
      word[2] = 1;
      word[3] = o.spread == Spread::matrix ? 0 : o.spread == Spread::row ? static_cast<std::uint32_t>(columns_) : 1;
      word[4] = 0;
      if (o.spread == Spread::matrix)
        for (std::size_t r = 0; r < rows; ++r) in[inputs++] = {const_cast<float*>(o.data) + (row_ + first + r) * o.row + column_, length};
      else
        in[inputs++] = {const_cast<float*>(o.data) + (o.spread == Spread::row ? column_ : 0), word[3]};
    }
    for (unsigned k = 0; k < results_; ++k, word += kOutputWords) {
      word[1] = static_cast<std::uint32_t>(outputs);
      for (std::size_t r = 0; r < rows; ++r)
        out[outputs++] = {e_.results[k].data + (row_ + first + r) * e_.results[k].row + column_, length};
    }
    Rows ins[4] = {}, outs[4] = {};
    ins[kFloat] = {in, inputs};
    outs[kFloat] = {out, outputs};
    pando_program(words_, ins, outs);
  }

 private:
  const PandoEpilogue& e_;
  const std::size_t row_, column_, columns_;
  unsigned operands_, results_;
  std::uint32_t words_[kMostEpilogueWords];
};

}  // namespace
}  // namespace pando::kernels

void pando_finish(const PandoEpilogue* epilogue, std::size_t row, std::size_t rows, std::size_t column, std::size_t columns) {
  using namespace pando::kernels;
  Part part(*epilogue, row, column, columns);
  if (part.is_in_one_piece()) return part.run(0, 1, rows * columns);
  for (std::size_t first = 0; first < rows; first += kRowsAtOnce) part.run(first, std::min(kRowsAtOnce, rows - first), columns);
}
