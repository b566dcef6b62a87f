// The transport over MPI, a library of its own: nothing else links MPI.
//
// One thread does all MPI calls. It sends what is queued and looks for what comes; when there is nothing it sleeps until its bell rings. So
// a rank that waits leaves its core to others. Ranks that cannot be rung look again and again, more often while somebody waits or a message
// is still leaving: then a large message moves on while its sender computes.
#include "exec/transports/buffers.h"
#include "exec/transports/mpi/bell.h"

#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <list>
#include <mutex>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace pando::exec {

namespace {

using namespace std::chrono_literals;
constexpr auto kShortest = 5us, kLongest = 100us, kLongestOfRung = 1000us, kIdle = 1000us;

// Behind the bytes of a packet.
struct Header {
  std::uint64_t count, size;
  std::uint32_t channel;
  std::uint32_t kind;
};
// MPI counts in int; messages are whole blocks.
constexpr std::size_t kBlock = 1024;
static_assert(sizeof(Header) + kBlock <= Packet::kRoom);

class Mpi final : public Transport {
 public:
  Mpi() : thread_([this] { work(); }) {}
  // Whether all ranks have come in time.
  bool begins_within(double seconds) {
    std::unique_lock lock(mutex_);
    const auto is_ready = [&] { return ready_; };
    if (seconds > 0) return changed_.wait_for(lock, std::chrono::duration<double>(seconds), is_ready);
    changed_.wait(lock, is_ready);
    return true;
  }
  ~Mpi() override {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    bell_.ring();
    thread_.join();
  }

