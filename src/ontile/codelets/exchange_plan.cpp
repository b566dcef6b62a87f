// Who may go on: the states of all tiles, made into the machine's next step. ExchangeSummary sees a row of tiles, ExchangeJoin the rows of
// an IPU; ExchangeDecide sees all IPUs and chooses; ExchangeMatch pairs senders with receivers.
#include <pando/tile.hpp>
#include <poplar/Vertex.hpp>

#include <cstring>
#include <initializer_list>

#include "ontile/port/exchange.h"
#include "ontile/protocol.h"

using namespace poplar;
using namespace pando::ontile;

namespace {

bool is_collective(unsigned kind) { return kind >= kind_allgather && kind <= kind_barrier; }

// Of one kind of messages and one mode: how many rounds it would take.
void count_rounds(const unsigned* statuses, unsigned tiles, unsigned which, unsigned slot, unsigned group, unsigned& rounds,
                  unsigned& first) {
  rounds = 0;
  first = 0;
  for (unsigned begin = 0, g = 0; begin < tiles; begin += group, ++g) {
    const unsigned end = begin + group < tiles ? begin + group : tiles;
    unsigned most = 0;
    for (unsigned t = begin; t < end; ++t) {
      const unsigned bytes = statuses[t * kStatusWords + which];
      if (bytes > most) most = bytes;
    }
    if (most == 0) continue;
    if (rounds == 0) first = g;
    rounds += (most + slot - 1) / slot;
  }
}

const unsigned* summary_of(const unsigned* summaries, unsigned which) { return summaries + which * kSummaryWords; }

// What holds of all rows, or of all IPUs: all but rounds, groups and errands. Who has no selected tile has nothing to say.
void join(const unsigned* summaries, unsigned count, unsigned* joined) {
  for (unsigned i = 0; i < kSummaryWords; ++i) joined[i] = 0;
  joined[kSameWait] = joined[kSameAnswer] = 1;
  for (unsigned i = 0; i < count; ++i) {
    const unsigned* const s = summary_of(summaries, i);
    if (s[kSelectedTiles] == 0) continue;
    const bool first = joined[kSelectedTiles] == 0;
    for (const unsigned sum : {kSelectedTiles, kWaitingForHost, kWaitingForInput, kWaitingToExchange, kReceiving, kChangedDisks})
      joined[sum] += s[sum];
    if (s[kMostOutbox] > joined[kMostOutbox]) joined[kMostOutbox] = s[kMostOutbox];
    if (first)
      for (const unsigned same : {kSameKind, kSameArgument, kAnswer, kAnswerLength, kAnswerHashLow, kAnswerHashHigh})
        joined[same] = s[same];
    if (!s[kSameWait] || s[kSameKind] != joined[kSameKind] || s[kSameArgument] != joined[kSameArgument]) joined[kSameWait] = 0;
    if (!s[kSameAnswer] || ((s[kAnswer] ^ joined[kAnswer]) & ~0xffu) || s[kAnswerLength] != joined[kAnswerLength] ||
        s[kAnswerHashLow] != joined[kAnswerHashLow] || s[kAnswerHashHigh] != joined[kAnswerHashHigh])
      joined[kSameAnswer] = 0;
  }
}

}  // namespace

class ExchangeSummary : public Vertex {
 public:
  Input<Vector<unsigned>> statuses;  // of kRowTiles neighbours of an IPU
  Input<Vector<unsigned>> modes;     // slot, group; slot, group ...
  Output<Vector<unsigned>> summary;
  Output<Vector<unsigned short>> from, to;  // of each tile: who it receives from, where its message goes

