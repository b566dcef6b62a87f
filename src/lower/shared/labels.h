// Rows of probabilities with a label each.
#pragma once

#include "lower/parts/op_lowering.h"

namespace pando::lower {

struct Labels {
  std::size_t rows = 1, classes = 1;
  poplar::Tensor probs;   // {rows, classes}
  poplar::Tensor labels;  // {rows}, int
  poplar::Tensor valid;   // {rows}, bool: a class, and not ignored
  // What the loss is divided by, a float scalar: the rows that are not ignored for a mean, else 1.
  poplar::Tensor divisor;
};

// From operands 0 and 1 and attributes "ignore_index" and "reduction".
Labels labels_of(OpLowering& o);
// The probability of each row's label, as float; 0 where the label is not valid.
poplar::Tensor label_probabilities(OpLowering& o, const Labels& l);
// Terms of the rows, {rows} of floats, reduced as the op says: result i.
void reduce_terms(OpLowering& o, const Labels& l, const poplar::Tensor& terms, std::size_t i);
// The numbers of the classes, {1, classes}, int.
poplar::Tensor class_numbers(OpLowering& o, const Labels& l);
// A gradient of the loss, beside the rows: {rows, 1} or {1, 1}.
poplar::Tensor loss_gradient(OpLowering& o, const Labels& l, const poplar::Tensor& t);

}  // namespace pando::lower
