// Programs of strangers: every number that names something names something that is there, every address lies in its memory. One pass, no
// expansion; what verify() checks beyond that makes a program wrong, but not dangerous.
#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "base/error.h"
#include "base/sizes.h"
#include "tile/program.h"
#include "tile/step.h"

namespace pando::tile {

namespace {

class Bounds {
 public:
  Bounds(const Program& program, const Library& library) : p_(program), library_(library) {}

  void check() {
    machine();
    streams();
    host();  // types and sizes of what transfers name
    moves(p_.initial_moves, p_.initial_data.size(), true, false, false);
    const Exchanged by = exchanged();
    for (std::size_t x = 0; x < p_.exchanges.size(); ++x) {
      const bool within = by.within[x] != 0, across = by.across[x] != 0;
      // Copies across replicas read everything before they write: what another replica has at an address is not what is written there.
      moves(p_.exchanges[x].receive, 0, false, !within && !across, within || !across);
      moves(p_.exchanges[x].arrange, 0, false, false, true);
    }
    for (const Channel& c : p_.channels) channel(c);
    for (const Transfer& t : p_.transfers) transfer(t);
    for (const ComputeStep& step : p_.computes) compute(step);
    for (const Location& l : p_.locations) location(l);
    for (const Location& l : p_.replica_index) location(l);
  }

 private:
  void need(bool holds, std::string_view what) const {
    if (!holds) fail(ErrorKind::graph_object_load_error, "executable-corrupt", "the executable is corrupt: {}", what);
  }
  void index(std::uint64_t i, std::size_t size, std::string_view what) const {
    if (i >= size) fail(ErrorKind::graph_object_load_error, "executable-corrupt", "the executable is corrupt: {} {} of {}", what, i, size);
  }
  void name(NameId id) const {
    if (id.valid()) index(id.index(), p_.names.size(), "name");
  }
  static std::uint64_t most_bytes(ElementType type) { return kMostBytes / size_of(type); }
  void type(ElementType t) const { index(static_cast<std::size_t>(t), kElementTypes, "element type"); }

  void machine() {
    constexpr std::uint64_t kMostTiles = 1u << 20;
    const Machine& m = p_.machine;
    need(m.ipus > 0 && m.tiles_per_ipu > 0 && std::uint64_t{m.ipus} * m.tiles_per_ipu <= kMostTiles,
         "its machine has no tiles, or too many");
    need(p_.replication > 0 && p_.replication * std::uint64_t{m.tiles()} <= kMostTiles, "its replicas are none, or too many");
    need(p_.tile_bytes.size() == m.tiles(), "the tiles' sizes are not as many as the tiles");
    for (const std::uint64_t bytes : p_.tile_bytes) memory_ = std::max(memory_, bytes);
    for (const Image& image : p_.images) {
      memory_ = std::max(memory_, saturating_add(image.begin, image.bytes.size()));
      for (const TileId t : image.tiles) index(t.value, m.tiles(), "tile of an image");
    }
    need(saturating_mul(saturating_mul(memory_, m.tiles()), p_.replication) <= kMostBytes, "its tiles have more memory than there is");
    for (const std::vector<std::uint64_t>& globals : p_.globals) {
      need(globals.empty() || globals.size() == m.tiles(), "the places of globals are not as many as the tiles");
      const std::size_t module = static_cast<std::size_t>(&globals - p_.globals.data());
      const std::uint64_t size =
          module < library_.modules() ? library_.module(ModuleId(static_cast<std::uint32_t>(module))).globals.size : 0;
      for (const std::uint64_t at : globals)
        need(at == ~std::uint64_t{0} || saturating_add(at, size) <= memory_, "globals outside of a tile's memory");
    }
    for (const Allocation& a : p_.allocations) {
      index(a.tile.value, m.tiles(), "tile of an allocation");
      need(a.always_live || a.live < p_.live_ranges.size(), "an allocation without a live range");
      need(saturating_add(a.offset, a.size) <= kMostBytes && static_cast<std::size_t>(a.category) < kCategories,
           "an allocation outside of memory");
      name(a.name);
    }
  }

