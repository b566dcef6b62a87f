#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/interval.h"
#include "tile/program.h"
#include "tile/step.h"
#include "tile/text.h"

// The dumb validator: expands everything to intervals and compares. It shares no code with the passes that it checks.
namespace pando::tile {
namespace {

constexpr std::size_t kMostMessages = 50;

// Bytes [begin, end) of one tile, or of the host block.
struct Span {
  TileId tile;
  Interval bytes;
  std::uint32_t owner = 0;  // of what wrote or reads it
  friend auto operator<=>(const Span&, const Span&) = default;
};

void add_runs(std::vector<Span>& out, TileId tile, std::uint64_t offset, std::int64_t step, const Move& m, std::uint32_t owner) {
  if (step == m.bytes || m.count == 1) {
    out.push_back({tile, {offset, offset + std::uint64_t{m.bytes} * m.count}, owner});
    return;
  }
  const std::uint32_t runs = step == 0 ? 1 : m.count;
  for (std::uint32_t i = 0; i < runs; ++i, offset += static_cast<std::uint64_t>(step))
    out.push_back({tile, {offset, offset + m.bytes}, owner});
}

class Verifier {
 public:
  Verifier(const Program& program, const Library& library) : program_(program), library_(library) {}

  std::vector<std::string> run() {
    if (!tables()) return std::move(messages_);
    tiles();
    for (std::size_t s = 0; s < program_.streams.size(); ++s) stream(s);
    syncs();
    allocations();
    for (std::size_t x = 0; x < program_.exchanges.size(); ++x) exchange(x);
    for (std::size_t k = 0; k < program_.channels.size(); ++k) channel(k);
    for (std::size_t h = 0; h < program_.transfers.size(); ++h) transfer(h);
    for (std::size_t c = 0; c < program_.computes.size(); ++c) compute(c);
    return std::move(messages_);
  }

