#include "lower/lowering.h"
#include "lower/shared/expressions.h"

#include <popops/ElementWise.hpp>
#include <popops/Reduce.hpp>

namespace pando::lower {

using poplar::Tensor;

namespace {

// The sum of an expression over the elements of tensors; without tensors the expression itself.
Tensor count(OpLowering& o, const Any& each, const std::vector<Tensor>& tensors) {
  const Tensor ones = popops::map(o.graph(), each, tensors, o.program(), o.name() + "/counted");
  return tensors.empty() ? ones : popops::reduce(o.graph(), ones, {0}, popops::Operation::ADD, o.program(), o.name() + "/counted");
}

}  // namespace

extern const Row lower_histogram;
constexpr Row lower_histogram = {
    .name = "histogram",
    .lower =
        [](OpLowering& o) {
          o.lowering().need(Library::popops);
          const ir::Floats& levels = o.attributes().floats("levels");
          const Tensor t = o.operand(0).flatten();
          const Any value = o.attributes().flag("absolute_of_input") ? Any(pe::Abs(pe::Cast(pe::_1, poplar::FLOAT)))
                                                                     : Any(pe::Cast(pe::_1, poplar::FLOAT));
          // How many do not lie below each level; NaN lies below none.
          std::vector<Tensor> above{count(o, pe::Const(static_cast<unsigned>(t.numElements())), {})};
          for (double level : levels) {
            const Any at = pe::Cast(pe::Not(pe::Lt(value, pe::Const(static_cast<float>(level)))), poplar::UNSIGNED_INT);
            above.push_back(count(o, at, {t}));
          }
          std::vector<Tensor> bins;
          for (std::size_t i = 0; i < above.size(); ++i) {
            const bool last = i + 1 == above.size();
            bins.push_back((last ? above[i] : popops::sub(o.graph(), above[i], above[i + 1], o.program(), o.name())).reshape({1}));
          }
          o.result(0, poplar::concat(bins));
        },
};

}  // namespace pando::lower