  void span(TileId tile, std::uint64_t offset, std::uint64_t bytes, std::string_view what) const {
    index(tile.value, p_.machine.tiles(), "tile");
    need(saturating_add(offset, bytes) <= memory_, what);
  }
  void location(const Location& l) const {
    type(l.type);
    span(l.tile, l.offset, size_of(l.type), "a location outside of a tile's memory");
  }

  // One side of a move: runs of `bytes` from `offset` on, `step` apart.
  void side(TileId tile, std::uint64_t offset, std::int64_t step, const Move& m, std::uint64_t size, bool is_host) const {
    if (is_host)
      need(!tile.valid(), "a move whose host side is a tile");
    else
      index(tile.value, p_.machine.tiles(), "tile of a move");
    const std::uint64_t distance =
        saturating_mul(step < 0 ? 0 - static_cast<std::uint64_t>(step) : static_cast<std::uint64_t>(step), m.count > 0 ? m.count - 1 : 0);
    const bool fits = step < 0 ? distance <= offset && saturating_add(offset, m.bytes) <= size
                               : saturating_add(saturating_add(offset, distance), m.bytes) <= size;
    need(fits, "a move from or to where there is no memory");
  }
  // A move writes no byte twice, so it is done in the time that memory takes.
  void writes_once(const Move& m) const {
    const std::uint64_t step =
        m.destination_step < 0 ? 0 - static_cast<std::uint64_t>(m.destination_step) : static_cast<std::uint64_t>(m.destination_step);
    need(m.count <= 1 || (m.bytes > 0 && step >= m.bytes), "a move that writes a byte twice");
  }
  // A run of bytes is moved onto all of itself or none of it.
  void reads_others(const Move& m) const {
    if (!m.source_tile.valid() || m.source_tile != m.destination_tile || m.count == 0) return;
    const bool is_one_run = m.source_step == m.bytes && m.destination_step == m.bytes;
    const __int128 bytes = is_one_run ? static_cast<__int128>(m.bytes) * m.count : m.bytes, last = is_one_run ? 0 : m.count - 1;
    const __int128 apart = static_cast<__int128>(m.destination) - m.source,
                   change = static_cast<__int128>(m.destination_step) - m.source_step;
    const __int128 nearest = change == 0 ? 0 : -apart / change;  // the run where the two meet, or beside it
    for (__int128 i = nearest - 1; i <= nearest + 1; ++i) {
      const __int128 distance = apart + std::clamp<__int128>(i, 0, last) * change;
      if (distance == 0 || distance >= bytes || -distance >= bytes) continue;
      need(false, fmt::format("on tile {}, a move of {} x {} bytes onto what it reads: from {} by {} to {} by {}", m.source_tile.value,
                              m.count, m.bytes, m.source, m.source_step, m.destination, m.destination_step));
    }
  }
  // With a host's block of `host` bytes: `to_device` says which side that is.
  void moves(const std::vector<Move>& list, std::uint64_t host, bool to_device, bool may_lack_source, bool in_place) const {
    for (const Move& m : list) {
      const bool host_source = to_device, no_source = may_lack_source && !m.source_tile.valid();
      if (!no_source) side(m.source_tile, m.source, m.source_step, m, host_source ? host : memory_, host_source);
      side(m.destination_tile, m.destination, m.destination_step, m, memory_, false);
      writes_once(m);
      if (in_place) reads_others(m);
    }
  }
  // By exchange, whether a step brings its data: within a replica, across replicas. Others poison what they write.
  struct Exchanged {
    std::vector<char> within, across;
  };
  Exchanged exchanged() const {
    Exchanged out{std::vector<char>(p_.exchanges.size()), std::vector<char>(p_.exchanges.size())};
    for (const Stream& s : p_.streams) {
      for (const Instruction& in : s.code) {
        if (in.a >= p_.exchanges.size()) continue;
        if (in.op == Op::cross_replica) out.across[in.a] = 1;
        if (in.op == Op::exchange) out.within[in.a] = 1;
      }
    }
    return out;
  }

