#include "search/axis.h"

namespace pando::search {

namespace {

// Stages of one size each would do the same.
bool changes_something(const StrategyFacts& f, const Strategy& s) {
  return !(weighed_division(f, s) == even_division(f.model.layers, s.pipeline));
}

bool may_weigh(const Transformer& m, const Strategy& s) {
  return s.pipeline > 1 && s.stages_per_rank == 1 && m.experts == 0 && schedule_of(s) != PipelineSchedule::zero_bubble_v;
}

}  // namespace

Axis axis_weighed() {
  Axis a = axis_of<&Strategy::weighed>(
      "weighed", "Ranks have as many layers as makes the slowest as quick as can be, with the head and the loss", 15, 10, 0);
  a.flag = true;
  a.trainers = "Megatron-LM --decoder-last-pipeline-num-layers or --pipeline-model-parallel-layout, torchtitan module_fqns_per_model_part";
  a.outside = "stages of freely chosen sizes (tried are: as even as can be and, with one stage a rank, weighed)";
  a.domain = [](const SpaceFacts& c, const Strategy& s, Values& all) {
    all.push_back(0);
    if (c.space.reach == Reach::calculon || c.space.runnable || !may_weigh(c.sizes->model, s)) return;
    if (changes_something(*c.sizes, s)) all.push_back(1);
  };
  a.rule = [](const StrategyFacts& f, const Strategy& s) {
    if (!s.weighed) return Violation();
    if (!may_weigh(f.model, s)) return broken("weighed", "stages are weighed in a pipeline with one stage on each rank, without experts");
    if (!changes_something(f, s)) return broken("weighed", "no other division has a quicker slowest stage than stages of equal size");
    return Violation();
  };
  return a;
}

}  // namespace pando::search