 private:
  template <class... Args>
  void complain(fmt::format_string<Args...> format, Args&&... args) {
    if (messages_.size() < kMostMessages) messages_.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  bool tables() {
    const std::size_t tiles = program_.machine.tiles();
    if (program_.tile_bytes.size() != tiles) complain("tile_bytes has {} entries for {} tiles", program_.tile_bytes.size(), tiles);
    for (const auto& g : program_.globals)
      if (g.size() != tiles) complain("globals have {} entries for {} tiles", g.size(), tiles);
    for (const Allocation& a : program_.allocations)
      if (a.tile.index() >= tiles || (!a.always_live && a.live >= program_.live_ranges.size()))
        complain("allocation on tile {} has no such tile or live range", a.tile.value);
    return messages_.empty();
  }

  void tiles() {
    stream_of_.assign(program_.machine.tiles(), StreamId());
    for (std::size_t s = 0; s < program_.streams.size(); ++s)
      for (const TileId t : program_.streams[s].tiles) {
        if (t.index() >= stream_of_.size()) {
          complain("stream s{} has tile {}; the machine has {}", s, t.value, stream_of_.size());
          continue;
        }
        if (stream_of_[t.index()].valid()) complain("tile {} is in streams s{} and s{}", t.value, stream_of_[t.index()].value, s);
        stream_of_[t.index()] = StreamId(static_cast<std::uint32_t>(s));
      }
  }

  bool has(const char* what, std::size_t s, std::size_t i, std::size_t index, std::size_t size) {
    if (index < size) return true;
    complain("s{} instruction {}: {} {} of {}", s, i, what, index, size);
    return false;
  }

  bool operand(std::size_t s, std::size_t i, Names names, std::uint32_t value) {
    return names == Names::nothing || names == Names::loaded_function || has(word_of(names), s, i, value, count_of(program_, names));
  }

  void instruction(std::size_t s, std::size_t i, const Instruction& in) {
    if (!has("kind", s, i, static_cast<std::size_t>(in.op), kSteps)) return;
    const StepRow& row = row_of(in.op);
    const bool known = operand(s, i, row.a, in.a);
    operand(s, i, row.b, in.b);
    if (known && row.a == Names::compute && program_.computes[in.a].stream.index() != s)
      complain("s{} instruction {}: compute c{} is of stream s{}", s, i, in.a, program_.computes[in.a].stream.value);
    if (row.a == Names::locations_begin && in.b <= in.a) complain("s{} instruction {}: {} without a result", s, i, name_of(in.op));
    if (row.a == Names::loaded_function && in.b != 0) has("function", s, i, in.a, program_.functions.size());
    if (known && (row.b == Names::send_place || row.b == Names::receive_place)) channel_step(s, i, row.b, in);
    if (may_jump(row.flow)) has("target", s, i, in.target, program_.streams[s].code.size());
    if (in.sync.valid() && has("sync", s, i, in.sync.index(), program_.syncs.size())) {
      const auto& members = program_.syncs[in.sync.index()].streams;
      if (std::find(members.begin(), members.end(), StreamId(static_cast<std::uint32_t>(s))) == members.end())
        complain("s{} instruction {}: sync y{} does not name this stream", s, i, in.sync.value);
    }
  }

  void channel_step(std::size_t s, std::size_t i, Names place, const Instruction& in) {
    const Channel& c = program_.channels[in.a];
    const bool sends = place == Names::send_place;
    has("place", s, i, in.b, sends ? c.sends : c.receives);
    const StreamId end = sends ? c.sender : c.receiver;
    if (end.index() != s) complain("s{} instruction {}: stream s{} is at that end of channel k{}", s, i, end.value, in.a);
  }

  void stream(std::size_t s) {
    const Stream& stream = program_.streams[s];
    if (stream.entries.size() != program_.programs)
      complain("s{} has {} entries for {} programs", s, stream.entries.size(), program_.programs);
    for (const std::uint32_t entry : stream.entries)
      if (entry >= stream.code.size()) complain("s{}: entry {} of {} instructions", s, entry, stream.code.size());
    for (std::size_t i = 0; i < stream.code.size(); ++i) instruction(s, i, stream.code[i]);
    // Of no program there is no code.
    const bool ends = stream.code.empty() ? program_.programs == 0 : !falls_through(row_of(stream.code.back().op).flow);
    if (!ends) complain("s{} runs off its end", s);
  }

  // Streams that sync must come to the same syncs with the same work in the same order.
  void syncs() {
    using Stop = std::tuple<std::uint32_t, std::uint32_t, Op, std::uint32_t, std::uint32_t>;
    std::vector<std::map<std::uint32_t, std::vector<Stop>>> stops(program_.syncs.size());
    for (std::size_t s = 0; s < program_.streams.size(); ++s)
      for (const Instruction& in : program_.streams[s].code)
        if (in.sync.valid() && in.sync.index() < stops.size()) {
          const bool names_a = row_of(in.op).a != Names::nothing;
          stops[in.sync.index()][static_cast<std::uint32_t>(s)].emplace_back(in.order, in.sync.value, in.op, names_a ? in.a : 0, in.b);
        }
    for (std::size_t m = 0; m < stops.size(); ++m) {
      const auto& members = program_.syncs[m].streams;
      for (auto& [s, list] : stops[m]) std::sort(list.begin(), list.end());
      for (const StreamId s : members)
        if (stops[m][s.value] != stops[m][members.front().value])
          complain("sync y{}: streams s{} and s{} come to it with different work", m, members.front().value, s.value);
    }
    same_sequence();
  }

  // Of two streams that share syncs, the shared syncs' program orders rise alike in both codes.
  void same_sequence() {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::pair<std::vector<std::uint32_t>, std::vector<std::uint32_t>>> shared;
    for (std::size_t s = 0; s < program_.streams.size(); ++s)
      for (const Instruction& in : program_.streams[s].code) {
        if (!in.sync.valid() || in.sync.index() >= program_.syncs.size()) continue;
        for (const StreamId other : program_.syncs[in.sync.index()].streams) {
          if (other.index() == s) continue;
          const auto a = static_cast<std::uint32_t>(std::min<std::size_t>(s, other.index()));
          const auto b = static_cast<std::uint32_t>(std::max<std::size_t>(s, other.index()));
          auto& pair = shared[{a, b}];
          (a == s ? pair.first : pair.second).push_back(in.sync.value);
        }
      }
    for (const auto& [streams, syncs] : shared)
      if (syncs.first != syncs.second)
        complain("streams s{} and s{} do not come to their common syncs in the same sequence", streams.first, streams.second);
  }

  void allocations() {
    memory_.resize(program_.machine.tiles());
    const auto& all = program_.allocations;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Allocation& a = all[i];
      const std::uint64_t end = a.offset + a.size;
      memory_[a.tile.index()].push_back({a.offset, end});
      if (i > 0 && std::pair(a.tile, a.offset) < std::pair(all[i - 1].tile, all[i - 1].offset))
        complain("allocations are not sorted at tile {}, {:#x}", a.tile.value, a.offset);
      if (end > program_.tile_bytes[a.tile.index()])
        complain("tile {}: allocation [{:#x}, {:#x}) ends after the tile's {} bytes", a.tile.value, a.offset, end,
                 program_.tile_bytes[a.tile.index()]);
      for (std::size_t j = i + 1; j < all.size() && all[j].tile == a.tile && all[j].offset < end; ++j)
        if (all[j].size > 0 && live_together(a, all[j]))
          complain("tile {}:{} [{:#x}, {:#x}) and{} [{:#x}, {:#x}) are live together", a.tile.value, quoted(program_, a.name), a.offset,
                   end, quoted(program_, all[j].name), all[j].offset, all[j].offset + all[j].size);
    }
    for (auto& list : memory_) normalise(list);
    if (program_.out_of_memory || !program_.machine.bounded_memory) return;
    for (std::size_t t = 0; t < program_.tile_bytes.size(); ++t)
      if (program_.tile_bytes[t] > program_.machine.bytes_per_tile())
        complain("tile {} uses {} of {} bytes", t, program_.tile_bytes[t], program_.machine.bytes_per_tile());
  }

