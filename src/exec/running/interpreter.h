// Runs the streams of a tile program: what was prepared at load (loaded_program.h), the cursors (scheduler.h) and what their steps do
// (step_execution.h).
#pragma once

#include <memory>
#include <vector>

#include "exec/steps/loaded_program.h"
#include "exec/steps/scheduler.h"
#include "exec/steps/step_execution.h"

namespace pando::exec {

class Interpreter {
 public:
  // Keeps references to all of these. `contexts`: one per replica.
  Interpreter(const tile::Program& program, const Library& library, const TileMemory& memory,
              std::vector<std::unique_ptr<TileContexts>>& contexts, HostEnds& ends, const Options& options);

  // Throws control_program_error if there is no such program, and what it does wrong.
  void run(unsigned index);
  Scheduler& scheduler() { return scheduler_; }
  StepExecution& steps() { return steps_; }

 private:
  const tile::Program& program_;
  LoadedProgram loaded_;
  Scheduler scheduler_;
  StepExecution steps_;
};

}  // namespace pando::exec
