// Epilogues as popops has them, in this library's names.
#pragma once

#include <poplin/Epilogue.hpp>

#include <vector>

#include "poplibs/popops/elementwise/finish.h"

namespace poplin::internal {

using popops::internal::check_outs;
using popops::internal::Finish;
using popops::internal::finish_of;
using popops::internal::FinishOperand;
using popops::internal::interfere;
using popops::internal::kOneNumber;
using popops::internal::kOneRow;
using popops::internal::set_words;
using popops::internal::words_for;

// What a product, or a convolution, with an epilogue reads.
inline std::vector<poplar::Tensor> tensors_read(const poplar::Tensor& a, const poplar::Tensor& b, const Finish& finish) {
  std::vector<poplar::Tensor> read{a, b};
  for (const FinishOperand& o : finish.operands) read.push_back(o.tensor);
  return read;
}

}  // namespace poplin::internal
