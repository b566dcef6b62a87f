#include "lower/parts/op_lowering.h"
#include "lower/shared/replicas.h"
#include "lower/terms/element_types.h"

namespace pando::lower {

extern const Row lower_replicated_all_gather;
constexpr Row lower_replicated_all_gather = {
    .name = "replicated_all_gather",
    .lower =
        [](OpLowering& o) {
          const auto grouping = grouping_of(o);
          const poplar::Tensor all = gathered(o, o.operand(0), grouping);
          const std::string& form = o.attributes().text("output_shape");
          if (form == "meta_shape") {
            // The last shard ends in padding.
            return o.result(0, all.flatten().slice(0, static_cast<std::size_t>(ir::elements_of(o.result_type().shape))));
          }
          if (form == "new_axis") return o.result(0, all);
          const auto axis = static_cast<unsigned>(o.attributes().integer("axis", 0));
          auto shape = extents(o.operand_type(0).shape);
          shape.insert(shape.begin(), all.dim(0));
          o.result(0, all.reshape(shape).dimRoll(0, axis));
        },
};

}  // namespace pando::lower
