// What each rank is doing, where others can read it when the rank is dead: a file that all ranks of a host map, which `pando run --ranks`
// makes and looks into; or memory that a rank shares with the process that MPI started (start/supervise.h).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pando::ranks {

enum class RankState : std::int32_t {
  absent,
  running,
  finished,
  failed,   // it says so itself
  stopped,  // it was asked to end
};

class Board {
 public:
  static constexpr unsigned kMostRanks = 1024, kMostDevices = 4096;
  // The environment's variable that names the file.
  static constexpr const char* kVariable = "PANDO_RUN_BOARD";

  // A file, made if it is not there; empty: memory of this process and its children. Throws file_load_error.
  explicit Board(const std::string& file = {});
  ~Board();
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;

  // The process that started all ranks: they end with it. 0: none has said so.
  void set_launcher(std::int32_t process) { contents_->launcher = process; }
  std::int32_t launcher() const { return contents_->launcher; }

  void set_rank(unsigned rank, std::int32_t process, RankState state);
  void set_state(unsigned rank, RankState state);
  RankState state(unsigned rank) const;
  std::int32_t process(unsigned rank) const;
  std::optional<unsigned> rank_of_process(std::int32_t process) const;

  // Place `place` of the devices of the program.
  void set_device(std::size_t place, unsigned rank, std::int32_t device);
  void set_step(std::size_t place, std::int64_t step);
  // At most 191 bytes of it are kept. One writer for each place.
  void set_operation(std::size_t place, std::string_view what);
  // "device 2 in step 3, last operation: ..."; of a rank, all its devices.
  std::string describe_device(std::size_t place) const;
  std::string describe(unsigned rank) const;

  // From now on SIGTERM ends this process as a rank that was asked to end. `supervisor`: the process that asks, if it is there; where it
  // was killed instead, a line on standard error says what the rank was doing.
  void stop_on_signal(unsigned rank, std::int32_t supervisor = 0);

 private:
  // describe() without memory of the heap, which a signal's handler must not ask for. How much of the room it takes.
  std::size_t describe_to(char* to, std::size_t room, unsigned rank) const;
  static void stop_by_signal(int signal);

  struct Rank {
    std::atomic<std::int32_t> process, state;
  };
  struct Device {
    std::atomic<std::int32_t> used, rank, device;
    std::atomic<std::int64_t> step;
    char text[192];
  };
  struct Contents {
    std::atomic<std::int32_t> launcher;
    Rank ranks[kMostRanks];
    Device devices[kMostDevices];
  };
  Contents* contents_ = nullptr;
};

}  // namespace pando::ranks
