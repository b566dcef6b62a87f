#include "compile/print_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "tile/step.h"
#include "tile/text.h"

namespace pando::compile {

namespace {

using tile::Names;

const char* name_of(AccessKind kind) {
  switch (kind) {
    case AccessKind::read: return "read";
    case AccessKind::write: return "write";
    case AccessKind::modify: return "modify";
    case AccessKind::partial: return "write partly";
    case AccessKind::undefine: return "undefine";
  }
  return "";
}

// All parts share what is shown, and where.
class Printer {
 public:
  Printer(const Plan& plan, std::optional<TileId> only) : plan_(plan), out_(*plan.out), only_(only) {}

  std::string take() { return std::move(text_); }

  void streams() {
    for (std::size_t s = 0; s < out_.streams.size(); ++s) {
      const tile::Stream& stream = out_.streams[s];
      if (!only_ || std::binary_search(stream.tiles.begin(), stream.tiles.end(), *only_))
        line("stream s{} {}{}: tiles {}", s, stream.name, stream.io ? " (io)" : "", tile::text_of(stream.tiles));
    }
  }

  void layout() {
    for (std::uint32_t s = 0; s < plan_.shards.size(); ++s)
      if (shows(ShardId(s))) line("{}", text_of_shard(ShardId(s)));
    for (std::uint32_t v = 0; v < plan_.layout.size(); ++v)
      for (const ShardInterval& i : plan_.layout[VariableId(v)])
        if (shows(i.shard)) line("v{}[{}, {}) at {}", v, i.elements.begin, i.elements.end, text_of(Address{i.shard, i.local}));
  }

  void steps() {
    for (std::size_t p = 0; p < plan_.programs.size(); ++p) {
      line("program {}", p);
      node(plan_.programs[p], 1);
    }
    for (std::uint32_t f = 0; f < plan_.function_bodies.size(); ++f) {
      line("function f{}", f);
      node(plan_.function_bodies[FunctionId(f)], 1);
    }
    for (std::size_t c = 0; c < plan_.computes.size(); ++c) compute(c);
    for (std::size_t x = 0; x < plan_.exchanges.size(); ++x) exchange(x);
    for (std::size_t h = 0; h < plan_.transfers.size(); ++h) transfer(h);
    initial();
    temporaries();
    for (std::size_t i = 0; i < plan_.accesses.size(); ++i) {
      const ShardAccess& a = plan_.accesses[i];
      if (!shows(a.shard)) continue;
      line("a{} {} {}[{}, {}){}", a.action.value, name_of(a.kind), text_of(a.shard), a.bytes.begin, a.bytes.end, a.whole ? " whole" : "");
    }
  }

  void fragments(bool with_addresses) {
    for (std::uint32_t s = 0; s < plan_.fragments.size(); ++s) {
      if (!shows(ShardId(s))) continue;
      for (const Fragment& f : plan_.fragments[ShardId(s)]) {
        const std::string at = with_addresses ? fmt::format(" at {:#x}", f.address) : "";
        line("{}[{}, {}){}, live {}", text_of(ShardId(s)), f.bytes.begin, f.bytes.end, at, tile::text_of(out_.live_ranges[f.live]));
      }
    }
    if (with_addresses && plan_.out_of_memory) line("{}", plan_.out_of_memory->message());
  }

 private:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '\n';
  }

  bool shows(TileId tile) const { return !only_ || *only_ == tile; }
  bool shows(ShardId s) const { return s.valid() && shows(plan_.shards[s].tile); }
  bool shows(const SymbolicMove& m) const { return shows(m.source.shard) || shows(m.destination.shard); }

  static std::string text_of(ShardId s) { return fmt::format("sh{}", s.value); }
  static std::string text_of(Address at) {
    return at.shard.valid() ? fmt::format("{}+{}", text_of(at.shard), at.offset) : fmt::format("host@{}", at.offset);
  }
  std::string text_of_shard(ShardId s) const {
    const Shard& shard = plan_.shards[s];
    return fmt::format("{} on t{}: {}{}, {} bytes, align {}{}{}", text_of(s), shard.tile.value, tile::name_of(shard.category),
                       tile::quoted(out_, shard.name), shard.bytes, shard.align, shard.interleaved ? ", interleaved" : "",
                       shard.always_live ? ", always live" : "");
  }
  static std::string text_of(const std::vector<StreamId>& streams) {
    std::string text;
    for (const StreamId s : streams) text += fmt::format("{}s{}", text.empty() ? "" : " ", s.value);
    return text;
  }

  // Locations have no number in a plan's text.
  std::string text_of(const Action& a) const {
    const tile::StepRow& row = tile::row_of(a.op);
    const auto location = [&](std::uint32_t i) { return " " + text_of(plan_.locations[i].at); };
    if (row.a != Names::location && row.b != Names::location && row.a != Names::locations_begin) {
      tile::Instruction in;
      in.op = a.op, in.a = a.a, in.b = a.b;
      return tile::text_of(out_, in);
    }
    std::string text = tile::name_of(a.op);
    if (row.flow == tile::Flow::branch) return text;  // each stream has a location of its own: the node's predicate
    if (row.a == Names::locations_begin)
      for (std::uint32_t i = a.a; i < a.b; ++i) text += location(i);
    if (row.a == Names::location) text += location(a.a);
    if (row.b == Names::location) text += location(a.b);
    return text;
  }

  // Where each stream reads what decides.
  std::string text_of_predicate(const Node& n) const {
    std::string text;
    for (const auto& [stream, at] : n.predicate) text += fmt::format(", s{} reads {}", stream.value, text_of(at.at));
    return text;
  }

