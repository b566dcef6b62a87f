// What the rows of the negative log likelihood share.
#pragma once

#include "ir/rows/define.h"

#include <functional>

namespace pando::ir {

// What keeps the logarithm finite: 1e-7, for half the smallest normal number.
double nll_epsilon(DType t);
// Rejects (popart) labels whose shape is not that of probs without the last dimension, and unknown reductions.
void check_nll(const Inference& in);
// The loss' shape: a scalar, or the labels' for reduction "none".
Shape nll_shape(const Inference& in);

// Calls f(row, position in probs of the row's label) for each row that counts. Rows whose label is ignore_index, or no class, do not.
void for_each_label(const Evaluation& e, const std::function<void(std::int64_t row, std::int64_t at)>& f);
// What a mean divides by: the rows, without those of ignore_index; at least 1. 1 for other reductions.
double nll_divisor(const Evaluation& e);
// The loss: term(p) of each row's label, reduced.
HostTensor nll_loss_of(const Evaluation& e, const std::function<double(double)>& term);

std::vector<Sample> nll_samples(bool with_gradient, std::initializer_list<std::string_view> allowed = {});

// Probabilities and labels; the last dimension of the former counts classes, and is whole.
Subscripts nll_subscripts(const SubscriptsOf& o);
// With reduction "mean": the same with "sum", times a factor.
bool nll_loss_as_sums(MeanExpansion& x);
bool nll_grad_as_sums(MeanExpansion& x);
bool nll_loss_with_softmax_grad_as_sums(MeanExpansion& x);

}  // namespace pando::ir
