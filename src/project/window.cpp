#include "project/window.h"

#include "ir/error.h"
#include "ir/semantics/infer.h"
#include "ir/text/print.h"

#include <algorithm>
#include <unordered_map>

namespace pando::project {

using namespace ir;

namespace {

class Split {
 public:
  explicit Split(LoopProgram& l) : l_(l), m_(*l.module), from_sample_(m_.value_count(), false), updated_(m_.value_count(), false) {}

  void run() {
    for (OpId o : l_.body) classify(o);
    std::vector<OpId> update;
    for (OpId o : l_.body) {
      if (is_update(o)) update.push_back(o);
    }
    for (OpId o : update) {
      if (m_.row(o).effects != Effects::none) {
        reject(ErrorClass::not_implemented, "effect-in-update",
               "{}: it depends on new contents of a variable, which {} makes once in a window; the loop body cannot "
               "store it",
               print_op(m_, o), to_string(l_.policy));
      }
      for (std::uint32_t i = 0; i < m_.op(o).operand_count; ++i) m_.set_operand(o, i, for_update(m_.operand(o, i)));
      l_.update.push_back(o);
    }
    std::erase_if(l_.body, [&](OpId o) { return is_update(o); });
    drop_unused();
    l_.body.insert(l_.body.end(), sums_.begin(), sums_.end());
    std::erase_if(l_.after, [&](const auto& edge) { return is_update(edge.first) != is_update(edge.second); });
    if (l_.policy.kind == PolicyKind::double_buffered) one_device();
    if (l_.policy.kind == PolicyKind::flush) update_last();
  }

 private:
  bool is_update(OpId o) const { return o.index() < is_update_.size() && is_update_[o.index()]; }

  void classify(OpId o) {
    if (is_update_.size() <= o.index()) is_update_.resize(m_.op_count(), false);
    bool sample = m_.row(o).effects != Effects::none, update = false;
    for (ValueId v : m_.operands(o)) {
      sample |= from_sample_[v.index()];
      update |= updated_[v.index()];
    }
    for (ValueId v : m_.results(o)) update |= l_.new_version_of[v.index()] >= 0;
    is_update_[o.index()] = update;
    for (ValueId v : m_.results(o)) {
      from_sample_[v.index()] = sample && !update;
      updated_[v.index()] = update;
    }
  }

  // What an op of the update reads in place of a value of the body.
  ValueId for_update(ValueId v) {
    if (v.index() >= from_sample_.size() || updated_[v.index()] || l_.state_of[v.index()] >= 0) return v;
    if (l_.fixed[v.index()]) return v;
    const auto [it, is_new] = instead_.try_emplace(v.value);
    if (!is_new) return it->second;
    const ValueId made = from_sample_[v.index()] ? sum_of(v) : again(v);
    return instead_[v.value] = made;
  }

  // Comes from variables alone, but the body makes it for its own use: the update makes it again.
  ValueId again(ValueId v) {
    const OpId o = m_.value(v).producer;
    std::vector<ValueId> operands;
    for (ValueId x : std::vector<ValueId>(m_.operands(o).begin(), m_.operands(o).end())) operands.push_back(for_update(x));
    std::vector<TypeId> types;
    for (ValueId r : m_.results(o)) types.push_back(m_.value(r).type);
    const std::vector<GraphId> graphs(m_.graphs(o).begin(), m_.graphs(o).end());
    const OpId copy = m_.add_op(m_.main_graph(), m_.op(o).kind, operands, Attributes(m_.attributes(o)), graphs, types,
                                m_.unique_name(m_.main_graph(), m_.name_of(v) + ".update"));
    m_.op(copy).in_place = m_.op(o).in_place;
    grow(l_.device(o));
    l_.update.push_back(copy);
    return m_.result(copy, m_.value(v).index);
  }

