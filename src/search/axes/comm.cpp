#include "search/axis.h"

#include <fmt/format.h>

namespace pando::search {

namespace {

void add_both(const SpaceFacts& f, const Strategy& s, std::vector<Strategy>& to) {
  to.emplace_back(s).sequence_parallel = false;
  if (s.tensor > 1 && f.has_sequence) to.emplace_back(s).sequence_parallel = true;
}

// By value.
constexpr std::string_view kNames[] = {"all-reduce", "split-all-reduce", "sequence-parallel"};
enum Comm : std::int64_t { kAllReduce, kSplitAllReduce, kSequenceParallel };

}  // namespace

Axis axis_comm() {
  Axis a;
  a.word = "sequence-parallel", a.brief = "comm", a.doc = "What joins the parts of a tensor-parallel layer", a.position = 11,
  a.nesting = 20;
  a.get = [](const Strategy& s) -> std::int64_t {
    return s.sequence_parallel ? kSequenceParallel : s.split_all_reduce ? kSplitAllReduce : kAllReduce;
  };
  a.set = [](Strategy& s, std::int64_t v) { s.sequence_parallel = v == kSequenceParallel, s.split_all_reduce = v == kSplitAllReduce; };
  a.part = AxisPart::transfers;
  a.names = {std::begin(kNames), std::end(kNames)};
  a.trainers = "Megatron-LM --sequence-parallel, torchtitan enable_sequence_parallel";
  a.outside = "comm=split-all-reduce (no trainer has it: sequence-parallel moves as much and keeps less)";
  a.domain = [](const SpaceFacts& c, const Strategy& s, Values& all) {
    const bool calculon = c.space.reach == Reach::calculon;
    for (const Comm comm : {kAllReduce, kSplitAllReduce, kSequenceParallel}) {
      if (comm == kSplitAllReduce && c.space.reach == Reach::trainers) continue;
      if (comm != kAllReduce && s.tensor == 1 && !calculon) continue;
      if (comm == kSequenceParallel && s.tensor == 1 && c.space.runnable) continue;
      all.push_back(comm);
    }
  };
  a.rule = [](const StrategyFacts& f, const Strategy& s) {
    if (!s.sequence_parallel && !s.split_all_reduce) return Violation();
    if (s.tensor == 1)
      return broken("comm", fmt::format("comm={} changes nothing at t=1: no parts are joined",
                                        kNames[s.sequence_parallel ? kSequenceParallel : kSplitAllReduce]));
    const std::int64_t positions = f.model.seq / s.context * s.microbatch;
    if (s.sequence_parallel && positions % s.tensor != 0)
      return broken("sequence", fmt::format("{} positions do not divide over t={}", positions, s.tensor));
    return Violation();
  };
  a.quickest = [](const SpaceFacts&, const Strategy&) -> std::int64_t { return kSequenceParallel; };
  a.thriftiest = [](const SpaceFacts&, const Strategy&, Values& all) { all.push_back(kSequenceParallel); };
  a.missing = [](const Strategy& s) -> std::string_view {
    return s.split_all_reduce ? "all-reduces in two parts with whole tensors between them" : "";
  };
  a.program = {.position = 130,
               .flag = &Strategy::sequence_parallel,
               .nesting = 100,
               .choices = add_both,
               .doc = "Between products, cut positions over --tensor"};
  return a;
}

}  // namespace pando::search
