#include "exec/steps/compute_work.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "codelet/foreign_call.h"
#include "machine/host.h"
#include "tile/descriptor.h"

namespace pando::exec {
namespace {

std::uint64_t align_up(std::uint64_t n, std::uint64_t align) { return (n + align - 1) / align * align; }

// Cost rules, in nanoseconds of a host thread. Only the cut into chunks depends on them, never a result.
constexpr auto kVertexCost = static_cast<std::uint64_t>(Host().call);
constexpr auto kTileVertexCost = static_cast<std::uint64_t>(Host().tile_call);
constexpr auto kTouchedPerNanosecond = static_cast<std::uint64_t>(Host().touched_bytes);
constexpr auto kCyclesPerNanosecond = static_cast<std::uint64_t>(Host().estimated_cycles);
constexpr auto kNearBytes = static_cast<std::uint64_t>(Host().near_bytes);

constexpr std::uint32_t kAtOnce = 8, kAhead = 6;  // vertices whose operands are asked for together, and how early

std::uint64_t operand_bytes(const tile::Program& program, const Codelet& codelet, const tile::VertexInstance& v) {
  std::uint64_t bytes = 0;
  std::size_t at = v.operands;
  for (const Field& f : codelet.fields) {
    if (!f.is_edge()) continue;
    const std::size_t rows = f.has_rows() ? program.operands[at++].count : 1;
    for (const std::size_t end = at + rows; at < end; ++at) bytes += program.operands[at].count * size_of(f.type);
  }
  return bytes;
}

std::uint64_t cost_of(const tile::Program& program, const Codelet& codelet, const tile::VertexInstance& v, bool on_tile) {
  return vertex_cost(program, codelet, v) + (on_tile ? kTileVertexCost : 0);
}

}  // namespace

bool runs_on_tile(const Library& library, const Codelet& codelet) {
  return codelet.uses_tile || library.module(codelet.module).globals.size > 0;
}

std::uint64_t vertex_cost(const tile::Program& program, const Codelet& codelet, const tile::VertexInstance& v) {
  const std::uint64_t cost = kVertexCost + operand_bytes(program, codelet, v) / kTouchedPerNanosecond;
  return v.cycles != tile::kUnestimated ? std::max(cost, v.cycles / kCyclesPerNanosecond) : cost;
}

TileContexts::TileContexts(const tile::Program& program, const TileMemory& memory, unsigned replica, unsigned number)
    : memory_(memory),
      replica_(replica),
      number_(number),
      tiles_(program.machine.tiles()),
      modules_(program.globals.size()),
      fibers_(tiles_),
      cycle_counters_(tiles_) {
  globals_.resize(modules_ * tiles_);
  for (std::size_t m = 0; m < modules_; ++m)
    for (std::size_t t = 0; t < program.globals[m].size(); ++t) globals_[t * modules_ + m] = program.globals[m][t];
  for (FiberTable& table : fibers_) table.pool = &stacks;
}

TileContext TileContexts::context(TileId tile) {
  TileContext context;
  context.base = memory_.tile(replica_, tile);
  context.size = memory_.tile_size();
  context.tile = tile.value;
  context.replica = number_;
  context.tiles = tiles_;
  context.globals = globals_.data() + tile.index() * modules_;
  context.fibers = &fibers_[tile.index()];
  context.cycle_counter = &cycle_counters_[tile.index()];
  return context;
}

void TileContexts::prefetch(TileId tile, ModuleId module, std::uint32_t lines_of_globals) const {
  const char* const base = memory_.tile(replica_, tile);
  __builtin_prefetch(base, 1);
  __builtin_prefetch(fibers_[tile.index()].slots.data(), 1);
  for (std::uint32_t line = 0; line < lines_of_globals; ++line)
    __builtin_prefetch(base + globals_[tile.index() * modules_ + module.index()] + line * 64, 1);
}

Descriptors::Descriptors(const tile::Program& program, const Library& library, const TileMemory& memory, unsigned replica)
    : arena_bytes_(16u << 20) {
  for (const tile::ComputeStep& step : program.computes)
    fill_step(program, library, step, [&](const tile::Operand& o) -> void* { return memory.at(replica, o.tile, o.offset); });
}

Descriptors::Descriptors(const tile::Program& program, const Library& library, const tile::ComputeStep& step,
                         const std::function<void*(const tile::Operand&)>& place)
    : arena_bytes_(1u << 18) {
  fill_step(program, library, step, place);
}

char* Descriptors::arena_take(std::uint64_t bytes, std::uint64_t align) {
  std::uint64_t at = align_up(arena_used_, align);
  if (arenas_.empty() || at + bytes > arenas_.back().size()) {
    arenas_.emplace_back(std::max(bytes, arena_bytes_), "the vertices");
    at = 0;
  }
  arena_used_ = at + bytes;
  return arenas_.back().data() + at;
}

template <class Place>
void Descriptors::fill_step(const tile::Program& program, const Library& library, const tile::ComputeStep& step, Place place) {
  first_group_.push_back(groups_.size());
  const auto place_any = [&](const tile::Operand& o) -> void* { return o.count > 0 ? place(o) : nullptr; };
  const auto take = [&](std::uint64_t bytes, std::uint64_t alignment) { return arena_take(bytes, alignment); };
  for (const tile::VertexGroup& group : step.groups) {
    const Codelet& codelet = library[group.codelet];
    const std::uint64_t align = std::max<std::uint64_t>(codelet.host_align, 8);
    Group out;
    out.stride = std::max(align_up(codelet.host_size, align), align);
    out.first = arena_take(out.stride * group.count, std::max<std::uint64_t>(align, 64));
    for (std::uint32_t i = 0; i < group.count; ++i)
      tile::fill_descriptor(program, codelet, program.vertices[group.first + i], out.first + i * out.stride, place_any, take);
    groups_.push_back(out);
  }
}

ComputeWork::ComputeWork(const tile::Program& program, const Library& library, std::size_t step, const Descriptors& descriptors,
                         TileContexts& contexts, unsigned threads, const Options& options)
    : contexts_(contexts),
      places_(program, library, step),
      groups_(descriptors.groups(step)),
      prefetches_(options.prefetch_tiles),
      tags_prints_(options.tag_prints),
      break_at_(options.break_at),
      breaks_(places_.has_stops(options.break_at)),
      counted_(program, library, program.computes[step]) {
  for (const tile::VertexGroup& g : program.computes[step].groups) {
    first_touch_.push_back(first_touch(program, library, g));
    strided_.push_back(library[g.codelet].strided);
  }
  cut(uncut_ranges(program, library, step, descriptors, threads), threads);
  if (!options.strided_vertices || breaks_) return;
  for (Range& r : ranges_) {
    if (r.tile.valid() || is_prefetched(r) || counted_.is_counted(r.group)) continue;
    const tile::VertexGroup& group = program.computes[step].groups[r.group];
    const std::span vertices(program.vertices.data() + group.first + first_vertex(r), r.count);
    r.strided = find_strided(program, library[group.codelet], vertices, r.first, r.stride);
  }
}

// Vertices of one codelet are alike: one says what they touch. A long vector hides the miss of its first line itself.
ComputeWork::FirstTouch ComputeWork::first_touch(const tile::Program& program, const Library& library, const tile::VertexGroup& group) {
  constexpr std::uint64_t kMostLines = 4, kLongBytes = 4096, kLine = 64;
  const Codelet& codelet = library[group.codelet];
  FirstTouch out;
  out.module = codelet.module;
  out.lines_of_globals = static_cast<std::uint32_t>(std::min((library.module(codelet.module).globals.size + 63) / 64, kMostLines));
  if (group.count == 0) return out;
  std::uint64_t touched = codelet.host_size;
  std::size_t at = program.vertices[group.first].operands;
  for (const Field& f : codelet.fields) {
    if (!f.is_edge()) continue;
    const std::uint32_t count = program.operands[at++].count;
    if (f.has_rows()) {
      at += count;
    } else if (count > 0 && count * size_of(f.type) < kLongBytes) {
      out.edges.push_back(f.host_offset);
      touched += align_up(count * size_of(f.type), kLine);
    }
  }
  out.far = !out.edges.empty() && touched * group.count > kNearBytes;
  return out;
}

std::vector<ComputeWork::Uncut> ComputeWork::uncut_ranges(const tile::Program& program, const Library& library, std::size_t step,
                                                          const Descriptors& descriptors, unsigned threads) {
  const tile::ComputeStep& compute = program.computes[step];
  std::uint64_t total = 0;
  for (const tile::VertexGroup& g : compute.groups) {
    // Vertices of one codelet are alike: a sample says what they cost.
    const std::uint32_t samples = std::min<std::uint32_t>(g.count, 64);
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < samples; ++i)
      sum += cost_of(program, library[g.codelet], program.vertices[g.first + std::uint64_t{i} * g.count / samples], false);
    total += samples ? sum * g.count / samples : 0;
  }
  const std::uint64_t target = std::max<std::uint64_t>(total / (4 * threads), 200);

