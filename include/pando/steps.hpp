#ifndef pando_steps_hpp
#define pando_steps_hpp

// What a run does, step by step, for whoever draws it. Beyond public Poplar.

#include <poplar/Export.hpp>
#include <poplar/StringRef.hpp>

#include <cstdint>
#include <functional>

namespace poplar {
class Engine;
}

namespace pando {

/// A step of a run that works. `kind`: "compute", "exchange", "host" ... `order`: its place in the program, as reports number steps.
/// `stream`: which stream of instructions it is of, as reports number them. `cycles`: that stream's clock at the step's end; it stands
/// still where cycles are not counted.
struct StepDone {
  poplar::StringRef name, kind;
  unsigned order = 0, stream = 0;
  std::uint64_t cycles = 0;
};

/// Calls `f` after each step of a run, as on_step (pando/host.hpp) does, whose function it replaces.
POPLAR_EXPORT void on_step_done(poplar::Engine& engine, std::function<void(const StepDone&)> f);

}  // namespace pando

#endif
