#include "lower/parts/op_lowering.h"
#include "lower/terms/element_types.h"

#include <popops/ElementWise.hpp>
#include <poputil/TileMapping.hpp>

namespace pando::lower {

namespace {

namespace pe = popops::expr;

}  // namespace

extern const Row lower_onehot;
constexpr Row lower_onehot = {
    .name = "onehot",
    .makes_tensor = true,
    .lower =
        [](OpLowering& o) {
          // Compared with the numbers of the classes, along the new axis.
          o.need(Library::popops);
          const auto axis = static_cast<std::size_t>(o.attributes().integer("axis"));
          const std::int64_t classes = o.attributes().integer("num_classes");
          const ir::DType type = o.operand_type(0).dtype;
          ir::HostTensor numbers(type, ir::Shape(o.result_type().shape.size() - axis, 1));
          ir::Shape along(o.result_type().shape.size() - axis, 1);
          along[0] = classes;
          numbers = ir::HostTensor(type, along);
          for (std::int64_t i = 0; i < classes; ++i) numbers.set_integer(i, i);
          const poplar::Tensor all = add_constant(o.graph(), numbers, o.name() + "/classes");
          poputil::mapTensorLinearly(o.graph(), all);
          const poplar::Tensor labels = o.operand(0).expand({axis}), values = o.operand(1);
          o.result(0, popops::map(o.graph(), pe::Select(pe::_4, pe::_3, pe::Equal(pe::_1, pe::_2)), {labels, all, values[0], values[1]},
                                  o.program(), o.name()));
        },
};

}  // namespace pando::lower
