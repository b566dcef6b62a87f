#include "search/axis.h"

namespace pando::search {

Axis axis_post_validation() {
  Axis a = axis_of<&Strategy::post_validation>(
      "post-validation", "Updates do not wait for the norm of all gradients: it is looked at afterwards, and a wrong update is taken back",
      18, 12, 0);
  a.flag = true;
  a.trainers = "the authors' fork of Megatron-LM for zero-bubble schedules";
  a.outside = "post-validation (a property of the training program, so it is demanded, not chosen)";
  a.on_demand = true;
  a.domain = [](const SpaceFacts&, const Strategy&, Values& all) { all.push_back(0); };
  a.rule = [](const StrategyFacts&, const Strategy& s) {
    if (s.post_validation && s.pipeline == 1) return broken("post-validation", "no rank of a pipeline waits for another at p=1");
    return Violation();
  };
  a.missing = [](const Strategy& s) -> std::string_view { return s.post_validation ? "updates that are checked afterwards" : ""; };
  return a;
}

}  // namespace pando::search
