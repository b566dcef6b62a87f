// Gives every fragment an address. Each tile is an allocation problem: fragments of variables and buffers, vertex state, code, stacks,
// globals, reserved ranges. Tiles with the same problem are solved once.
#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "allocate/allocate.h"
#include "base/check.h"
#include "base/error.h"
#include "base/process/stop.h"
#include "compile/control_code.h"
#include "compile/liveness.h"
#include "compile/plan.h"

namespace pando::compile {

namespace {

// One thing to place on one tile.
struct Item {
  enum class Kind : std::uint8_t { fragment, fixed_size, globals };
  Kind kind = Kind::fragment;
  tile::Category category = tile::Category::variable;
  bool always = false, estimated = false, interleaved = false, code = false;
  std::uint32_t align = 8;
  std::uint32_t live = 0;
  std::uint64_t bytes = 0;
  std::uint64_t fixed = ~std::uint64_t{0};
  tile::NameId name;
  std::uint32_t shard = 0, fragment = 0;  // fragment; for globals: the module

  auto problem_key() const { return std::tuple(category, interleaved, code, align, live, bytes, fixed); }
};

// Of fragments on one tile.
struct Block {
  std::uint64_t bytes = 0;
  std::uint32_t align = 1, count = 0;

  // Where in the block it is.
  std::uint64_t add(std::uint64_t size, std::uint32_t aligned) {
    const std::uint64_t at = (bytes + aligned - 1) / aligned * aligned;
    bytes = at + size;
    align = std::max(align, aligned);
    ++count;
    return at;
  }
  // To place, whatever is in it.
  bool is_like(const Block& other) const { return bytes == other.bytes && align == other.align && (count == 0) == (other.count == 0); }
};

// Rough sizes of what a tile compiler would emit; always tagged as estimates.
constexpr std::uint64_t kInstructionBytes = 8;    // one control instruction: a few machine words
constexpr std::uint64_t kExchangeMoveBytes = 8;   // a send or a receive with its address
constexpr std::uint64_t kWorkerStackBytes = 256;  // for a codelet that says nothing
constexpr std::uint64_t kSupervisorStackBytes = 1024;

class Placement {
 public:
  explicit Placement(Plan& plan)
      : plan_(plan),
        out_(*plan.out),
        machine_(plan.graph.machine()),
        library_(plan.graph.library()),
        ranges_(plan),
        items_(machine_.tiles()),
        blocks_(machine_.tiles()),
        in_pieces_(machine_.tiles(), false) {}

  void run() {
    always_ = intern(ranges_.everything());
    add_fragments(nullptr);
    add_vertices();
    add_control_code();
    solve();
    write_back();
  }

 private:
  std::uint32_t intern(const tile::LiveRange& range) {
    for (std::uint32_t i = 0; i < out_.live_ranges.size(); ++i)
      if (out_.live_ranges[i] == range) return i;
    out_.live_ranges.push_back(range);
    return static_cast<std::uint32_t>(out_.live_ranges.size() - 1);
  }

  // The CPU device's memory is the host's: vectors of the host's kernels that begin at its lines touch one line each, not two.
  std::uint32_t align_of(const Shard& shard, std::uint64_t bytes) const {
    constexpr std::uint32_t kHostLine = 64;
    constexpr std::uint64_t kManyBytes = 1024;
    return machine_.bounded_memory || bytes < kManyBytes ? shard.align : std::max(shard.align, kHostLine);
  }

  // What lives as long as the program and may lie anywhere lies in one block of its tile, one after the other: thousands of variables need
  // no placing of their own. A fragment's address is its place in there until the block has one.
  bool joins_block(const Shard& shard, const Fragment& f) const {
    return f.live == always_ && !shard.interleaved && f.bytes.size() > 0 && !in_pieces_[shard.tile.index()];
  }

