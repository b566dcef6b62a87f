#include "transform/distribute/annotate.h"

#include "ir/error.h"
#include "ir/op_row.h"
#include "transform/distribute/flatten.h"

#include <algorithm>

namespace pando::transform {

namespace {

using namespace ir;

class Annotator {
 public:
  Annotator(Program program, const Annotation& a) : p_(std::move(program)), m_(p_.module), a_(a) {}

  Program run() {
    inputs();
    phases();
    layers();
    return std::move(p_);
  }

 private:
  const Graph& main() const { return m_.graph(m_.main_graph()); }
  const std::vector<OpId>& ops() const { return main().ops; }

  std::size_t input_named(const std::string& name) const {
    for (std::size_t i = 0; i < main().inputs.size(); ++i) {
      if (m_.name_of(main().inputs[i]) == name) return i;
    }
    reject(ErrorClass::value, "input-name", "the main graph has no input '{}'", name);
  }

  void inputs() {
    const std::size_t n = main().inputs.size();
    for (auto* list : {&p_.batch_dim, &p_.sequence_dim, &p_.expert_dim}) list->assign(n, -1);
    const auto note = [&](const std::map<std::string, std::int32_t>& dims, std::vector<std::int32_t>& list) {
      for (const auto& [name, dim] : dims) {
        const std::size_t i = input_named(name);
        const std::int64_t rank = m_.type_of(main().inputs[i]).rank();
        if (dim < 0 || dim >= rank)
          reject(ErrorClass::value, "dimension-range", "'{}' has {} dimensions, no dimension {}", name, rank, dim);
        list[i] = static_cast<std::int32_t>(dim);
      }
    };
    p_.stream_batch_dim.assign(m_.stream_count(), -1);
    std::map<std::string, std::int32_t> batch = a_.batch;
    bool streams = false;
    for (std::size_t s = 0; s < m_.stream_count(); ++s) {
      const HostStream& stream = m_.stream(HostStreamId(static_cast<std::uint32_t>(s)));
      const auto it = batch.find(stream.name);
      const bool named = it != batch.end();
      if (stream.direction != HostStream::Direction::host_to_device || stream.shape.empty() || (!named && !a_.batch.empty())) continue;
      p_.stream_batch_dim[s] = named ? it->second : 0;
      streams = true;
      if (named) batch.erase(it);
    }
    note(batch, p_.batch_dim);
    note(a_.sequence, p_.sequence_dim);
    note(a_.expert, p_.expert_dim);
    if (!a_.batch.empty() || streams) return;
    std::vector<bool> weight(m_.value_count(), false);
    bool data = false;
    for (std::size_t s = 0; s < m_.state_count(); ++s) {
      const State& state = m_.state(StateId(static_cast<std::uint32_t>(s)));
      if (!state.input || !state.data.valid()) continue;
      weight[main().inputs[*state.input].index()] = true;
      data = true;
    }
    for (OpId o : ops()) {
      if (!data && multiplies_by_weight(m_.row(o))) weight[m_.operand(o, 1).index()] = true;
    }
    for (std::size_t i = 0; i < n; ++i) {
      const ValueId v = main().inputs[i];
      if (main().updated_inputs[i] == v && m_.type_of(v).rank() > 0 && !weight[v.index()]) p_.batch_dim[i] = 0;
    }
  }

  ValueId loss() const {
    if (!a_.loss) {
      for (OpId o : ops()) {
        if (main().outputs.empty() && stores_stream(m_, o)) return m_.operand(o, 0);
      }
      if (main().outputs.empty()) reject(ErrorClass::value, "no-loss", "the main graph has no output; say which value is the loss");
      return main().outputs[0];
    }
    for (OpId o : ops()) {
      for (ValueId v : m_.results(o)) {
        if (m_.name_of(v) == *a_.loss) return v;
      }
    }
    reject(ErrorClass::value, "value-name", "the main graph has no value '{}'", *a_.loss);
  }

  void phases() {
    std::vector<bool> needed(m_.value_count(), false);
    needed[loss().index()] = true;
    for (std::size_t i = ops().size(); i-- > 0;) {
      const OpId o = ops()[i];
      bool any = false;
      for (ValueId v : m_.results(o)) any |= needed[v.index()];
      if (!any) continue;
      for (ValueId v : m_.operands(o)) needed[v.index()] = true;
    }
    p_.phase.assign(m_.op_count(), Phase::forward);
    for (OpId o : ops()) {
      bool any = false;
      for (ValueId v : m_.results(o)) any |= needed[v.index()];
      if (!any) p_.phase[o.index()] = m_.row(o).phase == OpPhase::update ? Phase::update : Phase::backward;
    }
    updates();
  }