  ValueId sum_of(ValueId v) {
    const Type type = m_.type_of(v);
    const GraphId main = m_.main_graph();
    LoopState s;
    s.name = m_.unique_name(main, m_.name_of(v) + ".sum");
    s.value = m_.add_input(main, type, s.name);
    s.device = type.place.device.value;
    s.is_sum = true;
    s.initial = HostTensor(type.dtype, type.shape);
    const OpId add = infer_and_add(m_, main, "add", {{s.value, v}}, {}, {}, false, {}, m_.unique_name(main, m_.name_of(v) + ".added"));
    s.final = m_.result(add);
    grow(s.device);
    l_.state_of[s.value.index()] = l_.new_version_of[s.final.index()] = static_cast<std::int32_t>(l_.states.size());
    l_.states.push_back(s);
    sums_.push_back(add);
    return s.final;
  }

  // What came from variables alone and was there for the update.
  void drop_unused() {
    std::vector<bool> used(m_.value_count(), false);
    std::vector<OpId> kept;
    for (OpId o : sums_) used[m_.operand(o, 1).index()] = true;
    for (auto o = l_.body.rbegin(); o != l_.body.rend(); ++o) {
      const auto results = m_.results(*o);
      const bool idle = !results.empty() &&
                        std::none_of(results.begin(), results.end(), [&](ValueId v) { return used[v.index()] || from_sample_[v.index()]; });
      if (idle) continue;
      for (ValueId v : m_.operands(*o)) used[v.index()] = true;
      kept.push_back(*o);
    }
    l_.body.assign(kept.rbegin(), kept.rend());
  }

  void grow(std::int32_t device) {
    l_.devices.resize(m_.op_count(), device);
    l_.state_of.resize(m_.value_count(), -1);
    l_.new_version_of.resize(m_.value_count(), -1);
    l_.fixed.resize(m_.value_count(), false);
  }

  // Between windows a state has one copy: where its old contents are read behind its update, the new ones wait until the end.
  void update_last() {
    std::vector<bool> is_done(l_.states.size(), false), waits(l_.states.size(), false);
    for (OpId o : l_.update) {
      for (ValueId v : m_.operands(o)) {
        const std::int32_t s = l_.state_of[v.index()];
        if (s >= 0 && is_done[static_cast<std::size_t>(s)]) waits[static_cast<std::size_t>(s)] = true;
      }
      for (ValueId v : m_.results(o)) {
        if (l_.new_version_of[v.index()] >= 0) is_done[static_cast<std::size_t>(l_.new_version_of[v.index()])] = true;
      }
    }
    for (std::size_t s = 0; s < waits.size(); ++s) {
      if (!waits[s]) continue;
      LoopState& state = l_.states[s];
      const OpId copy = infer_and_add(m_, m_.main_graph(), "identity", {{state.final}}, {}, {}, false, {},
                                      m_.unique_name(m_.main_graph(), state.name + ".next"));
      grow(state.device);
      l_.new_version_of[state.final.index()] = -1;
      state.final = m_.result(copy);
      l_.new_version_of[state.final.index()] = static_cast<std::int32_t>(s);
      l_.update.push_back(copy);
    }
  }

  // Without a drain, an update is an action of the loop: what it needs must be where it runs.
  void one_device() const {
    for (OpId o : l_.update) {
      for (ValueId v : m_.operands(o)) {
        const std::int32_t there = m_.type_of(v).place.device.value;
        if (there == l_.device(o)) continue;
        reject(ErrorClass::not_implemented, "update-across-devices",
               "{}: under {}, an update takes nothing from another device ('{}' lies on device {}); use flush", print_op(m_, o),
               to_string(l_.policy), m_.name_of(v), there);
      }
    }
  }

  LoopProgram& l_;
  Module& m_;
  // By value: it depends on the sample; it is made by the update.
  std::vector<bool> from_sample_, updated_;
  std::vector<bool> is_update_;
  std::vector<OpId> sums_;
  std::unordered_map<std::uint32_t, ValueId> instead_;
};

}  // namespace

void split_update(LoopProgram& loop) { Split(loop).run(); }

}  // namespace pando::project
