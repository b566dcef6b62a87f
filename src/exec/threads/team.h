// A team of threads that processes the active pieces of work of many slots. Its threads are the caller of `run` and borrowed workers.
//
// Each slot holds at most one piece of work, cut into chunks. Idle threads take chunks: even threads from the front, odd ones
// from the back, so that with two threads each works on the same half of the tiles in every superstep. The thread that finishes
// a slot's last chunk calls `Client::done`, which may put the next work into that slot. No lock is taken on this path.
//
//        word of a slot:  | epoch 32 | next at the front 16 | end at the back 16 |
//
// A chunk is taken by one compare-and-swap of the word. The epoch changes with every new work, so a thread that was delayed
// between reading the word and taking a chunk cannot take one of another work.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include "exec/threads/workers.h"

namespace pando::exec {

class Work {
 public:
  virtual ~Work() = default;
  virtual void run(unsigned slot, unsigned chunk) = 0;
};

class Team final : private Workers::Run {
 public:
  static constexpr unsigned kMostChunks = 65535;

  class Client {
   public:
    virtual ~Client() = default;
    // All chunks of the slot's work are finished (or a slot was started without work). Returns whether the slot has work again:
    // false means that it stopped or waits for somebody's `start`.
    virtual bool done(unsigned slot) = 0;
  };

  // `workers`: whose threads it borrows. `linger`: as Workers::open has it.
  Team(unsigned threads, unsigned slots, Client& client, std::shared_ptr<Workers> workers, bool linger = true);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  unsigned threads() const { return threads_; }
  // Takes the calling thread part in a run of this team? (A callback may run another team.)
  bool has_this_thread() const;
  bool is_running() const { return running_.load(); }
  // Sends a signal to each thread, if a run goes on.
  void signal_threads(int signal);
  // Runs until no slot is active; the caller is one of the threads. `starts`: the slots that begin, with a call of
  // Client::done. Rethrows the error of the smallest (slot, chunk) that was thrown.
  void run(const std::vector<unsigned>& starts);
  // Gives the slot its next work. Only inside Client::done of that slot.
  void post(unsigned slot, Work& work, unsigned chunks);
  // Wakes an inactive slot: some thread will call Client::done for it.
  void start(unsigned slot);
  // An error was thrown or `abort` was called in this run: clients should not begin anything new.
  bool aborting() const { return aborting_.load(std::memory_order_relaxed); }
  void abort() { aborting_.store(true, std::memory_order_relaxed); }

 private:
  struct alignas(128) Slot {
    std::atomic<std::uint64_t> word{0};
    std::atomic<Work*> work{nullptr};
    std::atomic<std::uint32_t> remaining{0};
    std::uint32_t epoch = 0;  // of who may post
  };
  static constexpr unsigned kNoChunk = ~0u;

  void publish(unsigned slot, Work* work, unsigned chunks, bool wake);
  // Takes part until no slot is active.
  void take_part(unsigned me) override;
  // Works on the slot as long as it has chunks. False if it had none.
  bool work_on(unsigned slot, unsigned me);
  unsigned take(Slot& slot, unsigned me);
  bool has_work() const;
  void finish(unsigned slot);
  void begin_run();
  void end_run();
  void deactivate();
  void record_error(unsigned slot, unsigned chunk);
  // Blocks until somebody publishes, or there is nothing to wait for.
  void wait_for_work();

  const unsigned threads_;
  const bool linger_;
  Client& client_;
  std::vector<Slot> slots_;
  const std::shared_ptr<Workers> workers_;
  alignas(128) std::atomic<std::uint32_t> active_{0};
  std::atomic<bool> aborting_{false};
  std::atomic<bool> running_{false};
  std::mutex signal_mutex_;  // the threads of a run are there while it is held
  pthread_t caller_{};
  std::mutex error_mutex_;
  std::exception_ptr error_;
  std::uint64_t error_at_ = 0;
};

}  // namespace pando::exec
