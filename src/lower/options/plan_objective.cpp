#include "lower/terms/settings.h"

namespace pando::lower {

OptionRow option_plan_objective() {
  return {.name = "plan_objective",
          .effect =
              "on tiles: what plans of products, convolutions and lookups spare, this host's time or the machine's cycles "
              "(what a profile is read for); auto: cycles where a report of a run is asked for (autoReport.all, "
              "autoReport.outputExecutionProfile, profile= in Python), hostTime otherwise",
          .otherwise = std::string("auto"),
          .choices = {"auto", "hostTime", "cycles"},
          .ipus_only = true};
}

}  // namespace pando::lower
