// The last pass: tables with tile addresses, and one instruction list per stream. A stream gets the steps it takes part in; a
// step of several streams carries a sync.
#include <algorithm>
#include <map>

#include "base/check.h"
#include "base/process/stop.h"
#include "compile/liveness.h"
#include "compile/plan.h"
#include "compile/resolve.h"

namespace pando::compile {

namespace {

// tile::Op of a table's action, and where its entries went.
class Tables {
 public:
  explicit Tables(Plan& plan) : plan_(plan), out_(*plan.out), resolver_(plan) {}

  void fill() {
    // What has been resolved goes at once: what comes takes as much.
    out_.exchanges.reserve(plan_.exchanges.size());
    for (SymbolicExchange& e : plan_.exchanges) {
      check_stop();
      add_exchange(std::exchange(e, {}));
    }
    plan_.exchanges = {};
    out_.transfers.resize(plan_.transfers.size());
    for (std::size_t t = 0; t < plan_.transfers.size(); ++t) add_transfer(plan_.transfers[t], out_.transfers[t]);
    for (std::size_t t = 0; t < plan_.transfers.size(); ++t)
      if (plan_.transfers[t].reverses) out_.transfers[t].moves = reversed(out_.transfers[plan_.transfers[t].reverses->index()].moves);
    plan_.transfers = {};
    resolver_.moves(plan_.initial_moves, out_.initial_moves);
    for (const SymbolicLocation& l : plan_.locations) out_.locations.push_back(resolver_.location(l));
    add_replica_index();
    computes_.resize(plan_.computes.size());
    for (std::size_t c = 0; c < plan_.computes.size(); ++c) {
      check_stop();
      add_compute(c);
    }
  }

  // The part of a symbolic compute that a stream runs.
  tile::ComputeId compute(std::uint32_t symbolic, StreamId stream) const {
    for (const auto& [s, id] : computes_[symbolic])
      if (s == stream) return id;
    PANDO_CHECK(!"a stream without a part of the compute set");
    return {};
  }
  const Resolver& resolver() const { return resolver_; }

 private:
  void add_exchange(const SymbolicExchange& e) {
    tile::Exchange out{.name = e.name, .receive = {}, .arrange = {}, .gathers = e.gathers};
    resolver_.moves(e.receive, out.receive);
    resolver_.moves(e.arrange, out.arrange);
    sort_moves(out.receive, plan_.options.merge_moves);
    sort_moves(out.arrange, plan_.options.merge_moves);
    out_.exchanges.push_back(std::move(out));
  }

  void add_transfer(SymbolicTransfer& t, tile::Transfer& out) {
    out = std::move(t.transfer);
    resolver_.moves(t.moves, out.moves);
    for (const Address& row : t.rows) out.rows.push_back(resolver_.location({row, ElementType::unsigned_int}));
    t.moves = {};
  }

  static std::vector<tile::Move> reversed(std::vector<tile::Move> moves) {
    for (tile::Move& m : moves) {
      std::swap(m.source_tile, m.destination_tile);
      std::swap(m.source, m.destination);
      std::swap(m.source_step, m.destination_step);
    }
    return moves;
  }

  void add_replica_index() {
    const auto& variables = plan_.graph.variables();
    for (std::uint32_t v = 0; v < variables.size(); ++v) {
      if (!variables[VariableId(v)].replica_index) continue;
      for (const ShardInterval& i : plan_.layout[VariableId(v)])
        if (!plan_.fragments[i.shard].empty())
          out_.replica_index.push_back(resolver_.location({{i.shard, i.local}, variables[VariableId(v)].type}));
    }
  }

