#include "lower/parts/op_lowering.h"
#include "lower/terms/element_types.h"
#include "lower/shared/reductions.h"

#include <popops/Cast.hpp>

#include <algorithm>

namespace pando::lower {

namespace {

// One by how many elements there are for each result.
double share(OpLowering& o) {
  return static_cast<double>(std::max<std::int64_t>(1, ir::elements_of(o.result_type().shape))) /
         static_cast<double>(ir::elements_of(o.operand_type(0).shape));
}

}  // namespace

extern const Row lower_mean;
constexpr Row lower_mean = {
    .name = "mean",
    .makes_tensor = true,
    .lower =
        [](OpLowering& o) {
          const ir::DType type = o.result_type().dtype;
          if (ir::is_floating(type)) return o.result(0, reduced(o, o.operand(0), popops::Operation::ADD, element_type(type), share(o)));
          o.need(Library::popops);
          const poplar::Tensor numbers = popops::cast(o.graph(), o.operand(0), poplar::FLOAT, o.program(), o.name());
          o.result(0, as_result(o, reduced(o, numbers, popops::Operation::ADD, poplar::FLOAT, share(o))));
        },
    .finish = [](OpLowering& o, Epilogue& e) { return finish_reduced(o, e, popops::Operation::ADD, share(o)); },
};

}  // namespace pando::lower
