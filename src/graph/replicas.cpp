#include "graph/replicas.h"

#include <algorithm>
#include <unordered_map>

#include "base/check.h"
#include "base/error.h"
#include "graph/step_rules.h"

namespace pando::graph {

ReplicationId Graph::add_replication(Replication replication) {
  PANDO_CHECK(replication.factor > 0 && replication.tiles.size() % replication.factor == 0);
  return replications_.push(std::move(replication));
}

TileId Graph::tile_of_replica(ReplicationId id, unsigned replica, TileId tile) const {
  const Replication& r = replications_[id];
  const std::size_t distance = tile.index() - r.tiles[0].index();  // tiles mostly follow each other
  if (tile >= r.tiles[0] && distance < r.share() && r.tiles[distance] == tile) return r.tiles[replica * r.share() + distance];
  const auto first_end = r.tiles.begin() + static_cast<std::ptrdiff_t>(r.share());
  const auto at = static_cast<std::size_t>(std::find(r.tiles.begin(), first_end, tile) - r.tiles.begin());
  if (at == r.share())
    fail(ErrorKind::graph_replication_error, "tile-of-no-replica", "tile {} is not one of the {} of a replica of the replicated graph",
         tile.value, r.share());
  return r.tiles[replica * r.share() + at];
}

ReplicationId Graph::replication_of(const View& tensor) const {
  if (replications_.empty() || !tensor.valid()) return {};
  const std::vector<VariableId> ids = tensor.variables();
  if (ids.empty()) return {};
  const ReplicationId first = variables_[ids[0]].replication;
  for (const VariableId id : ids)
    if (variables_[id].replication != first)
      fail(ErrorKind::graph_replication_error, "tensors-of-two-graphs",
           "a tensor of shape {} holds elements of '{}' and '{}', which are not of the same replicated graph", to_string(tensor.shape()),
           variables_[ids[0]].name, variables_[id].name);
  return first;
}

VariableId Graph::copy_of(VariableId replicated, unsigned replica) {
  std::vector<VariableId>& copies = copies_[replicated];
  const Variable& all = variables_[replicated];
  copies.resize(replications_[all.replication].factor);
  if (copies[replica].valid()) return copies[replica];
  Variable own;
  own.name = fmt::format("{}/replica{}", all.name, replica);
  own.type = all.type;
  own.shape = all.shape;
  own.constant = all.constant;
  if (all.constant) own.initial = all.initial;  // a variable's may still come
  if (all.replica_index) own.initial = std::string(reinterpret_cast<const char*>(&replica), sizeof replica);
  own.replica_of = replicated;
  own.replica = replica;
  return copies[replica] = push_variable(std::move(own));
}

View Graph::on_replica(const View& tensor, unsigned replica) {
  return tensor.renamed([&](VariableId id) { return variables_[id].replication.valid() ? copy_of(id, replica) : id; });
}

class ReplicaExpansion {
 public:
  explicit ReplicaExpansion(const Graph& graph) : graph_(graph) {}

  ExpandedReplicas run(std::span<const ProgramPtr> programs) && {
    if (const ReplicationId all = only_replication(); all.valid()) {
      become_replica(all);
      return {std::move(graph_), {programs.begin(), programs.end()}, {}};
    }
    expand_variables();
    expand_vertices();
    for (HostHandle& h : graph_.host_handles_)
      if (const ReplicationId id = replication_of(h.tensor); id.valid()) h.tensor = of_all(h.tensor, id);
    for (Function& f : graph_.functions_) f.body = rewritten(f.body);
    std::vector<ProgramPtr> out;
    for (const ProgramPtr& p : programs) out.push_back(rewritten(p));
    finish();
    return {std::move(graph_), std::move(out), std::move(copy_of_)};
  }

 private:
  // --- all is one replicated graph ---

  // The replication that everything belongs to, if it takes up whole IPUs: all tiles, in order.
  ReplicationId only_replication() const {
    ReplicationId id;
    bool mixed = false;
    const auto see = [&](const auto& list) {
      for (const auto& item : list) {
        mixed = mixed || !item.replication.valid() || (id.valid() && item.replication != id);
        id = item.replication;
      }
    };
    see(graph_.variables_), see(graph_.vertices_), see(graph_.fifos_), see(graph_.remote_buffers_), see(graph_.host_functions_);
    if (mixed || !id.valid()) return {};
    const Replication& r = graph_.replications_[id];
    if (r.tiles.size() != graph_.machine_.tiles() || graph_.machine_.ipus % r.factor != 0) return {};
    for (std::size_t i = 0; i < r.tiles.size(); ++i)
      if (r.tiles[i].index() != i) return {};
    return id;
  }

