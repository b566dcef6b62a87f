#include "lower/shared/expressions.h"

#include <numbers>

namespace pando::lower {

namespace {

// gelu(x) is x s with s = sigmoid(u) and u = 2 sqrt(2 / pi) (x + 0.044715 x^3); its slope s (1 + x (1 - s) u'). Beyond 16 s is 0 or 1, and
// powers of larger numbers would overflow.
Any gelu_slope(const Expression& e, const Any& operand) {
  constexpr double kFar = 16, kScale = 2 * std::numbers::sqrt2 * std::numbers::inv_sqrtpi, kCubic = 0.044715;
  const Any x = pe::Min(pe::Max(operand, e.number(-kFar)), e.number(kFar)), square = pe::Mul(x, x);
  const Any s = pe::Sigmoid(pe::Mul(x, pe::Add(pe::Mul(square, e.number(kScale * kCubic)), e.number(kScale))));
  const Any slope = pe::Add(pe::Mul(square, e.number(3 * kScale * kCubic)), e.number(kScale));
  return pe::Mul(s, pe::Add(pe::Mul(pe::Mul(x, pe::Sub(e.number(1), s)), slope), e.number(1)));
}

}  // namespace

extern const Row lower_gelu_grad;
constexpr Row lower_gelu_grad = {
    .name = "gelu_grad",
    .expression = [](const Expression& e) -> Any { return pe::Mul(e.operand(1), gelu_slope(e, e.operand(0))); },
};

}  // namespace pando::lower
