// Tile programs made by hand, for tests and benchmarks that must not depend on the compiler: a program that grows step by step.
#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "tile/program.h"

namespace pando::tile {

struct HandMadeVertex {
  CodeletId codelet;
  TileId tile;
  std::vector<Operand> operands;
  std::string state;
  std::uint64_t cycles = kUnestimated;
};

class HandMade {
 public:
  Program program;
  Library library;

  HandMade(unsigned ipus, unsigned tiles_per_ipu, std::uint64_t tile_bytes = 4096) {
    Machine& m = program.machine;
    m.name = "hand-made";
    m.ipus = ipus;
    m.tiles_per_ipu = tiles_per_ipu;
    m.regions = {{"memory", 0, tile_bytes, true, true}};
    program.programs = 1;
    program.tile_bytes.assign(m.tiles(), tile_bytes);
  }

  NameId name(const std::string& text) {
    program.names.push_back(text);
    return NameId(static_cast<std::uint32_t>(program.names.size() - 1));
  }
  StreamId add_stream(const std::string& text, unsigned ipu, const std::vector<TileId>& tiles, bool io = false) {
    program.streams.push_back({text, IpuId(ipu), io, tiles, {}, {0}});
    return StreamId(static_cast<std::uint32_t>(program.streams.size() - 1));
  }
  // One stream of all tiles of one IPU.
  StreamId add_ipu(unsigned ipu) {
    std::vector<TileId> tiles;
    for (unsigned t = 0; t < program.machine.tiles_per_ipu; ++t) tiles.emplace_back(ipu * program.machine.tiles_per_ipu + t);
    return add_stream("ipu" + std::to_string(ipu) + ".compute", ipu, tiles);
  }
  SyncId add_sync(const std::vector<StreamId>& streams) {
    program.syncs.push_back({streams});
    return SyncId(static_cast<std::uint32_t>(program.syncs.size() - 1));
  }
  // Returns the index of the instruction in its stream.
  std::uint32_t emit(StreamId s, Op op, std::uint32_t a = 0, std::uint32_t b = 0, std::uint64_t count = 0, SyncId sync = SyncId()) {
    return emit_at(s, next_order_++, op, a, b, count, sync);
  }
  std::uint32_t emit_at(StreamId s, std::uint32_t order, Op op, std::uint32_t a = 0, std::uint32_t b = 0, std::uint64_t count = 0,
                        SyncId sync = SyncId()) {
    auto& code = program.streams[s.index()].code;
    Instruction in;
    in.op = op;
    in.sync = sync;
    in.a = a;
    in.b = b;
    in.count = count;
    in.order = order;
    code.push_back(in);
    return static_cast<std::uint32_t>(code.size() - 1);
  }
  void aim(StreamId s, std::uint32_t instruction, std::uint32_t target) { program.streams[s.index()].code[instruction].target = target; }
  std::uint32_t next_instruction(StreamId s) const { return static_cast<std::uint32_t>(program.streams[s.index()].code.size()); }
  std::uint32_t next_order() { return next_order_++; }
  // A repeat around what `body` emits.
  template <class F>
  void repeat(StreamId s, std::uint64_t count, F&& body) {
    const std::uint32_t begin = emit(s, Op::repeat, 0, 0, count);
    body();
    const std::uint32_t end = emit(s, Op::repeat_end);
    aim(s, end, begin + 1);
    aim(s, begin, end + 1);
  }
  void end_all() {
    for (std::uint32_t s = 0; s < program.streams.size(); ++s) emit(StreamId(s), Op::end);
  }

  std::uint32_t add_compute(StreamId s, std::vector<HandMadeVertex> vertices, std::optional<Location> result = std::nullopt) {
    std::multimap<std::pair<CodeletId, TileId>, HandMadeVertex> sorted;
    for (HandMadeVertex& v : vertices) sorted.emplace(std::pair(v.codelet, v.tile), std::move(v));
    ComputeStep step;
    step.name = name("compute" + std::to_string(program.computes.size()));
    step.compute_set = ComputeSetId(static_cast<std::uint32_t>(program.computes.size()));
    step.stream = s;
    step.result = result;
    for (const auto& [key, v] : sorted) {
      if (step.groups.empty() || step.groups.back().codelet != v.codelet)
        step.groups.push_back({v.codelet, static_cast<std::uint32_t>(program.vertices.size()), 0});
      ++step.groups.back().count;
      program.vertices.push_back({v.tile, static_cast<std::uint32_t>(program.operands.size()),
                                  static_cast<std::uint32_t>(program.state.size()),
                                  VertexId(static_cast<std::uint32_t>(program.vertices.size())), v.cycles});
      program.operands.insert(program.operands.end(), v.operands.begin(), v.operands.end());
      program.state += v.state;
    }
    program.computes.push_back(std::move(step));
    return static_cast<std::uint32_t>(program.computes.size() - 1);
  }
  std::uint32_t add_exchange(std::vector<Move> receive, std::vector<Move> arrange = {}) {
    program.exchanges.push_back({name("exchange" + std::to_string(program.exchanges.size())), std::move(receive), std::move(arrange)});
    return static_cast<std::uint32_t>(program.exchanges.size() - 1);
  }
  std::uint32_t add_transfer(Transfer t) {
    program.transfers.push_back(std::move(t));
    return static_cast<std::uint32_t>(program.transfers.size() - 1);
  }
  std::uint32_t add_location(TileId tile, std::uint64_t offset, ElementType type) {
    program.locations.push_back({tile, offset, type});
    return static_cast<std::uint32_t>(program.locations.size() - 1);
  }
  // A FIFO of one float range on one tile, and its transfer.
  std::uint32_t add_fifo(const std::string& handle, bool to_device, TileId tile, std::uint64_t offset, std::uint32_t floats,
                         bool broadcast = false) {
    program.fifos.push_back({handle, to_device, ElementType::float_, floats, broadcast, 1});
    Transfer t;
    t.kind = Transfer::Kind::fifo;
    t.to_device = to_device;
    t.host_bytes = floats * 4;
    t.index = static_cast<std::uint32_t>(program.fifos.size() - 1);
    t.moves = {to_device ? Move{TileId(), tile, 0, offset, floats * 4} : Move{tile, TileId(), offset, 0, floats * 4}};
    return add_transfer(std::move(t));
  }
  void allocate(TileId tile, const std::string& text, std::uint64_t offset, std::uint64_t size, LiveRange live = {}) {
    Allocation a;
    a.tile = tile;
    a.name = name(text);
    a.offset = offset;
    a.size = size;
    a.always_live = live.empty();
    a.live = static_cast<std::uint32_t>(program.live_ranges.size());
    if (!live.empty()) program.live_ranges.push_back(std::move(live));
    program.allocations.push_back(a);
    std::sort(program.allocations.begin(), program.allocations.end(),
              [](const Allocation& x, const Allocation& y) { return std::pair(x.tile, x.offset) < std::pair(y.tile, y.offset); });
  }

 private:
  std::uint32_t next_order_ = 1;
};

template <class T>
std::string bytes_of(const T& value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace pando::tile