  void add_compute(std::size_t index) {
    const SymbolicCompute& c = plan_.computes[index];
    const auto& vertices = plan_.graph.vertices();
    std::vector<tile::Move> bound;
    resolver_.moves(c.bound, bound);
    for (std::size_t i = 0; i < c.vertices.size();) {
      const StreamId stream = plan_.stream_of_tile[vertices[c.vertices[i].vertex].tile.index()];
      tile::ComputeStep step{.name = c.name, .compute_set = c.compute_set, .stream = stream};
      for (; i < c.vertices.size() && plan_.stream_of_tile[vertices[c.vertices[i].vertex].tile.index()] == stream; ++i) {
        const graph::Vertex& v = vertices[c.vertices[i].vertex];
        if (step.groups.empty() || step.groups.back().codelet != v.codelet)
          step.groups.push_back({v.codelet, static_cast<std::uint32_t>(out_.vertices.size()), 0});
        ++step.groups.back().count;
        add_vertex(c, c.vertices[i], v);
      }
      for (const auto& [s, address] : c.results)
        if (s == stream) step.result = resolver_.location({address, ElementType::unsigned_int});
      for (const tile::Move& m : bound)
        if (plan_.stream_of_tile[m.destination_tile.index()] == stream) step.bound.push_back(m);
      sort_moves(step.bound, plan_.options.merge_moves);
      computes_[index].emplace_back(stream, tile::ComputeId(static_cast<std::uint32_t>(out_.computes.size())));
      out_.computes.push_back(std::move(step));
    }
  }

  void add_vertex(const SymbolicCompute& c, const SymbolicVertex& symbolic, const graph::Vertex& v) {
    tile::VertexInstance instance{.tile = v.tile,
                                  .operands = static_cast<std::uint32_t>(out_.operands.size()),
                                  .state = static_cast<std::uint32_t>(out_.state.size()),
                                  .vertex = symbolic.vertex,
                                  .cycles = v.estimate ? v.estimate->cycles : tile::kUnestimated};
    for (std::uint32_t k = 0; k < symbolic.operands; ++k) {
      const SymbolicOperand& o = c.operands[symbolic.first_operand + k];
      tile::Operand operand{.count = o.count};
      if (o.at.shard.valid()) {
        operand.tile = plan_.shards[o.at.shard].tile;
        operand.offset = resolver_.address(o.at);
      }
      out_.operands.push_back(operand);
    }
    const Codelet& codelet = plan_.graph.library()[v.codelet];
    if (has_late_values(symbolic.vertex))
      add_state(codelet, late_state(symbolic.vertex, codelet, v, instance.operands));
    else
      add_state(codelet, v.state);
    out_.vertices.push_back(instance);
  }

  bool has_late_values(VertexId v) const {
    if (!plan_.options.late_values) return false;
    const auto it = plan_.options.late_values->lower_bound({v, 0});
    return it != plan_.options.late_values->end() && it->first.first == v;
  }

  std::vector<graph::StateValue> late_state(VertexId id, const Codelet& codelet, const graph::Vertex& v, std::size_t operand) const {
    StoredEdges stored;
    for (const graph::Edge& e : v.edges) {
      const Field& field = codelet.fields[e.field];
      const bool rows = field.shape >= FieldShape::vector_of_vectors;
      std::size_t n = rows ? out_.operands[operand++].count : 1;
      for (; n > 0; --n, ++operand) {
        const tile::Operand& o = out_.operands[operand];
        stored[field.name].push_back({o.offset, static_cast<std::uint32_t>(o.count * size_of(field.type))});
      }
    }
    std::vector<graph::StateValue> state = v.state;
    for (graph::StateValue& s : state)
      if (const auto it = plan_.options.late_values->find({id, s.field}); it != plan_.options.late_values->end())
        s.bytes = it->second(stored);
    return state;
  }

  // State fields in field order; what was not set is zero.
  void add_state(const Codelet& codelet, const std::vector<graph::StateValue>& state) {
    auto value = state.begin();
    for (std::size_t f = 0; f < codelet.fields.size(); ++f) {
      const Field& field = codelet.fields[f];
      if (field.is_edge()) continue;
      while (value != state.end() && value->field < f) ++value;
      const bool set = value != state.end() && value->field == f;
      if (field.shape == FieldShape::scalar) {
        const std::size_t begin = out_.state.size();
        if (set) out_.state += value->bytes;
        out_.state.resize(begin + size_of(field.type), '\0');
        continue;
      }
      const std::uint32_t count = set ? static_cast<std::uint32_t>(value->bytes.size() / size_of(field.type)) : 0;
      out_.state.append(reinterpret_cast<const char*>(&count), sizeof count);
      if (set) out_.state += value->bytes;
    }
  }

