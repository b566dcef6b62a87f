// What files that define a row of an op include.
#pragma once

#include "ir/rows/evaluation.h"
#include "ir/rows/gradient.h"
#include "ir/rows/inference.h"
#include "ir/rows/sample.h"
#include "ir/rows/subscripts.h"

namespace pando::ir {

// Rejects, at compile time, rows that lack a part.
consteval OpRow checked(OpRow row) {
  if (row.name.empty()) throw "a row needs a name";
  if (row.doc.empty()) throw "a row needs a doc";
  if (row.infer == nullptr) throw "a row needs a type rule";
  if ((row.reference == nullptr) == (row.reference_group == nullptr)) throw "a row needs one meaning";
  if (row.samples == nullptr && !row.in_program_only) throw "a row needs samples";
  if ((row.differentiable == Differentiable::by_gradient) != (row.gradient != nullptr)) throw "a gradient, or a reason for none";
  const bool follows = row.elementwise && row.subscripts == nullptr;
  if ((row.subscripts != nullptr || follows) == !row.whole.empty()) throw "a row needs subscripts, or the reason for whole operands";
  return row;
}

}  // namespace pando::ir
