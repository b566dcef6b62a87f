#include "compile/operands.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "compile/communicate.h"

namespace pando::compile {

namespace {

using graph::Region;
using graph::View;

// An operand that needs a buffer.
struct Need {
  TileId tile;
  std::uint32_t operand = 0;  // index into SymbolicCompute::operands
  const View* view = nullptr;
  bool read = false, written = false;
  std::uint32_t align = 1;
  std::uint32_t vertex = 0;   // position in the compute set: in-place operands of one vertex share a buffer
  Region region;              // if `single`
  bool single = false;        // read-only, one region of one variable
};

class OperandLowering {
 public:
  OperandLowering(Plan& plan, ComputeSetId cs) : plan_(plan), cs_(cs), library_(plan.graph.library()) {}

  LoweredCompute run() {
    const graph::ComputeSet& set = plan_.graph.compute_sets()[cs_];
    compute_.compute_set = cs_;
    compute_.name = plan_.name(set.name.empty() ? "cs" + std::to_string(cs_.value) : set.name);
    for (const VertexId v : sorted_vertices(set)) add_vertex(v);
    place_buffers();
    if (plan_.options.merge_moves) merge_moves(compute_.bound);
    const auto index = static_cast<std::uint32_t>(plan_.computes.size());
    plan_.computes.push_back(std::move(compute_));
    LoweredCompute lowered;
    lowered.compute = index;
    lowered.streams = streams_;
    lowered.accesses = std::move(accesses_);
    if (!gather_.empty()) lowered.gather = add_exchange_actions(plan_, plan_exchange(plan_, plan_.computes[index].name, std::move(gather_)));
    if (!scatter_.empty()) lowered.scatter = add_exchange_actions(plan_, plan_exchange(plan_, plan_.computes[index].name, std::move(scatter_)));
    return lowered;
  }

 private:
  std::vector<VertexId> sorted_vertices(const graph::ComputeSet& set) {
    std::vector<VertexId> vertices = set.vertices;
    const auto& all = plan_.graph.vertices();
    const auto key = [&](VertexId v) { return std::tuple(plan_.stream_of_tile[all[v].tile.index()], all[v].codelet, all[v].tile, v); };
    if (!std::is_sorted(vertices.begin(), vertices.end(), [&](VertexId a, VertexId b) { return key(a) < key(b); }))
      std::sort(vertices.begin(), vertices.end(), [&](VertexId a, VertexId b) { return key(a) < key(b); });
    for (const VertexId v : vertices) {
      const StreamId s = plan_.stream_of_tile[all[v].tile.index()];
      if (streams_.empty() || streams_.back() != s) streams_.push_back(s);
    }
    return vertices;
  }

  void add_vertex(VertexId id) {
    const graph::Vertex& vertex = plan_.graph.vertices()[id];
    const Codelet& codelet = library_[vertex.codelet];
    const auto first = static_cast<std::uint32_t>(compute_.operands.size());
    const auto position = static_cast<std::uint32_t>(compute_.vertices.size());
    for (const graph::Edge& edge : vertex.edges) {
      const Field& field = codelet.fields[edge.field];
      const bool two_dimensional = field.shape == FieldShape::vector_of_vectors || field.shape == FieldShape::vector_list;
      if (two_dimensional) compute_.operands.push_back({{}, static_cast<std::uint32_t>(edge.rows.size())});
      for (const View& row : edge.rows) add_operand(vertex.tile, position, field, row);
      if (!two_dimensional && edge.rows.empty()) compute_.operands.push_back({{}, 0});
    }
    compute_.vertices.push_back({id, first, static_cast<std::uint32_t>(compute_.operands.size()) - first});
  }

  void add_operand(TileId tile, std::uint32_t position, const Field& field, const View& row) {
    const auto index = static_cast<std::uint32_t>(compute_.operands.size());
    const std::uint64_t count = row.valid() ? row.num_elements() : 0;
    compute_.operands.push_back({{}, static_cast<std::uint32_t>(count)});
    if (count == 0) return;
    const std::uint32_t align = std::max<std::uint32_t>(field.min_align, static_cast<std::uint32_t>(size_of(field.type)));
    Region region;
    const bool single = row.single_region(region);
    Address at;
    if (single ? in_place(tile, region, align, at) : pieces_in_place(tile, row, align, at)) {
      compute_.operands[index].at = at;
      Shard& shard = plan_.shards[at.shard];
      shard.align = std::max(shard.align, align);
      shard.interleaved = shard.interleaved || field.interleaved;
      const AccessKind kind = !field.is_written() ? AccessKind::read : field.is_read() ? AccessKind::modify : AccessKind::write;
      accesses_.push_back({at.shard, {}, {at.offset, at.offset + count * size_of(row.type())}, kind, true});
      return;
    }
    needs_.push_back({tile, index, &row, field.is_read(), field.is_written(), std::max(align, 1u), position, region, single && !field.is_written()});
  }

