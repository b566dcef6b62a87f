#include "split/replicas.h"

#include "ir/error.h"
#include "ir/op_row.h"
#include "ir/op_table.h"
#include "ir/text/print.h"
#include "split/collectives.h"
#include "transform/devices/host_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace pando::split {

using namespace ir;

namespace {

class ReplicaExpander {
 public:
  ReplicaExpander(const Module& from, const std::vector<std::string>& outputs, std::int64_t part_bytes)
      : from_(from),
        output_names_(outputs),
        part_bytes_(part_bytes),
        replicas_(static_cast<std::size_t>(from.replicas())),
        values_(replicas_),
        graphs_(replicas_) {}

  Spread run() {
    count_devices();
    for (std::size_t i = 0; i < from_.blob_count(); ++i) to().add_blob(from_.blob(BlobId(static_cast<BlobId::rep>(i))));
    const Graph& main = from_.graph(from_.main_graph());
    main_ = to().add_graph(main.name);
    add_states();
    for (std::size_t r = 0; r < replicas_; ++r) {
      for (std::size_t i = 0; i < from_.buffer_count(); ++i) add_buffer(BufferId(static_cast<BufferId::rep>(i)), r);
      for (std::size_t i = 0; i < from_.stream_count(); ++i) add_stream(HostStreamId(static_cast<HostStreamId::rep>(i)), r);
    }
    for (OpId o : main.ops) op(o);
    for (std::size_t r = 0; r < replicas_; ++r) {
      for (std::size_t i = 0; i < main.outputs.size(); ++i) output(main.outputs[i], output_names_[i], r);
      for (std::size_t i = 0; i < main.inputs.size(); ++i) {
        to().graph(main_).updated_inputs[to().value(at(main.inputs[i], r)).index] = at(main.updated_inputs[i], r);
      }
    }
    for (const auto& [first, then] : main.after) {
      for (std::size_t r = 0; r < replicas_; ++r) after(first, then, r);
    }
    return std::move(out_);
  }

 private:
  Module& to() { return out_.module; }
  ValueId& at(ValueId v, std::size_t r) { return values_[r][v.value]; }
  static std::string named(const std::string& name, std::size_t r) { return fmt::format("{}.r{}", name, r); }

  void count_devices() {
    const auto see = [&](ValueId v) {
      const Device d = from_.type_of(v).place.device;
      if (d.known()) devices_ = std::max(devices_, d.value + 1);
    };
    for (std::size_t g = 0; g < from_.graph_count(); ++g) {
      const Graph& graph = from_.graph(GraphId(static_cast<GraphId::rep>(g)));
      for (ValueId v : graph.inputs) see(v);
      for (OpId o : graph.ops) {
        for (ValueId v : from_.results(o)) see(v);
      }
    }
  }

  // --- types, streams, variables

  Type type(Type t, std::size_t r) const {
    if (t.place.device.known()) t.place.device = Device::numbered(t.place.device.value + static_cast<std::int32_t>(r) * devices_);
    t.meta_shape.clear();
    return t;
  }
  Type type_of(ValueId v, std::size_t r) const { return type(from_.type_of(v), r); }

  void add_buffer(BufferId id, std::size_t r) {
    RemoteBuffer b = from_.buffer(id);
    b.number += static_cast<std::int64_t>(r * from_.buffer_count());
    b.meta_shape.clear();
    to().add_buffer(std::move(b));
  }
  void add_stream(HostStreamId id, std::size_t r) {
    HostStream s = from_.stream(id);
    const bool loads = s.direction == HostStream::Direction::host_to_device;
    piece(loads ? out_.pieces.streams : out_.pieces.outputs, named(s.name, r), s.name, s.dtype, from_.replicas(), s.shape, r);
    s.name = named(s.name, r);
    to().add_stream(std::move(s));
  }
  // One of `count` tensors of a shape, which lie behind each other.
  void piece(std::vector<transform::PieceTable::Entry>& list, std::string part, const std::string& whole, DType dtype, std::int64_t count,
             const Shape& shape, std::size_t number) {
    Shape all{count}, start(shape.size() + 1, 0);
    all.insert(all.end(), shape.begin(), shape.end());
    start[0] = static_cast<std::int64_t>(number);
    list.push_back({std::move(part), whole_of(whole, dtype, all), std::move(start), 0});
  }
  // A stream may be called as a variable is that has another shape.
  std::string whole_of(std::string name, DType dtype, const Shape& shape) {
    for (;; name += ".all") {
      const auto [it, is_new] = out_.pieces.whole_tensors.try_emplace(name, transform::PieceTable::Whole{dtype, shape});
      if (is_new || (it->second.dtype == dtype && it->second.shape == shape)) return name;
    }
  }

