// When bytes are needed. The access pattern of a byte range (which actions read, write or forget it) decides its live range: the
// orders at which its value may still be read. Patterns repeat over tiles, so ranges are found once per pattern.
//
// Programs run one after the other in any order, any number of times: what one of them reads before it writes is live at the end
// of all of them.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "compile/plan.h"

namespace pando::compile {

// What one action does to one byte range.
struct ActionAccess {
  ActionId action;
  AccessKind kind = AccessKind::read;
  friend bool operator==(const ActionAccess&, const ActionAccess&) = default;
  friend auto operator<=>(const ActionAccess&, const ActionAccess&) = default;
};
using AccessPattern = std::vector<ActionAccess>;  // sorted by action, one entry per action

// Reads and writes of one action on one range together.
AccessKind combined(AccessKind a, AccessKind b);

class LiveRanges {
 public:
  explicit LiveRanges(const Plan& plan);

  // The live range of a pattern. `always`: it must hold its value between runs.
  tile::LiveRange of(const AccessPattern& pattern, bool always);
  // Orders of the last reads: whenever they have been done, the value is dead. A read in a loop is none if the next round reads again.
  std::vector<std::uint32_t> last_reads(const AccessPattern& pattern);
  tile::LiveRange everything() const { return {{0, orders_}}; }

 private:
  struct Event {
    std::uint32_t order;
    AccessKind kind;
    bool call;  // into a function that holds events
    FunctionId function;
  };
  void find_events(const AccessPattern& pattern);
  bool walk(const Node& n, bool live);
  bool walk_children(const std::vector<Node>& children, std::uint32_t begin, std::uint32_t end, bool live);
  bool walk_action(const Node& n, bool live);
  bool walk_call(const Node& n, bool live);
  bool walk_function(FunctionId f, bool live);
  bool walk_repeat(const Node& n, bool live);
  bool walk_while(const Node& n, bool live);
  bool walk_branch(const Node& n, bool live);
  bool walk_programs(bool live);
  void note_read(std::uint32_t order, bool live) { (live ? earlier_reads_ : last_reads_).push_back(order); }
  void mark(std::uint32_t begin, std::uint32_t end);
  bool has_events(std::uint32_t begin, std::uint32_t end) const;

  const Plan& plan_;
  std::uint32_t orders_;
  std::vector<std::vector<std::uint32_t>> positions_;        // ActionId -> orders
  std::vector<std::pair<std::uint32_t, FunctionId>> calls_;  // sorted by order
  std::vector<std::vector<std::uint32_t>> call_positions_;   // FunctionId -> orders of its calls
  std::vector<tile::LiveRange> function_orders_;             // FunctionId -> its orders and those of what it calls

  std::vector<Event> events_;  // of the pattern at hand, by order
  tile::LiveRange marks_;
  std::vector<std::uint32_t> last_reads_, earlier_reads_;  // of some walks, by whether the value was needed afterwards
  std::vector<bool> function_marked_;                      // FunctionId: all of its orders are in marks_
  std::vector<std::uint8_t> function_memo_;                // FunctionId -> bits: 1 walked dead, 2 its answer, 4 walked live, 8 its answer
};

// Sorts and joins.
void normalise(tile::LiveRange& range);

}  // namespace pando::compile