  void compute() {
    const unsigned tiles = statuses.size() / kStatusWords;
    for (unsigned i = 0; i < kSummaryWords; ++i) summary[i] = 0;
    summary[kSameWait] = 1;
    // The first tile's text is the one that is sent for all.
    summary[kSameAnswer] = static_cast<State>(statuses[kState] & 0xff) != State::not_selected;
    bool any_data = false, any_match = false;
    for (unsigned t = 0; t < tiles; ++t) {
      const unsigned* const s = &statuses[t * kStatusWords];
      const State state = static_cast<State>(s[kState] & 0xff);
      from[t] = static_cast<unsigned short>(s[kPair]);
      to[t] = static_cast<unsigned short>(s[kPair] >> 16);
      if (state == State::not_selected) continue;
      const bool first = summary[kSelectedTiles]++ == 0;
      const bool waits = state == State::waits_to_exchange;
      summary[kWaitingForHost] += state == State::waits_for_host;
      summary[kWaitingForInput] += state == State::waits_for_input;
      summary[kWaitingToExchange] += waits && s[kWaitKind] != kind_flush;
      summary[kReceiving] += waits && s[kWaitKind] == kind_receive;
      if (s[kOutbox] > summary[kMostOutbox]) summary[kMostOutbox] = s[kOutbox];
      if (first) {
        summary[kSameKind] = s[kWaitKind];
        summary[kSameArgument] = s[kWaitArgument];
        summary[kAnswer] = s[kState];
        summary[kAnswerLength] = s[kTextLength];
        summary[kAnswerHashLow] = s[kHashLow];
        summary[kAnswerHashHigh] = s[kHashHigh];
      }
      if (!waits || !is_collective(s[kWaitKind]) || s[kWaitKind] != summary[kSameKind] || s[kWaitArgument] != summary[kSameArgument])
        summary[kSameWait] = 0;
      // Letting others receive is as good as being idle.
      const bool same_state = s[kState] == summary[kAnswer] || ((s[kState] ^ summary[kAnswer]) & ~0xffu) == 0;
      const bool host_has_to_act = state == State::waits_for_host || state == State::waits_for_input;
      if (!same_state || host_has_to_act || s[kTextLength] != summary[kAnswerLength] || s[kHashLow] != summary[kAnswerHashLow] ||
          s[kHashHigh] != summary[kAnswerHashHigh])
        summary[kSameAnswer] = 0;
      summary[kChangedDisks] += s[kDiskChanged];
      if (s[kErrand] && !summary[kErrandTile]) {
        summary[kErrandTile] = t + 1;
        summary[kErrandLender] = s[kErrand] - 1;
      }
      any_data = any_data || s[kPending];
      any_match = any_match || s[kMatched];
    }
    for (unsigned m = 0; m < modes.size() / 2; ++m) {
      if (any_data)
        count_rounds(&statuses[0], tiles, kPending, modes[2 * m], modes[2 * m + 1], summary[kRounds + m], summary[kFirstGroup + m]);
      if (any_match)
        count_rounds(&statuses[0], tiles, kMatched, modes[2 * m], modes[2 * m + 1], summary[kRounds + kMostModes + m],
                     summary[kFirstGroup + kMostModes + m]);
    }
  }
};

class ExchangeJoin : public Vertex {
 public:
  Input<Vector<unsigned>> rows;  // their summaries
  Input<Vector<unsigned>> modes;
  Output<Vector<unsigned>> summary;

  void compute() {
    const unsigned count = rows.size() / kSummaryWords;
    join(&rows[0], count, &summary[0]);
    for (unsigned i = 0; i < count && !summary[kErrandTile]; ++i) {
      const unsigned* const s = summary_of(&rows[0], i);
      if (!s[kErrandTile]) continue;
      summary[kErrandTile] = i * kRowTiles + s[kErrandTile];
      summary[kErrandLender] = s[kErrandLender];
    }
    for (unsigned kind = 0; kind < 2; ++kind)
      for (unsigned m = 0; m < modes.size() / 2; ++m) join_rounds(count, kind * kMostModes + m, modes[2 * m + 1]);
  }

 private:
  // A mode's groups lie within rows, or all tiles are one.
  void join_rounds(unsigned count, unsigned which, unsigned group) {
    unsigned& rounds = summary[kRounds + which];
    for (unsigned i = 0; i < count; ++i) {
      const unsigned* const s = summary_of(&rows[0], i);
      const unsigned of_row = s[kRounds + which];
      if (of_row == 0) continue;
      if (group > kRowTiles) {
        if (of_row > rounds) rounds = of_row;
        continue;
      }
      if (rounds == 0) summary[kFirstGroup + which] = i * (kRowTiles / group) + s[kFirstGroup + which];
      rounds += of_row;
    }
  }
};

class ExchangeDecide : public Vertex {
 public:
  Input<Vector<unsigned>> summaries;  // of all IPUs
  Input<Vector<unsigned>> modes;
  Input<Vector<unsigned>> groups;  // of each mode: groups of one IPU, and the number of its first case
  Input<Vector<unsigned>> tiles_of_ipu;
  Input<Vector<unsigned>> errand_plan;
  InOut<Vector<unsigned>> outcome;
  Output<Vector<unsigned>> control;

  void compute() {
    const unsigned ipus = summaries.size() / kSummaryWords;
    for (unsigned i = 0; i < kControlWords; ++i) control[i] = 0;
    outcome[kGo] = outcome[kStuck] = 0;
    unsigned all[kSummaryWords];
    join(&summaries[0], ipus, all);
    outcome[kHostWaits] = all[kWaitingForHost];
    outcome[kDisksToSave] = all[kChangedDisks];
    outcome[kInputWaits] = all[kWaitingForInput];
    outcome[kUniform] = all[kSameAnswer];
    outcome[kUniformState] = all[kAnswer];
    outcome[kUniformLength] = all[kAnswerLength];
    if (all[kWaitingForHost] > 0 || all[kWaitingToExchange] == 0) {
      outcome[kIdleMatches] = 0;
      return;
    }
    if (errand() || data(1)) return;
    if (all[kSameWait] && data(0)) return;
    if (all[kReceiving] > 0 && all[kMostOutbox] > 0 && outcome[kIdleMatches] <= all[kMostOutbox]) {
      ++outcome[kIdleMatches];
      outcome[kGo] = 1;
      outcome[kCase] = groups[2 * (modes.size() / 2) + 1];
      control[0] = exchange_match;
      return;
    }
    outcome[kIdleMatches] = 0;
    outcome[kStuck] = 1;
    outcome[kUniform] = 0;  // the host needs to see all states
  }