  // The same moves, by whole slots further on one side or both.
  void slot_moves(ExchangeId id, std::uint64_t source, std::uint64_t destination) const {
    index(id.value, p_.exchanges.size(), "exchange of a channel");
    for (Move m : p_.exchanges[id.index()].receive) {
      m.source = saturating_add(m.source, source);
      m.destination = saturating_add(m.destination, destination);
      side(m.source_tile, m.source, m.source_step, m, memory_, false);
      side(m.destination_tile, m.destination, m.destination_step, m, memory_, false);
    }
  }
  void channel(const Channel& c) const {
    name(c.name);
    need(c.name.valid(), "a channel without a name");
    if (c.sends == 0 || c.receives == 0) return need(c.sends == 0 && c.receives == 0, "a channel with one end");
    index(c.sender.value, p_.streams.size(), "stream of a channel");
    index(c.receiver.value, p_.streams.size(), "stream of a channel");
    if (c.capacity == 0) {
      need(c.direct.size() == std::uint64_t{c.sends} * c.receives, "a channel without its moves");
      for (const ExchangeId x : c.direct) slot_moves(x, 0, 0);
      return;
    }
    need(c.store.size() == c.sends && c.take.size() == c.receives, "a channel without its moves");
    const std::uint64_t last = c.capacity - 1, out = saturating_mul(last, c.out_slot), in = saturating_mul(last, c.in_slot);
    for (const ExchangeId x : c.store) slot_moves(x, 0, out);
    slot_moves(c.cross, out, in);
    for (const ExchangeId x : c.take) slot_moves(x, in, 0);
  }

  void transfer(const Transfer& t) const {
    name(t.name);
    type(t.type);
    need(t.host_bytes <= kMostBytes, "a host block of more bytes than there are");
    for (const Move& m : t.moves) {
      side(m.source_tile, m.source, m.source_step, m, t.to_device ? t.host_bytes : memory_, t.to_device);
      side(m.destination_tile, m.destination, m.destination_step, m, t.to_device ? memory_ : t.host_bytes, !t.to_device);
      writes_once(m);
    }
    for (const Location& l : t.rows) location(l);
    need(t.rows.empty() || saturating_mul(t.row_bytes, t.rows.size()) == t.host_bytes, "rows that are not a host block");
    const bool makes_block = t.kind == Transfer::Kind::print || t.kind == Transfer::Kind::error || t.kind == Transfer::Kind::host_function;
    need(!makes_block || t.host_bytes <= moved_bytes(t), "a host block of more bytes than are moved");
    transfer_end(t);
  }

  static std::uint64_t moved_bytes(const Transfer& t) {
    std::uint64_t bytes = 0;
    for (const Move& m : t.moves) bytes = saturating_add(bytes, saturating_mul(m.bytes, m.count));
    return bytes;
  }

