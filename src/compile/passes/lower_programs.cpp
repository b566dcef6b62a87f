// Control programs to the step tree: every leaf an action, every action with the bytes it touches.
#include <algorithm>
#include <tuple>

#include "base/check.h"
#include "base/process/stop.h"
#include "compile/communicate.h"
#include "compile/marks.h"
#include "compile/operands.h"
#include "compile/passes/copy_group.h"
#include "compile/passes/lower_channels.h"
#include "compile/plan.h"

namespace pando::compile {

namespace {

using graph::ProgramPtr;
using graph::View;

void join(std::vector<StreamId>& into, const std::vector<StreamId>& more) {
  std::vector<StreamId> all;
  std::set_union(into.begin(), into.end(), more.begin(), more.end(), std::back_inserter(all));
  into = std::move(all);
}

class ProgramLowering {
 public:
  explicit ProgramLowering(Plan& plan)
      : plan_(plan),
        graph_(plan.graph),
        marks_(plan.options),
        functions_(graph_.functions().size()),
        computes_(graph_.compute_sets().size()),
        channels_(plan) {}

  void run(const std::vector<ProgramPtr>& programs) {
    for (const ProgramPtr& p : programs) plan_.programs.push_back(lower(p));
    plan_.function_bodies = DenseMap<FunctionId, Node>(functions_.size());
    for (std::size_t f = 0; f < functions_.size(); ++f)
      if (functions_[f]) plan_.function_bodies.raw()[f] = std::move(*functions_[f]);
    channels_.finish();
    for (Node& n : plan_.programs) number(n);
    for (Node& n : plan_.function_bodies) number(n);
    add_handles();
    add_initial_values();
  }

 private:
  Node lower(const ProgramPtr& p) {
    if (!p) return Node{};
    begin_step(*p);
    const std::uint32_t line = line_;
    Node n = std::visit([&](const auto& body) { return lower_body(body); }, p->body);
    for (const Node& c : n.children) join(n.streams, c.streams);
    const bool loops = n.kind == Node::Kind::repeat || n.kind == Node::Kind::repeat_while;
    if (!p->name.empty() || (loops && line > 0)) n.name = plan_.name(p->name, line);
    if (const std::optional<Mark> mark = marks_.of(graph_, *p)) return marked(std::move(n), *mark);
    return n;
  }

  // Each stream that takes part in the program passes marks of its own before and behind it.
  Node marked(Node inner, const Mark& mark) {
    if (inner.streams.empty()) return inner;
    Node n;
    n.streams = inner.streams;
    const auto add = [&](tile::Op op) {
      for (const StreamId s : n.streams)
        n.children.push_back(leaf(plan_.actions.push({.op = op, .b = mark.stream_copy, .streams = {s}, .name = plan_.name(mark.name)})));
    };
    add(tile::Op::block_begin);
    n.children.push_back(std::move(inner));
    add(tile::Op::block_end);
    return n;
  }

  // Leaves.

  void begin_step(const graph::Program& p) {
    name_ = p.name;
    line_ = plan_.options.step_line ? plan_.options.step_line(p) : 0;
  }
  tile::NameId leaf_name(const char* kind) { return plan_.name(name_.empty() ? kind : name_, line_); }

  Node leaf(ActionId action) {
    Node n;
    n.kind = Node::Kind::action;
    n.action = action;
    n.streams = plan_.actions[action].streams;
    n.name = plan_.actions[action].name;
    return n;
  }
  Node sequence_of(const std::vector<ActionId>& actions) {
    Node n;
    for (const ActionId a : actions) n.children.push_back(leaf(a));
    return n;
  }

  std::vector<StreamId> streams_of(const std::vector<SymbolicMove>& moves) {
    std::vector<StreamId> list;
    for (const SymbolicMove& m : moves)
      for (const ShardId s : {m.source.shard, m.destination.shard})
        if (s.valid() && (list.empty() || list.back() != plan_.stream_of(s))) list.push_back(plan_.stream_of(s));
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    return list;
  }

