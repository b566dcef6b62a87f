// Walking control programs: parts, operands, whole trees. Program trees share nodes; a walk visits each node once.
#pragma once

#include <span>
#include <unordered_set>
#include <variant>

#include "graph/program.h"

namespace pando::graph {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

// Both lists below name every kind of step: a new one does not compile until it is in them.

// The programs inside a program, in order; called functions are not among them. Some may be null, which is an empty program.
template <class Sink>
void for_each_part(const Program& program, Sink&& sink) {
  std::visit(Overloaded{
                 [&](const Sequence& s) {
                   for (const ProgramPtr& step : s.steps) sink(step);
                 },
                 [&](const Repeat& r) { sink(r.body); },
                 [&](const RepeatWhile& r) { sink(r.condition), sink(r.body); },
                 [&](const If& i) { sink(i.then_body), sink(i.else_body); },
                 [&](const Switch& s) {
                   for (const auto& [value, body] : s.cases) sink(body);
                   sink(s.default_body);
                 },
                 [](const Execute&) {},
                 [](const Copy&) {},
                 [](const HostToDevice&) {},
                 [](const DeviceToHost&) {},
                 [](const RemoteRead&) {},
                 [](const RemoteWrite&) {},
                 [](const Call&) {},
                 [](const HostCall&) {},
                 [](const LoadFunction&) {},
                 [](const Sync&) {},
                 [](const Print&) {},
                 [](const Error&) {},
                 [](const WriteUndef&) {},
                 [](const CrossReplicaCopy&) {},
                 [](const CycleStamp&) {},
                 [](const Send&) {},
                 [](const Receive&) {},
             },
             program.body);
}

// The tensors that a step itself reads or writes; some may be invalid where the node says so.
template <class Sink>
void for_each_operand(const Program& program, Sink&& sink) {
  std::visit(Overloaded{
                 [&](const Execute& p) { sink(p.result); },
                 [&](const Copy& p) { sink(p.source), sink(p.destination); },
                 [&](const HostToDevice& p) { sink(p.destination); },
                 [&](const DeviceToHost& p) { sink(p.source); },
                 [&](const RemoteRead& p) { sink(p.tensor), sink(p.offset); },
                 [&](const RemoteWrite& p) { sink(p.tensor), sink(p.offset); },
                 [&](const RepeatWhile& p) { sink(p.predicate); },
                 [&](const If& p) { sink(p.predicate); },
                 [&](const Switch& p) { sink(p.control); },
                 [&](const HostCall& p) {
                   for (const View& v : p.inputs) sink(v);
                   for (const View& v : p.outputs) sink(v);
                 },
                 [&](const Print& p) { sink(p.tensor); },
                 [&](const Error& p) { sink(p.tensor), sink(p.condition); },
                 [&](const WriteUndef& p) { sink(p.tensor); },
                 [&](const CrossReplicaCopy& p) { sink(p.source), sink(p.destination); },
                 [&](const CycleStamp& p) { sink(p.stamp); },
                 [&](const Send& p) { sink(p.source); },
                 [&](const Receive& p) { sink(p.destination); },
                 [](const Sequence&) {},
                 [](const Repeat&) {},
                 [](const Call&) {},
                 [](const LoadFunction&) {},
                 [](const Sync&) {},
             },
             program.body);
}

// Visits every node below the given ones, and themselves, once.
class ProgramWalk {
 public:
  template <class Sink>
  void visit(const ProgramPtr& program, Sink&& sink) {
    if (!program || !seen_.insert(program.get()).second) return;
    sink(*program);
    for_each_part(*program, [&](const ProgramPtr& part) { visit(part, sink); });
  }

 private:
  std::unordered_set<const Program*> seen_;  // asked, never listed
};

}  // namespace pando::graph