  bool live_together(const Allocation& a, const Allocation& b) const {
    if (a.always_live && b.always_live) return true;
    if (a.always_live) return !program_.live_ranges[b.live].empty();
    if (b.always_live) return !program_.live_ranges[a.live].empty();
    for (const auto& x : program_.live_ranges[a.live])
      for (const auto& y : program_.live_ranges[b.live])
        if (x.first < y.second && y.first < x.second) return true;
    return false;
  }

  // Is the span inside the tile's memory, and inside allocations where the program lists any for the tile?
  void inside(const std::string& where, const Span& s) {
    if (s.tile.index() >= memory_.size()) return complain("{}: no tile {}", where, s.tile.value);
    if (s.bytes.end > program_.tile_bytes[s.tile.index()] || s.bytes.end < s.bytes.begin)
      return complain("{}: bytes [{:#x}, {:#x}) are outside tile {}'s {} bytes", where, s.bytes.begin, s.bytes.end, s.tile.value,
                      program_.tile_bytes[s.tile.index()]);
    const auto& list = memory_[s.tile.index()];
    if (list.empty() || s.bytes.empty()) return;
    auto it = std::upper_bound(list.begin(), list.end(), s.bytes.begin, [](std::uint64_t b, const Interval& i) { return b < i.begin; });
    if (it == list.begin() || std::prev(it)->end < s.bytes.end)
      complain("{}: bytes [{:#x}, {:#x}) of tile {} are in no allocation", where, s.bytes.begin, s.bytes.end, s.tile.value);
  }

  // No byte twice in `writes`; none of `writes` in `reads`, except reads of the same owner if `own_reads`.
  void disjoint(const std::string& where, std::vector<Span>& writes, std::vector<Span>& reads, bool own_reads) {
    std::sort(writes.begin(), writes.end());
    for (std::size_t i = 1; i < writes.size(); ++i)
      if (writes[i].tile == writes[i - 1].tile && writes[i].bytes.overlaps(writes[i - 1].bytes) &&
          !(own_reads && writes[i].owner == writes[i - 1].owner))
        complain("{}: {} is written twice", where, text_of(writes[i].tile, writes[i].bytes.begin));
    for (const Span& r : reads) {
      auto it = std::upper_bound(writes.begin(), writes.end(), Span{r.tile, {r.bytes.end, 0}, 0}, [](const Span& a, const Span& b) {
        return std::pair(a.tile, a.bytes.begin) < std::pair(b.tile, b.bytes.begin);
      });
      while (it != writes.begin() && std::prev(it)->tile == r.tile && std::prev(it)->bytes.end > r.bytes.begin) {
        --it;
        if (it->bytes.overlaps(r.bytes) && !(own_reads && it->owner == r.owner)) {
          complain("{}: {} is read and written", where, text_of(it->tile, std::max(it->bytes.begin, r.bytes.begin)));
          break;
        }
      }
    }
  }

  void move_list(const std::string& where, const std::vector<Move>& list, bool checks_reads) {
    std::vector<Span> reads, writes;
    for (std::uint32_t i = 0; i < list.size(); ++i) {
      add_runs(writes, list[i].destination_tile, list[i].destination, list[i].destination_step, list[i], i);
      if (checks_reads) add_runs(reads, list[i].source_tile, list[i].source, list[i].source_step, list[i], i);
      if (list[i].destination_step == 0 && list[i].count > 1) complain("{}: move {} writes one place {} times", where, i, list[i].count);
    }
    for (const Span& s : writes) inside(where, s);
    for (const Span& s : reads) inside(where, s);
    disjoint(where, writes, reads, false);
  }