  void become_replica(ReplicationId id) {
    graph_.machine_ = graph_.replications_[id].machine;
    graph_.replication_ *= graph_.replications_[id].factor;
    graph_.tile_groups_.resize(graph_.machine_.tiles());
    finish();
  }

  void finish() {
    const auto drop = [](auto& list) {
      for (auto& item : list) item.replication = {};
    };
    drop(graph_.variables_), drop(graph_.vertices_), drop(graph_.fifos_), drop(graph_.remote_buffers_), drop(graph_.host_functions_);
    graph_.replications_ = {};
    graph_.copies_.clear();
  }

  // --- each replica's things stand one by one ---

  unsigned factor(ReplicationId id) const { return graph_.replications_[id].factor; }
  ReplicationId replication_of(const View& tensor) const { return graph_.replication_of(tensor); }

  void expand_variables() {
    on_replica_.resize(graph_.variables_.size());
    const std::size_t before = graph_.variables_.size();
    for (std::uint32_t i = 0; i < before; ++i) {
      const VariableId id(i);
      const ReplicationId replication = graph_.variables_[id].replication;
      if (!replication.valid()) continue;
      if (graph_.variables_[id].replica_index && graph_.replication_ > 1)
        fail(ErrorKind::graph_replication_error, "index-of-two-replications",
             "'{}', the index of a replica of a replicated graph within a graph of {} replicas", graph_.variables_[id].name,
             graph_.replication_);
      for (unsigned r = 0; r < factor(replication); ++r) on_replica_[i].push_back(graph_.copy_of(id, r));
      const std::vector<MappedInterval> mapping = graph_.variables_[id].mapping.intervals();
      for (unsigned r = 0; r < factor(replication); ++r) {
        Variable& own = graph_.variables_[on_replica_[i][r]];
        if (own.initial.empty()) own.initial = graph_.variables_[id].initial;
        for (const MappedInterval& m : mapping) own.mapping.set(m.elements, graph_.tile_of_replica(replication, r, m.tile));
      }
    }
    // Nothing names the replicated ones any more.
    for (Variable& v : graph_.variables_) {
      v.replica_of = {};
      if (!v.replication.valid()) continue;
      v.shape = {0};
      v.elements = 0;
      v.initial.clear();
      v.replica_index = false;
      v.mapping = {};
    }
    for (const Replication& r : graph_.replications_)
      for (std::size_t i = 0; i < r.tiles.size(); ++i) {
        std::optional<bool>& group = graph_.tile_groups_[r.tiles[i].index()];
        if (!group) group = graph_.tile_groups_[r.tiles[i % r.share()].index()];
      }
  }

  // What `tensor` is on replica r of that replication; of the whole graph, it is itself.
  View on_replica(const View& tensor, ReplicationId replication, unsigned r) const {
    return tensor.renamed([&](VariableId id) {
      const Variable& v = graph_.variables_[id];
      if (v.replication.valid() && v.replication != replication)
        fail(ErrorKind::graph_replication_error, "of-another-replication", "'{}' of one replicated graph beside what is of another one",
             v.name);
      return v.replication.valid() ? on_replica_[id.index()][r] : id;
    });
  }

  // All replicas' elements, one replica after the other.
  View of_all(const View& tensor, ReplicationId id) const {
    std::vector<View> parts;
    for (unsigned r = 0; r < factor(id); ++r) parts.push_back(on_replica(tensor, id, r).flatten());
    return View::concat(parts, 0);
  }

  void expand_vertices() {
    const std::size_t before = graph_.vertices_.size();
    for (std::uint32_t i = 0; i < before; ++i) {
      const VertexId id(i);
      const ReplicationId replication = graph_.vertices_[id].replication;
      if (!replication.valid()) {
        check_names_no_replicated(graph_.vertices_[id], id);
        continue;
      }
      for (unsigned r = factor(replication); r-- > 0;) {
        Vertex own = graph_.vertices_[id];
        if (own.tile.valid()) own.tile = graph_.tile_of_replica(replication, r, own.tile);
        for (Edge& e : own.edges)
          for (View& row : e.rows)
            if (row.valid()) row = on_replica(row, replication, r);
        if (r == 0) {
          graph_.vertices_[id] = std::move(own);
          continue;
        }
        graph_.compute_sets_[own.compute_set].vertices.push_back(graph_.vertices_.push(std::move(own)));
        copy_of_.push_back(id);
      }
    }
  }

