#include "ir/meaning/extreme.h"
#include "ir/shared/windows/pooling.h"

#include <cmath>

namespace pando::ir {

extern const OpRow op_max_pool;
constexpr OpRow op_max_pool = checked({
    .name = "max_pool",
    .doc = "The largest element under each window; padding and gaps do not count. Data and windows as average_pool's. `storage_order` says "
           "how indices would be "
           "counted, of which there are none.",
    .signature = "max_pool(t: Tensor, kernel_size: Tuple[int], stride: Optional[Tuple[int]]=None, padding: Optional[Tuple[int]]=None, "
                 "out_pads: Optional[Tuple[int]]=None, dilation: Optional[Tuple[int]]=None, in_dilations: Optional[Tuple[int]]=None, "
                 "auto_pad: Optional[PadType]='not_set', ceil_mode: bool=False, storage_order: Literal['row', 'column']='row') -> "
                 "Tensor",
    .module = "pool",
    .operands = {{{"t", any_floating}}},
    .attributes = {{{"kernel_size", AttributeKind::ints},
                    {"stride", AttributeKind::ints, false},
                    {"padding", AttributeKind::ints, false},
                    {"out_pads", AttributeKind::ints, false},
                    {"dilation", AttributeKind::ints, false},
                    {"in_dilations", AttributeKind::ints, false},
                    {"auto_pad", AttributeKind::text, false},
                    {"ceil_mode", AttributeKind::flag, false},
                    {"storage_order", AttributeKind::text, false}}},
    .infer = [](Inference& in) { in.result(in.dtype(0), pooled_shape(in, in.shape(0))); },
    .reference =
        [](Evaluation& e) {
          const Pooling p = pooling_of(e.attributes(), e.operand(0).shape());
          HostTensor y = HostTensor::filled(e.result_type().dtype, e.result_type().shape, -INFINITY);
          for (std::int64_t image = 0; image < p.images; ++image) {
            for_each_cell(p.windows, [&](std::int64_t o, std::int64_t, std::int64_t i) {
              const std::int64_t at = image * p.outs + o;
              y.set(at, larger(y.number(at), e.operand(0).number(image * p.ins + i)));
            });
          }
          e.result(std::move(y));
        },
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) { g.give(0, g.op("max_pool_grad", {g.operand(0), g.result(), g.grad()}, g.attributes())); },
    .samples = pooling_samples,
    .popart_type = "MaxPool",
    .subscripts = leading_two_subscripts,
});

}  // namespace pando::ir