  void exchange(std::size_t index) {
    const Exchange& x = program_.exchanges[index];
    const std::string where = fmt::format("exchange x{}", index);
    bool poison = !x.receive.empty();
    for (const Move& m : x.receive) poison = poison && !m.source_tile.valid();
    // Across replicas a tile's source and destination are different memories: such exchanges may read what they write.
    move_list(where + " receive", x.receive, !poison && !is_cross_replica(index));
    move_list(where + " arrange", x.arrange, true);
    for (std::size_t i = 1; i < x.receive.size(); ++i)
      if (std::pair(x.receive[i].destination_tile, x.receive[i].destination) <
          std::pair(x.receive[i - 1].destination_tile, x.receive[i - 1].destination))
        complain("{}: receive is not sorted at move {}", where, i);
    for (const Move& m : x.arrange)
      if (m.source_tile != m.destination_tile) complain("{}: arrange move {} crosses tiles", where, text_of(m));
  }

  // One exchange of a channel, in every slot: from tiles of one stream to tiles of another, inside of memory, and inside of its slot where
  // that side is one.
  struct ChannelSide {
    StreamId stream;
    std::uint64_t slot = 0;  // 0: no slot
  };
  void channel_moves(const std::string& where, ExchangeId id, std::uint32_t capacity, const ChannelSide& from, const ChannelSide& to) {
    if (id.index() >= program_.exchanges.size()) return complain("{}: no exchange x{}", where, id.value);
    std::map<std::pair<bool, TileId>, Interval> extents;  // of slots, by side
    const auto side = [&](const ChannelSide& s, bool is_source, const Move& m, std::uint32_t owner) {
      const TileId tile = is_source ? m.source_tile : m.destination_tile;
      if (tile.index() >= stream_of_.size() || stream_of_[tile.index()] != s.stream)
        return complain("{}: tile {} is not of stream s{}", where, tile.value, s.stream.value);
      for (std::uint32_t k = 0; k < std::max(capacity, 1u); ++k) {
        std::vector<Span> spans;
        add_runs(spans, tile, (is_source ? m.source : m.destination) + k * s.slot, is_source ? m.source_step : m.destination_step, m,
                 owner);
        for (const Span& span : spans) {
          inside(where, span);
          if (k > 0 || s.slot == 0) continue;
          Interval& extent = extents.try_emplace({is_source, tile}, span.bytes).first->second;
          extent = {std::min(extent.begin, span.bytes.begin), std::max(extent.end, span.bytes.end)};
        }
      }
    };
    const std::vector<Move>& moves = program_.exchanges[id.index()].receive;
    for (std::uint32_t i = 0; i < moves.size(); ++i) side(from, true, moves[i], i), side(to, false, moves[i], i);
    for (const auto& [key, extent] : extents)
      if (extent.size() > (key.first ? from.slot : to.slot))
        complain("{}: {} bytes on tile {} are more than a slot", where, extent.size(), key.second.value);
    if (total_bytes(moves) != bytes_of_channel_) complain("{}: {} bytes of a block of {}", where, total_bytes(moves), bytes_of_channel_);
  }

  void channel(std::size_t index) {
    const Channel& c = program_.channels[index];
    const std::string where = fmt::format("channel k{}", index);
    if (c.sends == 0 && c.receives == 0) return;
    if (c.sends == 0 || c.receives == 0) return complain("{}: one end only", where);
    if (c.sender.index() >= program_.streams.size() || c.receiver.index() >= program_.streams.size() || c.sender == c.receiver)
      return complain("{}: not from one stream to another", where);
    bytes_of_channel_ = c.bytes;
    const ChannelSide source{c.sender}, out{c.sender, c.out_slot}, in{c.receiver, c.in_slot}, destination{c.receiver};
    if (c.capacity == 0) {
      if (c.direct.size() != std::size_t{c.sends} * c.receives)
        return complain("{}: {} moves for {} by {} places", where, c.direct.size(), c.sends, c.receives);
      for (const ExchangeId x : c.direct) channel_moves(where + " direct", x, 0, source, destination);
      return;
    }
    if (c.store.size() != c.sends || c.take.size() != c.receives) return complain("{}: not one exchange for each place", where);
    for (const ExchangeId x : c.store) channel_moves(where + " store", x, c.capacity, source, out);
    channel_moves(where + " cross", c.cross, c.capacity, out, in);
    for (const ExchangeId x : c.take) channel_moves(where + " take", x, c.capacity, in, destination);
  }

  bool is_cross_replica(std::size_t exchange) const {
    for (const Stream& s : program_.streams)
      for (const Instruction& in : s.code)
        if (row_of(in.op).work == Work::cross_replica && in.a == exchange) return true;
    return false;
  }