  // The host's block is as long as what it is a block of.
  void transfer_end(const Transfer& t) const {
    switch (t.kind) {
      case Transfer::Kind::fifo: {
        index(t.index, p_.fifos.size(), "stream");
        const FifoInfo& f = p_.fifos[t.index];
        need(saturating_mul(f.elements, size_of(f.type)) == t.host_bytes && f.to_device == t.to_device,
             "a transfer that is not its stream's");
        return;
      }
      case Transfer::Kind::remote: {
        index(t.index, p_.remote_buffers.size(), "remote buffer");
        const RemoteInfo& b = p_.remote_buffers[t.index];
        const std::uint64_t row = saturating_mul(b.elements, size_of(b.type));
        need(t.row_bytes == row && (!t.rows.empty() || t.host_bytes == row), "a transfer that is not of its remote buffer's rows");
        return;
      }
      case Transfer::Kind::print:
      case Transfer::Kind::error: {
        index(t.index, p_.prints.size(), "print");
        std::uint64_t elements = 1;
        for (const std::uint64_t d : p_.prints[t.index].shape) elements = saturating_mul(elements, d);
        need(t.moves.empty() || saturating_mul(elements, size_of(t.type)) <= t.host_bytes, "a print of more than its tensor");
        return;
      }
      case Transfer::Kind::host_function: {
        index(t.index, p_.host_functions.size(), "host function");
        const HostFunctionInfo& f = p_.host_functions[t.index];
        std::uint64_t bytes = 0;
        for (const auto& [of, elements] : t.to_device ? f.outputs : f.inputs)
          bytes = saturating_add(bytes, saturating_mul(elements, size_of(of)));
        need(bytes <= t.host_bytes, "a call of a host function with fewer arguments than it has");
        return;
      }
      case Transfer::Kind::handle: return;
    }
    need(false, "a transfer of no kind");
  }

  void host() const {
    for (const FifoInfo& f : p_.fifos) {
      type(f.type);
      need(f.elements <= most_bytes(f.type) && f.depth <= 1u << 20, "a stream of larger blocks than there are");
    }
    for (const RemoteInfo& b : p_.remote_buffers) {
      type(b.type);
      need(saturating_mul(saturating_mul(b.elements, size_of(b.type)), b.repeats) <= kMostBytes, "a remote buffer larger than memory");
    }
    for (const HostFunctionInfo& f : p_.host_functions)
      for (const auto* list : {&f.inputs, &f.outputs})
        for (const auto& [of, elements] : *list) type(of);
    for (const HandleInfo& h : p_.handles)
      for (const TransferId t : {h.write, h.read}) {
        if (!t.valid()) continue;
        index(t.index(), p_.transfers.size(), "transfer of a handle");
        need(p_.transfers[t.index()].host_bytes == h.bytes && p_.transfers[t.index()].to_device == (t == h.write),
             "a handle of another size");
      }
    for (const auto& map : p_.replica_maps)
      for (const auto& [from, to] : map) index(std::max(from, to), p_.replication, "replica");
  }

  void streams() const {
    std::vector<bool> taken(p_.machine.tiles(), false);
    for (const Stream& s : p_.streams) {
      need(s.entries.size() == p_.programs, "a stream without an entry for each program");
      for (const std::uint32_t e : s.entries) index(e, s.code.size(), "entry");
      for (const Instruction& in : s.code) need(static_cast<std::size_t>(in.op) < kSteps, "an instruction that there is not");
      need(!s.code.empty() && !falls_through(row_of(s.code.back().op).flow), "a stream runs off its end");
      for (const TileId t : s.tiles) {
        index(t.value, p_.machine.tiles(), "tile of a stream");
        need(!taken[t.index()], "a tile of two streams");
        taken[t.index()] = true;
      }
      for (const Instruction& in : s.code) instruction(s, in);
    }
    for (const Sync& m : p_.syncs)
      for (const StreamId s : m.streams) index(s.value, p_.streams.size(), "stream of a sync");
  }

  void transfer_of(std::uint32_t t, std::initializer_list<Transfer::Kind> kinds) const {
    index(t, p_.transfers.size(), "transfer");
    need(std::find(kinds.begin(), kinds.end(), p_.transfers[t].kind) != kinds.end(), "an instruction with a transfer of another kind");
  }