  std::vector<Uncut> free, bound;
  for (std::size_t k = 0; k < compute.groups.size(); ++k) {
    const tile::VertexGroup& g = compute.groups[k];
    const Codelet& codelet = library[g.codelet];
    const bool on_tile = runs_on_tile(library, codelet);
    const Descriptors::Group& objects = descriptors.groups(step)[k];
    for (std::uint32_t i = 0; i < g.count;) {
      const TileId tile = program.vertices[g.first + i].tile;
      std::uint64_t cost = 0;
      std::uint32_t end = i;
      while (end < g.count && (on_tile ? program.vertices[g.first + end].tile == tile : cost < target))
        cost += cost_of(program, codelet, program.vertices[g.first + end++], on_tile);
      // A short rest joins the last piece.
      if (!on_tile && end < g.count && g.count - end < (end - i) / 4)
        while (end < g.count) cost += cost_of(program, codelet, program.vertices[g.first + end++], on_tile);
      const Range range{codelet.kernel, objects.first + i * objects.stride, objects.stride,
                        end - i,        on_tile ? tile : TileId(),          static_cast<std::uint32_t>(k)};
      (on_tile ? bound : free).push_back({range, tile, cost, bound.size() + free.size()});
      i = end;
    }
  }
  // By tile: the same thread then meets the same tiles in every step. What is bound to one tile stays together.
  const auto by_tile = [](const Uncut& a, const Uncut& b) { return std::pair(a.first_tile, a.order) < std::pair(b.first_tile, b.order); };
  std::sort(bound.begin(), bound.end(), by_tile);
  std::sort(free.begin(), free.end(), by_tile);
  for (std::size_t i = 0; i + 1 < bound.size(); ++i) bound[i].joins_next = bound[i].first_tile == bound[i + 1].first_tile;
  bound.insert(bound.end(), free.begin(), free.end());
  return bound;
}

