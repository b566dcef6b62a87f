// Ctrl-C, as long as one of these lives: what the tiles run ends with KeyboardInterrupt, and the program can ask whether it happened.
#pragma once

#include <csignal>

#include "ontile/repl/shell/machine.h"

namespace pando::ontile {

// One at a time: a signal belongs to a process.
class Interrupts {
 public:
  explicit Interrupts(Machine& machine);
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  bool happened() const;                       // since the last take()
  bool take();                                 // the same, and forgets it
  int descriptor() const { return pipe_[0]; }  // can be read once it happened: for poll()

 private:
  int pipe_[2];
  struct sigaction before_;
};

}  // namespace pando::ontile