  Plan& plan_;
  tile::Program& out_;
  Resolver resolver_;
  std::vector<std::vector<std::pair<StreamId, tile::ComputeId>>> computes_;
};

class StreamCode {
 public:
  StreamCode(Plan& plan, const Tables& tables, StreamId stream, std::map<std::vector<StreamId>, tile::SyncId>& syncs,
             const std::vector<std::vector<std::uint32_t>>& drops)
      : plan_(plan), tables_(tables), stream_(stream), code_(plan.out->streams[stream.index()].code), syncs_(syncs), drops_(drops) {}

  void run() {
    tile::Stream& stream = plan_.out->streams[stream_.index()];
    for (const Node& p : plan_.programs) {
      stream.entries.push_back(here());
      emit(p);
      add(tile::Op::end, p.end, {});
    }
    std::vector<std::uint32_t> entry(plan_.function_bodies.size(), 0);
    for (std::uint32_t f = 0; f < plan_.function_bodies.size(); ++f) {
      const Node& body = plan_.function_bodies[FunctionId(f)];
      if (!takes_part(body)) continue;
      entry[f] = here();
      emit(body);
      add(tile::Op::ret, body.end, {});
    }
    for (const auto& [instruction, function] : calls_) code_[instruction].target = entry[function.index()];
  }

 private:
  std::uint32_t here() const { return static_cast<std::uint32_t>(code_.size()); }
  bool takes_part(const Node& n) const { return std::binary_search(n.streams.begin(), n.streams.end(), stream_); }

  tile::Instruction& add(tile::Op op, std::uint32_t order, tile::NameId name) {
    tile::Instruction i;
    i.op = op;
    i.order = order;
    i.name = name;
    code_.push_back(i);
    return code_.back();
  }

  tile::SyncId sync(const std::vector<StreamId>& streams) {
    if (streams.size() < 2) return {};
    const auto [it, added] = syncs_.try_emplace(streams, tile::SyncId(static_cast<std::uint32_t>(plan_.out->syncs.size())));
    if (added) plan_.out->syncs.push_back({streams});
    return it->second;
  }

  void emit(const Node& n) {
    if (!takes_part(n)) return;
    switch (n.kind) {
      case Node::Kind::sequence:
        for (const Node& c : n.children) emit(c);
        return;
      case Node::Kind::action: return emit_action(n);
      case Node::Kind::call: return emit_call(n);
      case Node::Kind::repeat: return emit_repeat(n);
      case Node::Kind::repeat_while: return emit_while(n);
      case Node::Kind::branch: return emit_branch(n);
    }
  }

  void emit_action(const Node& n) {
    const Action& a = plan_.actions[n.action];
    if (a.op == tile::Op::branch_true) return;  // the test of a loop or branch: its owner emits it
    if (a.op == tile::Op::sync && a.streams.size() < 2) return;
    tile::Instruction& i = add(a.op, n.begin, a.name);
    i.a = a.op == tile::Op::compute ? tables_.compute(a.a, stream_).value : a.a;
    i.b = a.b;
    // A compute set needs no sync: each stream runs its own vertices. Neither does code: each stream loads its own.
    const bool alone = a.op == tile::Op::compute || a.op == tile::Op::load_code;
    if (!alone) i.sync = sync(a.streams);
  }

  void emit_call(const Node& n) {
    calls_.emplace_back(here(), n.function);
    tile::Instruction& i = add(tile::Op::call, n.begin, n.name);
    i.a = n.function.value;
    i.b = plan_.graph.functions()[n.function].in_streaming_memory ? 1 : 0;
    const std::vector<std::uint32_t>& drops = drops_[n.function.index()];
    if (std::binary_search(drops.begin(), drops.end(), n.begin)) add(tile::Op::drop_code, n.begin, n.name).a = n.function.value;
  }

  void emit_repeat(const Node& n) {
    const std::uint32_t begin = here();
    add(tile::Op::repeat, n.begin, n.name).count = n.count;
    for (const Node& c : n.children) emit(c);
    add(tile::Op::repeat_end, n.end, n.name).target = begin + 1;
    code_[begin].target = here();
  }