  bool in_place(TileId tile, const Region& region, std::uint32_t align, Address& at) {
    const ShardInterval& i = locate(plan_, region.variable, region.elements.begin);
    if (plan_.shards[i.shard].tile != tile || region.elements.end > i.elements.end) return false;
    at = {i.shard, i.local + (region.elements.begin - i.elements.begin) * plan_.element_bytes(region.variable)};
    return at.offset % align == 0;
  }

  // Regions of a variable that lie one after the other in the tile's memory.
  bool pieces_in_place(TileId tile, const View& row, std::uint32_t align, Address& at) {
    bool first = true, ok = true;
    Address next;
    row.for_each_run([&](const graph::Run& run) {
      if (!ok) return;
      if (run.stride != 1 && run.count != 1) { ok = false; return; }
      std::uint64_t element = run.offset;
      const std::uint64_t end = run.offset + run.count;
      while (ok && element < end) {
        const ShardInterval& i = locate(plan_, run.variable, element);
        if (plan_.shards[i.shard].tile != tile) { ok = false; return; }
        const std::uint64_t width = plan_.element_bytes(run.variable);
        const Address here{i.shard, i.local + (element - i.elements.begin) * width};
        if (first) at = next = here;
        ok = here.shard == next.shard && here.offset == next.offset;
        const std::uint64_t stop = std::min(end, i.elements.end);
        next.offset += (stop - element) * width;
        element = stop;
        first = false;
      }
    });
    return ok && !first && at.offset % align == 0;
  }

  // One buffer shard per tile; needs are laid out in it in order.
  void place_buffers() {
    std::vector<std::uint32_t> order(needs_.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      const Need &x = needs_[a], &y = needs_[b];
      if (x.tile != y.tile) return x.tile < y.tile;
      if (x.single != y.single) return x.single;
      if (x.single) return x.region < y.region;
      return a < b;
    });
    for (std::size_t i = 0; i < order.size();) {
      std::size_t end = i;
      while (end < order.size() && needs_[order[end]].tile == needs_[order[i]].tile) ++end;
      place_tile(std::span(order).subspan(i, end - i));
      i = end;
    }
  }

  void place_tile(std::span<const std::uint32_t> order) {
    const TileId tile = needs_[order[0]].tile;
    in_ = Buffer{};
    out_ = Buffer{};
    std::size_t i = 0;
    while (i < order.size() && needs_[order[i]].single) {
      std::size_t end = i + 1;
      Region joined = needs_[order[i]].region;
      while (end < order.size() && needs_[order[end]].single && needs_[order[end]].region.variable == joined.variable &&
             needs_[order[end]].region.elements.begin <= joined.elements.end)
        joined.elements.end = std::max(joined.elements.end, needs_[order[end++]].region.elements.end);
      place_union(tile, joined, order.subspan(i, end - i));
      i = end;
    }
    // Written ones first: a read of the same elements by the same vertex computes in place.
    for (std::size_t k = i; k < order.size(); ++k)
      if (needs_[order[k]].written) place_own(tile, needs_[order[k]]);
    for (std::size_t k = i; k < order.size(); ++k)
      if (!needs_[order[k]].written) place_own(tile, needs_[order[k]]);
    own_.clear();
    finish(in_);
    finish(out_);
  }

  struct Buffer {
    ShardId shard;
    std::uint64_t bytes = 0;
    std::uint32_t align = 8;
    std::vector<std::pair<Interval, AccessKind>> used;
  };

  Address take(TileId tile, Buffer& buffer, std::uint64_t bytes, std::uint32_t align, AccessKind kind) {
    if (!buffer.shard.valid()) buffer.shard = plan_.add_temporary(tile, 0, tile::Category::exchange_buffer, plan_.out->names[compute_.name.index()]);
    const std::uint64_t a = std::max<std::uint64_t>(align, 8);
    buffer.bytes = (buffer.bytes + a - 1) / a * a;
    buffer.align = std::max(buffer.align, align);
    const Address at{buffer.shard, buffer.bytes};
    buffer.bytes += bytes;
    buffer.used.push_back({{at.offset, buffer.bytes}, kind});
    return at;
  }

  void finish(Buffer& buffer) {
    if (!buffer.shard.valid()) return;
    plan_.shards[buffer.shard].bytes = buffer.bytes;
    plan_.shards[buffer.shard].align = buffer.align;
    for (const auto& [bytes, kind] : buffer.used) accesses_.push_back({buffer.shard, {}, bytes, kind, true});
  }

