#include "ontile/repl/shell/interrupts.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <system_error>

namespace pando::ontile {
namespace {

// A signal handler sees nothing else.
std::atomic<Machine*> machine_to_interrupt = nullptr;
std::atomic<bool> interrupt_happened = false;
std::atomic<int> descriptor_to_wake = -1;
static_assert(std::atomic<Machine*>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

void on_interrupt(int) {
  interrupt_happened = true;
  if (Machine* const machine = machine_to_interrupt) machine->interrupt();
  // Another thread may be the one that took the signal: who waits in poll() is woken by this.
  const int saved = errno;
  const char byte = 0;
  if (const ssize_t n = write(descriptor_to_wake, &byte, 1); n < 0) errno = saved;
}

}  // namespace

Interrupts::Interrupts(Machine& machine) {
  if (pipe2(pipe_, O_NONBLOCK | O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "a pipe for Ctrl-C");
  descriptor_to_wake = pipe_[1];
  machine_to_interrupt = &machine;
  interrupt_happened = false;
  struct sigaction action = {};
  action.sa_handler = on_interrupt;  // without SA_RESTART: reading a line ends, too
  sigaction(SIGINT, &action, &before_);
}

Interrupts::~Interrupts() {
  sigaction(SIGINT, &before_, nullptr);
  machine_to_interrupt = nullptr;
  descriptor_to_wake = -1;
  close(pipe_[0]);
  close(pipe_[1]);
}

bool Interrupts::happened() const { return interrupt_happened; }

bool Interrupts::take() {
  char bytes[64];
  while (read(pipe_[0], bytes, sizeof bytes) > 0) continue;
  return interrupt_happened.exchange(false);
}

}  // namespace pando::ontile
