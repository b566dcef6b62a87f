#include "lower/parts/op_lowering.h"

namespace pando::lower {

extern const Row lower_transpose;
constexpr Row lower_transpose = {
    .name = "transpose",
    .lower =
        [](OpLowering& o) {
          const ir::Ints& order = o.attributes().ints("permutation");
          o.result_view(0, o.operand(0).dimShuffle(std::vector<unsigned>(order.begin(), order.end())));
        },
    .unview =
        [](const ir::Module& m, ir::OpId op, const poplar::Tensor& t) {
          const ir::Ints& order = m.attributes(op).ints("permutation");
          std::vector<unsigned> back(order.size());
          for (std::size_t i = 0; i < order.size(); ++i) back[static_cast<std::size_t>(order[i])] = static_cast<unsigned>(i);
          return t.dimShuffle(back);
        },
};

}  // namespace pando::lower