  void add_states() {
    const Graph& main = from_.graph(from_.main_graph());
    std::vector<std::vector<std::uint32_t>> inputs(replicas_);
    for (std::size_t i = 0; i < main.inputs.size(); ++i) {
      for (std::size_t r = 0; r < replicas_; ++r) {
        const ValueId v = at(main.inputs[i], r) =
            to().add_input(main_, type_of(main.inputs[i], r), named(from_.name_of(main.inputs[i]), r));
        inputs[r].push_back(to().value(v).index);
      }
    }
    for (std::size_t s = 0; s < from_.state_count(); ++s) {
      const State& state = from_.state(StateId(static_cast<StateId::rep>(s)));
      for (std::size_t r = 0; r < replicas_; ++r) add_state(state, r, inputs[r]);
    }
  }
  void add_state(const State& old, std::size_t r, const std::vector<std::uint32_t>& inputs) {
    State s = old;
    const Type t = type(from_.type(old.type), r);
    s.name = named(old.name, r);
    s.type = to().type(t);
    if (old.data.valid())
      s.data = to().add_blob(transform::data_of_replica(from_, old, from_.blob(old.data), static_cast<std::int64_t>(r)));
    s.grouping = ReplicaGrouping(1);
    s.retrieval = Retrieval::one_per_group;
    s.sharded = false;
    if (old.input) {
      s.input = inputs[*old.input];
    } else {
      s.buffer = buffer_of(old.buffer, r);
    }
    if (!old.sharded) {
      const bool all = old.retrieval == Retrieval::all_replicas;
      const bool grouped = old.grouping.replicas() == from_.replicas() && old.grouping.groups() > 1;
      if (all || grouped) {
        piece(out_.pieces.variables, s.name, old.name, t.dtype, all ? from_.replicas() : old.grouping.groups(), t.shape,
              all ? r : static_cast<std::size_t>(old.grouping.group_of(static_cast<std::int64_t>(r))));
      } else {
        out_.pieces.variables.push_back({s.name, whole_of(old.name, t.dtype, t.shape), Shape(t.shape.size(), 0), 0});
      }
    }
    to().add_state(std::move(s));
  }
  BufferId buffer_of(BufferId b, std::size_t r) const { return BufferId(static_cast<BufferId::rep>(b.index() + r * from_.buffer_count())); }
  HostStreamId stream_of(HostStreamId s, std::size_t r) const {
    return HostStreamId(static_cast<HostStreamId::rep>(s.index() + r * from_.stream_count()));
  }

  void output(ValueId v, const std::string& name, std::size_t r) {
    to().add_output(main_, at(v, r));
    out_.outputs.push_back(named(name, r));
    piece(out_.pieces.outputs, out_.outputs.back(), name, from_.type_of(v).dtype, from_.replicas(), from_.type_of(v).shape, r);
  }

  void after(OpId first, OpId then, std::size_t r) {
    const auto a = ops_.find({first, r}), b = ops_.find({then, r});
    if (a != ops_.end() && b != ops_.end()) to().graph(main_).after.emplace_back(a->second, b->second);
  }

  // --- ops

  void op(OpId o) {
    if (has(from_.row(o).effects, Effects::replicas)) return rendezvous(o);
    for (std::size_t r = 0; r < replicas_; ++r) copy(o, main_, r);
  }

  Attributes attributes(OpId o, std::size_t r) const {
    Attributes a;
    for (const auto& [name, value] : from_.attributes(o).items()) {
      if (name == "meta_shape") continue;
      if (const auto* stream = std::get_if<HostStreamId>(&value)) {
        a.set(name, stream_of(*stream, r));
      } else if (const auto* buffer = std::get_if<BufferId>(&value)) {
        a.set(name, buffer_of(*buffer, r));
      } else {
        a.set(name, value);
      }
    }
    return a;
  }

  void copy(OpId o, GraphId graph, std::size_t r) {
    switch (from_.row(o).replica_part) {
      case ReplicaPart::of_flat: at(from_.result(o), r) = shard(o, graph, r, at(from_.operand(o, 0), r)); return;
      case ReplicaPart::along_axis: return slice_of_replica(o, graph, r);
      case ReplicaPart::none: break;
    }
    std::vector<ValueId> operands;
    std::vector<GraphId> graphs;
    std::vector<TypeId> types;
    for (ValueId v : from_.operands(o)) operands.push_back(at(v, r));
    for (GraphId g : from_.graphs(o)) graphs.push_back(graph_of(g, r));
    for (ValueId v : from_.results(o)) types.push_back(to().type(type_of(v, r)));
    to().set_current_context(from_.op(o).context);
    to().set_current_location(from_.op(o).location.valid() ? to().location(from_.location(from_.op(o).location)) : LocationId());
    const OpId made = to().add_op(graph, from_.op(o).kind, operands, attributes(o, r), graphs, types, from_.name_of(o));
    to().op(made).in_place = from_.op(o).in_place;
    to().op(made).implicit = from_.op(o).implicit;
    if (graph == main_) ops_[{o, r}] = made;
    for (std::size_t i = 0; i < types.size(); ++i) at(from_.result(o, i), r) = to().result(made, i);
  }

