#include "lower/parts/op_lowering.h"
#include "lower/shared/norms.h"
#include "lower/shared/reductions.h"

#include <popnn/GroupNorm.hpp>

namespace pando::lower {

extern const Row lower_group_norm_grad;
constexpr Row lower_group_norm_grad = {
    .name = "group_norm_grad",
    .lower =
        [](OpLowering& o) {
          o.need(Library::popnn);
          const poplar::OptionFlags options{{"groupNormStridedChannelGrouping", "false"}};
          const poplar::Tensor t = o.operand(0), dy = in_type_of(o, o.operand(4), t), weight = in_type_of(o, o.operand(1), t);
          const poplar::Tensor mean = in_type_of(o, o.operand(2), t), inverse = in_type_of(o, o.operand(3), t);
          const auto [dt, dweight, dbias] =
              popnn::gn::groupNormAllGradients(o.graph(), t, dy, mean, inverse, weight, o.program(), o.name(), options);
          o.result(0, dt);
          o.result(1, as_result(o, dweight, 1));
          o.result(2, as_result(o, dbias, 2));
        },
};

}  // namespace pando::lower
