#include "lower/terms/element_types.h"
#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_cast;
constexpr Row lower_cast = {
    .name = "cast",
    .expression = [](const Expression& e) -> Any {
      const ir::DType to = e.attributes().dtype("data_type");
      return e.operand_type(0).dtype == to ? e.operand(0) : Any(pe::Cast(e.operand(0), element_type(to)));
    },
};

}  // namespace pando::lower
