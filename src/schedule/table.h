// Pipeline schedules: which stage does what for which microbatch, rank by rank.
//
//     rank 0   0F0 0F1 0B0 0F2 0B1 0B2            stage 0: forward of microbatch 0, forward of 1, backward of 0, ...
//     rank 1   1F0 1B0 1F1 1B1 1F2 1B2
//
// F is the forward pass of a stage, I the gradient of its input, W the gradient of its weights, B both in one. Cells stand in execution
// order; what a rank does when is what dependences and costs make of it (replay.h). The text is CSV, one line for each rank:
// `<stage><F|I|W|B><microbatch>`, `(a;b)OVERLAP_F_B` for two that run side by side, an empty cell where a rank idles for a slot.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace pando::schedule {

// The time of what has not happened.
inline constexpr double kNever = std::numeric_limits<double>::infinity();

enum class Action : std::uint8_t {
  forward,
  input_gradient,
  weight_gradient,
  backward,
  idle,
  // Transfers and what a data-parallel rank does beside the passes (lower.h).
  send_forward,
  receive_forward,
  send_backward,
  receive_backward,
  wait_send_forward,
  wait_send_backward,
  unshard,
  reshard,
  reduce_gradient,
  wait_reduce_gradient,
};

constexpr bool computes(Action a) { return a < Action::idle; }
constexpr bool is_backward(Action a) { return a == Action::input_gradient || a == Action::backward; }

struct Cell {
  std::int32_t stage = 0;
  std::int32_t microbatch = 0;
  Action action = Action::idle;
  // Runs side by side with the next cell.
  bool with_next = false;
  friend bool operator==(const Cell&, const Cell&) = default;
};

struct Table {
  std::vector<std::vector<Cell>> ranks;

  std::int64_t cells() const;
  // One more than the highest number that a cell names; 0 for an empty table.
  std::int32_t stages() const;
  std::int32_t microbatches() const;
  friend bool operator==(const Table&, const Table&) = default;
};

// "3F0", "2SEND_F1", "0UNSHARD"; empty for idle.
std::string to_string(const Cell& cell);
std::string write_csv(const Table& table);
// Rejects (poplar_error, id schedule-text) with the line and cell that cannot be read.
Table read_csv(std::string_view text, const std::string& file = "schedule");
// Without idle cells.
Table without_idle(Table table);

}  // namespace pando::schedule
