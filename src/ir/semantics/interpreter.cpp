#include "ir/semantics/interpreter.h"

#include "base/check.h"
#include "ir/error.h"
#include "ir/op_row.h"
#include "ir/rows/evaluation.h"

#include <cstdio>
#include <cstring>

namespace pando::ir {

namespace {

// Part `i` of `parts` equal ones along the first dimension, without that dimension.
HostTensor part_of(const HostTensor& whole, std::int64_t i, const Shape& shape) {
  HostTensor out(whole.dtype(), shape);
  PANDO_CHECK(static_cast<std::size_t>(i + 1) * out.size_bytes() <= whole.size_bytes());
  std::memcpy(out.writable(), whole.data() + static_cast<std::size_t>(i) * out.size_bytes(), out.size_bytes());
  return out;
}

}  // namespace

// What the ops of one replica reach.
class InterpreterHost : public EvaluationHost {
 public:
  InterpreterHost(Interpreter& owner, std::int64_t replica) : owner_(owner), replica_(replica) {}

  HostTensor load(HostStreamId stream) override {
    const HostStream& s = owner_.module_.stream(stream);
    const auto it = owner_.data_.find(stream);
    if (it == owner_.data_.end()) reject(ErrorClass::value, "stream-without-data", "stream '{}' is loaded, but was given no data", s.name);
    const std::int64_t replicas = owner_.module_.replicas();
    const std::int64_t slices =
        std::max<std::int64_t>(1, it->second.elements() / std::max<std::int64_t>(1, elements_of(s.shape)) / replicas);
    std::int64_t& cursor = owner_.cursors_[{stream.value, replica_}];
    const std::int64_t slice = cursor++ % slices;
    return part_of(it->second, slice * replicas + replica_, s.shape);
  }

  void store(HostStreamId stream, const HostTensor& data) override { owner_.stored_[{stream.value, replica_}].push_back(data); }

  HostTensor load_row(BufferId buffer, std::int64_t row) override { return rows(buffer, row)[static_cast<std::size_t>(row)]; }
  void store_row(BufferId buffer, std::int64_t row, const HostTensor& data) override {
    rows(buffer, row)[static_cast<std::size_t>(row)] = data;
  }

  void print(const std::string& text) override {
    if (owner_.print_) {
      owner_.print_(text);
    } else {
      std::fputs(text.c_str(), stderr);
    }
  }
  std::int64_t replica() const override { return replica_; }

 private:
  std::vector<HostTensor>& rows(BufferId buffer, std::int64_t row) {
    const RemoteBuffer& b = owner_.module_.buffer(buffer);
    if (row < 0 || row >= b.entries)
      reject(ErrorClass::index, "remote-row", "row {} of remote buffer {}, which has {} rows", row, b.number, b.entries);
    auto& rows = owner_.rows_[{buffer.value, replica_}];
    if (rows.empty()) rows.assign(static_cast<std::size_t>(b.entries), HostTensor(b.dtype, b.shape));
    return rows;
  }

