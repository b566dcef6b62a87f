#include "compile/operands.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <unordered_map>

#include "base/check.h"
#include "base/process/stop.h"
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
  Region region;             // if `single`
  bool single = false;       // read-only, one region of one variable
  bool interleaved = false;  // the field asks for interleaved memory
  bool here = false;         // in the tile's own memory: what the vertex calls knows no other
};

class OperandLowering {
 public:
  OperandLowering(Plan& plan, ComputeSetId cs) : plan_(plan), cs_(cs), library_(plan.graph.library()) {}

  LoweredCompute run() {
    const graph::ComputeSet& set = plan_.graph.compute_sets()[cs_];
    compute_.compute_set = cs_;
    compute_.name =
        plan_.name(set.name.empty() ? "cs" + std::to_string(cs_.value) : set.name, line_of(plan_.options.compute_set_lines, cs_.value));
    for (const VertexId v : sorted_vertices(set)) {
      check_stop();
      add_vertex(v);
    }
    place_buffers();
    if (plan_.options.merge_moves) merge_moves(compute_.bound);
    const auto index = static_cast<std::uint32_t>(plan_.computes.size());
    plan_.computes.push_back(std::move(compute_));
    LoweredCompute lowered;
    lowered.compute = index;
    lowered.streams = streams_;
    lowered.accesses = std::move(accesses_);
    if (!gather_.empty())
      lowered.gather = add_exchange_actions(plan_, plan_exchange(plan_, plan_.computes[index].name, std::move(gather_)));
    for (const ActionId a : lowered.gather) plan_.exchanges[plan_.actions[a].a].gathers = cs_;
    if (!scatter_.empty())
      lowered.scatter = add_exchange_actions(plan_, plan_exchange(plan_, plan_.computes[index].name, std::move(scatter_)));
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

  // One row of one edge field of the vertex at hand.
  struct Row {
    const Field* field;
    const View* view;
    std::uint32_t operand;  // index into SymbolicCompute::operands
    std::uint32_t align;
    Region region;
    bool single = false;  // `region` is all of it
    bool direct = false;  // it can be used where it is, at `at`
    Address at;
  };

  void add_vertex(VertexId id) {
    const graph::Vertex& vertex = plan_.graph.vertices()[id];
    const Codelet& codelet = library_[vertex.codelet];
    const auto first = static_cast<std::uint32_t>(compute_.operands.size());
    rows_.clear();
    for (const graph::Edge& edge : vertex.edges) {
      const Field& field = codelet.fields[edge.field];
      const bool two_dimensional = field.has_rows();
      if (two_dimensional) compute_.operands.push_back({{}, static_cast<std::uint32_t>(edge.rows.size())});
      for (const View& row : edge.rows) look_at(vertex.tile, field, row);
      if (!two_dimensional && edge.rows.empty()) compute_.operands.push_back({{}, 0});
    }
    const bool gathers = std::any_of(rows_.begin(), rows_.end(), [](const Row& r) { return !r.direct; });
    if (gathers) compute_in_place(vertex.tile);
    for (const Row& row : rows_) add_operand(vertex.tile, row, codelet.addresses_tile || !codelet.shared_ranges.empty());
    compute_.vertices.push_back({id, first, static_cast<std::uint32_t>(compute_.operands.size()) - first});
  }

  void look_at(TileId tile, const Field& field, const View& view) {
    const auto index = static_cast<std::uint32_t>(compute_.operands.size());
    const std::uint64_t count = view.valid() ? view.num_elements() : 0;
    compute_.operands.push_back({{}, static_cast<std::uint32_t>(count)});
    if (count == 0) return;
    Row row{&field, &view, index, std::max<std::uint32_t>(field.min_align, static_cast<std::uint32_t>(size_of(field.type))), {}};
    row.single = view.single_region(row.region);
    row.direct = row.single ? in_place(tile, row.region, row.align, row.at) : pieces_in_place(tile, view, row.align, row.at);
    rows_.push_back(row);
  }

  void add_operand(TileId tile, const Row& row, bool here) {
    const Field& field = *row.field;
    if (!row.direct) {
      needs_.push_back({tile, row.operand, row.view, field.is_read(), field.is_written(), row.align, row.region,
                        row.single && !field.is_written(), field.interleaved, here});
      return;
    }
    compute_.operands[row.operand].at = row.at;
    Shard& shard = plan_.shards[row.at.shard];
    shard.align = std::max(shard.align, row.align);
    shard.interleaved = shard.interleaved || field.interleaved;
    const AccessKind kind = !field.is_written() ? AccessKind::read : field.is_read() ? AccessKind::modify : AccessKind::write;
    accesses_.push_back(
        {row.at.shard, {}, {row.at.offset, row.at.offset + row.view->num_elements() * size_of(row.view->type())}, kind, true});
  }

  // A vertex that writes what it also reads does so in place, wherever the elements are: rows that share an element that one of
  // them writes share one buffer, unless all of them are used where they are. They leave `rows_`.
  void compute_in_place(TileId tile) {
    std::vector<std::uint32_t> together(rows_.size());  // row -> first row of its group
    std::iota(together.begin(), together.end(), 0u);
    bool any = false;
    for (std::uint32_t i = 0; i < rows_.size(); ++i)
      for (std::uint32_t k = 0; k < i; ++k) {
        if (!rows_[i].field->is_written() && !rows_[k].field->is_written()) continue;
        if (!share_elements(rows_[i], rows_[k])) continue;
        any = true;
        const std::uint32_t from = std::max(together[i], together[k]), to = std::min(together[i], together[k]);
        for (std::uint32_t& t : together)
          if (t == from) t = to;
      }
    if (!any) return;
    std::vector<bool> taken(rows_.size(), false);
    for (std::uint32_t g = 0; g < rows_.size(); ++g) {
      std::vector<std::uint32_t> members;
      bool all_direct = true;
      for (std::uint32_t i = 0; i < rows_.size(); ++i)
        if (together[i] == g) members.push_back(i), all_direct = all_direct && rows_[i].direct;
      if (members.size() < 2 || all_direct || !share_buffer(tile, members)) continue;
      for (const std::uint32_t i : members) taken[i] = true;
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i)
      if (!taken[i]) rows_[kept++] = rows_[i];
    rows_.resize(kept);
  }

  static bool share_elements(const Row& a, const Row& b) {
    if (a.single && b.single) return a.region.variable == b.region.variable && a.region.elements.overlaps(b.region.elements);
    if (!a.single && !b.single) return a.view->intersects(*b.view);
    const Region& region = a.single ? a.region : b.region;
    bool shares = false;
    (a.single ? b : a).view->for_each_run([&](const graph::Run& run) { shares = shares || touches(run, region); });
    return shares;
  }

  static bool touches(const graph::Run& run, const Region& region) {
    if (run.variable != region.variable || run.count == 0) return false;
    const std::uint64_t step = static_cast<std::uint64_t>(std::abs(run.stride));
    const std::uint64_t last = run.offset + static_cast<std::uint64_t>(run.stride) * (run.count - 1);
    const std::uint64_t low = std::min(run.offset, last), high = std::max(run.offset, last);
    if (low >= region.elements.end || high < region.elements.begin) return false;
    if (step <= 1 || low >= region.elements.begin) return true;
    const std::uint64_t next = low + (region.elements.begin - low + step - 1) / step * step;  // the first element that is not below
    return next < region.elements.end;
  }

  using Element = std::pair<VariableId, std::uint64_t>;

  static std::vector<Element> elements_of(const View& view) {
    std::vector<Element> list;
    view.for_each_run([&](const graph::Run& r) {
      for (std::uint64_t i = 0; i < r.count; ++i)
        list.emplace_back(r.variable, r.offset + static_cast<std::uint64_t>(r.stride * static_cast<std::int64_t>(i)));
    });
    return list;
  }

  // Where each row begins in `order`, if each is contiguous there; else empty.
  static std::vector<std::uint64_t> places_in(const std::vector<Element>& order, const std::vector<std::vector<Element>>& rows) {
    std::vector<std::pair<Element, std::uint64_t>> index;
    for (std::uint64_t i = 0; i < order.size(); ++i) index.emplace_back(order[i], i);
    std::sort(index.begin(), index.end());
    for (std::size_t i = 1; i < index.size(); ++i)
      if (index[i].first == index[i - 1].first) return {};
    std::vector<std::uint64_t> places;
    for (const std::vector<Element>& row : rows) {
      const auto at = std::lower_bound(index.begin(), index.end(), std::pair(row.front(), std::uint64_t{0}));
      if (at == index.end() || at->first != row.front() || at->second + row.size() > order.size()) return {};
      if (!std::equal(row.begin(), row.end(), order.begin() + static_cast<std::ptrdiff_t>(at->second))) return {};
      places.push_back(at->second);
    }
    return places;
  }

  // Rows of one vertex in one buffer: in the order of the longest row, or else of the variables. False if no order serves all.
  struct SharedBuffer {
    TileId tile;
    std::vector<Element> order;
    std::vector<bool> written;                                      // per element of `order`
    std::vector<std::pair<std::uint32_t, std::uint64_t>> operands;  // and where each begins
    std::uint32_t align = 1;
    std::uint64_t width = 0;
    bool interleaved = false;
  };

  bool share_buffer(TileId tile, const std::vector<std::uint32_t>& members) {
    std::vector<std::vector<Element>> lists;
    for (const std::uint32_t i : members) lists.push_back(elements_of(*rows_[i].view));
    std::vector<Element> order =
        *std::max_element(lists.begin(), lists.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
    std::vector<std::uint64_t> places = places_in(order, lists);
    if (places.empty()) {
      order.clear();
      for (const auto& l : lists) order.insert(order.end(), l.begin(), l.end());
      std::sort(order.begin(), order.end());
      order.erase(std::unique(order.begin(), order.end()), order.end());
      places = places_in(order, lists);
    }
    if (places.empty()) return false;
    SharedBuffer shared{.tile = tile, .order = std::move(order), .written = {}, .operands = {}};
    shared.written.assign(shared.order.size(), false);
    for (std::size_t k = 0; k < members.size(); ++k) {
      const Row& row = rows_[members[k]];
      shared.operands.emplace_back(row.operand, places[k]);
      shared.align = std::max(shared.align, row.align);
      shared.interleaved = shared.interleaved || row.field->interleaved;
      shared.width = size_of(row.view->type());
      if (row.field->is_written())
        for (std::size_t e = 0; e < lists[k].size(); ++e) shared.written[places[k] + e] = true;
    }
    shared_.push_back(std::move(shared));
    return true;
  }

  void place_shared(const SharedBuffer& s) {
    const Address buffer = take(s.tile, out_, s.order.size() * s.width, s.align, AccessKind::modify);
    out_.interleaved = out_.interleaved || s.interleaved;
    for (const auto& [operand, place] : s.operands) compute_.operands[operand].at = {buffer.shard, buffer.offset + place * s.width};
    for (std::size_t e = 0; e < s.order.size(); ++e) {
      const ShardInterval& i = locate(plan_, s.order[e].first, s.order[e].second);
      const Address home{i.shard, i.local + (s.order[e].second - i.elements.begin) * s.width},
          here{buffer.shard, buffer.offset + e * s.width};
      gather_.push_back({home, here, static_cast<std::uint32_t>(s.width), 1, 0, 0});
      if (s.written[e]) scatter_.push_back({here, home, static_cast<std::uint32_t>(s.width), 1, 0, 0});
    }
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
      if (run.stride != 1 && run.count != 1) {
        ok = false;
        return;
      }
      std::uint64_t element = run.offset;
      const std::uint64_t end = run.offset + run.count;
      while (ok && element < end) {
        const ShardInterval& i = locate(plan_, run.variable, element);
        if (plan_.shards[i.shard].tile != tile) {
          ok = false;
          return;
        }
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
    std::stable_sort(shared_.begin(), shared_.end(), [](const SharedBuffer& a, const SharedBuffer& b) { return a.tile < b.tile; });
    for (std::size_t i = 0, shared = 0; i < order.size() || shared < shared_.size();) {
      TileId tile = i < order.size() ? needs_[order[i]].tile : shared_[shared].tile;
      if (shared < shared_.size()) tile = std::min(tile, shared_[shared].tile);
      in_ = Buffer{};
      out_ = Buffer{};
      for (; shared < shared_.size() && shared_[shared].tile == tile; ++shared) place_shared(shared_[shared]);
      std::size_t end = i;
      while (end < order.size() && needs_[order[end]].tile == tile) ++end;
      if (end > i) place_tile(std::span(order).subspan(i, end - i));
      finish(in_);
      finish(out_);
      i = end;
    }
  }

  void place_tile(std::span<const std::uint32_t> order) {
    const TileId tile = needs_[order[0]].tile;
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
    for (std::size_t k = i; k < order.size(); ++k) place_own(tile, needs_[order[k]]);
    own_.clear();
  }

  struct Buffer {
    ShardId shard;
    std::uint64_t bytes = 0;
    std::uint32_t align = 8;
    bool interleaved = false;  // all of it, if a part must
    std::vector<std::pair<Interval, AccessKind>> used;
  };

  Address take(TileId tile, Buffer& buffer, std::uint64_t bytes, std::uint32_t align, AccessKind kind) {
    if (!buffer.shard.valid()) buffer.shard = plan_.add_temporary(tile, 0, tile::Category::exchange_buffer, compute_.name);
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
    plan_.shards[buffer.shard].interleaved = buffer.interleaved;
    for (const auto& [bytes, kind] : buffer.used) accesses_.push_back({buffer.shard, {}, bytes, kind, true});
  }

  // Read-only needs that touch or overlap: received once, or bound.
  void place_union(TileId tile, const Region& joined, std::span<const std::uint32_t> order) {
    const std::uint64_t width = plan_.element_bytes(joined.variable);
    std::uint32_t align = 1;
    bool bindable = plan_.options.bind;
    for (const std::uint32_t n : order) {
      align = std::max(align, needs_[n].align);
      in_.interleaved = in_.interleaved || needs_[n].interleaved;
      Address at;
      bindable = bindable && !needs_[n].here && bind_to(tile, needs_[n], at);
    }
    const Address buffer = take(tile, in_, joined.elements.size() * width, align, AccessKind::read);
    const std::vector<SymbolicMove> moves = moves_of_region(joined, width, buffer);
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
        shard.interleaved = shard.interleaved || need.interleaved;
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

  std::vector<SymbolicMove> moves_of_region(const Region& region, std::uint64_t width, Address to) const {
    constexpr std::uint64_t kLongest = std::uint64_t{1} << 30;  // bytes of a move
    std::vector<SymbolicMove> moves;
    for (std::uint64_t element = region.elements.begin; element < region.elements.end;) {
      const ShardInterval& i = locate(plan_, region.variable, element);
      const std::uint64_t end = std::min({region.elements.end, i.elements.end, element + kLongest / width});
      const Address from{i.shard, i.local + (element - i.elements.begin) * width};
      moves.push_back({from,
                       {to.shard, to.offset + (element - region.elements.begin) * width},
                       static_cast<std::uint32_t>((end - element) * width),
                       1,
                       0,
                       0});
      element = end;
    }
    return moves;
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
    std::vector<OwnBuffer>* alike = nullptr;
    if (!need.written) {
      alike = &own_[hash_of(*need.view)];
      for (const OwnBuffer& known : *alike) {
        if (known.need->align < need.align || (need.interleaved && !known.need->interleaved) || !(*known.need->view == *need.view))
          continue;
        compute_.operands[need.operand].at = known.at;
        return;
      }
    }
    const std::uint64_t bytes = need.view->num_elements() * size_of(need.view->type());
    const AccessKind kind = !need.written ? AccessKind::read : need.read ? AccessKind::modify : AccessKind::write;
    Buffer& buffer = need.written ? out_ : in_;
    buffer.interleaved = buffer.interleaved || need.interleaved;
    const Address at = take(tile, buffer, bytes, need.align, kind);
    compute_.operands[need.operand].at = at;
    if (need.read) {
      const std::vector<SymbolicMove> moves = moves_to_block(plan_, *need.view, at.shard, at.offset);
      gather_.insert(gather_.end(), moves.begin(), moves.end());
    }
    if (need.written) {
      const std::vector<SymbolicMove> moves = moves_from_block(plan_, at.shard, at.offset, *need.view);
      scatter_.insert(scatter_.end(), moves.begin(), moves.end());
    }
    if (alike != nullptr) alike->push_back({&need, at});
  }

  // Equal views have equal hashes.
  static std::uint64_t hash_of(const View& view) {
    std::uint64_t h = view.num_elements();
    const auto add = [&h](std::uint64_t word) { h = (h ^ word) * 0x9e3779b97f4a7c15ull, h ^= h >> 29; };
    view.for_each_run([&](const graph::Run& run) {
      add(run.variable.value);
      add(run.offset);
      add(static_cast<std::uint64_t>(run.stride));
      add(run.count);
    });
    return h;
  }

  Plan& plan_;
  ComputeSetId cs_;
  const Library& library_;
  SymbolicCompute compute_;
  std::vector<StreamId> streams_;
  std::vector<ShardAccess> accesses_;
  std::vector<Row> rows_;  // of the vertex at hand
  std::vector<Need> needs_;
  std::vector<SharedBuffer> shared_;
  struct OwnBuffer {
    const Need* need;
    Address at;
  };
  std::unordered_map<std::uint64_t, std::vector<OwnBuffer>>
      own_;  // of the tile at hand: what only reads, by hash; looked up, never iterated
  std::vector<SymbolicMove> gather_, scatter_;
  Buffer in_, out_;
};

}  // namespace

LoweredCompute lower_compute_set(Plan& plan, ComputeSetId cs) { return OperandLowering(plan, cs).run(); }

}  // namespace pando::compile