  void check_names_no_replicated(const Vertex& v, VertexId id) const {
    for (const Edge& e : v.edges)
      for (const View& row : e.rows)
        for (const VariableId of : row.variables())
          if (graph_.variables_[of].replication.valid())
            fail(ErrorKind::graph_replication_error, "vertex-of-all",
                 "vertex {} ({}) of the whole graph names '{}', of which there is one on each replica; getNonReplicatedTensor gives them "
                 "all",
                 id.value, graph_.library_[v.codelet].name, graph_.variables_[of].name);
  }

  // --- programs ---

  ProgramPtr rewritten(const ProgramPtr& program) {
    if (!program) return program;
    if (const auto it = rewritten_.find(program.get()); it != rewritten_.end()) return it->second;
    Program out = *program;
    out.body = std::visit([&](const auto& body) -> ProgramBody { return step(*program, body); }, program->body);
    ProgramPtr result = std::make_shared<const Program>(std::move(out));
    rewritten_.emplace(program.get(), result);
    return result;
  }

  ProgramBody step(const Program&, const Sequence& s) {
    Sequence out{{}, s.is_block};
    for (const ProgramPtr& p : s.steps) out.steps.push_back(rewritten(p));
    return out;
  }
  ProgramBody step(const Program&, const Repeat& r) { return Repeat{r.count, rewritten(r.body)}; }
  ProgramBody step(const Program& p, const RepeatWhile& r) {
    return RepeatWhile{rewritten(r.condition), of_whole(r.predicate, p, "the condition of a loop"), r.until, rewritten(r.body)};
  }
  ProgramBody step(const Program& p, const If& i) {
    return If{of_whole(i.predicate, p, "the condition of If"), rewritten(i.then_body), rewritten(i.else_body)};
  }
  ProgramBody step(const Program& p, const Switch& s) {
    Switch out{of_whole(s.control, p, "the control of Switch"), {}, rewritten(s.default_body)};
    for (const auto& [value, body] : s.cases) out.cases.emplace_back(value, rewritten(body));
    return out;
  }
  ProgramBody step(const Program& p, const Execute& e) {
    return Execute{e.compute_set, e.result.valid() ? of_whole(e.result, p, "the result of Execute") : e.result};
  }
  ProgramBody step(const Program& p, const Copy& c) {
    const ReplicationId to = replication_of(c.destination);
    if (!to.valid()) return Copy{of_whole(c.source, p, "the source of a copy to a tensor of the whole graph"), c.destination};
    return Copy{of_all(c.source, to), of_all(c.destination, to)};
  }
  // The host sends once what all replicas receive.
  ProgramBody step(const Program& p, const HostToDevice& h) {
    const ReplicationId to = replication_of(h.destination);
    check_whole(p, "stream", graph_.fifos_[h.fifo]);
    if (!to.valid()) return h;
    const View first = on_replica(h.destination, to, 0).flatten();
    std::vector<View> sources, others;
    for (unsigned r = 1; r < factor(to); ++r) {
      sources.push_back(first);
      others.push_back(on_replica(h.destination, to, r).flatten());
    }
    Sequence out{{node(p, HostToDevice{h.fifo, first})}};
    if (!others.empty()) out.steps.push_back(node(p, Copy{View::concat(sources, 0), View::concat(others, 0)}));
    return out;
  }
  ProgramBody step(const Program& p, const DeviceToHost& h) {
    check_whole(p, "stream", graph_.fifos_[h.fifo]);
    return DeviceToHost{h.fifo, of_whole(h.source, p, "the source of a copy to the host")};
  }
  ProgramBody step(const Program& p, const RemoteRead& r) { return remote(p, r); }
  ProgramBody step(const Program& p, const RemoteWrite& r) { return remote(p, r); }
  template <class Step>
  ProgramBody remote(const Program& p, const Step& r) {
    check_whole(p, "remote buffer", graph_.remote_buffers_[r.buffer]);
    of_whole(r.tensor, p, "a tensor beside a remote buffer"), of_whole(r.offset, p, "an offset of a remote buffer");
    return r;
  }
  ProgramBody step(const Program& p, const HostCall& h) {
    check_whole(p, "host function", graph_.host_functions_[h.function]);
    for (const std::vector<View>* list : {&h.inputs, &h.outputs})
      for (const View& v : *list) of_whole(v, p, "an argument of a host function");
    return h;
  }
  ProgramBody step(const Program& p, const Print& print) {
    const ReplicationId id = replication_of(print.tensor);
    if (!id.valid()) return print;
    return on_each(p, id, [&](unsigned r) {
      return Print{fmt::format("{} (replica {})", print.title, r), on_replica(print.tensor, id, r), print.format};
    });
  }
  ProgramBody step(const Program& p, const Error& e) {
    const ReplicationId by_condition = replication_of(e.condition);
    const ReplicationId id = by_condition.valid() ? by_condition : replication_of(e.tensor);
    if (!id.valid()) return e;
    return on_each(p, id, [&](unsigned r) {
      const View condition = e.condition.valid() ? on_replica(e.condition, id, r) : e.condition;
      return Error{fmt::format("{} (replica {})", e.message, r), on_replica(e.tensor, id, r), condition};
    });
  }
  ProgramBody step(const Program&, const WriteUndef& w) {
    const ReplicationId id = replication_of(w.tensor);
    return id.valid() ? WriteUndef{of_all(w.tensor, id)} : w;
  }
  ProgramBody step(const Program& p, const CrossReplicaCopy& c) {
    const ReplicationId id = replication_of(c.destination);
    if (!id.valid()) {
      of_whole(c.source, p, "the source of a copy between replicas");
      return c;
    }
    if (graph_.replication_ > 1)
      reject(p, fmt::format("a copy between replicas of a replicated graph within a graph of {} replicas", graph_.replication_));
    std::vector<View> sources, destinations;
    StepRules(graph_).replica_map(c.map, c.destination);
    for (const auto& [from, to] : c.map) {
      sources.push_back(on_replica(c.source, id, from).flatten());
      destinations.push_back(on_replica(c.destination, id, to).flatten());
    }
    if (sources.empty()) return Sequence{};
    return Copy{View::concat(sources, 0), View::concat(destinations, 0)};
  }
  ProgramBody step(const Program& p, const CycleStamp& c) {
    const ReplicationId id = replication_of(c.stamp);
    if (!id.valid()) return c;
    return on_each(p, id, [&](unsigned r) { return CycleStamp{on_replica(c.stamp, id, r), graph_.tile_of_replica(id, r, c.tile)}; });
  }
  ProgramBody step(const Program& p, const Send& s) { return Send{s.channel, of_whole(s.source, p, "what a channel sends")}; }
  ProgramBody step(const Program& p, const Receive& r) {
    return Receive{r.channel, of_whole(r.destination, p, "what a channel receives into")};
  }
  ProgramBody step(const Program&, const Call& c) { return c; }
  ProgramBody step(const Program&, const LoadFunction& f) { return f; }
  ProgramBody step(const Program&, const Sync& s) { return s; }