  // Of all tiles, or of `only` these.
  void add_fragments(const std::vector<bool>* only) {
    for (std::uint32_t s = 0; s < plan_.shards.size(); ++s) {
      check_stop();
      const Shard& shard = plan_.shards[ShardId(s)];
      const std::size_t tile = shard.tile.index();
      if (only != nullptr && !(*only)[tile]) continue;
      const std::span<Fragment> fragments = plan_.fragments[ShardId(s)];
      for (std::uint32_t p = 0; p < fragments.size(); ++p) {
        Fragment& f = fragments[p];
        const std::uint32_t align = align_of(shard, f.bytes.size());
        if (joins_block(shard, f)) {
          f.address = blocks_[tile].add(f.bytes.size(), align);
          continue;
        }
        items_[tile].push_back({.category = shard.category,
                                .always = f.live == always_,
                                .interleaved = shard.interleaved,
                                .align = align,
                                .live = f.live,
                                .bytes = f.bytes.size(),
                                .name = shard.name,
                                .shard = s,
                                .fragment = p});
      }
    }
  }

  // Items of their own for what is in the blocks of these tiles.
  void break_blocks(const std::vector<bool>& tiles) {
    std::vector<std::vector<Item>> others(items_.size());
    for (std::size_t t = 0; t < items_.size(); ++t) {
      if (!tiles[t]) continue;
      std::copy_if(items_[t].begin(), items_[t].end(), std::back_inserter(others[t]),
                   [](const Item& i) { return i.kind != Item::Kind::fragment; });
      items_[t].clear();
      blocks_[t] = {};
      in_pieces_[t] = true;
    }
    add_fragments(&tiles);
    for (std::size_t t = 0; t < items_.size(); ++t) items_[t].insert(items_[t].end(), others[t].begin(), others[t].end());
  }

  void add_fixed(TileId tile, tile::Category category, std::uint64_t bytes, bool estimated, tile::NameId name, std::uint32_t live) {
    if (bytes == 0) return;
    const bool code =
        category == tile::Category::vertex_code || category == tile::Category::control_code || category == tile::Category::exchange_code;
    items_[tile.index()].push_back({.kind = Item::Kind::fixed_size,
                                    .category = category,
                                    .always = live == always_,
                                    .estimated = estimated,
                                    .code = code,
                                    .live = live,
                                    .bytes = (bytes + 7) / 8 * 8,
                                    .name = name});
  }

  bool is_loaded(std::uint32_t function) const { return plan_.graph.functions()[FunctionId(function)].in_streaming_memory; }

  // Of compute sets or exchanges, by number: the one function in Streaming Memory that runs it. Its code is loaded and dropped with the
  // function.
  template <class IndexOf>
  std::vector<FunctionId> function_of(tile::Op op, std::size_t count, IndexOf index_of) {
    std::vector<FunctionId> owner(count);
    std::vector<std::uint8_t> resident(count, 0);
    const auto visit = [&](const Node& root, FunctionId f, const auto& self) -> void {
      if (root.kind == Node::Kind::action && plan_.actions[root.action].op == op) {
        const std::size_t i = index_of(plan_.actions[root.action].a);
        if (!f.valid() || (owner[i].valid() && owner[i] != f)) resident[i] = 1;
        owner[i] = f;
      }
      for (const Node& c : root.children) self(c, f, self);
    };
    for (const Node& p : plan_.programs) visit(p, FunctionId(), visit);
    for (std::uint32_t f = 0; f < plan_.function_bodies.size(); ++f)
      visit(plan_.function_bodies[FunctionId(f)], is_loaded(f) ? FunctionId(f) : FunctionId(), visit);
    for (std::size_t i = 0; i < owner.size(); ++i)
      if (resident[i]) owner[i] = FunctionId();
    return owner;
  }

  std::uint32_t code_live(FunctionId f) {
    if (!f.valid()) return always_;
    const auto known = code_live_.find(f.value);
    if (known != code_live_.end()) return known->second;
    AccessPattern pattern;
    for (std::uint32_t a = 0; a < plan_.actions.size(); ++a) {
      const Action& action = plan_.actions[ActionId(a)];
      if (action.op == tile::Op::load_code && action.a == f.value) pattern.push_back({ActionId(a), AccessKind::write});
      if (action.op == tile::Op::call && action.a == f.value) pattern.push_back({ActionId(a), AccessKind::read});
    }
    // Live at its calls means live while the function runs.
    tile::LiveRange range = ranges_.of(pattern, false);
    const Node& body = plan_.function_bodies[f];
    range.emplace_back(body.begin, body.end);
    normalise(range);
    return code_live_[f.value] = intern(range);
  }