  std::uint32_t predicate() {
    const SymbolicLocation& l = location_;
    plan_.out->locations.push_back(tables_.resolver().location(l));
    return static_cast<std::uint32_t>(plan_.out->locations.size() - 1);
  }
  std::uint32_t predicate_of(const Node& n) {
    for (const auto& [s, l] : n.predicate)
      if (s == stream_) {
        location_ = l;
        return predicate();
      }
    PANDO_CHECK(!"a stream takes part in a test without a predicate of its own");
    return 0;
  }

  void emit_while(const Node& n) {
    add(tile::Op::loop_mark, n.begin, n.name);
    const std::uint32_t top = here();
    emit(n.children[0]);
    emit(n.children[1]);
    const std::uint32_t b = predicate_of(n);
    const std::uint32_t leave = here();
    add(n.until ? tile::Op::branch_true : tile::Op::branch_false, n.children[1].end, n.name).b = b;
    emit(n.children[2]);
    add(tile::Op::loop_next, n.end, n.name).target = top;
    code_[leave].target = here();
    add(tile::Op::loop_exit, n.end, n.name);
  }

  void emit_branch(const Node& n) {
    emit(n.children[0]);
    const std::uint32_t b = predicate_of(n);
    std::vector<std::uint32_t> to_end;
    std::vector<std::pair<std::uint32_t, std::size_t>> jumps;  // instruction, way
    std::size_t otherwise = 0;
    for (std::size_t way = 0; way < n.cases.size(); ++way) {
      if (!n.cases[way]) {
        otherwise = way;
        continue;
      }
      jumps.emplace_back(here(), way);
      tile::Instruction& i = add(n.boolean ? tile::Op::branch_true : tile::Op::branch_case, n.begin, n.name);
      i.b = b;
      if (!n.boolean) i.count = static_cast<std::uint64_t>(static_cast<std::int64_t>(*n.cases[way]));
    }
    emit(n.children[1 + otherwise]);
    to_end.push_back(here());
    add(tile::Op::jump, n.end, n.name);
    for (std::size_t k = 0; k < jumps.size(); ++k) {
      code_[jumps[k].first].target = here();
      emit(n.children[1 + jumps[k].second]);
      if (k + 1 == jumps.size()) break;
      to_end.push_back(here());
      add(tile::Op::jump, n.end, n.name);
    }
    for (const std::uint32_t j : to_end) code_[j].target = here();
  }

  Plan& plan_;
  const Tables& tables_;
  StreamId stream_;
  std::vector<tile::Instruction>& code_;
  std::map<std::vector<StreamId>, tile::SyncId>& syncs_;
  const std::vector<std::vector<std::uint32_t>>& drops_;  // FunctionId -> orders of the calls after which its code is dropped
  std::vector<std::pair<std::uint32_t, FunctionId>> calls_;
  SymbolicLocation location_;
};

std::vector<std::vector<std::uint32_t>> code_drops(const Plan& plan) {
  std::vector<std::vector<std::uint32_t>> drops(plan.function_bodies.size());
  LiveRanges ranges(plan);
  for (std::uint32_t f = 0; f < drops.size(); ++f) {
    if (!plan.graph.functions()[FunctionId(f)].in_streaming_memory) continue;
    AccessPattern pattern;
    for (std::uint32_t a = 0; a < plan.actions.size(); ++a) {
      const Action& action = plan.actions[ActionId(a)];
      if (action.op == tile::Op::load_code && action.a == f) pattern.push_back({ActionId(a), AccessKind::write});
      if (action.op == tile::Op::call && action.a == f) pattern.push_back({ActionId(a), AccessKind::read});
    }
    drops[f] = ranges.last_reads(pattern);
  }
  return drops;
}

}  // namespace

void emit(Plan& plan) {
  Tables tables(plan);
  tables.fill();
  const std::vector<std::vector<std::uint32_t>> drops = code_drops(plan);
  std::map<std::vector<StreamId>, tile::SyncId> syncs;
  for (std::uint32_t s = 0; s < plan.out->streams.size(); ++s) StreamCode(plan, tables, StreamId(s), syncs, drops).run();
}

}  // namespace pando::compile