  // What the host sees happens, also with a tensor without elements.
  void ensure_a_stream(std::vector<StreamId>& streams) const {
    if (streams.empty() && !plan_.out->streams.empty()) streams.push_back(StreamId(0));
  }

  std::uint32_t add_transfer(SymbolicTransfer t) {
    if (plan_.options.merge_moves) merge_moves(t.moves);
    plan_.transfers.push_back(std::move(t));
    return static_cast<std::uint32_t>(plan_.transfers.size() - 1);
  }

  ActionId add_transfer_action(tile::Op op, std::uint32_t transfer, tile::NameId name) {
    const SymbolicTransfer& t = plan_.transfers[transfer];
    std::vector<StreamId> streams = streams_of(t.moves);
    for (const Address& row : t.rows) join(streams, {plan_.stream_of(row.shard)});
    ensure_a_stream(streams);
    const ActionId action = plan_.actions.push({.op = op, .a = transfer, .streams = std::move(streams), .name = name});
    add_move_accesses(plan_, action, plan_.transfers[transfer].moves);
    for (const Address& row : plan_.transfers[transfer].rows)
      plan_.access({row.shard, action, {row.offset, row.offset + 4}, AccessKind::read});
    return action;
  }

  static SymbolicTransfer transfer_without_moves(tile::Transfer::Kind kind, tile::NameId name, bool to_device, const View& view,
                                                 std::uint32_t index) {
    SymbolicTransfer t;
    t.transfer.kind = kind;
    t.transfer.name = name;
    t.transfer.to_device = to_device;
    t.transfer.type = view.type();
    t.transfer.host_bytes = view.num_elements() * size_of(view.type());
    t.transfer.index = index;
    return t;
  }

  SymbolicTransfer transfer_of(tile::Transfer::Kind kind, tile::NameId name, bool to_device, const View& view, std::uint32_t index) {
    SymbolicTransfer t = transfer_without_moves(kind, name, to_device, view, index);
    t.moves = to_device ? moves_from_block(plan_, ShardId(), 0, view) : moves_to_block(plan_, view, ShardId(), 0);
    return t;
  }

  Address address_of_element(const View& view) {
    Address at;
    view.for_each_run([&](const graph::Run& run) {
      const ShardInterval& i = locate(plan_, run.variable, run.offset);
      at = {i.shard, i.local + (run.offset - i.elements.begin) * plan_.element_bytes(run.variable)};
    });
    return at;
  }

  std::uint32_t add_location(Address at, ElementType type) {
    plan_.locations.push_back({at, type});
    return static_cast<std::uint32_t>(plan_.locations.size() - 1);
  }

  // Programs.

  Node lower_body(const graph::Sequence& s) {
    Node n;
    n.children.reserve(s.steps.size());
    CopyGroup copies;
    const auto append = [&](Node child) {
      if (child.kind != Node::Kind::sequence || !child.children.empty()) n.children.push_back(std::move(child));
    };
    const auto finish_copies = [&] {
      if (!copies.empty()) append(lowered(copies));
    };
    for (const ProgramPtr& p : s.steps) {
      if (const graph::Copy* copy = unmarked_copy(p)) {
        add_copy(copies, *p, *copy, finish_copies);
        continue;
      }
      finish_copies();
      append(lower(p));
    }
    finish_copies();
    return n;
  }

  const graph::Copy* unmarked_copy(const ProgramPtr& p) const {
    const auto* copy = p ? std::get_if<graph::Copy>(&p->body) : nullptr;
    return copy != nullptr && !marks_.of(graph_, *p) ? copy : nullptr;
  }

  bool reads_once(const graph::Copy& c) const { return plan_.options.regular_copies && compile::reads_once(c.source); }