  void add_vertices() {
    const std::vector<FunctionId> owner = function_of(tile::Op::compute, plan_.graph.compute_sets().size(),
                                                      [&](std::uint32_t a) { return plan_.computes[a].compute_set.index(); });
    const auto& vertices = plan_.graph.vertices();
    std::vector<std::uint32_t> order;
    order.reserve(vertices.size());
    std::vector<bool> lowered(plan_.graph.compute_sets().size(), false);
    for (const SymbolicCompute& c : plan_.computes) lowered[c.compute_set.index()] = true;
    for (std::uint32_t v = 0; v < vertices.size(); ++v)
      if (lowered[vertices[VertexId(v)].compute_set.index()]) order.push_back(v);
    const auto key = [&](std::uint32_t v) {
      const graph::Vertex& x = vertices[VertexId(v)];
      return std::tuple(x.tile, x.codelet, owner[x.compute_set.index()]);
    };
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
    out_.globals.assign(library_.modules(), std::vector<std::uint64_t>(machine_.tiles(), ~std::uint64_t{0}));
    const tile::NameId state_name = plan_.name("vertex state"), stack_name = plan_.name("stacks");
    for (std::size_t i = 0; i < order.size();) {
      const TileId tile = vertices[VertexId(order[i])].tile;
      std::uint64_t state = 0, stack = 0;
      std::vector<std::uint32_t> modules;
      for (; i < order.size() && vertices[VertexId(order[i])].tile == tile; ++i) {
        const graph::Vertex& v = vertices[VertexId(order[i])];
        const Codelet& codelet = library_[v.codelet];
        state += state_bytes(codelet, v);
        const bool first = i == 0 || key(order[i - 1]) != key(order[i]);
        if (!first) continue;
        const std::uint32_t live = code_live(owner[v.compute_set.index()]);
        add_fixed(tile, tile::Category::vertex_code, codelet.code_bytes, !codelet.code_declared, codelet_name(v.codelet), live);
        add_shared_code(tile, codelet);
        stack = std::max<std::uint64_t>(stack, codelet.stack_bytes ? codelet.stack_bytes : kWorkerStackBytes);
        if (codelet.module.valid() && library_.module(codelet.module).globals.size > 0 &&
            std::find(modules.begin(), modules.end(), codelet.module.value) == modules.end())
          modules.push_back(codelet.module.value);
        add_reserved(tile, codelet, codelet.reserved);
        for (const ReservedRange& r : codelet.shared_ranges) add_reserved(tile, codelet, r);
      }
      add_fixed(tile, tile::Category::vertex_state, state, false, state_name, always_);
      if (plan_.options.worker_stack != 0) stack = plan_.options.worker_stack;
      const std::uint64_t supervisor = plan_.options.supervisor_stack != 0 ? plan_.options.supervisor_stack : kSupervisorStackBytes;
      add_fixed(tile, tile::Category::stack, stack * machine_.workers + supervisor, true, stack_name, always_);
      for (const std::uint32_t m : modules) add_globals(tile, m);
    }
  }

  std::uint64_t state_bytes(const Codelet& codelet, const graph::Vertex& v) {
    row_counts_.assign(codelet.fields.size(), 0);
    bool rows = false;
    for (const graph::Edge& e : v.edges)
      if (codelet.fields[e.field].shape >= FieldShape::vector_of_vectors)
        row_counts_[e.field] = static_cast<std::uint32_t>(e.rows.size()), rows = true;
    if (rows) return codelet.target_state_bytes(row_counts_);
    const std::size_t index = v.codelet.index();
    if (index >= known_state_.size()) known_state_.resize(index + 1, ~std::uint64_t{0});
    if (known_state_[index] == ~std::uint64_t{0}) known_state_[index] = codelet.target_state_bytes(row_counts_);
    return known_state_[index];
  }