  Interpreter& owner_;
  std::int64_t replica_;
};

Interpreter::Interpreter(const Module& module) : module_(module), kept_(kept_values(module)) {
  const auto replicas = module.replicas();
  for (const KeptValue& k : kept_) {
    const Type& type = module.type_of(k.value);
    kept_data_.emplace_back(static_cast<std::size_t>(replicas), HostValue{HostTensor(type.dtype, type.shape), {}});
  }
  inputs_of_main_.resize(static_cast<std::size_t>(replicas));
  for (auto& inputs : inputs_of_main_) inputs.resize(module.graph(module.main_graph()).inputs.size());
  for (std::size_t s = 0; s < module.state_count(); ++s) {
    const StateId id(static_cast<StateId::rep>(s));
    const State& state = module.state(id);
    if (!state.data.valid()) {
      for (std::int64_t r = 0; r < replicas; ++r)
        set_state(id, r, HostTensor(module.type(state.type).dtype, module.type(state.type).shape));
      continue;
    }
    const HostTensor& data = module.blob(state.data);
    for (std::int64_t r = 0; r < replicas; ++r) {
      const bool grouped = state.grouping.replicas() == replicas && state.grouping.groups() > 1;
      const Shape shape(data.shape().begin() + (grouped ? 1 : 0), data.shape().end());
      HostTensor mine = grouped ? part_of(data, state.grouping.group_of(r), shape) : data;
      if (state.sharded) {
        const auto members = state.grouping.members(state.grouping.group_of(r));
        const auto shards = elements_of(mine.shape()) == 0 ? 1
                                                           : (elements_of(mine.shape()) + elements_of(module.type(state.type).shape) - 1) /
                                                                 elements_of(module.type(state.type).shape);
        const auto member = std::find(members.begin(), members.end(), r) - members.begin();
        HostTensor shard(mine.dtype(), module.type(state.type).shape);
        const std::int64_t n = shard.elements(), first = (member % shards) * n;
        for (std::int64_t i = 0; i < n && first + i < mine.elements(); ++i) shard.set(i, mine.number(first + i));
        mine = std::move(shard);
      }
      set_state(id, r, mine.reshaped(module.type(state.type).shape));
    }
  }
}

void Interpreter::set_input(HostStreamId stream, HostTensor data) { data_[stream] = std::move(data); }

void Interpreter::on_print(std::function<void(const std::string&)> f) { print_ = std::move(f); }

HostTensor Interpreter::state(StateId id, std::int64_t replica) const {
  const State& s = module_.state(id);
  if (s.input) return inputs_of_main_[static_cast<std::size_t>(replica)][*s.input];
  return rows_.at({s.buffer.value, replica})[static_cast<std::size_t>(s.row)];
}

void Interpreter::set_state(StateId id, std::int64_t replica, HostTensor data) {
  const State& s = module_.state(id);
  if (s.input) {
    inputs_of_main_[static_cast<std::size_t>(replica)][*s.input] = std::move(data);
    return;
  }
  InterpreterHost(*this, replica).store_row(s.buffer, s.row, data);
}

void Interpreter::run(Context context) {
  cursors_.clear();
  if (context == Context::normal) stored_.clear();
  const Graph& main = module_.graph(module_.main_graph());
  std::vector<std::int64_t> replicas;
  ReplicaValues inputs;
  for (std::int64_t r = 0; r < module_.replicas(); ++r) {
    replicas.push_back(r);
    inputs.emplace_back();
    for (const HostTensor& t : inputs_of_main_[static_cast<std::size_t>(r)]) inputs.back().push_back({t, {}});
  }
  const ReplicaValues results = run_graph_on(module_.main_graph(), std::move(inputs), replicas, context);
  const std::size_t outputs = main.outputs.size();
  for (std::size_t r = 0; r < replicas.size(); ++r) {
    for (std::size_t i = 0; i < main.inputs.size(); ++i) inputs_of_main_[r][i] = results[r][outputs + i].tensor;
  }
}

HostTensor Interpreter::output(HostStreamId stream, std::int64_t stores) const {
  const HostStream& s = module_.stream(stream);
  Shape shape{stores, module_.replicas()};
  shape.insert(shape.end(), s.shape.begin(), s.shape.end());
  HostTensor out(s.dtype, shape);
  std::byte* to = out.writable();
  for (std::int64_t r = 0; r < module_.replicas(); ++r) {
    const auto it = stored_.find({stream.value, r});
    if (it == stored_.end()) continue;
    for (std::int64_t i = 0; i < std::min<std::int64_t>(stores, static_cast<std::int64_t>(it->second.size())); ++i) {
      const HostTensor& t = it->second[static_cast<std::size_t>(i)];
      std::memcpy(to + static_cast<std::size_t>(i * module_.replicas() + r) * t.size_bytes(), t.data(), t.size_bytes());
    }
  }
  return out;
}

void Interpreter::on_results(std::function<void(const OpRow&, std::vector<HostValue>&)> f) { results_ = std::move(f); }

std::vector<HostValue> Interpreter::run_graph(GraphId graph, std::vector<HostValue> inputs) {
  return run_graph_on(graph, {std::move(inputs)}, {0}, Context::normal)[0];
}

// Op by op, each on all replicas before the next: so replicas can meet at collectives. Values are dropped with the graph.
ReplicaValues Interpreter::run_graph_on(GraphId id, ReplicaValues inputs, const std::vector<std::int64_t>& replicas, Context context) {
  const Graph& graph = module_.graph(id);
  std::vector<Values> values(replicas.size());
  for (std::size_t r = 0; r < replicas.size(); ++r) {
    PANDO_CHECK(inputs[r].size() == graph.inputs.size());
    for (std::size_t i = 0; i < graph.inputs.size(); ++i) values[r][graph.inputs[i].value] = std::move(inputs[r][i]);
  }
  const bool main = id == module_.main_graph();
  if (main) bring_kept(values, context);
  for (OpId o : graph.ops) {
    if (!main || runs_in(module_, o, context)) run_op(o, values, replicas, context);
  }
  ReplicaValues out(replicas.size());
  const auto keep = [&](std::size_t r, ValueId v, bool may_miss) {
    const auto it = values[r].find(main ? version_in(module_, v, context).value : v.value);
    PANDO_CHECK(may_miss || it != values[r].end());
    out[r].push_back(it == values[r].end() ? HostValue() : it->second);
  };
  for (std::size_t r = 0; r < replicas.size(); ++r) {
    // Another program may make an output of the main graph.
    for (ValueId v : graph.outputs) keep(r, v, main);
    for (ValueId v : graph.updated_inputs) keep(r, v, false);
    for (std::size_t k = 0; main && k < kept_.size(); ++k)
      kept_data_[k][r] = values[r].at(version_in(module_, kept_[k].last, context).value);
  }
  return out;
}

// What other programs have left.
void Interpreter::bring_kept(std::vector<Values>& values, Context context) const {
  for (std::size_t k = 0; k < kept_.size(); ++k) {
    if (runs_in(module_, module_.value(kept_[k].value).producer, context)) continue;
    for (std::size_t r = 0; r < values.size(); ++r) values[r][kept_[k].value.value] = kept_data_[k][r];
  }
}

void Interpreter::run_op(OpId o, std::vector<Values>& values, const std::vector<std::int64_t>& replicas, Context context) {
  const OpRow& row = module_.row(o);
  const bool main = module_.op(o).graph == module_.main_graph();
  const auto operands_of = [&](std::size_t r) {
    std::vector<HostValue> operands;
    for (ValueId v : module_.operands(o)) {
      const auto it = values[r].find(main ? version_in(module_, v, context).value : v.value);
      PANDO_CHECK(it != values[r].end());
      operands.push_back(it->second);
    }
    return operands;
  };
  const auto keep = [&](std::size_t r, std::vector<HostValue>& results) {
    PANDO_CHECK(results.size() == module_.results(o).size());
    if (results_) results_(row, results);
    for (std::size_t i = 0; i < results.size(); ++i) values[r][module_.result(o, i).value] = std::move(results[i]);
  };
  if (row.reference_group) {
    ReplicaValues operands;
    for (std::size_t r = 0; r < replicas.size(); ++r) operands.push_back(operands_of(r));
    const auto run = [&](GraphId graph, ReplicaValues inputs, std::span<const std::size_t> positions) {
      std::vector<std::int64_t> numbers;
      for (std::size_t p : positions) numbers.push_back(replicas[p]);
      return run_graph_on(graph, std::move(inputs), numbers, context);
    };
    GroupEvaluation e(module_, o, replicas, std::move(operands), run);
    row.reference_group(e);
    for (std::size_t r = 0; r < replicas.size(); ++r) keep(r, e.results()[r]);
    return;
  }
  for (std::size_t r = 0; r < replicas.size(); ++r) {
    InterpreterHost host(*this, replicas[r]);
    Evaluation e(module_, o, operands_of(r), host);
    row.reference(e);
    keep(r, e.results());
  }
}

}  // namespace pando::ir