  void transfer(std::size_t index) {
    const Transfer& t = program_.transfers[index];
    const std::string where = fmt::format("transfer h{}", index);
    std::vector<Span> tile_side, host_side, none;
    for (std::uint32_t i = 0; i < t.moves.size(); ++i) {
      const Move& m = t.moves[i];
      const TileId tile = t.to_device ? m.destination_tile : m.source_tile;
      const TileId host = t.to_device ? m.source_tile : m.destination_tile;
      if (host.valid() || !tile.valid()) complain("{}: {} is not {} the device", where, text_of(m), t.to_device ? "to" : "from");
      add_runs(tile_side, tile, t.to_device ? m.destination : m.source, t.to_device ? m.destination_step : m.source_step, m, i);
      add_runs(host_side, host, t.to_device ? m.source : m.destination, t.to_device ? m.source_step : m.destination_step, m, i);
    }
    for (const Span& s : tile_side) inside(where, s);
    for (const Span& s : host_side)
      if (s.bytes.end > t.host_bytes) complain("{}: host bytes [{}, {}) of {}", where, s.bytes.begin, s.bytes.end, t.host_bytes);
    disjoint(where, t.to_device ? tile_side : host_side, none, false);
    if (!t.rows.empty() && t.row_bytes * t.rows.size() != t.host_bytes)
      complain("{}: {} rows of {} bytes are not {} bytes", where, t.rows.size(), t.row_bytes, t.host_bytes);
  }

  void vertex(const std::string& where, StreamId stream, const Codelet& codelet, std::uint32_t index, std::vector<Span>& reads,
              std::vector<Span>& writes) {
    const VertexInstance& v = program_.vertices[index];
    if (v.tile.index() >= stream_of_.size() || stream_of_[v.tile.index()] != stream)
      return complain("{}: v{} is on tile {}, which is not of the step's stream", where, v.vertex.value, v.tile.value);
    std::size_t at = v.operands;
    for (const Field& field : codelet.fields) {
      if (!field.is_edge()) continue;
      const bool two = field.has_rows();
      if (at >= program_.operands.size()) return complain("{}: v{} has no operand for {}", where, v.vertex.value, field.name);
      const std::size_t rows = two ? program_.operands[at++].count : 1;
      if (at + rows > program_.operands.size()) return complain("{}: v{} has no operand for {}", where, v.vertex.value, field.name);
      for (const std::size_t end = at + rows; at < end; ++at) {
        const Operand& o = program_.operands[at];
        if (o.count == 0) continue;  // it lies nowhere
        const Span span{o.tile, {o.offset, o.offset + o.count * size_of(field.type)}, index};
        if (o.tile != v.tile && field.is_written())
          complain("{}: v{}.{} writes on tile {}, not its own tile {}", where, v.vertex.value, field.name, o.tile.value, v.tile.value);
        if (o.offset % field.min_align != 0)
          complain("{}: v{}.{} at {:#x} is not aligned to {}", where, v.vertex.value, field.name, o.offset, field.min_align);
        inside(where, span);
        (field.is_written() ? writes : reads).push_back(span);
      }
    }
  }

  void compute(std::size_t index) {
    const ComputeStep& step = program_.computes[index];
    const std::string where = fmt::format("compute c{}", index);
    std::vector<Span> reads, writes;
    CodeletId last;
    for (const VertexGroup& group : step.groups) {
      if (group.codelet.index() >= library_.size() || std::size_t{group.first} + group.count > program_.vertices.size()) {
        complain("{}: a group names no codelet or vertex", where);
        continue;
      }
      if (last.valid() && group.codelet <= last) complain("{}: groups are not sorted by codelet", where);
      last = group.codelet;
      for (std::uint32_t i = group.first; i < group.first + group.count; ++i) {
        if (i > group.first && program_.vertices[i].tile < program_.vertices[i - 1].tile)
          complain("{}: vertices are not sorted by tile at v{}", where, program_.vertices[i].vertex.value);
        vertex(where, step.stream, library_[group.codelet], i, reads, writes);
      }
    }
    disjoint(where, writes, reads, true);
    if (step.result) inside(where, {step.result->tile, {step.result->offset, step.result->offset + size_of(step.result->type)}, 0});
  }

  const Program& program_;
  const Library& library_;
  std::vector<std::string> messages_;
  std::uint64_t bytes_of_channel_ = 0;
  std::vector<StreamId> stream_of_;
  std::vector<std::vector<Interval>> memory_;  // normalised allocations per tile
};

}  // namespace

std::vector<std::string> verify(const Program& program, const Library& library) { return Verifier(program, library).run(); }

}  // namespace pando::tile