  // Copies that do not depend on one another are one exchange.
  template <class Finish>
  void add_copy(CopyGroup& copies, const graph::Program& p, const graph::Copy& copy, Finish finish) {
    check_stop();
    begin_step(p);
    const tile::NameId name = leaf_name("copy");
    std::vector<SymbolicMove> moves = moves_between(plan_, copy.source, copy.destination);
    std::vector<StreamId> streams = streams_of(moves);
    const bool once = reads_once(copy);
    if (plan_.options.merge_copies && copies.add(moves, streams, once)) {
      plan_.merged_copies = true;
      copies.add_line(line_);
      return;
    }
    finish();
    copies.begin_with(name, std::move(moves), std::move(streams), once);
    copies.add_line(line_);
  }

  Node lowered(CopyGroup& copies) {
    const tile::NameId first = copies.name(),
                       name = copies.lines().size() < 2 ? first : plan_.name(std::string(plan_.out->names[first.index()]), copies.lines());
    const bool once = copies.reads_once();
    Node n = sequence_of(add_exchange_actions(plan_, plan_exchange(plan_, name, copies.take(), once)));
    for (const Node& c : n.children) join(n.streams, c.streams);
    return n;
  }

  // A compute set is lowered once, wherever it is executed.
  struct Compute {
    LoweredCompute lowered;
    ActionId action;
  };

  Compute& compute(ComputeSetId cs) {
    std::unique_ptr<Compute>& known = computes_[cs.index()];
    if (known) return *known;
    check_stop();
    known = std::make_unique<Compute>();
    known->lowered = lower_compute_set(plan_, cs);
    known->action = plan_.actions.push({.op = tile::Op::compute,
                                        .a = known->lowered.compute,
                                        .streams = known->lowered.streams,
                                        .name = plan_.computes[known->lowered.compute].name});
    for (ShardAccess& a : known->lowered.accesses) {
      a.action = known->action;
      plan_.access(a);
    }
    known->lowered.accesses = {};
    return *known;
  }

  Node lower_body(const graph::Execute& e) {
    const Compute& c = compute(e.compute_set);
    std::vector<ActionId> actions = c.lowered.gather;
    actions.push_back(c.action);
    std::vector<ActionId> result;
    if (e.result.valid()) result = execute_result(c, e.result, actions.back());
    actions.insert(actions.end(), c.lowered.scatter.begin(), c.lowered.scatter.end());
    actions.insert(actions.end(), result.begin(), result.end());
    return sequence_of(actions);
  }

  // Each stream's AND goes to a slot of its own; the slots travel to the result's tile and are combined there.
  std::vector<ActionId> execute_result(const Compute& c, const View& result, ActionId& compute_action) {
    SymbolicCompute copy = plan_.computes[c.lowered.compute];
    const Address target = address_of_element(result);
    const TileId target_tile = plan_.shards[target.shard].tile;
    const tile::NameId name = copy.name;
    const std::string text = plan_.out->names[name.index()];
    const auto index = static_cast<std::uint32_t>(plan_.computes.size());
    const ActionId action = plan_.actions.push({.op = tile::Op::compute, .a = index, .streams = c.lowered.streams, .name = name});
    const std::size_t known = plan_.accesses.size();
    for (std::size_t i = 0; i < known; ++i)
      if (plan_.accesses[i].action == c.action) {
        ShardAccess again = plan_.accesses[i];
        again.action = action;
        plan_.access(again);
      }
    compute_action = action;
    const std::size_t n = c.lowered.streams.size();
    const ShardId gathered = plan_.add_temporary(target_tile, 8 * n, tile::Category::staging, text + "/results");
    std::vector<SymbolicMove> moves;
    const auto first_location = static_cast<std::uint32_t>(plan_.locations.size());
    for (std::size_t i = 0; i < n; ++i) {
      const TileId tile = plan_.out->streams[c.lowered.streams[i].index()].tiles.front();
      const ShardId slot = plan_.add_temporary(tile, 8, tile::Category::staging, text + "/result");
      copy.results.push_back({c.lowered.streams[i], {slot, 0}});
      plan_.access({slot, action, {0, 8}, AccessKind::write});
      moves.push_back({{slot, 0}, {gathered, 8 * i}, 4, 1, 0, 0});
      add_location({gathered, 8 * i}, ElementType::unsigned_int);
    }
    const std::uint32_t last = add_location(target, result.type());
    plan_.computes.push_back(std::move(copy));
    std::vector<ActionId> actions = add_exchange_actions(plan_, plan_exchange(plan_, name, std::move(moves)));
    const ActionId combine = plan_.actions.push(
        {.op = tile::Op::combine, .a = first_location, .b = last + 1, .streams = {plan_.stream_of(target.shard)}, .name = name});
    plan_.access({gathered, combine, {0, 8 * n}, AccessKind::read});
    plan_.access({target.shard, combine, {target.offset, target.offset + size_of(result.type())}, AccessKind::write});
    actions.push_back(combine);
    return actions;
  }

