#include "ir/shared/extremes.h"

#include "ir/meaning/formula.h"

#include <limits>

namespace pando::ir {

void infer_extreme(Inference& in) {
  if (in.operands() == 0) in.reject("operand-count", "it takes one operand or more");
  broadcast_same_type(in);
}

void give_operands_where_equal(Gradient& g) {
  for (std::size_t i = 0; i < g.operands(); ++i) {
    if (!g.wants(i)) continue;
    const ValueId same = g.op("equal", {g.operand(i), g.result()});
    g.give(i, g.reduced_to(select(g, same, g.grad(), g.scalar(g.operand_type(i).dtype, 0)), g.operand_type(i).shape));
  }
}

std::vector<Sample> extreme_samples() {
  std::vector<Sample> all = binary_samples();
  for (Sample& s : all) s.smooth = false;
  Sample s;
  s.operands = {
      {DType::float32, {2, 3}, 0, 0, {1, 2, 3, 4, 5, 6}}, {DType::float32, {3}, 0, 0, {3, 2.5, 1}}, {DType::float32, {}, 0, 0, {3.5}}};
  all.push_back(s);
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInfinity = std::numeric_limits<double>::infinity();
  for (const DType t : {DType::float32, DType::float16}) {
    Sample special;
    special.operands = {
        {t, {5}, 0, 0, {1, kNan, kNan, kInfinity, -kInfinity}}, {t, {5}, 0, 0, {kNan, 2, kNan, kNan, 3}}, {t, {}, 0, 0, {1}}};
    special.smooth = false;
    all.push_back(special);
  }
  return all;
}

}  // namespace pando::ir