  tile::NameId codelet_name(CodeletId c) {
    if (c.index() >= codelet_names_.size()) codelet_names_.resize(c.index() + 1);
    if (!codelet_names_[c.index()].valid()) codelet_names_[c.index()] = plan_.name(library_[c].name);
    return codelet_names_[c.index()];
  }

  void add_shared_code(TileId tile, const Codelet& codelet) {
    for (const DeclaredCode& code : codelet.shared_code) {
      const tile::NameId name = plan_.name("code of " + code.name);
      const auto same = [&](const Item& i) { return i.category == tile::Category::vertex_code && i.name == name; };
      if (std::none_of(items_[tile.index()].begin(), items_[tile.index()].end(), same))
        add_fixed(tile, tile::Category::vertex_code, code.bytes, false, name, always_);
    }
  }

  void add_globals(TileId tile, std::uint32_t module) {
    const Module& m = library_.module(ModuleId(module));
    items_[tile.index()].push_back({.kind = Item::Kind::globals,
                                    .category = tile::Category::globals,
                                    .always = true,
                                    .align = std::max(8u, m.globals.align),
                                    .live = always_,
                                    .bytes = m.globals.size,
                                    .name = plan_.name("globals of " + m.name),
                                    .shard = module});
  }

  void add_reserved(TileId tile, const Codelet& codelet, const ReservedRange& r) {
    if (r.size == 0) return;
    for (const Item& other : items_[tile.index()]) {
      if (other.fixed == ~std::uint64_t{0}) continue;
      if (other.fixed == r.begin && other.bytes == r.size) return;
      if (other.fixed < r.begin + r.size && r.begin < other.fixed + other.bytes)
        fail(ErrorKind::graph_object_creation_error, "reserved-range",
             "tile {}: codelet {} reserves bytes {} to {}, of which some are {} (bytes {} to {})", tile.value, codelet.name, r.begin,
             r.begin + r.size, out_.names[other.name.index()], other.fixed, other.fixed + other.bytes);
    }
    if (machine_.bounded_memory && r.begin + r.size > machine_.bytes_per_tile())
      fail(ErrorKind::graph_object_creation_error, "reserved-range", "codelet {} reserves bytes {} to {}, but a tile of {} has {}",
           codelet.name, r.begin, r.begin + r.size, machine_.name, machine_.bytes_per_tile());
    items_[tile.index()].push_back({.kind = Item::Kind::fixed_size,
                                    .category = tile::Category::reserved,
                                    .always = true,
                                    .live = always_,
                                    .bytes = r.size,
                                    .fixed = r.begin,
                                    .name = plan_.name("reserved by " + codelet.name)});
    if (r.image.empty()) return;
    const auto& images = plan_.graph.images;
    const auto image = std::find_if(images.begin(), images.end(), [&](const auto& i) { return i.first == r.image; });
    if (image == images.end())
      fail(ErrorKind::graph_object_creation_error, "missing-image", "codelet {} names the image '{}', which was not set", codelet.name,
           r.image);
    if (image->second.size() > r.size)
      fail(ErrorKind::graph_object_creation_error, "image-size", "image '{}' has {} bytes; codelet {} reserves {}", r.image,
           image->second.size(), codelet.name, r.size);
    const std::string key = r.image + "@" + std::to_string(r.begin);
    auto known = image_index_.find(key);
    if (known == image_index_.end()) {
      known = image_index_.emplace(key, out_.images.size()).first;
      out_.images.push_back({r.begin, image->second, {}});
    }
    out_.images[known->second].tiles.push_back(tile);
  }

