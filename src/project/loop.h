// A loop program: a module whose main graph is the body of a loop over samples. Each trip loads one sample from the streams of the host,
// the variables are what goes from one sample to the next (an input and its final).
#pragma once

#include "ir/module.h"
#include "project/policy.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace pando::project {

struct LoopState {
  std::string name;
  ir::ValueId value, final;
  std::int32_t device = 0;
  // Of a windowed policy: a sum over the samples of a window.
  bool is_sum = false;
  ir::HostTensor initial;
};

struct LoopProgram {
  std::shared_ptr<ir::Module> module;
  Policy policy;
  // What no sample changes (once); what each sample does; what a windowed policy does once for each window. Every list is in a legal order.
  std::vector<ir::OpId> before, body, update;
  // By op.
  std::vector<std::int32_t> devices;
  std::vector<LoopState> states;
  // By value: the number of the state that it is, or whose new version it is; -1.
  std::vector<std::int32_t> state_of, new_version_of;
  // By value: no sample changes it.
  std::vector<bool> fixed;
  // (first, then): the user's order. Both lie on one device; a transfer lies on two.
  std::vector<std::pair<ir::OpId, ir::OpId>> after;

  std::int32_t device(ir::OpId o) const { return devices[o.index()]; }
  // Whether a state is updated by `update` instead of by the body.
  bool is_windowed(std::size_t state) const {
    return policy.windowed() && !states[state].is_sum && states[state].value != states[state].final;
  }
};

// Places the module's main graph, inserts sends, takes it apart; calls and loops whose graphs lie on several devices are written out first.
// Rejects (value, not_implemented) what no loop program is: replicas, remote variables, effects other than streams of the host, ops of
// other programs.
//
// A windowed policy splits the body. What makes the new contents of a variable, and all that reads it or comes from variables alone,
// belongs to the update; what the update takes of a sample's values is summed over the window, in the order of samples, beginning with
// zeros.
LoopProgram make_loop(ir::Module module, const Policy& policy);

}  // namespace pando::project
