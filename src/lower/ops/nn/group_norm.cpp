#include "lower/lowering.h"
#include "lower/norms.h"
#include "lower/reductions.h"

#include <popnn/GroupNorm.hpp>

namespace pando::lower {

extern const Row lower_group_norm;
constexpr Row lower_group_norm = {
    .name = "group_norm",
    .lower =
        [](OpLowering& o) {
          o.lowering().need(Library::popnn);
          const poplar::OptionFlags options{{"groupNormStridedChannelGrouping", "false"}};
          const poplar::Tensor t = o.operand(0);
          // The statistics of halves are floats.
          const poplar::Tensor wide = t.elementType() == poplar::FLOAT ? t : popops::cast(o.graph(), t, poplar::FLOAT, o.program(), o.name() + "/wide");
          const auto [mean, inverse] = popnn::gn::groupNormStatistics(o.graph(), wide, static_cast<float>(o.attributes().number("eps")), o.program(),
                                                                      static_cast<unsigned>(o.attributes().integer("num_groups")), false, true,
                                                                      poplar::FLOAT, o.name(), options);
          const poplar::Tensor weight = in_type_of(o, o.operand(1), t), bias = in_type_of(o, o.operand(2), t);
          o.result(0, popnn::gn::groupNormalise(o.graph(), t, weight, bias, in_type_of(o, mean, t), in_type_of(o, inverse, t), o.program(), o.name(),
                                              options)
                      .first);
          o.result(1, as_result(o, mean, 1));
          o.result(2, as_result(o, inverse, 2));
        },
    .unview = keeps_layout,
};

}  // namespace pando::lower
