#include "lower/shared/products.h"

namespace pando::lower {

extern const Row lower_matmul;
constexpr Row lower_matmul = {
    .name = "matmul",
    .makes_tensor = true,
    .lower = lower_product,
    .finish = finish_product,
    .layout = product_layout,
    .parts = Row::Parts::move,
};

}  // namespace pando::lower
