#include <algorithm>
#include <functional>
#include <map>

#include "base/check.h"
#include "exec/steps/loaded_program.h"
#include "machine/host.h"
#include "tile/runs.h"
#include "tile/step.h"

namespace pando::exec {

using tile::Flow;
using tile::Instruction;
using tile::row_of;

namespace {

// The part of a transfer's moves that belongs to one row of the host block, with offsets from the row.
std::vector<tile::Move> moves_of_row(const tile::Transfer& t, std::uint64_t row) {
  const std::uint64_t begin = row * t.row_bytes, end = begin + t.row_bytes;
  std::vector<tile::Move> out;
  for (const tile::Move& m : t.moves) {
    for (std::uint32_t i = 0; i < m.count; ++i) {
      tile::Move part = run_of(m, i);
      std::uint64_t& host = t.to_device ? part.source : part.destination;
      std::uint64_t& device = t.to_device ? part.destination : part.source;
      const std::uint64_t low = std::max(host, begin), high = std::min(host + m.bytes, end);
      if (low >= high) continue;
      device += low - host;
      part.bytes = static_cast<std::uint32_t>(high - low);
      host = low - begin;
      out.push_back(part);
    }
  }
  return out;
}

}  // namespace

LoadedProgram::LoadedProgram(const tile::Program& program, const Library& library, const TileMemory& memory,
                             const std::vector<std::unique_ptr<TileContexts>>& contexts, const Options& options, unsigned threads)
    : program_(program), memory_(memory), is_linked_(options.link != nullptr), host_steps_(program.programs * program.streams.size()) {
  build_moves(4 * threads, options.moves_in_blocks);
  computes_.resize(program.replication);
  for (unsigned r = 0; r < program.replication; ++r) {
    descriptors_.push_back(std::make_unique<Descriptors>(program, library, memory, r));
    for (std::size_t c = 0; c < program.computes.size(); ++c)
      computes_[r].push_back(std::make_unique<ComputeWork>(program, library, c, *descriptors_[r], *contexts[r], threads, options));
  }
  pairs_.resize(program.streams.size());
  const bool looks_closer = options.watched || options.tag_prints || options.break_at.any();
  if (options.tile_by_tile && !looks_closer) build_tile_by_tile(library, contexts, threads, options);
  find_shared_remote_buffers();
  find_hostless_loops();
}

void LoadedProgram::build_moves(unsigned chunks, bool in_blocks) {
  const std::uint64_t stride = memory_.stride();
  for (const tile::Exchange& x : program_.exchanges) {
    ExchangeMoves& moves = exchanges_.emplace_back();
    moves.receive = MovePlan::build(x.receive, stride, chunks, in_blocks);
    moves.arrange = MovePlan::build(x.arrange, stride, chunks, in_blocks);
  }
  build_replica_copies(chunks);
  rows_.resize(program_.transfers.size());
  for (std::size_t i = 0; i < program_.transfers.size(); ++i) {
    const tile::Transfer& t = program_.transfers[i];
    transfers_.push_back(MovePlan::build(t.moves, stride, chunks, in_blocks));
    if (t.kind != tile::Transfer::Kind::remote || t.rows.size() <= 1) continue;
    for (std::size_t r = 0; r < t.rows.size(); ++r) rows_[i].push_back(MovePlan::build(moves_of_row(t, r), stride, chunks));
  }
}

// Copies across replicas go through a host block: all replicas' sources are read before any destination is written.
void LoadedProgram::build_replica_copies(unsigned chunks) {
  for (const tile::Stream& s : program_.streams)
    for (const Instruction& in : s.code) {
      if (row_of(in.op).work != tile::Work::cross_replica || exchanges_[in.a].gathered_bytes > 0) continue;
      std::vector<tile::Move> gather, scatter;
      std::uint64_t at = 0;
      for (const tile::Move& m : program_.exchanges[in.a].receive) {
        tile::Move out = m, back = m;
        out.destination_tile = back.source_tile = TileId();
        out.destination = back.source = at;
        out.destination_step = back.source_step = m.bytes;
        gather.push_back(out);
        scatter.push_back(back);
        at += std::uint64_t{m.bytes} * m.count;
      }
      exchanges_[in.a].gather = MovePlan::build(gather, memory_.stride(), chunks);
      exchanges_[in.a].scatter = MovePlan::build(scatter, memory_.stride(), chunks);
      exchanges_[in.a].gathered_bytes = at;
    }
}

// Which exchanges run tile by tile with the compute step that follows is decided here, once, by addresses and rules.
void LoadedProgram::build_tile_by_tile(const Library& library, const std::vector<std::unique_ptr<TileContexts>>& contexts, unsigned threads,
                                       const Options& options) {
  constexpr auto kFarBytes = static_cast<std::uint64_t>(Host().near_bytes);  // less stays in the caches anyway
  std::optional<BuffersByTime> buffers;
  for (std::size_t s = 0; s < program_.streams.size(); ++s) {
    const std::vector<Instruction>& code = program_.streams[s].code;
    pairs_[s].resize(code.size());
    for (std::size_t i = 0; i + 1 < code.size(); ++i) {
      if (row_of(code[i].op).work != tile::Work::exchange || code[i].sync.valid() || row_of(code[i + 1].op).work != tile::Work::compute ||
          code[i + 1].sync.valid())
        continue;
      const tile::Exchange& exchange = program_.exchanges[code[i].a];
      const std::uint32_t c = code[i + 1].a;
      const tile::ComputeStep& step = program_.computes[c];
      const std::uint64_t cost = exchanges_[code[i].a].receive.cost() + exchanges_[code[i].a].arrange.cost() + computes_[0][c]->cost();
      if (computes_[0][c]->counted().always()) continue;
      if (cost < kWorthSharing || !may_run_tile_by_tile(program_, library, exchange, step)) continue;
      const std::vector<TileId> ends = cut_by_tile(program_, library, exchange, step, threads);
      if (ends.empty()) continue;
      NearBuffers near;
      if (options.near_buffers && exchange.gathers == step.compute_set) {
        if (!buffers) buffers.emplace(program_);
        near = buffers->between(code[i].order, code[i + 1].order, exchange, step, library);
        if (near.bytes() <= kFarBytes) near = {};
      }
      pairs_[s][i] = std::make_unique<Pair>();
      pairs_[s][i]->compute = tile::ComputeId(c);
      pairs_[s][i]->cost = cost;
      for (unsigned r = 0; r < program_.replication; ++r)
        pairs_[s][i]->works.push_back(std::make_unique<TileByTile>(program_, library, exchange, step, descriptors_[r]->groups(c),
                                                                   computes_[r][c]->counted(), ends, memory_.base(r), memory_.stride(),
                                                                   *contexts[r], near, options.prefetch_tiles));
    }
  }
}

void LoadedProgram::find_shared_remote_buffers() {
  std::vector<StreamId> user(program_.remote_buffers.size());
  std::vector<bool> shared(user.size()), written(user.size());
  for (std::uint32_t s = 0; s < program_.streams.size(); ++s)
    for (const Instruction& in : program_.streams[s].code) {
      if (row_of(in.op).work != tile::Work::transfer || program_.transfers[in.a].kind != tile::Transfer::Kind::remote) continue;
      const tile::Transfer& t = program_.transfers[in.a];
      if (user[t.index].valid() && user[t.index] != StreamId(s)) shared[t.index] = true;
      user[t.index] = StreamId(s);
      if (!t.to_device) written[t.index] = true;
    }
  ordered_remote_.resize(user.size());
  for (std::size_t b = 0; b < user.size(); ++b) ordered_remote_[b] = shared[b] && written[b];
}

bool LoadedProgram::is_host_step(const Instruction& in) const {
  // All processes come to copies across replicas in one order: so none waits for another one that waits for it.
  if (is_linked_ && row_of(in.op).work == tile::Work::cross_replica) return true;
  switch (row_of(in.op).host) {
    case tile::HostStep::never: return false;
    case tile::HostStep::always: return true;
    case tile::HostStep::if_ordered: {
      const tile::Transfer& t = program_.transfers[in.a];
      return t.kind != tile::Transfer::Kind::remote || ordered_remote_[t.index];
    }
  }
  return false;
}

// A loop is quiet if neither its body nor a function called from it has host steps. Bodies are contiguous code.
void LoadedProgram::find_hostless_loops() {
  for (const tile::Stream& stream : program_.streams) {
    const std::vector<Instruction>& code = stream.code;
    std::vector<std::uint32_t>& exits = hostless_exits_.emplace_back(code.size());
    const auto flow = [&](std::uint32_t i) { return row_of(code[i].op).flow; };
    // Host steps before each instruction; a call of a function with host steps is one.
    std::vector<std::uint32_t> before(code.size() + 1);
    std::map<std::uint32_t, bool> function_has_host;  // by its first instruction
    const std::function<bool(std::uint32_t)> has_host = [&](std::uint32_t entry) {
      const auto [known, added] = function_has_host.try_emplace(entry, false);
      if (!added) return known->second;
      bool host = false;
      for (std::uint32_t i = entry; i < code.size() && flow(i) != Flow::give_back && !host; ++i)
        host = is_host_step(code[i]) || (flow(i) == Flow::call && has_host(code[i].target));
      return function_has_host[entry] = host;
    };
    for (std::uint32_t i = 0; i < code.size(); ++i)
      before[i + 1] = before[i] + (is_host_step(code[i]) || (flow(i) == Flow::call && has_host(code[i].target)));
    std::vector<std::uint32_t> marks;
    const auto loop = [&](std::uint32_t begin, std::uint32_t exit) {
      if (exit > begin && exit < code.size() && before[exit] == before[begin] && code[exit].order > code[begin].order) exits[begin] = exit;
    };
    for (std::uint32_t i = 0; i < code.size(); ++i) {
      if (flow(i) == Flow::repeat) loop(i, code[i].target);
      if (flow(i) == Flow::loop_begin) marks.push_back(i);
      if (flow(i) != Flow::loop_end || marks.empty()) continue;
      loop(marks.back(), i + 1);
      marks.pop_back();
    }
  }
}

// Of those that a run of the program may reach.
std::vector<std::uint32_t> LoadedProgram::find_host_steps(const tile::Stream& stream, unsigned program) const {
  std::vector<char> reached(stream.code.size());
  std::vector<std::uint32_t> todo = {stream.entries[program]};
  while (!todo.empty()) {
    const std::uint32_t i = todo.back();
    todo.pop_back();
    if (reached[i]) continue;
    reached[i] = 1;
    const Flow flow = row_of(stream.code[i].op).flow;
    if (tile::may_jump(flow)) todo.push_back(stream.code[i].target);
    if (tile::falls_through(flow)) todo.push_back(i + 1);
  }
  std::vector<std::uint32_t> steps;
  for (std::uint32_t i = 0; i < reached.size(); ++i)
    if (reached[i] && is_host_step(stream.code[i])) steps.push_back(i);
  return steps;
}

const std::vector<std::uint32_t>& LoadedProgram::host_steps(unsigned program, StreamId stream) {
  std::optional<std::vector<std::uint32_t>>& steps = host_steps_[program * program_.streams.size() + stream.index()];
  if (!steps) steps = find_host_steps(program_.streams[stream.index()], program);
  return *steps;
}

}  // namespace pando::exec
