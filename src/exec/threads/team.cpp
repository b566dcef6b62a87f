#include "exec/threads/team.h"

#include <utility>

#include "base/check.h"
#include "base/process/threads.h"
#include "exec/fibers/fiber.h"

namespace pando::exec {
namespace {

// Spinning pays off between supersteps, microseconds apart. Longer gaps are for the operating system: a spinning thread whose
// partner has lost its processor only delays it.
constexpr unsigned kSpins = 3000;

constexpr std::uint64_t pack(std::uint32_t epoch, unsigned low, unsigned high) {
  return std::uint64_t{epoch} << 32 | std::uint64_t{low} << 16 | high;
}
constexpr unsigned low_of(std::uint64_t word) { return word >> 16 & 0xffff; }
constexpr unsigned high_of(std::uint64_t word) { return word & 0xffff; }

// What a thread takes part in; runs nest where a callback runs another program.
struct TeamPart {
  explicit TeamPart(const Team* t);
  ~TeamPart();
  TeamPart(const TeamPart&) = delete;
  TeamPart& operator=(const TeamPart&) = delete;
  const Team* const team;
  const TeamPart* const outer;
};
thread_local const TeamPart* parts = nullptr;

TeamPart::TeamPart(const Team* t) : team(t), outer(parts) { parts = this; }
TeamPart::~TeamPart() { parts = outer; }

}  // namespace

Team::Team(unsigned threads, unsigned slots, Client& client, std::shared_ptr<Workers> workers, bool linger)
    : threads_(threads), linger_(linger), client_(client), slots_(slots), workers_(std::move(workers)) {
  PANDO_CHECK(threads >= 1 && workers_);
}

// Workers that still look for work in the last run leave by themselves.
Team::~Team() { workers_->wait_until_left(*this); }

void Team::run(const std::vector<unsigned>& starts) {
  aborting_.store(false);
  error_ = nullptr;
  prepare_thread_for_fibers();
  active_.store(static_cast<std::uint32_t>(starts.size()));
  begin_run();
  workers_->open(*this, threads_ - 1, linger_);
  for (const unsigned slot : starts) publish(slot, nullptr, 1, starts.size() > 1);
  take_part(0);
  workers_->close(*this);
  end_run();
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void Team::begin_run() {
  const std::lock_guard lock(signal_mutex_);
  caller_ = pthread_self();
  running_.store(true);
}

void Team::end_run() {
  const std::lock_guard lock(signal_mutex_);
  running_.store(false);
}

void Team::signal_threads(int signal) {
  const std::lock_guard lock(signal_mutex_);
  if (!running_.load()) return;
  pthread_kill(caller_, signal);
  workers_->signal(*this, signal);
}

void Team::post(unsigned slot, Work& work, unsigned chunks) { publish(slot, &work, chunks, chunks > 1); }

void Team::start(unsigned slot) {
  active_.fetch_add(1);
  publish(slot, nullptr, 1, true);
}

void Team::publish(unsigned slot, Work* work, unsigned chunks, bool wake) {
  PANDO_CHECK(chunks >= 1 && chunks <= kMostChunks);
  Slot& s = slots_[slot];
  s.work.store(work, std::memory_order_relaxed);
  s.remaining.store(chunks, std::memory_order_relaxed);
  // Sequentially consistent: a thread that goes to sleep counts itself first and then looks at the words once more.
  s.word.store(pack(++s.epoch, 0, chunks), std::memory_order_seq_cst);
  if (wake) workers_->wake();
}

unsigned Team::take(Slot& s, unsigned me) {
  std::uint64_t word = s.word.load(std::memory_order_acquire);
  for (;;) {
    const unsigned low = low_of(word), high = high_of(word);
    if (low >= high) return kNoChunk;
    const bool front = me % 2 == 0;
    const std::uint64_t next = front ? word + (1u << 16) : word - 1;
    if (s.word.compare_exchange_weak(word, next, std::memory_order_acq_rel, std::memory_order_acquire)) return front ? low : high - 1;
  }
}

bool Team::work_on(unsigned slot, unsigned me) {
  Slot& s = slots_[slot];
  std::uint32_t finished = 0;
  for (;;) {
    const unsigned chunk = take(s, me);
    if (chunk == kNoChunk) break;
    ++finished;
    // The slot's work cannot change while a chunk of it is not finished.
    Work* const work = s.work.load(std::memory_order_relaxed);
    if (!work) continue;
    try {
      work->run(slot, chunk);
    } catch (...) { record_error(slot, chunk); }
    // `finished` is told at the end only: the work stays while we hold chunks of it.
  }
  if (finished == 0) return false;
  if (s.remaining.fetch_sub(finished, std::memory_order_acq_rel) == finished) finish(slot);
  return true;
}

void Team::finish(unsigned slot) {
  bool again = false;
  try {
    again = client_.done(slot);
  } catch (...) { record_error(slot, kMostChunks); }
  if (!again) deactivate();
}

void Team::deactivate() {
  if (active_.fetch_sub(1) == 1) workers_->wake_inside();
}

void Team::record_error(unsigned slot, unsigned chunk) {
  const std::lock_guard lock(error_mutex_);
  const std::uint64_t at = std::uint64_t{slot} << 32 | chunk;
  if (!error_ || at < error_at_) {
    error_ = std::current_exception();
    error_at_ = at;
  }
  abort();
}

bool Team::has_work() const {
  for (const Slot& s : slots_) {
    const std::uint64_t word = s.word.load(std::memory_order_seq_cst);
    if (low_of(word) < high_of(word)) return true;
  }
  return false;
}

bool Team::has_this_thread() const {
  for (const TeamPart* p = parts; p; p = p->outer)
    if (p->team == this) return true;
  return false;
}

void Team::take_part(unsigned me) {
  const TeamPart part(this);
  unsigned at = 0;
  unsigned idle = 0;
  while (active_.load(std::memory_order_acquire) != 0) {
    bool worked = false;
    for (std::size_t i = 0; i < slots_.size() && !worked; ++i) {
      worked = work_on(at, me);
      if (!worked && ++at == slots_.size()) at = 0;
    }
    if (worked) {
      idle = 0;
    } else if (++idle < kSpins / slots_.size() + 1) {
      spin_pause();
    } else {
      wait_for_work();
      idle = 0;
    }
  }
}

void Team::wait_for_work() {
  workers_->sleep_inside([&] { return active_.load() != 0 && !has_work(); });
}

}  // namespace pando::exec