  GraphId graph_of(GraphId old, std::size_t r) {
    if (const auto it = graphs_[r].find(old); it != graphs_[r].end()) return it->second;
    const Graph& g = from_.graph(old);
    const GraphId graph = graphs_[r][old] = to().add_graph(named(g.name, r));
    for (std::size_t i = 0; i < g.inputs.size(); ++i) {
      at(g.inputs[i], r) = to().add_input(graph, type_of(g.inputs[i], r), from_.name_of(g.inputs[i]), g.by_ref[i]);
    }
    for (OpId o : g.ops) {
      if (has(from_.row(o).effects, Effects::replicas)) {
        reject(ErrorClass::not_implemented, "replicas-meet-in-graph",
               "{}, in graph '{}': devices of a run meet in the main graph, and in calls and loops of it", print_op(from_, o), g.name);
      }
      copy(o, graph, r);
    }
    for (ValueId v : g.outputs) to().add_output(graph, at(v, r));
    for (std::size_t i = 0; i < g.updated_inputs.size(); ++i) to().graph(graph).updated_inputs[i] = at(g.updated_inputs[i], r);
    to().graph(graph).note = g.note;
    return graph;
  }

  // --- where replicas meet

  ReplicaGrouping grouping(OpId o) const {
    const Attributes& a = from_.attributes(o);
    if (!a.has("group_size")) return ReplicaGrouping(from_.replicas());
    return {from_.replicas(), a.integer("stride", 1), a.integer("group_size")};
  }
  std::size_t member(const ReplicaGrouping& g, std::size_t r) const {
    const auto all = g.members(g.group_of(static_cast<std::int64_t>(r)));
    return static_cast<std::size_t>(std::find(all.begin(), all.end(), static_cast<std::int64_t>(r)) - all.begin());
  }

  ValueId add(GraphId graph, std::string_view op, const std::vector<ValueId>& operands, const Attributes& a, const Type& t,
              const std::string& name) {
    const TypeId type = to().type(t);
    return to().result(to().add_op(graph, op_kind(op), operands, a, {}, {&type, 1}, name));
  }
  ValueId reshaped(GraphId graph, ValueId v, const Shape& shape, const std::string& name) {
    Type t = to().type_of(v);
    if (t.shape == shape) return v;
    t.shape = shape;
    return add(graph, "reshape", {v}, {{"shape", Ints(shape)}}, t, name);
  }
  ValueId sliced(GraphId graph, ValueId v, std::size_t axis, std::int64_t start, std::int64_t stop, const std::string& name) {
    Type t = to().type_of(v);
    if (t.shape[axis] == stop - start) return v;
    t.shape[axis] = stop - start;
    return add(graph, "slice", {v},
               {{"start", Ints{start}}, {"stop", Ints{stop}}, {"step", Ints{1}}, {"axis", Ints{static_cast<std::int64_t>(axis)}}}, t, name);
  }

  void rendezvous(OpId o) {
    to().set_current_context(from_.op(o).context);
    to().set_current_location(from_.op(o).location.valid() ? to().location(from_.location(from_.op(o).location)) : LocationId());
    const ReplicaGrouping g = grouping(o);
    const Traffic traffic = from_.row(o).traffic;
    // What the others see is what there was before.
    std::vector<ValueId> mine;
    for (std::size_t r = 0; r < replicas_; ++r) mine.push_back(at(from_.operand(o, 0), r));
    const bool keeps =
        traffic != Traffic::all_gather && traffic != Traffic::reduce_scatter && from_.attributes(o).flag("identical_inputs", false);
    for (std::int64_t group = 0; group < g.groups(); ++group) {
      std::vector<std::size_t> members;
      std::vector<ValueId> parts;
      for (const std::int64_t r : g.members(group)) members.push_back(static_cast<std::size_t>(r)), parts.push_back(mine[members.back()]);
      if (traffic == Traffic::reduce_scatter) {
        shards(o, members, parts);
      } else if (traffic != Traffic::all_gather && !keeps && is_in_parts(to(), to().value(parts[0]).type, parts.size(), part_bytes_)) {
        const std::vector<ValueId> sums =
            all_reduce_in_parts(to(), main_, parts, from_.attributes(o).text("op"), from_.name_of(from_.result(o)));
        for (std::size_t k = 0; k < members.size(); ++k) at(from_.result(o), members[k]) = sums[k];
      } else {
        for (const std::size_t r : members)
          at(from_.result(o), r) = traffic == Traffic::all_gather ? gathered(o, r, parts) : keeps ? mine[r] : reduced(o, r, parts);
      }
    }
  }

