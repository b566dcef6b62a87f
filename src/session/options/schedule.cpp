#include "session/option_rows.h"

namespace pando::session {

OptionRow option_schedule() {
  return {.name = "schedule",
          .popart = "swapLimitScheduler",
          .effect = "ops whose order nobody demanded come in one that keeps little alive; without, in the order in which they were made",
          .otherwise = true};
}

}  // namespace pando::session
