#include "schedule/lower.h"

#include "base/error.h"

#include <utility>

namespace pando::schedule {

namespace {

class Lowering {
 public:
  Lowering(const Table& table, const LowerOptions& options)
      : table_(table),
        options_(options),
        stages_(table.stages()),
        microbatches_(table.microbatches()),
        done_(static_cast<std::size_t>(stages_) * static_cast<std::size_t>(microbatches_), 0),
        rank_of_(static_cast<std::size_t>(stages_), -1),
        left_(static_cast<std::size_t>(stages_), 0),
        rows_(table.ranks.size()) {
    out_.ranks.resize(rows_.size());
    for (std::size_t r = 0; r < rows_.size(); ++r) begin(r);
  }

  Table run() {
    for (bool any = true; any;) {
      any = false;
      for (std::size_t r = 0; r < rows_.size(); ++r) any = take_turn(r) || any;
    }
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      const Row& row = rows_[r];
      if (row.next < table_.ranks[r].size()) {
        fail(ErrorKind::poplar_error, "schedule-lowered", "rank {} cannot go on at cell {} '{}'", r, row.next + 1,
             to_string(table_.ranks[r][row.next]));
      }
      for (const Cell& c : row.returned) add(r, c, Action::wait_send_backward);
    }
    return std::move(out_);
  }

 private:
  struct Row {
    std::size_t next = 0;
    // Stages that had their last pass, and what the first of them has gone through.
    std::vector<std::int32_t> closing;
    std::size_t closed = 0;
    std::vector<Cell> returned;
    // What the next pass takes was received before a send.
    bool received = false;
  };
  enum : std::uint8_t { kForwardDone = 1, kGradientDone = 2 };

  // Counts passes of stages; weights come first.
  void begin(std::size_t r) {
    const auto& row = table_.ranks[r];
    out_.ranks[r].reserve(3 * row.size() + 16);
    for (std::size_t i = 0; i < row.size(); ++i) {
      const Cell& c = row[i];
      if (c.action == Action::idle) continue;
      if (!computes(c.action)) {
        fail(ErrorKind::poplar_error, "schedule-lowered", "rank {}, cell {} '{}': the table has transfers already", r, i + 1, to_string(c));
      }
      const auto stage = static_cast<std::size_t>(c.stage);
      rank_of_[stage] = static_cast<std::int32_t>(r);
      if (left_[stage]++ == 0 && options_.shards) add(r, {c.stage, 0, Action::idle, false}, Action::unshard);
    }
  }

  void add(std::size_t rank, const Cell& of, Action action) { out_.ranks[rank].push_back({of.stage, of.microbatch, action, false}); }

  std::uint8_t& done(std::int32_t stage, std::int32_t microbatch) {
    return done_[static_cast<std::size_t>(stage) * static_cast<std::size_t>(microbatches_) + static_cast<std::size_t>(microbatch)];
  }
  // Whether a stage is on another rank than this one; false beyond the ends.
  bool is_far(std::int32_t stage, std::size_t rank) const {
    return stage >= 0 && stage < stages_ && rank_of_[static_cast<std::size_t>(stage)] != static_cast<std::int32_t>(rank);
  }

  bool is_ready(const Cell& c) {
    if (c.action == Action::forward) return c.stage == 0 || (done(c.stage - 1, c.microbatch) & kForwardDone);
    return !is_backward(c.action) || c.stage + 1 == stages_ || (done(c.stage + 1, c.microbatch) & kGradientDone);
  }

  // One cell of a row, or two that run side by side, if it can be. Whether it was.
  bool take_turn(std::size_t r) {
    Row& row = rows_[r];
    if (!row.closing.empty()) return close(r, row);
    const auto& cells = table_.ranks[r];
    while (row.next < cells.size() && cells[row.next].action == Action::idle) ++row.next;
    if (row.next == cells.size()) return false;
    const std::size_t begin = row.next, end = begin + (cells[begin].with_next && begin + 1 < cells.size() ? 2 : 1);
    for (std::size_t i = begin; i < end; ++i) {
      if (!is_ready(cells[i])) return false;
    }
    row.next = end;
    for (std::size_t i = begin; i < end && options_.defer_receives; ++i) receive_now(r, cells[i]);
    for (std::size_t i = begin; i < end; ++i) out_.ranks[r].push_back(cells[i]);
    for (std::size_t i = begin; i < end; ++i) finish(r, row, cells[i]);
    return true;
  }