  // Per tile: instructions, and what it sends and receives. By function in Streaming Memory; without one, what stays on the tiles,
  // which what goes between IPUs does in any case.
  void add_control_code() {
    std::map<std::uint32_t, std::vector<std::uint64_t>> instructions, moves;
    const auto of = [](auto& counts, FunctionId f, std::size_t n) -> std::vector<std::uint64_t>& {
      auto& own = counts[f.value];
      own.resize(n);
      return own;
    };
    ControlCode code(plan_);
    for (const Node& n : plan_.programs) code.count(n, of(instructions, FunctionId(), machine_.tiles()));
    for (std::uint32_t f = 0; f < plan_.function_bodies.size(); ++f)
      code.count(plan_.function_bodies[FunctionId(f)], of(instructions, is_loaded(f) ? FunctionId(f) : FunctionId(), machine_.tiles()));
    // What several tiles receive is sent once. Bound operands are counted as what they stand for.
    using Sent = std::tuple<std::uint32_t, std::uint64_t, std::uint64_t>;  // shard, offset, bytes
    std::vector<std::pair<Sent, bool>> sent;                               // and whether to another IPU
    const auto count_moves = [&](const std::vector<SymbolicMove>& list, FunctionId f, bool reads_once) {
      auto &resident = of(moves, FunctionId(), machine_.tiles()), &own = of(moves, f, machine_.tiles());
      sent.clear();
      for (const SymbolicMove& m : list) {
        if (!m.source.shard.valid()) continue;
        const TileId to = plan_.shards[m.destination.shard].tile, from = plan_.shards[m.source.shard].tile;
        const bool global = machine_.ipu_of(to) != machine_.ipu_of(from);
        ++(global ? resident : own)[to.index()];
        if (reads_once)
          ++(global ? resident : own)[from.index()];
        else
          sent.push_back({{m.source.shard.value, m.source.offset, m.bytes}, global});
      }
      if (!std::is_sorted(sent.begin(), sent.end())) std::sort(sent.begin(), sent.end());
      for (std::size_t i = 0; i < sent.size(); ++i)
        if (i + 1 == sent.size() || sent[i].first != sent[i + 1].first)
          ++(sent[i].second ? resident : own)[plan_.shards[ShardId(std::get<0>(sent[i].first))].tile.index()];
    };
    const auto self = [](std::uint32_t a) { return a; };
    const std::vector<FunctionId> of_exchange = function_of(tile::Op::exchange, plan_.exchanges.size(), self);
    const std::vector<FunctionId> of_compute = function_of(tile::Op::compute, plan_.computes.size(), self);
    for (std::size_t e = 0; e < plan_.exchanges.size(); ++e)
      count_moves(plan_.exchanges[e].receive, of_exchange[e], plan_.exchanges[e].reads_once);
    for (std::size_t c = 0; c < plan_.computes.size(); ++c) count_moves(plan_.computes[c].bound, of_compute[c], false);
    add_code(instructions, moves);
  }

  void add_code(const std::map<std::uint32_t, std::vector<std::uint64_t>>& instructions,
                const std::map<std::uint32_t, std::vector<std::uint64_t>>& moves) {
    const tile::NameId control = plan_.name("control code"), exchange = plan_.name("exchange code");
    for (std::size_t s = 0; s < out_.streams.size(); ++s)
      for (const TileId t : out_.streams[s].tiles) {
        for (const auto& [f, n] : instructions)
          add_fixed(t, tile::Category::control_code, n[t.index()] * kInstructionBytes, true, control, code_live(FunctionId(f)));
        for (const auto& [f, n] : moves)
          add_fixed(t, tile::Category::exchange_code, n[t.index()] * kExchangeMoveBytes, true, exchange, code_live(FunctionId(f)));
      }
  }

  // Tiles with equal blocks and equal lists of items are one problem. Those of `only`, or all, get new groups.
  void group_tiles(const std::vector<bool>* only) {
    std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> by_hash;  // looked up, never iterated
    for (std::uint32_t t = 0; t < items_.size(); ++t) {
      if (is_empty(t) || (only != nullptr && !(*only)[t])) continue;
      std::uint64_t h = items_[t].size();
      const auto add = [&h](std::uint64_t word) { h = (h ^ word) * 0x9e3779b97f4a7c15ull, h ^= h >> 29; };
      add(blocks_[t].bytes);
      add(blocks_[t].align);
      for (const Item& i : items_[t])
        for (const std::uint64_t word : {i.bytes, std::uint64_t{i.live} << 32 | i.align, i.fixed,
                                         static_cast<std::uint64_t>(i.category) << 2 | i.interleaved << 1 | i.code})
          add(word);
      std::vector<std::uint32_t>& candidates = by_hash[h];
      const auto same = std::find_if(candidates.begin(), candidates.end(), [&](std::uint32_t g) {
        const std::vector<Item>&a = items_[representative_[g]], &b = items_[t];
        return blocks_[representative_[g]].is_like(blocks_[t]) &&
               std::equal(a.begin(), a.end(), b.begin(), b.end(),
                          [](const Item& x, const Item& y) { return x.problem_key() == y.problem_key(); });
      });
      if (same != candidates.end()) {
        group_of_[t] = *same;
        continue;
      }
      group_of_[t] = static_cast<std::uint32_t>(representative_.size());
      candidates.push_back(group_of_[t]);
      representative_.push_back(t);
    }
  }