void ComputeWork::cut(const std::vector<Uncut>& uncut, unsigned threads) {
  for (const Uncut& u : uncut) cost_ += u.cost;
  const std::uint64_t target = std::max<std::uint64_t>(cost_ / (4 * threads), 200);
  std::uint64_t cost = 0;
  for (std::size_t i = 0; i < uncut.size(); ++i) {
    PANDO_CHECK(uncut[i].range.kernel != nullptr);
    ranges_.push_back(uncut[i].range);
    cost += uncut[i].cost;
    if ((cost < target * 3 / 4 || uncut[i].joins_next) && i + 1 < uncut.size()) continue;
    chunk_end_.push_back(static_cast<std::uint32_t>(ranges_.size()));
    cost = 0;
  }
}

// Each tile has its own lines, and a step that visits thousands of tiles finds none of them in a cache. First the range, then its
// descriptor, then what that points to.
void ComputeWork::prefetch_ranges(std::uint32_t i, std::uint32_t end) const {
  constexpr std::uint32_t kTouched = 1, kDescriptor = 4, kRange = 8;
  if (i + kRange < end) {
    __builtin_prefetch(&ranges_[i + kRange]);
    __builtin_prefetch(ranges_[i + kDescriptor].first);
    __builtin_prefetch(ranges_[i + kDescriptor].first + 64);
  }
  if (i + kTouched >= end || !ranges_[i + kTouched].tile.valid()) return;
  const Range& next = ranges_[i + kTouched];
  const FirstTouch& touch = first_touch_[next.group];
  contexts_.prefetch(next.tile, touch.module, touch.lines_of_globals);
  for (const std::uint32_t offset : touch.edges) {
    const char* address = nullptr;
    std::memcpy(&address, next.first + offset, sizeof address);
    __builtin_prefetch(address, 1);
  }
}

// The same for small vertices on thousands of tiles in one range: what the vertices [begin, end) of it point to.
void ComputeWork::prefetch_operands(const Range& r, std::uint32_t begin, std::uint32_t end) const {
  const std::vector<std::uint32_t>& edges = first_touch_[r.group].edges;
  const char* const stop = r.first + std::min(end, r.count) * r.stride;
  for (const char* at = r.first + begin * r.stride; at < stop; at += r.stride)
    for (const std::uint32_t offset : edges) {
      const char* address = nullptr;
      std::memcpy(&address, at + offset, sizeof address);
      __builtin_prefetch(address, 1);
    }
}

bool ComputeWork::is_prefetched(const Range& r) const {
  return prefetches_ && !r.tile.valid() && r.count > kAtOnce && first_touch_[r.group].far;
}

