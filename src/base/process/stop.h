// Work of seconds or hours that somebody may end: compilers and searches look here between pieces of work.
//
//   std::atomic<bool> stop = false;            // which another thread sets
//   const StopScope scope(&stop);
//   search(...);                               // throws Stopped soon after
#pragma once

#include <atomic>
#include <exception>

namespace pando {

// No poplar_error: nobody who looks for what is wrong with a program takes it for that.
struct Stopped final : std::exception {
  const char* what() const noexcept override { return "stopped"; }
};

// While it is there, check_stop() of the calling thread looks at `flag`, which may be null: nothing stops it.
class StopScope {
 public:
  explicit StopScope(const std::atomic<bool>* flag);
  ~StopScope();
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;

 private:
  const std::atomic<bool>* const outer_;
};

// The flag of the innermost scope of the calling thread; null: there is none. A thread that works for this one opens a scope with it.
const std::atomic<bool>* stop_flag();
// For who cannot have a scope.
void set_stop_flag(const std::atomic<bool>* flag);

// Throws Stopped if the flag is set. It costs nanoseconds.
void check_stop();

}  // namespace pando
