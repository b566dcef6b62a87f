#include "exec/running/interpreter.h"

#include <exception>

#include "base/error.h"
#include "base/process/threads.h"

namespace pando::exec {

Interpreter::Interpreter(const tile::Program& program, const Library& library, const TileMemory& memory,
                         std::vector<std::unique_ptr<TileContexts>>& contexts, HostEnds& ends, const Options& options)
    : program_(program),
      loaded_(program, library, memory, contexts, options, thread_count(options.threads)),
      scheduler_(program, loaded_, steps_, options, thread_count(options.threads)),
      steps_(program, memory, loaded_, ends, scheduler_, options) {}

void Interpreter::run(unsigned index) {
  if (index >= program_.programs)
    fail(ErrorKind::control_program_error, "program-index", "there is no program {}; the executable has {}", index, program_.programs);
  steps_.begin_run(index, scheduler_.is_whole());
  std::exception_ptr error;
  try {
    scheduler_.run(index);
  } catch (...) { error = std::current_exception(); }
  steps_.end_run();
  if (error) std::rethrow_exception(error);
}

}  // namespace pando::exec