  Node lower_body(const graph::Copy& c) {
    return sequence_of(
        add_exchange_actions(plan_, plan_exchange(plan_, leaf_name("copy"), moves_between(plan_, c.source, c.destination), reads_once(c))));
  }

  Node lower_body(const graph::HostToDevice& h) {
    const tile::NameId name = leaf_name(graph_.fifos()[h.fifo].handle.c_str());
    return leaf(add_transfer_action(tile::Op::transfer,
                                    add_transfer(transfer_of(tile::Transfer::Kind::fifo, name, true, h.destination, h.fifo.value)), name));
  }
  Node lower_body(const graph::DeviceToHost& h) {
    const tile::NameId name = leaf_name(graph_.fifos()[h.fifo].handle.c_str());
    return leaf(add_transfer_action(tile::Op::transfer,
                                    add_transfer(transfer_of(tile::Transfer::Kind::fifo, name, false, h.source, h.fifo.value)), name));
  }

  Node remote(RemoteBufferId id, const View& tensor, const View& offset, bool to_device) {
    const graph::RemoteBuffer& buffer = graph_.remote_buffers()[id];
    const tile::NameId name = leaf_name(buffer.handle.c_str());
    SymbolicTransfer t = transfer_of(tile::Transfer::Kind::remote, name, to_device, tensor, id.value);
    t.transfer.row_bytes = buffer.elements * size_of(buffer.type);
    if (offset.valid()) {
      const View flat = offset.flatten();
      for (std::size_t i = 0; i < flat.num_elements(); ++i) t.rows.push_back(address_of_element(flat.index(i)));
    }
    return leaf(add_transfer_action(tile::Op::transfer, add_transfer(std::move(t)), name));
  }
  Node lower_body(const graph::RemoteRead& r) { return remote(r.buffer, r.tensor, r.offset, true); }
  Node lower_body(const graph::RemoteWrite& r) { return remote(r.buffer, r.tensor, r.offset, false); }

  Node lower_body(const graph::Repeat& r) {
    Node n;
    if (r.count == 0) return n;
    n.kind = Node::Kind::repeat;
    n.count = r.count;
    n.children.push_back(lower(r.body));
    return n;
  }