  unsigned rank() const override { return static_cast<unsigned>(rank_); }
  unsigned ranks() const override { return static_cast<unsigned>(ranks_); }
  void start(Receiver receiver) override {
    {
      const std::lock_guard lock(receiver_mutex_);
      receiver_ = std::move(receiver);
    }
    bell_.ring();
  }
  void post(unsigned to, Packet packet) override {
    {
      const std::lock_guard lock(mutex_);
      queue_.emplace_back(to, std::move(packet));
    }
    bell_.ring();
  }
  void expect(bool begins) override {
    expecting_ += begins ? 1 : -1;
    if (begins && !rung_) bell_.ring();
  }
  bool finish(double seconds) override {
    std::unique_lock lock(mutex_);
    finishing_ = true;
    bell_.ring();
    return done_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return finished_; });
  }
  void abort(int status) override {
    abort_status_ = status;
    aborting_ = true;
    bell_.ring();
    for (;;) std::this_thread::sleep_for(1s);  // MPI_Abort ends the process
  }

 private:
  struct Leaving {
    std::string bytes;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  void work() {
    int given = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    MPI_Type_contiguous(kBlock, MPI_BYTE, &block_);
    MPI_Type_commit(&block_);
    hang_bells();
    {
      const std::lock_guard lock(mutex_);
      ready_ = true;
    }
    changed_.notify_all();
    auto pause = std::chrono::microseconds(kShortest);
    for (;;) {
      if (aborting_) MPI_Abort(MPI_COMM_WORLD, abort_status_);
      bool moved = send_queued();
      moved |= let_leave();
      moved |= receive_one();
      if (moved) {
        pause = kShortest;
        continue;
      }
      bool attentive = false;
      {
        const std::lock_guard lock(mutex_);
        if (stop_) break;
        if (!queue_.empty()) continue;
        if (finishing_ && leaving_.empty() && come_to_the_end()) {
          finished_ = true;
          done_.notify_all();
        }
        attentive = expecting_ > 0 || !leaving_.empty() || finishing_;
      }
      bell_.wait(attentive ? pause : std::chrono::microseconds(kIdle));
      // The end is met by asking.
      pause = std::min<std::chrono::microseconds>(2 * pause, rung_ && !finishing_ ? kLongestOfRung : kLongest);
    }
    if (finished_) MPI_Finalize();
  }

  // PANDO_MPI_BELLS=0: none, as between machines.
  void hang_bells() {
    std::uint64_t job = 0;
    if (rank_ == 0) {
      std::random_device random;
      job = std::uint64_t{random()} << 32 | random();
    }
    MPI_Bcast(&job, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    const char* const wanted = std::getenv("PANDO_MPI_BELLS");
    const bool off = wanted != nullptr && std::string_view(wanted) == "0";
    if (!off) bell_.hang(job, static_cast<unsigned>(rank_));
    MPI_Barrier(MPI_COMM_WORLD);
    int rings = 1;
    for (int r = 0; r < ranks_; ++r) rings &= static_cast<int>(bell_.ring(static_cast<unsigned>(r)));
    MPI_Allreduce(MPI_IN_PLACE, &rings, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    rung_ = rings != 0;
  }

  bool send_queued() {
    std::deque<std::pair<unsigned, Packet>> queue;
    {
      const std::lock_guard lock(mutex_);
      queue.swap(queue_);
    }
    for (auto& [to, packet] : queue) {
      Leaving& l = leaving_.emplace_back();
      const Header header{packet.count, packet.bytes.size(), packet.channel, static_cast<std::uint32_t>(packet.kind)};
      const std::size_t blocks = (sizeof header + packet.bytes.size() + kBlock - 1) / kBlock;
      l.bytes = std::move(packet.bytes);
      l.bytes.resize(blocks * kBlock - sizeof header);
      l.bytes.append(reinterpret_cast<const char*>(&header), sizeof header);
      MPI_Isend(l.bytes.data(), static_cast<int>(blocks), block_, static_cast<int>(to), 0, MPI_COMM_WORLD, &l.request);
      bell_.ring(to);
    }
    return !queue.empty();
  }

  bool let_leave() {
    bool moved = false;
    for (auto it = leaving_.begin(); it != leaving_.end();) {
      int done = 0;
      MPI_Test(&it->request, &done, MPI_STATUS_IGNORE);
      moved |= done != 0;
      if (done) buffers_.give(std::move(it->bytes));
      it = done ? leaving_.erase(it) : std::next(it);
    }
    return moved;
  }

  bool receive_one() {
    const std::lock_guard lock(receiver_mutex_);
    // What comes at the very end is dropped, so that its sender can end.
    if (!receiver_ && !finishing_) return false;
    int there = 0;
    MPI_Message message;
    MPI_Status status;
    MPI_Improbe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &there, &message, &status);
    if (!there) return false;
    int blocks = 0;
    MPI_Get_count(&status, block_, &blocks);
    Header header;
    std::string bytes = buffers_.take(static_cast<std::size_t>(blocks) * kBlock);
    MPI_Mrecv(bytes.data(), blocks, block_, &message, MPI_STATUS_IGNORE);
    std::memcpy(&header, bytes.data() + bytes.size() - sizeof header, sizeof header);
    Packet p;
    p.kind = static_cast<Packet::Kind>(header.kind);
    p.from = static_cast<std::uint32_t>(status.MPI_SOURCE);
    p.channel = header.channel;
    p.count = header.count;
    bytes.resize(header.size);
    p.bytes = std::move(bytes);
    // It may wait for that: only then has all of a large message left.
    bell_.ring(p.from);
    if (receiver_) receiver_(std::move(p));
    return true;
  }

  // All ranks have begun to finish, and what they posted before has come.
  bool come_to_the_end() {
    if (finished_) return false;
    if (barrier_ == MPI_REQUEST_NULL) {
      if (in_barrier_) return true;
      MPI_Ibarrier(MPI_COMM_WORLD, &barrier_);
      in_barrier_ = true;
    }
    int done = 0;
    MPI_Test(&barrier_, &done, MPI_STATUS_IGNORE);
    return done != 0;
  }

  Bell bell_;
  std::atomic<bool> rung_{false};  // by all ranks
  std::mutex mutex_, receiver_mutex_;
  std::condition_variable changed_, done_;
  std::deque<std::pair<unsigned, Packet>> queue_;
  Receiver receiver_;
  std::atomic<int> expecting_{0}, abort_status_{1};
  std::atomic<bool> aborting_{false}, finishing_{false};
  bool ready_ = false, stop_ = false, finished_ = false;
  // Of the thread.
  Buffers buffers_;
  std::list<Leaving> leaving_;
  MPI_Request barrier_ = MPI_REQUEST_NULL;
  MPI_Datatype block_ = MPI_DATATYPE_NULL;
  bool in_barrier_ = false;
  int rank_ = 0, ranks_ = 1;
  std::thread thread_;
};

}  // namespace

extern "C" __attribute__((visibility("default"))) Transport* pando_make_mpi_transport(double seconds) {
  auto* const mpi = new Mpi;
  return mpi->begins_within(seconds) ? mpi : nullptr;  // a thread is in it, which cannot be called back
}

}  // namespace pando::exec