  // One step for each replica, in order.
  template <class Make>
  ProgramBody on_each(const Program& p, ReplicationId id, Make make) const {
    Sequence out;
    for (unsigned r = 0; r < factor(id); ++r) out.steps.push_back(node(p, make(r)));
    return out;
  }

  static ProgramPtr node(const Program& like, ProgramBody body) {
    return std::make_shared<const Program>(Program{like.name, std::move(body), like.graph, 1, like.source});
  }

  const View& of_whole(const View& tensor, const Program& p, const char* what) const {
    if (!replication_of(tensor).valid()) return tensor;
    fail(ErrorKind::graph_replication_error, "step-of-all",
         "{}: {} is '{}', of which there is one on each replica; getNonReplicatedTensor gives them all", named(p), what, name_of(tensor));
  }
  // Of a stream, a remote buffer or a host function.
  template <class End>
  static void check_whole(const Program& p, const char* kind, const End& end) {
    if (end.replication.valid()) reject(p, fmt::format("{} '{}' of a replicated graph", kind, end.handle));
  }
  [[noreturn]] static void reject(const Program& p, const std::string& what) {
    fail(ErrorKind::graph_replication_error, "replicas-beside-others",
         "{}: {} works where all that there is belongs to the replicated graph; here add it to the whole graph, and use "
         "getNonReplicatedTensor",
         named(p), what);
  }
  static std::string named(const Program& p) { return p.name.empty() ? "a program" : "program '" + p.name + "'"; }
  std::string name_of(const View& tensor) const { return graph_.variables_[tensor.variables().at(0)].name; }

  Graph graph_;
  std::vector<std::vector<VariableId>> on_replica_;  // by variable: empty for those of the whole graph
  std::vector<VertexId> copy_of_;
  std::unordered_map<const Program*, ProgramPtr> rewritten_;  // looked up, never iterated
};

ExpandedReplicas expand_replicas(const Graph& graph, std::span<const ProgramPtr> programs) { return ReplicaExpansion(graph).run(programs); }

}  // namespace pando::graph
