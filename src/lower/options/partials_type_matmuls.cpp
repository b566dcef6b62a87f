#include "lower/terms/settings.h"

namespace pando::lower {

OptionRow option_partials_type_matmuls() {
  return {.name = "partials_type_matmuls",
          .effect = "the element type of a matrix product's partial sums, where the op says nothing",
          .otherwise = std::string(),
          .choices = {"float", "half"}};
}

}  // namespace pando::lower