  void receive_now(std::size_t r, const Cell& c) {
    if (c.action == Action::weight_gradient || std::exchange(rows_[r].received, false)) return;
    if (c.action == Action::forward && is_far(c.stage - 1, r)) add(r, c, Action::receive_forward);
    if (is_backward(c.action) && is_far(c.stage + 1, r)) add(r, c, Action::receive_backward);
  }

  // The lower of two ranks that send to each other receives first, the higher one sends first: neither waits for the other. So before a
  // send, the rank receives what its next pass (weight gradients do not count) takes from there, if that is there already.
  void receive_before_send(std::size_t r, std::int32_t to) {
    const auto& cells = table_.ranks[r];
    std::size_t i = rows_[r].next;
    while (i < cells.size() && (cells[i].action == Action::idle || cells[i].action == Action::weight_gradient)) ++i;
    if (rows_[r].received || i == cells.size() || cells[i].with_next || !is_ready(cells[i])) return;
    const bool forward = cells[i].action == Action::forward;
    if (!forward && !is_backward(cells[i].action)) return;
    const std::int32_t from = cells[i].stage + (forward ? -1 : 1);
    if (!is_far(from, r)) return;
    const std::int32_t peer = rank_of_[static_cast<std::size_t>(from)];
    if (peer != rank_of_[static_cast<std::size_t>(to)] || static_cast<std::int32_t>(r) > peer) return;
    receive_now(r, cells[i]);
    rows_[r].received = true;
  }

  void finish(std::size_t r, Row& row, const Cell& c) {
    if (c.action == Action::forward) {
      done(c.stage, c.microbatch) |= kForwardDone;
      if (is_far(c.stage + 1, r)) send(r, c, Action::send_forward, c.stage + 1, Action::receive_forward);
    } else if (is_backward(c.action)) {
      done(c.stage, c.microbatch) |= kGradientDone;
      if (is_far(c.stage + 1, r)) add(r, c, Action::wait_send_forward);
      if (is_far(c.stage - 1, r)) {
        send(r, c, Action::send_backward, c.stage - 1, Action::receive_backward);
        row.returned.push_back(c);
      }
    }
    if (--left_[static_cast<std::size_t>(c.stage)] == 0 && options_.shards) row.closing.push_back(c.stage);
  }

  void send(std::size_t r, const Cell& c, Action action, std::int32_t to, Action there) {
    if (options_.defer_receives) receive_before_send(r, to);
    add(r, c, action);
    if (!options_.defer_receives)
      add(static_cast<std::size_t>(rank_of_[static_cast<std::size_t>(to)]), {to, c.microbatch, there, false}, there);
  }

  // Gradients and weights of a stage that is over.
  bool close(std::size_t r, Row& row) {
    constexpr Action kInOrder[] = {Action::reduce_gradient, Action::wait_reduce_gradient, Action::reshard};
    add(r, {row.closing.front(), 0, Action::idle, false}, kInOrder[row.closed]);
    if (++row.closed == std::size(kInOrder)) {
      row.closed = 0;
      row.closing.erase(row.closing.begin());
    }
    return true;
  }

  const Table& table_;
  const LowerOptions& options_;
  std::int32_t stages_, microbatches_;
  std::vector<std::uint8_t> done_;
  // By stage: its rank, and passes that have not run.
  std::vector<std::int32_t> rank_of_, left_;
  std::vector<Row> rows_;
  Table out_;
};

}  // namespace

Table lower(const Table& table, const LowerOptions& options) { return Lowering(table, options).run(); }

}  // namespace pando::schedule
