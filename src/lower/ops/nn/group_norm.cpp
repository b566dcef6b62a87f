#include "lower/parts/op_lowering.h"
#include "lower/shared/norms.h"
#include "lower/shared/reductions.h"

#include <popnn/GroupNorm.hpp>

namespace pando::lower {

extern const Row lower_group_norm;
constexpr Row lower_group_norm = {
    .name = "group_norm",
    .makes_tensor = true,
    .lower =
        [](OpLowering& o) {
          o.need(Library::popnn);
          const poplar::OptionFlags options{{"groupNormStridedChannelGrouping", "false"}};
          const poplar::Tensor t = o.operand(0);
          const auto eps = static_cast<float>(o.attributes().number("eps"));
          const auto groups = static_cast<unsigned>(o.attributes().integer("num_groups"));
          const poplar::Tensor weight = in_type_of(o, o.operand(1), t), bias = in_type_of(o, o.operand(2), t);
          if (t.elementType() == poplar::FLOAT) {
            const auto [y, mean, inverse] = popnn::gn::groupNorm(o.graph(), t, weight, bias, eps, o.program(), groups, o.name(), options);
            o.result(0, y);
            o.result(1, as_result(o, mean, 1));
            return o.result(2, as_result(o, inverse, 2));
          }
          // The statistics of halves are floats.
          const poplar::Tensor wide = popops::cast(o.graph(), t, poplar::FLOAT, o.program(), o.name() + "/wide");
          const auto [mean, inverse] =
              popnn::gn::groupNormStatistics(o.graph(), wide, eps, o.program(), groups, false, true, poplar::FLOAT, o.name(), options);
          o.result(0, popnn::gn::groupNormalise(o.graph(), t, weight, bias, in_type_of(o, mean, t), in_type_of(o, inverse, t), o.program(),
                                                o.name(), options)
                          .first);
          o.result(1, as_result(o, mean, 1));
          o.result(2, as_result(o, inverse, 2));
        },
    .unview = keeps_layout,
};

}  // namespace pando::lower
