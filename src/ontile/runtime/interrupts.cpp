#include "runtime/interrupts.h"

#include <atomic>
#include <chrono>

namespace {

constexpr unsigned kSlots = 64;  // sessions of one process beyond that share them

struct Slot {
  std::atomic<unsigned> count{0};
  std::atomic<unsigned> at_start{0};
  std::atomic<bool> running{false};
  std::atomic<uint64_t> until{0};  // of a step, in us
};
Slot slots[kSlots];
std::atomic<unsigned> next_slot{0};

Slot& slot_of(unsigned slot) { return slots[slot % kSlots]; }

template <class Unit, class Clock>
uint64_t since_start() {
  return static_cast<uint64_t>(std::chrono::duration_cast<Unit>(Clock::now().time_since_epoch()).count());
}

}  // namespace

extern "C" {

unsigned pando_python_interrupts(unsigned slot) { return slot_of(slot).count.load(std::memory_order_relaxed); }
unsigned pando_python_interrupts_at_start(unsigned slot) { return slot_of(slot).at_start.load(std::memory_order_relaxed); }
unsigned pando_python_new_slot() { return next_slot++; }

void pando_python_begin_command(unsigned slot) {
  Slot& s = slot_of(slot);
  s.at_start = s.count.load();
  s.running = true;
}
void pando_python_end_command(unsigned slot) { slot_of(slot).running = false; }
void pando_python_interrupt(unsigned slot) {
  Slot& s = slot_of(slot);
  if (s.running) ++s.count;
}

void pando_python_begin_step(unsigned slot, uint64_t until_us) { slot_of(slot).until = until_us; }
int pando_python_step_is_long(unsigned slot) {
  const uint64_t until = slot_of(slot).until.load(std::memory_order_relaxed);
  return until != 0 && pando_python_clock_us(nullptr) > until ? 1 : 0;
}

uint64_t pando_python_clock_us(void*) { return since_start<std::chrono::microseconds, std::chrono::steady_clock>(); }
uint64_t pando_python_clock_ns(void*) { return since_start<std::chrono::nanoseconds, std::chrono::system_clock>(); }

}  // extern "C"
