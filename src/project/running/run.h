// Running projected programs on tensors, and comparing them with their reference.
#pragma once

#include "project/project.h"
#include "project/running/machine.h"
#include "project/running/tensors.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pando::project {

struct RunResult {
  // By name: variables at the end; what was stored to streams of the host, in order.
  std::map<std::string, ir::HostTensor> states;
  std::map<std::string, std::vector<ir::HostTensor>> outputs;

  friend bool operator==(const RunResult&, const RunResult&) = default;
};

// Rejects (poplar_error) more samples than the host can hold the inputs and outputs of. run() rejects them, too; who makes inputs asks
// before that.
void check_samples(const ProjectedProgram& program, std::int64_t samples);

// Rejects (runtime) what Machine::run rejects, (value) inputs that are too short.
RunResult run(const ProjectedProgram& program, const HostInputs& inputs, const MachineOptions& options);
// The same of the declared reference.
RunResult run_reference(const LoopProgram& loop, const Lags& lags, const HostInputs& inputs, std::int64_t samples);

// Whether program and reference give equal terms for a number of samples; the first difference in words, if not.
std::optional<std::string> differs_in_terms(const ProjectedProgram& program, const LoopProgram& loop, const Lags& lags,
                                            const MachineOptions& options);

}  // namespace pando::project