  // A stream can read a predicate on a tile of its own only; the value travels to the other streams that take part.
  void add_predicate(Node& n, const View& predicate, std::vector<StreamId> takers, std::vector<Node>& test) {
    const Address at = address_of_element(predicate);
    const StreamId owner = plan_.stream_of(at.shard);
    const std::uint64_t width = size_of(predicate.type());
    n.predicate.push_back({owner, {at, predicate.type()}});
    std::vector<SymbolicMove> moves;
    for (const StreamId s : takers) {
      if (s == owner) continue;
      const TileId tile = plan_.out->streams[s.index()].tiles.front();
      const ShardId slot = plan_.add_temporary(tile, 8, tile::Category::staging, "predicate");
      moves.push_back({at, {slot, 0}, static_cast<std::uint32_t>(width), 1, 0, 0});
      n.predicate.push_back({s, {{slot, 0}, predicate.type()}});
    }
    if (!moves.empty())
      for (const ActionId a : add_exchange_actions(plan_, plan_exchange(plan_, plan_.name("predicate"), std::move(moves))))
        test.push_back(leaf(a));
    std::sort(n.predicate.begin(), n.predicate.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<StreamId> all;
    for (const auto& [stream, location] : n.predicate) all.push_back(stream);
    const ActionId read = plan_.actions.push({.op = tile::Op::branch_true, .streams = all, .name = plan_.name("predicate")});
    for (const auto& [stream, location] : n.predicate)
      plan_.access({location.at.shard, read, {location.at.offset, location.at.offset + width}, AccessKind::read});
    test.push_back(leaf(read));
    n.streams = all;
  }

  Node lower_body(const graph::RepeatWhile& w) {
    Node n;
    n.kind = Node::Kind::repeat_while;
    n.until = w.until;
    Node condition = lower(w.condition);
    Node body = lower(w.body);
    std::vector<StreamId> takers = condition.streams;
    join(takers, body.streams);
    Node test;
    add_predicate(n, w.predicate, takers, test.children);
    for (const Node& c : test.children) join(test.streams, c.streams);
    n.children.push_back(std::move(condition));
    n.children.push_back(std::move(test));
    n.children.push_back(std::move(body));
    return n;
  }

  Node branch(const View& control, std::vector<Node> ways, std::vector<std::optional<std::int32_t>> cases, bool boolean) {
    Node n;
    n.kind = Node::Kind::branch;
    n.boolean = boolean;
    n.cases = std::move(cases);
    std::vector<StreamId> takers;
    for (const Node& w : ways) join(takers, w.streams);
    Node test;
    add_predicate(n, control, takers, test.children);
    for (const Node& c : test.children) join(test.streams, c.streams);
    n.children.push_back(std::move(test));
    for (Node& w : ways) n.children.push_back(std::move(w));
    return n;
  }

  Node lower_body(const graph::If& i) {
    std::vector<Node> ways;
    ways.push_back(lower(i.then_body));
    ways.push_back(lower(i.else_body));
    return branch(i.predicate, std::move(ways), {1, std::nullopt}, true);
  }

  Node lower_body(const graph::Switch& s) {
    std::vector<Node> ways;
    std::vector<std::optional<std::int32_t>> cases;
    for (const auto& [value, body] : s.cases) {
      ways.push_back(lower(body));
      cases.push_back(value);
    }
    ways.push_back(lower(s.default_body));
    cases.push_back(std::nullopt);
    return branch(s.control, std::move(ways), std::move(cases), false);
  }

  const Node& function(FunctionId f) {
    if (!functions_[f.index()]) {
      Node body = lower(graph_.functions()[f].body);
      functions_[f.index()] = std::make_unique<Node>(std::move(body));
    }
    return *functions_[f.index()];
  }

  Node lower_body(const graph::Call& c) {
    const auto saved = std::pair(name_, line_);
    const Node& body = function(c.function);
    std::tie(name_, line_) = saved;
    Node n;
    n.kind = Node::Kind::call;
    n.function = c.function;
    n.streams = body.streams;
    // The call as an action: what code liveness looks at.
    n.action = plan_.actions.push({.op = tile::Op::call, .a = c.function.value, .streams = body.streams, .name = leaf_name("call")});
    return n;
  }

  Node lower_body(const graph::LoadFunction& l) {
    const auto saved = std::pair(name_, line_);
    const std::vector<StreamId> streams = function(l.function).streams;
    std::tie(name_, line_) = saved;
    return leaf(plan_.actions.push({.op = tile::Op::load_code, .a = l.function.value, .streams = streams, .name = leaf_name("load")}));
  }

  Node lower_body(const graph::HostCall& h) {
    const tile::NameId name = leaf_name(graph_.host_functions()[h.function].handle.c_str());
    const auto arguments = [&](const std::vector<View>& views, bool to_device) {
      SymbolicTransfer t;
      t.transfer.kind = tile::Transfer::Kind::host_function;
      t.transfer.name = name;
      t.transfer.to_device = to_device;
      t.transfer.index = h.function.value;
      for (const View& v : views) {
        const std::vector<SymbolicMove> moves = to_device ? moves_from_block(plan_, ShardId(), t.transfer.host_bytes, v)
                                                          : moves_to_block(plan_, v, ShardId(), t.transfer.host_bytes);
        t.moves.insert(t.moves.end(), moves.begin(), moves.end());
        t.transfer.host_bytes += v.num_elements() * size_of(v.type());
      }
      return add_transfer(std::move(t));
    };
    const std::uint32_t in = arguments(h.inputs, false), out = arguments(h.outputs, true);
    std::vector<StreamId> streams = streams_of(plan_.transfers[in].moves);
    join(streams, streams_of(plan_.transfers[out].moves));
    ensure_a_stream(streams);
    const ActionId action = plan_.actions.push({.op = tile::Op::host_call, .a = in, .b = out, .streams = streams, .name = name});
    add_move_accesses(plan_, action, plan_.transfers[in].moves);
    add_move_accesses(plan_, action, plan_.transfers[out].moves);
    return leaf(action);
  }

  Node lower_body(const graph::Sync& s) {
    const auto n = static_cast<std::uint32_t>(plan_.out->streams.size());
    std::vector<std::vector<StreamId>> groups;
    if (s.scope == graph::SyncScope::internal) {
      for (std::uint32_t i = 0; i < n; ++i) {
        if (i == 0 || plan_.out->streams[i].ipu != plan_.out->streams[i - 1].ipu) groups.emplace_back();
        groups.back().push_back(StreamId(i));
      }
    } else {
      groups.emplace_back();
      for (std::uint32_t i = 0; i < n; ++i) groups.back().push_back(StreamId(i));
    }
    std::vector<ActionId> actions;
    for (std::vector<StreamId>& g : groups)
      actions.push_back(plan_.actions.push({.op = tile::Op::sync, .streams = std::move(g), .name = leaf_name("sync")}));
    return sequence_of(actions);
  }

  std::uint32_t print_info(const std::string& title, const View& tensor, const PrintFormat& format) {
    tile::PrintInfo info{.title = title, .format = format};
    if (tensor.valid()) info.shape.assign(tensor.shape().begin(), tensor.shape().end());
    plan_.out->prints.push_back(std::move(info));
    return static_cast<std::uint32_t>(plan_.out->prints.size() - 1);
  }

  Node lower_body(const graph::Print& p) {
    const tile::NameId name = leaf_name("print");
    const std::uint32_t info = print_info(p.title, p.tensor, p.format);
    return leaf(
        add_transfer_action(tile::Op::print, add_transfer(transfer_of(tile::Transfer::Kind::print, name, false, p.tensor, info)), name));
  }

  Node lower_body(const graph::Error& e) {
    const tile::NameId name = leaf_name("error");
    const std::uint32_t info = print_info(e.message, e.tensor, {});
    SymbolicTransfer t;
    t.transfer.kind = tile::Transfer::Kind::error;
    t.transfer.name = name;
    t.transfer.to_device = false;
    t.transfer.index = info;
    if (e.tensor.valid()) t = transfer_of(tile::Transfer::Kind::error, name, false, e.tensor, info);
    const std::uint32_t transfer = add_transfer(std::move(t));
    const ActionId action = add_transfer_action(e.condition.valid() ? tile::Op::error_if : tile::Op::error, transfer, name);
    Action& a = plan_.actions[action];
    if (e.condition.valid()) {
      const Address at = address_of_element(e.condition);
      a.b = add_location(at, e.condition.type());
      plan_.access({at.shard, action, {at.offset, at.offset + size_of(e.condition.type())}, AccessKind::read});
      if (!e.tensor.valid()) a.streams.clear();
      join(a.streams, {plan_.stream_of(at.shard)});
    }
    return leaf(action);
  }

  Node lower_body(const graph::WriteUndef& w) {
    std::vector<SymbolicMove> moves = moves_from_block(plan_, ShardId(), 0, w.tensor);
    if (plan_.options.merge_moves) merge_moves(moves);
    SymbolicExchange exchange{.name = leaf_name("undefine")};
    exchange.receive = std::move(moves);
    // Streams need not sync to forget; each forgets its own part.
    std::vector<ActionId> actions;
    for (const StreamId s : streams_of(exchange.receive)) {
      SymbolicExchange part{.name = exchange.name};
      for (const SymbolicMove& m : exchange.receive)
        if (plan_.stream_of(m.destination.shard) == s) part.receive.push_back(m);
      const ActionId action = plan_.actions.push(
          {.op = tile::Op::poison, .a = static_cast<std::uint32_t>(plan_.exchanges.size()), .streams = {s}, .name = exchange.name});
      const std::size_t first = plan_.accesses.size();
      add_move_accesses(plan_, action, part.receive);
      for (std::size_t i = first; i < plan_.accesses.size(); ++i)
        if (plan_.accesses[i].kind == AccessKind::write) plan_.accesses[i].kind = AccessKind::undefine;
      plan_.exchanges.push_back(std::move(part));
      actions.push_back(action);
    }
    return sequence_of(actions);
  }

  Node lower_body(const graph::CrossReplicaCopy& c) {
    std::vector<SymbolicMove> moves = moves_between(plan_, c.source, c.destination);
    if (plan_.options.merge_moves) merge_moves(moves);
    SymbolicExchange exchange{.name = leaf_name("cross_replica")};
    exchange.receive = std::move(moves);
    const ActionId action = plan_.actions.push({.op = tile::Op::cross_replica,
                                                .a = static_cast<std::uint32_t>(plan_.exchanges.size()),
                                                .b = static_cast<std::uint32_t>(plan_.out->replica_maps.size()),
                                                .streams = streams_of(exchange.receive),
                                                .name = exchange.name});
    add_move_accesses(plan_, action, exchange.receive);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> map;
    for (const auto& [from, to] : c.map) map.emplace_back(from, to);
    plan_.out->replica_maps.push_back(std::move(map));
    plan_.exchanges.push_back(std::move(exchange));
    return leaf(action);
  }

  Node lower_body(const graph::CycleStamp& c) {
    const Address at = address_of_element(c.stamp.flatten().index(0));
    const ActionId action = plan_.actions.push({.op = tile::Op::cycle_stamp,
                                                .a = c.tile.value,
                                                .b = add_location(at, ElementType::unsigned_int),
                                                .streams = {plan_.stream_of(at.shard)},
                                                .name = leaf_name("cycles")});
    plan_.access({at.shard, action, {at.offset, at.offset + 8}, AccessKind::write, true});
    return leaf(action);
  }

  Node lower_body(const graph::Send& s) { return leaf(channels_.send(s.channel, s.source, leaf_name("send"))); }
  Node lower_body(const graph::Receive& r) { return leaf(channels_.receive(r.channel, r.destination, leaf_name("receive"))); }

  // Orders: leaves and calls take one each, depth first.
  void number(Node& n) {
    n.begin = plan_.orders;
    if (n.kind == Node::Kind::action || n.kind == Node::Kind::call) ++plan_.orders;
    for (Node& c : n.children) number(c);
    n.end = plan_.orders;
  }

  void keep_alive(const std::vector<SymbolicMove>& moves) {
    for (const SymbolicMove& m : moves)
      for (const ShardId s : {m.source.shard, m.destination.shard})
        if (s.valid()) plan_.shards[s].always_live = true;
  }

  // Moves to the host never go backwards through its block; those from it may.
  bool is_reversible(tile::TransferId write) const {
    const std::vector<SymbolicMove>& moves = plan_.transfers[write.index()].moves;
    return std::none_of(moves.begin(), moves.end(), [](const SymbolicMove& m) { return m.source_step < 0; });
  }

  // What the host can write or read between runs keeps its memory.
  void add_handles() {
    using Written = std::pair<const View*, tile::TransferId>;
    std::unordered_map<VariableId, Written> written;  // by the tensor's first variable; looked up, never iterated
    const auto add = [&](const graph::HostHandle& h, bool to_device, std::vector<SymbolicMove> moves) {
      keep_alive(moves);
      SymbolicTransfer t = transfer_without_moves(tile::Transfer::Kind::handle, plan_.name(h.name), to_device, h.tensor,
                                                  static_cast<std::uint32_t>(plan_.out->handles.size()));
      t.moves = std::move(moves);
      return tile::TransferId(add_transfer(std::move(t)));
    };
    for (const graph::HostHandle& h : graph_.host_handles()) {
      tile::HandleInfo info{.name = h.name, .bytes = h.tensor.num_elements() * size_of(h.tensor.type())};
      if (h.writable) {
        info.write = add(h, true, moves_from_block(plan_, ShardId(), 0, h.tensor));
        if (h.tensor.num_elements() > 0) written.try_emplace(h.tensor.variables()[0], &h.tensor, info.write);
      }
      if (h.readable) info.read = add(h, false, {});
      plan_.out->handles.push_back(std::move(info));
    }
    for (std::size_t i = 0; i < graph_.host_handles().size(); ++i) {
      const View& tensor = graph_.host_handles()[i].tensor;
      const tile::TransferId read = plan_.out->handles[i].read;
      if (!read.valid() || tensor.num_elements() == 0) continue;
      SymbolicTransfer& t = plan_.transfers[read.index()];
      const auto known = written.find(tensor.variables()[0]);
      if (known != written.end() && *known->second.first == tensor && is_reversible(known->second.second)) {
        t.reverses = known->second.second;
        continue;
      }
      t.moves = moves_to_block(plan_, tensor, ShardId(), 0);
      keep_alive(t.moves);
      if (plan_.options.merge_moves) merge_moves(t.moves);
    }
  }

  // Constants and initial values: one host block, in variable order.
  void add_initial_values() {
    constexpr std::uint64_t kLongest = std::uint64_t{1} << 30;  // of one move
    for (std::uint32_t v = 0; v < graph_.variables().size(); ++v) {
      const graph::Variable& variable = graph_.variables()[VariableId(v)];
      if (variable.initial.empty()) continue;
      const std::uint64_t width = size_of(variable.type), base = plan_.out->initial_data.size();
      plan_.out->initial_data += variable.initial;
      for (const ShardInterval& i : plan_.layout[VariableId(v)])
        for (std::uint64_t done = 0, all = i.elements.size() * width; done < all; done += kLongest)
          plan_.initial_moves.push_back({{ShardId(), base + i.elements.begin * width + done},
                                         {i.shard, i.local + done},
                                         static_cast<std::uint32_t>(std::min(kLongest, all - done)),
                                         1,
                                         0,
                                         0});
    }
  }

  Plan& plan_;
  const graph::Graph& graph_;
  Marks marks_;
  std::vector<std::unique_ptr<Node>> functions_;    // FunctionId; lowered at their first call
  std::vector<std::unique_ptr<Compute>> computes_;  // ComputeSetId
  ChannelLowering channels_;
  std::string name_;  // of the step that is lowered
  std::uint32_t line_ = 0;
};

}  // namespace

void lower_programs(Plan& plan, const std::vector<ProgramPtr>& programs) { ProgramLowering(plan).run(programs); }

}  // namespace pando::compile