  // On replica r's device, from what all members of its group send.
  ValueId reduced(OpId o, std::size_t r, const std::vector<ValueId>& parts) {
    return reduce_at(to(), main_, parts, from_.attributes(o).text("op"), type_of(from_.operand(o, 0), r).place,
                     from_.name_of(from_.result(o)));
  }

  // Each member combines its own part of all.
  void shards(OpId o, const std::vector<std::size_t>& members, const std::vector<ValueId>& parts) {
    for (const std::size_t r : members) {
      std::vector<ValueId> pieces;
      for (std::size_t k = 0; k < members.size(); ++k) pieces.push_back(shard(o, main_, r, parts[k]));
      at(from_.result(o), r) = reduced(o, r, pieces);
    }
  }

  ValueId gathered(OpId o, std::size_t r, std::vector<ValueId> parts) {
    const Attributes& a = from_.attributes(o);
    const std::string& form = a.text("output_shape");
    const Shape& whole = from_.type_of(from_.result(o)).shape;
    const std::string name = from_.name_of(from_.result(o));
    std::size_t axis = form == "concat" ? static_cast<std::size_t>(a.integer("axis", 0)) : 0;
    Type t = type_of(from_.operand(o, 0), r);
    Shape row = t.shape;
    if (form == "new_axis") row.insert(row.begin(), 1);
    if (row.empty()) row = {1};
    for (ValueId& v : parts) v = reshaped(main_, v, row, name);
    t.shape = row;
    t.shape[axis] *= static_cast<std::int64_t>(parts.size());
    const ValueId all = add(main_, "concat", parts, {{"axis", static_cast<std::int64_t>(axis)}}, t, name);
    if (form != "meta_shape") return all;
    return reshaped(main_, sliced(main_, all, 0, 0, elements_of(whole), name), whole, name);
  }

  // Replica r's part of a tensor, flattened and padded with zeros, where that lies.
  ValueId shard(OpId o, GraphId graph, std::size_t r, ValueId whole) {
    const ReplicaGrouping g = grouping(o);
    const std::string name = from_.name_of(from_.result(o));
    const std::int64_t n = elements_of(to().type_of(whole).shape), size = from_.type_of(from_.result(o)).shape[0], all = size * g.size();
    ValueId flat = reshaped(graph, whole, {n}, name);
    if (all > n) {
      Type t = to().type_of(flat);
      t.shape = {all - n};
      const ValueId zeros = add(graph, "constant", {}, {{"data", to().add_blob(HostTensor(t.dtype, t.shape))}}, t, name);
      t.shape = {all};
      flat = add(graph, "concat", {flat, zeros}, {{"axis", std::int64_t{0}}}, t, name);
    }
    const auto first = static_cast<std::int64_t>(member(g, r)) * size;
    return sliced(graph, flat, 0, first, first + size, name);
  }

  void slice_of_replica(OpId o, GraphId graph, std::size_t r) {
    const ReplicaGrouping g = grouping(o);
    const auto axis = static_cast<std::size_t>(from_.attributes(o).integer("axis"));
    const ValueId whole = at(from_.operand(o, 0), r);
    const std::int64_t extent = to().type_of(whole).shape[axis] / g.size(), first = static_cast<std::int64_t>(member(g, r)) * extent;
    const std::string name = from_.name_of(from_.result(o));
    at(from_.result(o), r) =
        reshaped(graph, sliced(graph, whole, axis, first, first + extent, name), from_.type_of(from_.result(o)).shape, name);
  }

  const Module& from_;
  const std::vector<std::string>& output_names_;
  const std::int64_t part_bytes_;
  const std::size_t replicas_;
  Spread out_;
  GraphId main_;
  std::int32_t devices_ = 1;  // of a replica
  // By replica.
  std::vector<std::map<std::uint32_t, ValueId>> values_;
  std::vector<std::map<GraphId, GraphId>> graphs_;
  std::map<std::pair<OpId, std::size_t>, OpId> ops_;
};

}  // namespace

Spread spread_replicas(const Module& module, const std::vector<std::string>& outputs, std::int64_t part_bytes) {
  return ReplicaExpander(module, outputs, part_bytes).run();
}

}  // namespace pando::split