  bool is_empty(std::size_t tile) const { return items_[tile].empty() && blocks_[tile].count == 0; }

  // The block, if there is one, then the items.
  allocate::AllocationProblem problem(std::uint32_t tile) const {
    check_stop();
    const std::vector<Item>& items = items_[tile];
    allocate::AllocationProblem p;
    const bool bounded = machine_.bounded_memory && plan_.options.bounded_memory;
    p.capacity = bounded ? machine_.bytes_per_tile() : std::uint64_t{1} << 60;
    std::uint64_t executable_end = p.capacity, interleaved_begin = 0;
    if (bounded)
      for (const MemoryRegion& r : machine_.regions) {
        if (r.executable) executable_end = r.end;
        if (r.interleaved && interleaved_begin == 0) interleaved_begin = r.begin;
      }
    const auto add = [&](std::uint32_t live, std::uint64_t bytes, std::uint32_t align) -> allocate::Buffer& {
      allocate::Buffer& b = p.buffers.emplace_back();
      for (const auto& [begin, end] : out_.live_ranges[plan_.options.share_memory ? live : always_]) b.live.push_back({begin, end});
      b.size = bytes;
      b.align = align;
      return b;
    };
    p.buffers.reserve(items.size() + 1);
    if (blocks_[tile].count > 0) add(always_, blocks_[tile].bytes, blocks_[tile].align);
    for (const Item& i : items) {
      allocate::Buffer& b = add(i.live, i.bytes, i.align);
      if (i.code) b.highest_end = executable_end;
      if (i.interleaved) b.lowest = interleaved_begin;
      if (i.fixed != ~std::uint64_t{0}) b.fixed = i.fixed;
    }
    return p;
  }

  void solve() {
    group_of_.assign(items_.size(), ~0u);
    group_tiles(nullptr);
    allocate::AllocationOptions options;
    options.largest_search = 0;
    const std::vector<bool> unsolved = place(0, options, false);
    if (std::find(unsolved.begin(), unsolved.end(), true) != unsolved.end()) {
      break_blocks(unsolved);  // they may fit in pieces
      const std::size_t first = representative_.size();
      group_tiles(&unsolved);
      options = {};
      options.node_budget = 200'000;  // of one tile: a second or so
      place(first, options, true);
    }
    out_.out_of_memory = plan_.out_of_memory != nullptr;
  }

  // The groups of tiles from this one on. Returns the tiles that do not fit; `anyhow`, they are placed all the same.
  std::vector<bool> place(std::size_t first, const allocate::AllocationOptions& options, bool anyhow) {
    std::vector<allocate::AllocationProblem> problems;
    problems.reserve(representative_.size() - first);
    for (std::size_t g = first; g < representative_.size(); ++g) problems.push_back(problem(representative_[g]));
    std::vector<allocate::AllocationResult> results = allocate::allocate_all(problems, options);
    offsets_.resize(representative_.size());
    for (std::size_t g = first; g < representative_.size(); ++g) {
      allocate::AllocationResult& result = results[g - first];
      if (result.status == allocate::AllocationStatus::solved)
        validate(g, problems[g - first], result);
      else if (anyhow)
        result = without_bounds(g, problems[g - first]);
      offsets_[g] = std::move(result.offsets);
    }
    std::vector<bool> unsolved(items_.size(), false);
    for (std::size_t t = 0; t < items_.size(); ++t) unsolved[t] = group_of_[t] != ~0u && offsets_[group_of_[t]].empty();
    return unsolved;
  }

