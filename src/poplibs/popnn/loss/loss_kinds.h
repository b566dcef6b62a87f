// One row for each kind of loss: what an output adds to the loss of its row. Host code and codelets read the same rows, so that another
// kind is a line here and an enumerator of popnn::LossType.
#pragma once

namespace popnn {

// Of one row of outputs.
struct LossScales {
  float deltas;
  float outputs;
  float inverse;  // 1 / outputs
  float least;    // that a probability counts as when its logarithm is taken
};

// Half of the squared difference.
struct SumSquaredLoss {
  static constexpr bool of_expected_only = false;
  static float term(float output, float expected, const LossScales& scales) {
    const float difference = output * scales.inverse - expected;
    return difference * difference / 2;
  }
};

// -log(p), as often as p is expected.
struct CrossEntropyLoss {
  static constexpr bool of_expected_only = true;  // an output whose expected value is 0 adds nothing
  static float term(float output, float expected, const LossScales& scales) {
    if (expected == 0) return 0;
    return expected * -__builtin_logf((output < scales.least ? scales.least : output) / scales.outputs);
  }
};

// row(number of popnn::LossType, meaning)
#define PANDO_LOSS_KINDS(row) row(SUM_SQUARED_LOSS, SumSquaredLoss) row(CROSS_ENTROPY_LOSS, CrossEntropyLoss)

enum class LossKind : unsigned {
#define PANDO_LOSS_NUMBER(number, meaning) number,
  PANDO_LOSS_KINDS(PANDO_LOSS_NUMBER)
#undef PANDO_LOSS_NUMBER
};

}  // namespace popnn
