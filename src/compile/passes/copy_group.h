// Copies that stand one after the other and do not depend on one another: one exchange does them all.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "compile/plan.h"

namespace pando::compile {

class CopyGroup {
 public:
  bool empty() const { return copies_ == 0; }
  std::uint32_t copies() const { return copies_; }
  // Adds a copy, unless it touches what one of the group writes, writes what one reads, touches what it writes itself, or is one between
  // other streams: then false, and it is not in the group. Strided moves count as all that they span. `reads_once`: it is known that the
  // copy reads no byte twice.
  bool add(const std::vector<SymbolicMove>& moves, const std::vector<StreamId>& streams, bool reads_once);
  // A copy alone, whatever it is.
  void begin_with(tile::NameId name, std::vector<SymbolicMove> moves, std::vector<StreamId> streams, bool reads_once);
  // Of the first copy.
  tile::NameId name() const { return name_; }
  // A line that made one of the copies (Options::step_line); 0: not known. Each is kept once.
  void add_line(std::uint32_t line);
  const std::vector<std::uint32_t>& lines() const { return lines_; }
  // Is it known that the group reads no byte twice?
  bool reads_once() const { return reads_once_; }
  std::vector<SymbolicMove> take();

 private:
  // Disjoint ranges of bytes of shards: the begin of each, and its end.
  class Ranges {
   public:
    bool meets(ShardId shard, Interval bytes) const;
    void add(ShardId shard, Interval bytes);
    void clear() { ends_.clear(); }

   private:
    std::map<std::pair<ShardId, std::uint64_t>, std::uint64_t> ends_;
  };
  // Numbers of shards from the least to the most: of a variable they follow each other, and most copies are between other variables.
  struct Shards {
    ShardId least, most;  // invalid: none
    void add(ShardId s);
    bool meets(const Shards& other) const;
  };
  struct Ends {
    Shards sources, destinations;
    void add(const std::vector<SymbolicMove>& moves);
  };
  void enter(const std::vector<SymbolicMove>& moves);

  tile::NameId name_;
  std::vector<std::uint32_t> lines_;
  std::uint32_t copies_ = 0;
  bool reads_once_ = false;
  bool alone_ = false;    // nothing else may join
  bool entered_ = false;  // the ranges are those of moves_
  std::vector<SymbolicMove> moves_;
  std::vector<StreamId> streams_;
  Ends ends_;  // of moves_
  Ranges read_, written_;
};

}  // namespace pando::compile