  void operand(const Instruction& in, Names names, std::uint32_t value) const {
    using Kind = Transfer::Kind;
    const bool is_missing = names == Names::nothing || (names == Names::loaded_function && in.b == 0);
    if (!is_missing) index(value, count_of(p_, names), word_of(names));
    switch (names) {
      case Names::fifo_or_remote: return transfer_of(value, {Kind::fifo, Kind::remote});
      case Names::print: return transfer_of(value, {Kind::print});
      case Names::error: return transfer_of(value, {Kind::error});
      case Names::host_inputs:
      case Names::host_outputs:
        transfer_of(value, {Kind::host_function});
        return need(p_.transfers[value].to_device == (names == Names::host_outputs), "a call of a host function the wrong way round");
      case Names::locations_end: return need(in.a < in.b, "a combination of no locations");
      case Names::send_place: return index(value, p_.channels[in.a].sends, word_of(names));
      case Names::receive_place: return index(value, p_.channels[in.a].receives, word_of(names));
      case Names::nothing:
      case Names::compute:
      case Names::exchange:
      case Names::replica_map:
      case Names::function:
      case Names::tile:
      case Names::location:
      case Names::loaded_function:
      case Names::flag:
      case Names::locations_begin:
      case Names::channel: return;
    }
  }

  void instruction(const Stream& s, const Instruction& in) const {
    name(in.name);
    if (in.sync.valid()) {
      index(in.sync.index(), p_.syncs.size(), "sync");
      const auto& members = p_.syncs[in.sync.index()].streams;
      need(std::find(members.begin(), members.end(), StreamId(static_cast<std::uint32_t>(&s - p_.streams.data()))) != members.end(),
           "a sync without its stream");
    }
    const StepRow& row = row_of(in.op);
    operand(in, row.a, in.a);
    operand(in, row.b, in.b);
    if (may_jump(row.flow)) index(in.target, s.code.size(), "target");
  }

  void compute(const ComputeStep& step) const {
    name(step.name);
    index(step.stream.value, p_.streams.size(), "stream of a compute step");
    if (step.result) location(*step.result);
    for (const VertexGroup& g : step.groups) {
      index(g.codelet.value, library_.size(), "codelet");
      need(std::uint64_t{g.first} + g.count <= p_.vertices.size(), "vertices that are not there");
      const Codelet& codelet = library_[g.codelet];
      for (std::uint32_t i = 0; i < g.count; ++i) vertex(codelet, p_.vertices[g.first + i]);
    }
  }

  void vertex(const Codelet& codelet, const VertexInstance& v) const {
    index(v.tile.value, p_.machine.tiles(), "tile of a vertex");
    std::uint64_t at = v.operands, state = v.state;
    const auto take_state = [&](std::uint64_t bytes) {
      need(saturating_add(state, bytes) <= p_.state.size(), "a vertex without its state");
      state += bytes;
    };
    for (const Field& f : codelet.fields) {
      if (!f.is_edge()) {
        if (f.shape == FieldShape::scalar) {
          take_state(size_of(f.type));
          continue;
        }
        std::uint32_t count = 0;
        take_state(sizeof count);
        p_.state.copy(reinterpret_cast<char*>(&count), sizeof count, state - sizeof count);
        take_state(std::uint64_t{count} * size_of(f.type));
        continue;
      }
      const bool two = f.has_rows();
      index(at, p_.operands.size(), "operand");
      const std::uint64_t rows = two ? p_.operands[at++].count : 1;
      need(saturating_add(at, rows) <= p_.operands.size(), "operands that are not there");
      for (const std::uint64_t end = at + rows; at < end; ++at) {
        const Operand& o = p_.operands[at];
        if (o.count > 0) span(o.tile, o.offset, std::uint64_t{o.count} * size_of(f.type), "an operand outside of its tile's memory");
        need(f.shape != FieldShape::scalar || o.count == 1, "a scalar field without its element");
      }
    }
  }

  const Program& p_;
  const Library& library_;
  std::uint64_t memory_ = 0;  // of a tile: what the program uses of it
};

}  // namespace

void check_bounds(const Program& program, const Library& library) { Bounds(program, library).check(); }

}  // namespace pando::tile
