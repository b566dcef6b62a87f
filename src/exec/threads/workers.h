// Threads that teams borrow. A device owns some, and every engine on it runs on them: hundreds of engines have as many threads as one.
//
// A run is open to as many workers as its team has threads beside the caller. Workers that no run has sleep; one that is free goes to the
// run that was opened first and has room. A run never waits for workers: its caller works too. So runs may go on beside each other, and a
// callback of one may begin another.
#pragma once

#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "base/process/threads.h"

namespace pando::exec {

class Workers {
 public:
  // A run, as workers see it.
  class Run {
   public:
    virtual ~Run() = default;
    // Works until there is nothing left to do. `me`: from 1 on; the caller of the run is 0.
    virtual void take_part(unsigned me) = 0;

   private:
    friend class Workers;
    unsigned wanted_ = 0;  // workers at most
    unsigned opened_ = 0;  // how often
    std::vector<pthread_t> inside_;
    std::vector<bool> taken_;  // numbers `me` that somebody has
  };

  Workers() = default;
  ~Workers();  // no run is open
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // Lets up to `most` workers into the run, and makes them if there are fewer. They come when they are woken. `linger`: those that find no
  // run wait a little for one before they sleep, until a run is opened that says otherwise.
  void open(Run& run, unsigned most, bool linger = true);
  // Lets no more in. Those inside leave when they find nothing to do.
  void close(Run& run);
  // Waits until nobody is inside: before the run is destroyed.
  void wait_until_left(Run& run);
  void signal(Run& run, int signal);

  // A thread inside of a run sleeps, until somebody wakes those inside of runs. `still_idle` is asked once more before.
  template <class StillIdle>
  void sleep_inside(StillIdle still_idle) {
    inside_.sleep(still_idle);
  }
  void wake_inside() { inside_.wake(); }
  // There is new work: also for workers that no run has, if there is room.
  void wake() {
    inside_.wake();
    if (has_room_.load(std::memory_order_seq_cst)) free_.wake();
  }

  std::size_t size();
  bool lingers() const { return linger_.load(std::memory_order_relaxed); }

 private:
  // Waits a little for a run to begin.
  bool has_room_soon() const;
  void work();
  // A worker's place in a run: which opening of the run it came to, and its number there.
  struct Place {
    Run* run = nullptr;
    unsigned opened = 0, me = 0;
  };
  // In a run with room; without one if there is none.
  Place enter();
  // Nothing is left to do in the run: nobody else goes in, unless it was opened anew meanwhile.
  void leave(const Place& place);

  // Where threads sleep until they are woken.
  struct alignas(128) Bed {
    std::atomic<std::uint32_t> sleepers{0};
    std::atomic<std::uint32_t> generation{0};  // what sleepers wait on
    // `still_idle` is asked after this thread has counted itself: who publishes later wakes it.
    template <class StillIdle>
    void sleep(StillIdle still_idle) {
      const std::uint32_t now = generation.load();
      sleepers.fetch_add(1, std::memory_order_seq_cst);
      if (still_idle()) futex_wait(generation, now);
      sleepers.fetch_sub(1);
    }
    void wake() {
      if (sleepers.load(std::memory_order_seq_cst) > 0) wake_all();
    }
    void wake_all() {
      generation.fetch_add(1);
      futex_wake_all(generation);
    }
  };

  std::mutex mutex_;  // of the threads, of open runs and of who is inside
  std::condition_variable left_;
  std::vector<std::thread> threads_;
  std::vector<Run*> open_;
  std::atomic<bool> has_room_{false};  // some open run has; asked without the mutex
  std::atomic<bool> stopping_{false}, linger_{true};
  Bed inside_, free_;
};

}  // namespace pando::exec