  void validate(std::size_t group, const allocate::AllocationProblem& p, const allocate::AllocationResult& result) const {
    if (!plan_.options.validate) return;
    const std::string fault = allocate::check_allocation(p, result.offsets);
    if (!fault.empty()) std::fprintf(stderr, "pando: tile %u: %s\n", representative_[group], fault.c_str());
    PANDO_CHECK(fault.empty());
  }

  // What does not fit is placed all the same, for reports.
  allocate::AllocationResult without_bounds(std::size_t group, allocate::AllocationProblem& p) {
    const std::uint64_t capacity = p.capacity;
    for (allocate::Buffer& b : p.buffers) b.highest_end = ~std::uint64_t{0};
    p.capacity = std::uint64_t{1} << 60;
    allocate::AllocationResult result = allocate::allocate_greedy(p);
    if (!plan_.out_of_memory || plan_.out_of_memory->needed < result.high_water)
      explain(representative_[group], capacity, result.high_water);
    return result;
  }

  // The step at which the most of some items is live, and how much that is.
  template <class Include>
  std::pair<std::uint32_t, std::uint64_t> peak(std::uint32_t tile, Include include) const {
    std::map<std::uint32_t, std::int64_t> change;
    for (const Item& i : items_[tile])
      if (include(i))
        for (const auto& [begin, end] : out_.live_ranges[i.live])
          change[begin] += static_cast<std::int64_t>(i.bytes), change[end] -= static_cast<std::int64_t>(i.bytes);
    std::int64_t now = 0, most = 0;
    std::uint32_t worst = 0;
    for (const auto& [order, bytes] : change) {
      now += bytes;
      if (now > most) most = now, worst = order;
    }
    return {worst, static_cast<std::uint64_t>(most)};
  }

  std::uint64_t executable_end() const {
    for (const MemoryRegion& r : machine_.regions)
      if (r.executable) return r.end;
    return machine_.bytes_per_tile();
  }

  void explain(std::uint32_t tile, std::uint64_t capacity, std::uint64_t needed) {
    const auto everything = [](const Item&) { return true; };
    const auto code = [](const Item& i) { return i.code; };
    auto [worst, most] = peak(tile, everything);
    auto report = std::make_unique<OutOfMemory>();
    report->tile = TileId(tile);
    report->needed = std::max(needed, most);
    report->available = capacity;
    if (most <= capacity && peak(tile, code).second > executable_end()) {
      std::tie(worst, report->needed) = peak(tile, code);
      report->available = executable_end();
      report->region = "executable";
    }
    report->step = name_of_step(worst);
    std::vector<const Item*> live;
    for (const Item& i : items_[tile])
      for (const auto& [begin, end] : out_.live_ranges[i.live])
        if (begin <= worst && worst < end && (report->region.empty() || i.code)) live.push_back(&i);
    std::stable_sort(live.begin(), live.end(), [](const Item* a, const Item* b) { return a->bytes > b->bytes; });
    constexpr std::size_t kShown = 5;
    for (std::size_t i = 0; i < std::min(kShown, live.size()); ++i) report->largest.emplace_back(described(*live[i]), live[i]->bytes);
    plan_.out_of_memory = std::move(report);
  }

  // A variable and the compute set that needs a buffer or staging are told apart by what they are.
  std::string described(const Item& item) const {
    const std::string& name = out_.names[item.name.index()];
    switch (item.category) {
      case tile::Category::variable: return fmt::format("variable '{}'", name);
      case tile::Category::constant: return fmt::format("constant '{}'", name);
      case tile::Category::exchange_buffer: return fmt::format("exchange buffer of compute set '{}'", name);
      case tile::Category::vertex_code: return fmt::format("vertex code '{}'", name);
      default: return name;  // "control code", "reserved by NAME": says what it is
    }
  }