  // What works on states of the optimizer (inputs that change, and that the forward pass does not take), and what only prepares gradients
  // for it. Gradients of one weight that are added up are not ready yet.
  void updates() {
    std::vector<bool> of_state(m_.value_count(), false), elsewhere(m_.value_count(), false);
    for (std::size_t i = 0; i < main().inputs.size(); ++i)
      of_state[main().inputs[i].index()] = main().updated_inputs[i] != main().inputs[i];
    for (OpId o : ops()) {
      for (ValueId v : m_.operands(o)) {
        if (p_.phase[o.index()] == Phase::forward) of_state[v.index()] = false;
      }
    }
    for (ValueId v : main().outputs) elsewhere[v.index()] = true;
    for (OpId o : ops()) {
      bool any = false;
      for (ValueId v : m_.operands(o)) any = any || of_state[v.index()];
      if (any && p_.phase[o.index()] != Phase::forward) p_.phase[o.index()] = Phase::update;
      for (ValueId v : m_.results(o)) of_state[v.index()] = any;
    }
    for (std::size_t i = ops().size(); i-- > 0;) {
      const OpId o = ops()[i];
      bool prepares =
          m_.row(o).elementwise && !m_.results(o).empty() && p_.phase[o.index()] == Phase::backward && m_.operands(o).size() > 0;
      for (ValueId v : m_.results(o)) prepares = prepares && !elsewhere[v.index()] && used(v);
      prepares = prepares && !adds_gradients(o);
      if (prepares) p_.phase[o.index()] = Phase::update;
      if (p_.phase[o.index()] == Phase::update) continue;
      for (ValueId v : m_.operands(o)) elsewhere[v.index()] = true;
    }
  }
  bool adds_gradients(OpId o) const {
    if (m_.row(o).adds != Adds::operands) return false;
    const auto operands = m_.operands(o);
    return std::all_of(operands.begin(), operands.end(), [&](ValueId v) {
      const OpId p = m_.value(v).producer;
      return p.valid() && p_.phase[p.index()] == Phase::backward && m_.type_of(v).shape == m_.type_of(m_.result(o)).shape;
    });
  }
  bool used(ValueId v) {
    if (used_.empty()) {
      used_.assign(m_.value_count(), false);
      for (OpId o : ops()) {
        for (ValueId u : m_.operands(o)) used_[u.index()] = true;
      }
    }
    return used_[v.index()];
  }

  bool loads_samples(OpId o) const {
    if (!loads_stream(m_, o)) return false;
    return Program::dim_of(p_.stream_batch_dim, std::get<HostStreamId>(*m_.attributes(o).find("stream")).index()) >= 0;
  }

  // Of values that depend on samples: the last forward op that takes each.
  void layers() {
    std::vector<bool> activation(m_.value_count(), false);
    for (std::size_t i = 0; i < main().inputs.size(); ++i) activation[main().inputs[i].index()] = p_.is_batch(i);
    std::vector<std::size_t> last(m_.value_count(), 0);
    std::vector<OpId> forward;
    for (OpId o : ops()) {
      if (p_.phase[o.index()] != Phase::forward) continue;
      forward.push_back(o);
      for (ValueId v : m_.operands(o)) last[v.index()] = forward.size() - 1;
      const auto operands = m_.operands(o);
      const bool any = std::any_of(operands.begin(), operands.end(), [&](ValueId v) { return activation[v.index()]; });
      for (ValueId v : m_.results(o)) activation[v.index()] = any || loads_samples(o);
    }
    // How many activations pass behind each op: differences first.
    std::vector<std::int64_t> passing(forward.size() + 1, 0);
    for (std::size_t i = 0; i < forward.size(); ++i) {
      for (ValueId v : m_.results(forward[i])) {
        if (!activation[v.index()] || last[v.index()] <= i || loads_samples(forward[i])) continue;
        ++passing[i];
        --passing[last[v.index()]];
      }
    }
    number_layers(forward, passing, activation);
  }

  // A layer begins at the last op before a product by a weight that takes all there is from before.
  void number_layers(const std::vector<OpId>& forward, const std::vector<std::int64_t>& passing, const std::vector<bool>& activation) {
    p_.layer.assign(m_.op_count(), 0);
    std::uint32_t layer = 0;
    std::int64_t live = 0;  // from before op i to it and further
    bool product = false;
    std::optional<std::size_t> cut;
    for (std::size_t i = 0; i < forward.size(); ++i) {
      const OpId o = forward[i];
      const bool multiplies = multiplies_by_weight(m_.row(o)) && !activation[m_.operand(o, 1).index()];
      if (product && live == 1) cut = i;
      p_.layer[o.index()] = layer;
      if (multiplies && cut) {
        ++layer;
        for (std::size_t k = *cut; k <= i; ++k) p_.layer[forward[k].index()] = layer;
      }
      if (multiplies) cut.reset();
      product |= multiplies;
      live += passing[i];
    }
  }

  Program p_;
  const Module& m_;
  const Annotation& a_;
  std::vector<bool> used_;
};

}  // namespace

Program annotate(Module module, const Annotation& annotation) {
  Program whole;
  whole.module = std::move(module);
  return Annotator(flatten(whole), annotation).run();
}

}  // namespace pando::transform
