// What a child process prints, handed on to this process' standard output. A child that hands on what others print, as mpirun does, need
// not look whether it arrives; here the end of this process does (base/command/standard_output.cpp).
#pragma once

#include <atomic>
#include <thread>

namespace pando::ranks {

class ForwardOutput {
 public:
  // Rejects (no_environment) where the system gives no pipe.
  ForwardOutput();
  ~ForwardOutput() { end(); }
  ForwardOutput(const ForwardOutput&) = delete;
  ForwardOutput& operator=(const ForwardOutput&) = delete;

  // In the child, which has just been forked: its standard output is this one's.
  void take_over() const;
  // In this process, once the child is there.
  void begin();
  // Once the child has ended: what it has printed is handed on before this returns. Others may still hold its end of the pipe.
  void end();

 private:
  void run() const;

  int read_ = -1, write_ = -1;
  std::atomic<bool> ended_{false};
  std::thread thread_;
};

}  // namespace pando::ranks