  std::string name_of_step(std::uint32_t order) {
    std::string found = "start";
    const auto visit = [&](const Node& n, const auto& self) -> void {
      if (order < n.begin || order >= n.end) return;
      if (n.kind == Node::Kind::action || n.kind == Node::Kind::call) {
        const Action& a = plan_.actions[n.action];
        if (a.name.valid()) found = out_.names[a.name.index()];
      }
      for (const Node& c : n.children) self(c, self);
    };
    for (const Node& n : plan_.programs) visit(n, visit);
    for (const Node& n : plan_.function_bodies) visit(n, visit);
    return found;
  }

  void write_back() {
    out_.tile_bytes.assign(items_.size(), 0);
    std::vector<std::size_t> next(items_.size());  // where the allocation of the next fragment of a tile's block goes
    std::size_t total = 0;
    for (std::size_t t = 0; t < items_.size(); ++t) total += items_[t].size() + blocks_[t].count;
    out_.allocations.resize(total);
    total = 0;
    for (std::uint32_t t = 0; t < items_.size(); ++t) {
      if (is_empty(t)) continue;
      next[t] = write_items(t, total);
      total += items_[t].size() + blocks_[t].count;
    }
    write_blocks(next);
  }

  // In the order of their offsets, from `at` on. Returns where those in the block go.
  std::size_t write_items(std::uint32_t t, std::size_t at) {
    const Block& block = blocks_[t];
    const std::vector<std::uint64_t>& offsets = offsets_[group_of_[t]];
    const std::size_t first = block.count > 0 ? 1 : 0;
    const std::uint64_t base = first != 0 ? offsets[0] : ~std::uint64_t{0};
    if (first != 0) out_.tile_bytes[t] = base + block.bytes;
    order_.clear();
    for (std::uint32_t k = 0; k < items_[t].size(); ++k) {
      const Item& i = items_[t][k];
      const std::uint64_t offset = offsets[first + k];
      if (i.kind == Item::Kind::fragment) plan_.fragments[ShardId(i.shard)][i.fragment].address = offset;
      if (i.kind == Item::Kind::globals) out_.globals[i.shard][t] = offset;
      out_.tile_bytes[t] = std::max(out_.tile_bytes[t], offset + i.bytes);
      order_.emplace_back(offset, k);
    }
    std::sort(order_.begin(), order_.end());
    std::size_t in_block = at;
    for (const auto& [offset, k] : order_) {
      const Item& i = items_[t][k];
      if (offset >= base && in_block == at) at += block.count;
      out_.allocations[at++] = {TileId(t), i.name, i.category, i.always, i.estimated, offset, i.bytes, i.live};
      if (offset < base) in_block = at;
    }
    return in_block;
  }

  void write_blocks(std::vector<std::size_t>& next) {
    for (std::uint32_t s = 0; s < plan_.shards.size(); ++s) {
      const Shard& shard = plan_.shards[ShardId(s)];
      const std::size_t t = shard.tile.index();
      for (Fragment& f : plan_.fragments[ShardId(s)]) {
        if (!joins_block(shard, f)) continue;
        f.address += offsets_[group_of_[t]][0];
        out_.allocations[next[t]++] = {shard.tile, shard.name, shard.category, true, false, f.address, f.bytes.size(), f.live};
      }
    }
  }

  Plan& plan_;
  tile::Program& out_;
  const Machine& machine_;
  const Library& library_;
  LiveRanges ranges_;
  std::uint32_t always_ = 0;
  std::vector<std::vector<Item>> items_;  // TileId; what is in no block
  std::vector<Block> blocks_;             // TileId
  std::vector<bool> in_pieces_;           // TileId: without a block
  std::vector<std::uint32_t> group_of_, representative_;
  std::vector<std::vector<std::uint64_t>> offsets_;             // by group: of its tiles' block, if they have one, and items
  std::vector<std::pair<std::uint64_t, std::uint32_t>> order_;  // offset, item
  std::map<std::string, std::size_t> image_index_;
  std::map<std::uint32_t, std::uint32_t> code_live_;  // of functions
  std::vector<std::uint32_t> row_counts_;
  std::vector<std::uint64_t> known_state_;   // CodeletId; of codelets without 2-D fields
  std::vector<tile::NameId> codelet_names_;  // CodeletId
};

}  // namespace

void place_memory(Plan& plan) { Placement(plan).run(); }

}  // namespace pando::compile
