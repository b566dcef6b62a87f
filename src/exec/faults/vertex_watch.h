// Says which vertex does not end: on standard error, after some seconds, while it goes on.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace pando::exec {

// A range of vertices while a thread runs them. The thread of the watch asks: what it reads must be whole at any moment.
class WatchedRange {
 public:
  // Another number for each vertex that the range comes to.
  virtual std::uint64_t position() const = 0;
  // "vertex 3 (Add) on tile 5, in compute set 'cs' (step c0)"
  virtual std::string place() const = 0;

 protected:
  ~WatchedRange() = default;
};

class VertexWatch {
  struct alignas(64) Slot {
    std::atomic<std::uintptr_t> range{0};  // that one of the threads runs; odd while somebody looks at it
    std::atomic<std::uint64_t> count{0};   // of ranges so far
  };

 public:
  // A vertex is told of when it has gone on for `seconds` (0: never), and again each time that this has doubled. `tell`: standard error if
  // it is empty.
  explicit VertexWatch(unsigned seconds, std::function<void(std::string_view)> tell = {});
  ~VertexWatch();
  VertexWatch(const VertexWatch&) = delete;
  VertexWatch& operator=(const VertexWatch&) = delete;

  // While it is there, a program runs, and somebody looks each second.
  class Run {
   public:
    explicit Run(VertexWatch& watch) : watch_(watch) { watch_.begin(); }
    ~Run() { watch_.running_.fetch_sub(1); }
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

   private:
    VertexWatch& watch_;
  };

  // While it is there, the calling thread runs the range. Takes nanoseconds; null: nobody watches.
  class Scope {
   public:
    Scope(VertexWatch* watch, const WatchedRange& range);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Slot* slot_ = nullptr;
    std::uintptr_t range_ = 0;
  };

 private:
  // Of a slot, a second ago.
  struct Seen {
    std::uint64_t count = 0, position = 0;
    unsigned seconds = 0, next = 0;  // it has gone on for so long; it is told of next
  };

  void begin();
  void watch();
  void look();
  void look_at(const WatchedRange& range, std::uint64_t count, Seen& seen) const;

  static constexpr std::size_t kSlots = 64;  // threads that are watched
  const unsigned seconds_;
  const std::function<void(std::string_view)> tell_;
  std::array<Slot, kSlots> slots_;
  std::array<Seen, kSlots> seen_;
  std::atomic<unsigned> running_{0};
  std::atomic<bool> asleep_{true};
  bool ends_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread thread_;  // begun with the first run
};

// Those that engines share: one thread looks for all of them that wait as long.
class VertexWatches {
 public:
  std::shared_ptr<VertexWatch> of(unsigned seconds);

 private:
  std::mutex mutex_;
  std::map<unsigned, std::shared_ptr<VertexWatch>> by_seconds_;
};

}  // namespace pando::exec
