#include "transform/distribute/stages/sums_of_stages.h"

#include "ir/op_row.h"

#include <algorithm>

namespace pando::transform {

namespace {

using ir::Module;
using ir::OpId;
using ir::ValueId;

class SumsFinder {
 public:
  SumsFinder(const Program& program, const Layout& layout, const std::vector<std::int32_t>& home)
      : program_(program), m_(program.module), layout_(layout), home_(home), inner_(m_.value_count(), false) {}

  std::vector<SumOfStages> run() {
    count_uses();
    std::vector<SumOfStages> found;
    const std::vector<OpId>& ops = main().ops;
    for (std::size_t i = ops.size(); i-- > 0;) {
      const OpId o = ops[i];
      if (!adds(o) || inner_[m_.result(o).index()]) continue;
      SumOfStages sum{o, {}, {}};
      collect(o, sum);
      const bool spread = std::any_of(sum.terms.begin(), sum.terms.end(), [&](ValueId v) { return home(v) != home(sum.terms[0]); });
      const bool whole = std::all_of(sum.terms.begin(), sum.terms.end(), [&](ValueId v) { return home(v) >= 0; });
      if (spread && whole && !each_[m_.result(o).index()]) found.push_back(std::move(sum));
    }
    std::reverse(found.begin(), found.end());
    return found;
  }

 private:
  const ir::Graph& main() const { return m_.graph(m_.main_graph()); }
  std::int32_t home(ValueId v) const { return home_[v.index()]; }
  const Specs& demand(OpId o, std::size_t i) const { return layout_.demand[m_.op(o).operand_begin + i]; }

  void count_uses() {
    uses_.assign(m_.value_count(), 0);
    each_.assign(m_.value_count(), false);
    for (OpId o : main().ops) {
      for (std::size_t i = 0; i < m_.operands(o).size(); ++i) {
        const ValueId v = m_.operand(o, i);
        ++uses_[v.index()];
        if (!demand(o, i)[kTime].is_replicated()) each_[v.index()] = true;
      }
    }
    for (ValueId v : main().outputs) ++uses_[v.index()];
    for (ValueId v : main().updated_inputs) ++uses_[v.index()];
  }

  // An addition of gradients that are sums over microbatches, all of which lie as the result does.
  bool adds(OpId o) const {
    if (m_.row(o).adds != ir::Adds::operands) return false;
    if (layout_.when[o.index()] != When::each || program_.phase_of(o) == Phase::forward || m_.op(o).in_place) return false;
    const ValueId r = m_.result(o);
    const Specs& specs = layout_.raw[r.index()];
    if (!specs[kTime].is_partial()) return false;
    for (std::size_t i = 0; i < m_.operands(o).size(); ++i) {
      const ValueId v = m_.operand(o, i);
      const bool made = m_.value(v).producer.valid();
      if (!made || m_.type_of(v).shape != m_.type_of(r).shape || demand(o, i) != specs || layout_.raw[v.index()] != specs) return false;
    }
    return true;
  }

  // The terms of a sum, through additions that nobody else reads.
  void collect(OpId last, SumOfStages& sum) {
    std::vector<OpId> left{last};
    while (!left.empty()) {
      const OpId o = left.back();
      left.pop_back();
      sum.ops.push_back(o);
      for (ValueId v : m_.operands(o)) {
        const OpId p = m_.value(v).producer;
        if (uses_[v.index()] == 1 && adds(p)) {
          inner_[v.index()] = true;
          left.push_back(p);
        } else {
          sum.terms.push_back(v);
        }
      }
    }
  }

  const Program& program_;
  const Module& m_;
  const Layout& layout_;
  const std::vector<std::int32_t>& home_;
  // By value: how often it is read; whether some op reads a microbatch's part; whether a sum has taken it up.
  std::vector<std::uint32_t> uses_;
  std::vector<bool> each_, inner_;
};

}  // namespace

std::vector<SumOfStages> sums_of_stages(const Program& program, const Layout& layout, const std::vector<std::int32_t>& home) {
  return SumsFinder(program, layout, home).run();
}

}  // namespace pando::transform
