// Contract 2: every tile belongs to exactly one stream for the whole program. Per IPU, the tiles that only copies touch are the
// IO group; the rest computes. What is at one end of a channel is in one group. An explicit setting overrides.
#include <algorithm>
#include <array>

#include "compile/plan.h"
#include "graph/program_walk.h"

namespace pando::compile {

namespace {

std::vector<bool> tiles_in_use(const graph::Graph& graph) {
  std::vector<bool> used(graph.machine().tiles(), false);
  for (const graph::Variable& v : graph.variables())
    for (const graph::MappedInterval& i : v.mapping.intervals()) used[i.tile.index()] = true;
  for (const graph::Vertex& v : graph.vertices())
    if (v.tile.valid()) used[v.tile.index()] = true;
  return used;
}

// The tiles of all tensors that a channel sends, and of those that it receives.
using ChannelTiles = std::vector<std::array<std::vector<bool>, 2>>;

ChannelTiles channel_tiles(const graph::Graph& graph, const std::vector<graph::ProgramPtr>& programs) {
  ChannelTiles tiles(graph.channels().size());
  if (tiles.empty()) return tiles;
  const auto add = [&](graph::ChannelId channel, const graph::View& tensor, std::size_t end) {
    std::vector<bool>& list = tiles[channel.index()][end];
    list.resize(graph.machine().tiles());
    for (const graph::MappedInterval& i : graph.tile_mapping(tensor, nullptr)) list[i.tile.index()] = true;
  };
  graph::ProgramWalk walk;
  const auto visit = [&](const graph::Program& p) {
    if (const auto* s = std::get_if<graph::Send>(&p.body)) add(s->channel, s->source, 0);
    if (const auto* r = std::get_if<graph::Receive>(&p.body)) add(r->channel, r->destination, 1);
  };
  for (const graph::ProgramPtr& p : programs) walk.visit(p, visit);
  for (const graph::Function& f : graph.functions()) walk.visit(f.body, visit);
  return tiles;
}

// If one tile of an end computes, all of that end do.
void join_ends(const ChannelTiles& channels, std::vector<bool>& computes) {
  for (bool changes = true; changes;) {
    changes = false;
    for (const auto& ends : channels)
      for (const std::vector<bool>& end : ends) {
        bool any = false;
        for (std::size_t t = 0; t < end.size(); ++t) any = any || (end[t] && computes[t]);
        for (std::size_t t = 0; any && t < end.size(); ++t)
          if (end[t] && !computes[t]) computes[t] = changes = true;
      }
  }
}

// One answer per tile: does it belong to the IO group?
std::vector<bool> io_tiles(const graph::Graph& graph, const std::vector<bool>& used, bool infer, const ChannelTiles& channels) {
  const Machine& machine = graph.machine();
  std::vector<bool> computes(machine.tiles(), false);
  for (const graph::Vertex& v : graph.vertices())
    if (v.tile.valid()) computes[v.tile.index()] = true;
  join_ends(channels, computes);
  std::vector<bool> ipu_computes(machine.ipus, false);
  for (unsigned t = 0; t < machine.tiles(); ++t)
    if (computes[t]) ipu_computes[machine.ipu_of(TileId(t)).index()] = true;
  std::vector<bool> io(machine.tiles(), false);
  const auto& said = graph.tile_groups();
  for (unsigned t = 0; t < machine.tiles(); ++t) {
    if (!used[t]) continue;
    // An IPU that only copies has one group, not an empty compute group beside it.
    io[t] = infer && !computes[t] && ipu_computes[machine.ipu_of(TileId(t)).index()];
    if (t < said.size() && said[t]) io[t] = *said[t];
  }
  return io;
}

}  // namespace

void assign_streams(Plan& plan, const std::vector<graph::ProgramPtr>& programs) {
  const Machine& machine = plan.graph.machine();
  const std::vector<bool> used = tiles_in_use(plan.graph);
  const std::vector<bool> io = io_tiles(plan.graph, used, plan.options.infer_io_tiles, channel_tiles(plan.graph, programs));
  plan.stream_of_tile.assign(machine.tiles(), StreamId());
  for (unsigned ipu = 0; ipu < machine.ipus; ++ipu) {
    for (const bool group : {false, true}) {
      tile::Stream stream{.name = "ipu" + std::to_string(ipu) + (group ? ".io" : ".compute"), .ipu = IpuId(ipu), .io = group};
      for (unsigned t = ipu * machine.tiles_per_ipu; t < (ipu + 1) * machine.tiles_per_ipu; ++t)
        if (used[t] && io[t] == group) stream.tiles.push_back(TileId(t));
      if (stream.tiles.empty()) continue;
      const StreamId id(static_cast<std::uint32_t>(plan.out->streams.size()));
      for (const TileId t : stream.tiles) plan.stream_of_tile[t.index()] = id;
      plan.out->streams.push_back(std::move(stream));
    }
  }
}

}  // namespace pando::compile