 private:
  const unsigned* of(unsigned ipu) const { return summary_of(&summaries[0], ipu); }

  // One tile's errand, before all else: who asks for memory does not take part in other steps meanwhile.
  bool errand() {
    const unsigned ipus = summaries.size() / kSummaryWords;
    unsigned ipu = 0, first_tile = 0;
    while (ipu < ipus && !of(ipu)[kErrandTile]) first_tile += tiles_of_ipu[ipu++];
    if (ipu == ipus || !errand_plan[kErrandCase]) return false;
    const unsigned mode = errand_plan[kErrandMode], slot = modes[2 * mode], group = modes[2 * mode + 1];
    const unsigned asking = of(ipu)[kErrandTile] - 1, lender = of(ipu)[kErrandLender];
    unsigned lender_ipu = 0, lender_place = lender;
    while (lender_ipu < ipus && lender_place >= tiles_of_ipu[lender_ipu]) lender_place -= tiles_of_ipu[lender_ipu++];
    if (lender_ipu == ipus) lender_ipu = lender_place = 0;  // of a destroyed tile: nobody has it
    outcome[kGo] = 1;
    outcome[kIdleMatches] = 0;
    outcome[kCase] = errand_plan[kErrandCase];
    outcome[kErrandFrom] = groups[2 * mode + 1] + ipu * groups[2 * mode] + asking / group;
    outcome[kErrandTo] = lender_ipu * errand_plan[kAnswerGroups] + lender_place / kAnswerGroup;
    control[0] = exchange_errand;
    control[1] = first_tile + asking;
    control[2] = asking % group * slot;
    control[3] = lender;
    control[4] = lender_place % kAnswerGroup * kBlockBytes;
    return true;
  }

  // Who reduces has room for few messages at a time: those of more than one round come in large pieces, a few tiles' at a time.
  bool reduces() const {
    for (unsigned i = 0; i < summaries.size() / kSummaryWords; ++i)
      if (of(i)[kSelectedTiles] > 0) return of(i)[kSameKind] == kind_reduce || of(i)[kSameKind] == kind_allreduce;
    return false;
  }

  // One round in the mode that needs the fewest; false if nothing is to be sent.
  bool data(unsigned kind) {
    const unsigned ipus = summaries.size() / kSummaryWords;
    unsigned best = 0, best_rounds = 0;
    const bool in_turn = kind == 0 && reduces();
    for (unsigned m = 0; m < modes.size() / 2; ++m) {
      unsigned rounds = 0;
      for (unsigned i = 0; i < ipus; ++i) rounds += of(i)[kRounds + kind * kMostModes + m];
      if (rounds > 0 && (best_rounds == 0 || rounds < best_rounds || (in_turn && best_rounds > ipus))) {
        best = m;
        best_rounds = rounds;
      }
    }
    if (best_rounds == 0) return false;
    unsigned ipu = 0, first_tile = 0;
    while (of(ipu)[kRounds + kind * kMostModes + best] == 0) first_tile += tiles_of_ipu[ipu++];
    const unsigned slot = modes[2 * best], group = modes[2 * best + 1];
    const unsigned which = of(ipu)[kFirstGroup + kind * kMostModes + best];
    const unsigned left = tiles_of_ipu[ipu] - which * group;
    outcome[kGo] = 1;
    outcome[kIdleMatches] = 0;
    outcome[kCase] = groups[2 * best + 1] + ipu * groups[2 * best] + which;
    control[0] = exchange_data;
    control[1] = first_tile + which * group;
    control[2] = group < left ? group : left;
    control[3] = slot;
    control[4] = kind;
    return true;
  }
};

// Each receiver gets the lowest tile that has a message up for it; each sender has one message up. One vertex per IPU, for the
// receivers there.
class ExchangeMatch : public Vertex {
 public:
  Input<Vector<unsigned short>> to;      // of every tile: tile + 1, or 0
  Input<Vector<unsigned short>> from;    // of this IPU's tiles: tile + 1, 0xffff for any, or 0
  Output<Vector<unsigned short>> match;  // of this IPU's tiles: the sender + 1, or 0
  unsigned first_tile;

  void compute() {
    const unsigned tiles = from.size();
    for (unsigned t = 0; t < tiles; ++t) match[t] = 0;
    for (unsigned sender = 0; sender < to.size(); ++sender) {
      const unsigned receiver = to[sender] - 1u - first_tile;
      if (to[sender] == 0 || receiver >= tiles || match[receiver]) continue;
      if (from[receiver] == 0xffff || from[receiver] == sender + 1) match[receiver] = static_cast<unsigned short>(sender + 1);
    }
  }
};

class ExchangePairs : public Vertex {
 public:
  Input<Vector<unsigned short>> match;  // of every tile
  Input<Vector<unsigned short>> to;     // of this IPU's tiles
  Output<Vector<unsigned>> pairs;       // two words a tile
  unsigned first_tile;

  void compute() {
    for (unsigned t = 0; t < to.size(); ++t) {
      pairs[2 * t] = match[first_tile + t];
      pairs[2 * t + 1] = to[t] && match[to[t] - 1u] == first_tile + t + 1;
    }
  }
};
