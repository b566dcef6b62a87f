#include "transform/distribute/layout/derivatives.h"

#include "ir/op_row.h"

#include <algorithm>
#include <limits>

namespace pando::transform {

namespace {

using ir::OpId;
using ir::ValueId;

constexpr std::uint32_t kEnd = std::numeric_limits<std::uint32_t>::max();

class DerivativesFinder {
 public:
  DerivativesFinder(const Program& program, const std::vector<When>& when)
      : m_(program.module),
        program_(program),
        when_(when),
        root_(m_.value_count()),
        until_(m_.value_count(), kEnd),
        touched_(m_.value_count()),
        position_(m_.op_count(), kEnd) {}

  std::vector<OpId> run() {
    for (std::size_t i = 0; i < ops().size(); ++i) {
      const OpId o = ops()[i];
      for (ValueId v : m_.results(o)) root_[v.index()] = v;
      if (is_view(o) && !is_gradient(m_.operand(o, 0))) root_[m_.result(o).index()] = root(m_.operand(o, 0));
      if (!is(o, Phase::forward)) continue;
      position_[o.index()] = static_cast<std::uint32_t>(i);
      for (const auto values : {m_.operands(o), m_.results(o)}) {
        for (ValueId v : values) touch(root(v), static_cast<std::uint32_t>(i));
      }
    }
    std::vector<OpId> found(m_.op_count());
    for (OpId o : ops()) {
      if (when_[o.index()] == When::each && program_.phase_of(o) != Phase::forward) found[o.index()] = find(o);
    }
    return found;
  }

 private:
  const std::vector<OpId>& ops() const { return m_.graph(m_.main_graph()).ops; }
  bool is(OpId o, Phase phase) const { return when_[o.index()] == When::each && program_.phase_of(o) == phase; }
  bool is_view(OpId o) const { return m_.row(o).view != ir::View::none && m_.results(o).size() == 1 && !m_.operands(o).empty(); }
  ValueId root(ValueId v) const { return root_[v.index()].valid() ? root_[v.index()] : v; }
  // Made in the backward pass, and no view of what the forward pass has.
  bool is_gradient(ValueId v) const {
    const OpId p = m_.value(v).producer;
    return p.valid() && when_[p.index()] == When::each && program_.phase_of(p) != Phase::forward && root(v) == v;
  }
  // An activation, or a sample.
  bool is_activation(ValueId v) const {
    const OpId p = m_.value(v).producer;
    return p.valid() && is(p, Phase::forward);
  }

  void touch(ValueId v, std::uint32_t at) {
    auto& list = touched_[v.index()];
    if (list.empty() || list.back() != at) list.push_back(at);
  }
  // The last op not behind `until` that makes or takes the value.
  std::uint32_t last_touch(ValueId v, std::uint32_t until) const {
    const auto& list = touched_[v.index()];
    const auto it = std::upper_bound(list.begin(), list.end(), until);
    return it == list.begin() ? kEnd : *(it - 1);
  }

  OpId find(OpId o) {
    // What is made of the forward pass alone has no gradient in it yet.
    const auto operands = m_.operands(o);
    if (std::none_of(operands.begin(), operands.end(), [&](ValueId v) { return is_gradient(v); })) return {};
    std::uint32_t until = kEnd, of = kEnd;
    for (ValueId v : m_.operands(o)) until = std::min(until, until_[v.index()]);
    for (ValueId v : m_.operands(o)) {
      if (is_gradient(v)) continue;
      const std::uint32_t at = last_touch(root(v), until);
      if (at != kEnd && (of == kEnd || at > of)) of = at;
    }
    const OpId forward = of == kEnd ? OpId() : ops()[of];
    if (forward.valid()) until = behind(o, forward, of);
    for (ValueId v : m_.results(o)) until_[v.index()] = until;
    return forward;
  }

  // Where gradients are when they have passed `o`, an op of the derivative of `forward`. Of a product one op is the whole derivative, and
  // so is an op that is made for it; else more ops of the same derivative may follow.
  std::uint32_t behind(OpId o, OpId forward, std::uint32_t at) const {
    const bool whole = m_.row(forward).product != ir::Product::none || m_.row(o).phase == ir::OpPhase::backward;
    if (!whole) return at;
    std::uint32_t others = kEnd, all = kEnd;
    const auto later = [](std::uint32_t a, std::uint32_t b) { return a == kEnd ? b : std::max(a, b); };
    for (ValueId v : m_.operands(forward)) {
      if (!is_activation(v)) continue;
      const std::uint32_t made = position_[m_.value(v).producer.index()];
      all = later(all, made);
      if (!takes(o, root(v))) others = later(others, made);
    }
    return others != kEnd ? others : all != kEnd ? all : at;
  }
  bool takes(OpId o, ValueId what) const {
    return std::any_of(m_.operands(o).begin(), m_.operands(o).end(), [&](ValueId v) { return root(v) == what; });
  }

  const ir::Module& m_;
  const Program& program_;
  const std::vector<When>& when_;
  // By value: what it is a view of.
  std::vector<ValueId> root_;
  // By value of the backward pass: gradients have passed all forward ops behind this position.
  std::vector<std::uint32_t> until_;
  // By value: positions of forward ops that make or take it, ascending.
  std::vector<std::vector<std::uint32_t>> touched_;
  // By op of the forward pass.
  std::vector<std::uint32_t> position_;
};

}  // namespace

std::vector<OpId> derivatives_of(const Program& program, const std::vector<When>& when) { return DerivativesFinder(program, when).run(); }

}  // namespace pando::transform
