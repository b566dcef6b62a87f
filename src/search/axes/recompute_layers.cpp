#include "search/axis.h"

namespace pando::search {

Axis axis_recompute_layers() {
  Axis a;
  a.word = "recompute-layers";
  a.doc = "With --recompute: these layers alone, by number from 0";
  a.program = {.position = 120,
               .least = 0,
               .numbers = &Strategy::recomputed_layers,
               .nesting = 150,
               .inside_group = true,
               .is_open = [](const Strategy& s) { return s.recompute != Recompute::none; },
               // Sets of layers come when a group is looked into (search/programs/recompute_choices.h).
               .choices = [](const SpaceFacts&, const Strategy& s, std::vector<Strategy>& to) { to.push_back(s); }};
  return a;
}

}  // namespace pando::search