  void node(const Node& n, int depth) {
    const std::string indent(static_cast<std::size_t>(2 * depth), ' ');
    const std::string name = tile::quoted(out_, n.name);
    switch (n.kind) {
      case Node::Kind::sequence: break;
      case Node::Kind::action: {
        const Action& a = plan_.actions[n.action];
        line("{}#{} a{} {}{}: {}", indent, n.begin, n.action.value, text_of(a), tile::quoted(out_, a.name), text_of(a.streams));
        break;
      }
      case Node::Kind::repeat: line("{}repeat {}{}", indent, n.count, name); break;
      case Node::Kind::repeat_while: line("{}repeat {}{}{}", indent, n.until ? "until" : "while", name, text_of_predicate(n)); break;
      case Node::Kind::branch: line("{}branch{}{}", indent, name, text_of_predicate(n)); break;
      case Node::Kind::call: line("{}#{} call f{}{}", indent, n.begin, n.function.value, name); break;
    }
    // Children of a branch: what computes the predicate, then a way for each case.
    for (std::size_t i = 0; i < n.children.size(); ++i) {
      const bool is_way = n.kind == Node::Kind::branch && n.children.size() - i <= n.cases.size();
      if (is_way) {
        const std::optional<std::int32_t>& value = n.cases[i + n.cases.size() - n.children.size()];
        line("{}  {}", indent, !value ? std::string("otherwise") : n.boolean ? std::string("if true") : fmt::format("case {}", *value));
      }
      node(n.children[i], n.kind == Node::Kind::sequence ? depth : is_way ? depth + 2 : depth + 1);
    }
  }

  void move(const SymbolicMove& m, const char* word) {
    if (!shows(m)) return;
    const std::string repeats = m.count == 1 ? "" : fmt::format(" x {}, step {} -> {}", m.count, m.source_step, m.destination_step);
    line("  {} {} -> {} {} bytes{}", word, text_of(m.source), text_of(m.destination), m.bytes, repeats);
  }
  void moves(const std::vector<SymbolicMove>& list, const char* word) {
    for (const SymbolicMove& m : list) move(m, word);
  }

  void compute(std::size_t index) {
    const SymbolicCompute& c = plan_.computes[index];
    line("compute c{}{}: compute set {}", index, tile::quoted(out_, c.name), c.compute_set.value);
    moves(c.bound, "bind");
    for (const SymbolicVertex& v : c.vertices) {
      const graph::Vertex& vertex = plan_.graph.vertices()[v.vertex];
      if (!shows(vertex.tile)) continue;
      std::string operands;
      for (std::uint32_t i = 0; i < v.operands; ++i) {
        const SymbolicOperand& o = c.operands[v.first_operand + i];
        operands += o.at.shard.valid() ? fmt::format(" {}[{}]", text_of(o.at), o.count) : fmt::format(" [{}]", o.count);
      }
      line("  t{} {} v{}{}", vertex.tile.value, plan_.graph.library()[vertex.codelet].name, v.vertex.value, operands);
    }
    for (const auto& [stream, at] : c.results) line("  result of s{} to {}", stream.value, text_of(at));
  }

  void exchange(std::size_t index) {
    const SymbolicExchange& x = plan_.exchanges[index];
    const std::string gathers = x.gathers.valid() ? fmt::format(", gathers for compute set {}", x.gathers.value) : "";
    line("exchange x{}{}{}", index, tile::quoted(out_, x.name), gathers);
    moves(x.receive, "recv");
    moves(x.arrange, "arrange");
  }

  void transfer(std::size_t index) {
    const SymbolicTransfer& t = plan_.transfers[index];
    line("transfer h{}{}: {} device, {} bytes", index, tile::quoted(out_, t.transfer.name), t.transfer.to_device ? "to" : "from",
         t.transfer.host_bytes);
    for (const Address& row : t.rows)
      if (shows(row.shard)) line("  row {}", text_of(row));
    if (t.reverses) line("  h{} backwards", t.reverses->value);
    moves(t.moves, t.transfer.to_device ? "recv" : "send");
  }

  // Shards that are no variable's: buffers that lowering made.
  void temporaries() {
    for (std::uint32_t s = 0; s < plan_.shards.size(); ++s)
      if (shows(ShardId(s)) && plan_.shards[ShardId(s)].category != tile::Category::variable) line("{}", text_of_shard(ShardId(s)));
  }

  void initial() {
    if (std::any_of(plan_.initial_moves.begin(), plan_.initial_moves.end(), [&](const SymbolicMove& m) { return shows(m); }))
      line("initial data: {} bytes", out_.initial_data.size());
    moves(plan_.initial_moves, "init");
  }

  const Plan& plan_;
  const tile::Program& out_;
  const std::optional<TileId> only_;
  std::string text_;
};

}  // namespace

const char* name_of(Pass pass) {
  switch (pass) {
    case Pass::assign_streams: return "assign_streams";
    case Pass::lay_out_variables: return "lay_out_variables";
    case Pass::lower_programs: return "lower_programs";
    case Pass::find_live_ranges: return "find_live_ranges";
    case Pass::place_memory: return "place_memory";
    case Pass::emit: return "emit";
  }
  return "";
}

std::string text_after(Pass pass, const Plan& plan, std::optional<TileId> only) {
  Printer p(plan, only);
  switch (pass) {
    case Pass::assign_streams: p.streams(); break;
    case Pass::lay_out_variables: p.layout(); break;
    case Pass::lower_programs: p.steps(); break;
    case Pass::find_live_ranges: p.fragments(false); break;
    case Pass::place_memory: p.fragments(true); break;
    case Pass::emit: return tile::print(*plan.out, plan.graph.library(), {.only_tile = only});
  }
  return p.take();
}

}  // namespace pando::compile