struct ComputeWork::Running final : WatchedRange, RunningVertex {
  Running(ComputeWork& w, std::uint32_t first, std::uint32_t stop) : work(w), i(first), end(stop) {}
  std::uint64_t position() const override {
    return (std::uint64_t{i} << 32) + begun + __atomic_load_n(&guard.at, __ATOMIC_RELAXED);  // which kernels write
  }
  std::string place() const override {
    const Range& r = work.ranges_[std::min(i.load(), end - 1)];
    Guard now;
    now.at = __atomic_load_n(&guard.at, __ATOMIC_RELAXED);
    return work.places_.place(now, r.group, work.first_vertex(r) + begun);
  }
  std::string tag() const override {
    const Range& r = work.ranges_[i];
    return work.places_.tag(guard, r.group, work.first_vertex(r) + begun, work.contexts_.replica());
  }

  ComputeWork& work;
  Guard guard;
  std::atomic<std::uint32_t> i, begun{0};  // the range, and the first vertex of the call in it
  const std::uint32_t end;
  bool result = true;
};

PANDO_CALLS_CODELETS void ComputeWork::run_ranges(void* running) {
  Running& now = *static_cast<Running*>(running);
  const ComputeWork& work = now.work;
  const auto set = [](std::atomic<std::uint32_t>& to, std::uint32_t value) { to.store(value, std::memory_order_relaxed); };
  for (std::uint32_t i = now.i; i < now.end; set(now.i, ++i)) {
    if (work.prefetches_) work.prefetch_ranges(i, now.end);
    const Range& r = work.ranges_[i];
    if (r.tile.valid()) tile_context() = work.contexts_.context(r.tile);
    if (work.tags_prints_) tile_context().running = &now;
    if (work.breaks_) {
      run_one_by_one(now, r);
      continue;
    }
    for (const StridedVertices& rows : r.strided) {
      set(now.begun, rows.first);
      now.result =
          work.strided_[r.group](r.first + rows.first * r.stride, rows.strides.data(), rows.inner, rows.outer, &now.guard.at) && now.result;
    }
    if (!r.strided.empty()) continue;
    if (work.counted_.is_counted(r.group)) {
      set(now.begun, 0);
      now.result = now.work.counted_.run(r.group, work.first_vertex(r), r.first, r.stride, r.count, r.kernel, work.contexts_.counts,
                                         &now.guard.at) &&
                   now.result;
      continue;
    }
    const bool in_steps = work.is_prefetched(r);
    const std::uint32_t step = in_steps ? kAtOnce : r.count;
    for (std::uint32_t begun = 0; begun < r.count; begun += step) {
      set(now.begun, begun);
      if (in_steps) work.prefetch_operands(r, begun + kAhead, begun + kAhead + kAtOnce);
      now.result = r.kernel(r.first + begun * r.stride, r.stride, std::min(step, r.count - begun), &now.guard.at) && now.result;
    }
  }
}

PANDO_CALLS_CODELETS void ComputeWork::run_one_by_one(Running& now, const Range& r) {
  ComputeWork& work = now.work;
  for (std::uint32_t i = 0; i < r.count; ++i) {
    now.begun.store(i, std::memory_order_relaxed);
    const std::uint64_t index = work.first_vertex(r) + i;
    work.places_.stop(work.break_at_, r.group, index);
    char* const object = r.first + i * r.stride;
    const bool result = work.counted_.is_counted(r.group)
                            ? work.counted_.run(r.group, index, object, r.stride, 1, r.kernel, work.contexts_.counts, &now.guard.at)
                            : r.kernel(object, r.stride, 1, &now.guard.at);
    now.result = result && now.result;
  }
}

std::uint64_t ComputeWork::first_vertex(const Range& r) const {
  return static_cast<std::uint64_t>(r.first - groups_[r.group].first) / groups_[r.group].stride;
}

void ComputeWork::run(unsigned, unsigned chunk) {
  Running now(*this, chunk == 0 ? 0 : chunk_end_[chunk - 1], chunk_end_[chunk]);
  const VertexWatch::Scope watched(contexts_.watch, now);
  // What runs on this thread next has no tag of this one's.
  struct Untagged {
    ~Untagged() { tile_context().running = nullptr; }
  } untagged;
  bool whole = true;
  try {
    whole = run_guarded(now.guard, contexts_.leaves_vertices, run_ranges, &now);
  } catch (...) { places_.throw_exception(now.guard, ranges_[now.i].group, first_vertex(ranges_[now.i]) + now.begun); }
  if (!whole) {
    contexts_.broken = true;
    places_.throw_fault(now.guard, ranges_[now.i].group, first_vertex(ranges_[now.i]) + now.begun);
  }
  if (!now.result) result_.store(false, std::memory_order_relaxed);
}

}  // namespace pando::exec
