#include "search/axis.h"

#include <fmt/format.h>

namespace pando::search {

Axis axis_comm() {
  Axis a = axis_of<&Strategy::comm>("comm", "What joins the parts of a tensor-parallel layer", 11, 20, 0);
  a.part = AxisPart::transfers;
  a.names = {"all-reduce", "split-all-reduce", "sequence-parallel"};
  a.trainers = "Megatron-LM --sequence-parallel, torchtitan enable_sequence_parallel";
  a.outside = "comm=split-all-reduce (no trainer has it: sequence-parallel moves as much and keeps less)";
  a.domain = [](const AxisContext& c, const Strategy& s, Values& all) {
    const bool calculon = c.space.reach == Reach::calculon;
    for (TensorComm comm : {TensorComm::all_reduce, TensorComm::split_all_reduce, TensorComm::sequence_parallel}) {
      if (comm == TensorComm::split_all_reduce && c.space.reach == Reach::trainers) continue;
      if (comm != TensorComm::all_reduce && s.tensor == 1 && !calculon) continue;
      if (comm == TensorComm::sequence_parallel && s.tensor == 1 && c.space.runnable) continue;
      all.push_back(static_cast<std::int64_t>(comm));
    }
  };
  a.rule = [](const StrategyFacts& f, const Strategy& s) {
    if (s.comm == TensorComm::all_reduce) return Violation();
    if (s.tensor == 1) return broken("comm", fmt::format("comm={} changes nothing at t=1: no parts are joined", name_of(s.comm)));
    const std::int64_t positions = f.model.seq / s.context * s.microbatch;
    if (s.comm == TensorComm::sequence_parallel && positions % s.tensor != 0)
      return broken("sequence", fmt::format("{} positions do not divide over t={}", positions, s.tensor));
    return Violation();
  };
  a.quickest = [](const AxisContext&, const Strategy&) { return static_cast<std::int64_t>(TensorComm::sequence_parallel); };
  a.thriftiest = [](const AxisContext&, const Strategy&, Values& all) {
    all.push_back(static_cast<std::int64_t>(TensorComm::sequence_parallel));
  };
  a.missing = [](const Strategy& s) -> std::string_view {
    return s.comm == TensorComm::split_all_reduce ? "all-reduces in two parts with whole tensors between them" : "";
  };
  a.apply = [](const Transformer&, const Strategy& s, transform::Strategy& t) {
    t.sequence_parallel = s.comm == TensorComm::sequence_parallel && s.tensor > 1;
  };
  return a;
}

}  // namespace pando::search
