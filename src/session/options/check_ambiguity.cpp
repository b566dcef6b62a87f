#include "session/option_rows.h"

namespace pando::session {

OptionRow option_check_ambiguity() {
  return {.name = "check_ambiguity",
          .popart = "enableInplaceAmbiguityChecking",
          .effect = "programs whose result depends on an order that nobody demanded are rejected",
          .otherwise = true};
}

}  // namespace pando::session
