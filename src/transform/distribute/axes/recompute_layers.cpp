#include "transform/distribute/axis.h"

namespace pando::transform {

AxisRow axis_recompute_layers() {
  return {.word = "recompute-layers",
          .position = 120,
          .doc = "With --recompute: these layers alone, by number from 0",
          .least = 0,
          .numbers = &Strategy::recomputed_layers,
          .nesting = 150,
          .inside_group = true,
          .is_open = [](const Strategy& s) { return s.recompute != Recompute::none; },
          // Sets of layers come when a group is looked into (search/programs/recompute_choices.h).
          .choices = [](const SpaceFacts&, const Strategy& s, std::vector<Strategy>& to) { to.push_back(s); }};
}

}  // namespace pando::transform