  // Read-only needs that touch or overlap: received once, or bound.
  void place_union(TileId tile, const Region& joined, std::span<const std::uint32_t> order) {
    const std::uint64_t width = plan_.element_bytes(joined.variable);
    std::uint32_t align = 1;
    bool bindable = plan_.options.bind;
    for (const std::uint32_t n : order) {
      align = std::max(align, needs_[n].align);
      Address at;
      bindable = bindable && bind_to(tile, needs_[n], at);
    }
    const Address buffer = take(tile, in_, joined.elements.size() * width, align, AccessKind::read);
    const View whole = plan_.graph.view(joined.variable).flatten().slice(joined.elements.begin, joined.elements.end, 0);
    std::vector<SymbolicMove> moves = moves_to_block(plan_, whole, buffer.shard, buffer.offset);
    if (bindable) {
      // Counted as if received: the buffer is there while the compute set runs.
      in_.used.back().second = AccessKind::write;
      compute_.bound.insert(compute_.bound.end(), moves.begin(), moves.end());
    } else {
      gather_.insert(gather_.end(), moves.begin(), moves.end());
    }
    for (const std::uint32_t n : order) {
      const Need& need = needs_[n];
      const std::uint64_t inside = (need.region.elements.begin - joined.elements.begin) * width;
      Address& at = compute_.operands[need.operand].at;
      if (bindable) {
        bind_to(tile, need, at);
        Shard& shard = plan_.shards[at.shard];
        shard.align = std::max(shard.align, need.align);
        accesses_.push_back({at.shard, {}, {at.offset, at.offset + need.region.elements.size() * width}, AccessKind::read, true});
      } else if ((buffer.offset + inside) % need.align == 0) {
        at = {buffer.shard, buffer.offset + inside};
      } else {
        // Joined with others, it lost its alignment: it gets a buffer of its own.
        at = take(tile, in_, need.region.elements.size() * width, need.align, AccessKind::read);
        const std::vector<SymbolicMove> own = moves_to_block(plan_, *need.view, at.shard, at.offset);
        gather_.insert(gather_.end(), own.begin(), own.end());
      }
    }
  }

  // Where the operand could be read on another tile of the same stream.
  bool bind_to(TileId tile, const Need& need, Address& at) {
    const ShardInterval& i = locate(plan_, need.region.variable, need.region.elements.begin);
    if (need.region.elements.end > i.elements.end) return false;
    const TileId source = plan_.shards[i.shard].tile;
    if (source == tile || plan_.stream_of_tile[source.index()] != plan_.stream_of_tile[tile.index()]) return false;
    at = {i.shard, i.local + (need.region.elements.begin - i.elements.begin) * plan_.element_bytes(need.region.variable)};
    return at.offset % need.align == 0;
  }

  void place_own(TileId tile, const Need& need) {
    for (const auto& [other, at] : own_) {
      const bool same_vertex = other->vertex == need.vertex;
      const bool share = same_vertex ? true : !other->written && !need.written;
      if (share && other->read + need.read > 0 && other->align >= need.align && *other->view == *need.view) {
        if (need.read && !other->read) gather_into(need, at);
        compute_.operands[need.operand].at = at;
        return;
      }
    }
    const std::uint64_t bytes = need.view->num_elements() * size_of(need.view->type());
    const AccessKind kind = !need.written ? AccessKind::read : AccessKind::modify;
    const Address at = take(tile, need.written ? out_ : in_, bytes, need.align, need.written && !need.read ? AccessKind::write : kind);
    compute_.operands[need.operand].at = at;
    if (need.read) gather_into(need, at);
    if (need.written) {
      const std::vector<SymbolicMove> moves = moves_from_block(plan_, at.shard, at.offset, *need.view);
      scatter_.insert(scatter_.end(), moves.begin(), moves.end());
    }
    if (own_.size() < kLookBack) own_.emplace_back(&need, at);
  }

  void gather_into(const Need& need, Address at) {
    const std::vector<SymbolicMove> moves = moves_to_block(plan_, *need.view, at.shard, at.offset);
    gather_.insert(gather_.end(), moves.begin(), moves.end());
    for (auto& [bytes, kind] : (need.written || kind_is_written(at) ? out_ : in_).used)
      if (bytes.begin == at.offset && kind == AccessKind::write) kind = AccessKind::modify;
  }
  bool kind_is_written(Address at) const { return out_.shard.valid() && at.shard == out_.shard; }

  // Buffers of a tile that a later operand may share are looked for among the first so many.
  static constexpr std::size_t kLookBack = 64;

  Plan& plan_;
  ComputeSetId cs_;
  const Library& library_;
  SymbolicCompute compute_;
  std::vector<StreamId> streams_;
  std::vector<Access> accesses_;
  std::vector<Need> needs_;
  std::vector<std::pair<const Need*, Address>> own_;
  std::vector<SymbolicMove> gather_, scatter_;
  Buffer in_, out_;
};

}  // namespace

LoweredCompute lower_compute_set(Plan& plan, ComputeSetId cs) { return OperandLowering(plan, cs).run(); }

}  // namespace pando::compile
