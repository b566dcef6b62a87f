#include "transform/ambiguity.h"

#include "ir/error.h"
#include "ir/op_row.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace pando::transform {

using namespace ir;

namespace {

// Elements of a root tensor, or more: one range for each dimension.
struct Box {
  std::vector<std::pair<std::int64_t, std::int64_t>> ranges;
  // Whether the view has exactly the box's elements in the box's shape, so that a slice of it is a smaller box.
  bool exact = true;
};

bool overlap(const Box& a, const Box& b) {
  for (std::size_t d = 0; d < a.ranges.size(); ++d) {
    if (std::max(a.ranges[d].first, b.ranges[d].first) >= std::min(a.ranges[d].second, b.ranges[d].second)) return false;
  }
  return true;
}

struct Region {
  TensorId root;
  Box box;
};

// An op reads or modifies elements of a root tensor.
struct TensorAccess {
  std::size_t position;
  Box box;
  bool modifies;
  TensorId tensor;
};

class GraphCheck {
 public:
  GraphCheck(const Builder& b, GraphId graph) : b_(b), m_(b.module()), graph_(m_.graph(graph)) {}

  void run(std::vector<Ambiguity>& found) {
    const bool any =
        std::any_of(graph_.ops.begin(), graph_.ops.end(), [&](OpId o) { return !m_.op(o).implicit && !new_versions(m_, o).empty(); });
    if (!any) return;
    order();
    for (std::size_t i = 0; i < graph_.ops.size(); ++i) collect(i);
    for (TensorId root : roots_) check(accesses_[root], found);
  }

 private:
  // --- the order that somebody has said
  void order() {
    before_.resize(graph_.ops.size());
    chain_.assign(graph_.ops.size(), 0);
    for (std::size_t i = 0; i < graph_.ops.size(); ++i) position_[graph_.ops[i]] = i;
    for (std::size_t i = 0; i < graph_.ops.size(); ++i) {
      for (TensorId t : operands(graph_.ops[i])) {
        const ValueId first = b_.tensor(t).first_value;
        if (!first.valid()) continue;
        const auto it = position_.find(m_.value(first).producer);
        if (it != position_.end() && it->second < i) before_[i].push_back(it->second);
      }
    }
    for (const auto& [first, then] : graph_.after) {
      if (position_.contains(first) && position_.contains(then)) before_[position_[then]].push_back(position_[first]);
    }
    make_chains();
  }

  // Ops of one chain are ordered: most programs are one chain of in_sequence, and need no search.
  void make_chains() {
    std::vector<bool> continued(graph_.ops.size());
    std::size_t chains = 0;
    for (std::size_t i = 0; i < graph_.ops.size(); ++i) {
      std::size_t from = i;
      for (std::size_t p : before_[i]) {
        if (!continued[p] && (from == i || p > from)) from = p;
      }
      chain_[i] = from == i ? chains++ : chain_[from];
      if (from != i) continued[from] = true;
    }
  }

  bool ordered(std::size_t first, std::size_t then) const {
    if (chain_[first] == chain_[then]) return true;
    std::vector<std::size_t> stack{then};
    std::unordered_set<std::size_t> seen{then};
    while (!stack.empty()) {
      const std::size_t at = stack.back();
      stack.pop_back();
      for (std::size_t p : before_[at]) {
        if (p == first || (p > first && chain_[p] == chain_[first])) return true;
        if (p > first && seen.insert(p).second) stack.push_back(p);
      }
    }
    return false;
  }

  // --- who reaches what
  std::vector<TensorId> operands(OpId o) const {
    const auto given = b_.operand_tensors(o);
    if (!given.empty() || m_.op(o).implicit) return {given.begin(), given.end()};
    std::vector<TensorId> all;
    for (ValueId v : m_.operands(o)) {
      if (const auto t = b_.tensor_of(v)) all.push_back(*t);
    }
    return all;
  }

  const std::vector<Region>& regions(TensorId t) {
    const auto it = regions_.find(t);
    if (it != regions_.end()) return it->second;
    std::vector<Region> all;
    const Builder::Tensor& tensor = b_.tensor(t);
    if (tensor.bases.empty()) {
      Box whole;
      for (std::int64_t d : b_.type_of(t).shape) whole.ranges.emplace_back(0, d);
      all.push_back({t, whole});
    }
    for (TensorId base : tensor.bases) {
      for (Region r : std::vector<Region>(regions(base))) {
        if (tensor.view.valid()) narrow(r, tensor, base);
        all.push_back(std::move(r));
      }
    }
    return regions_[t] = std::move(all);
  }

  // A slice of an exact box is a box; any other view is as large as its base, and no box of its own.
  void narrow(Region& r, const Builder::Tensor& view, TensorId base) const {
    const OpId op = m_.value(view.first_value).producer;
    const Attributes& a = m_.attributes(op);
    if (!r.box.exact || m_.row(op).view_form != ViewForm::box) {
      r.box.exact = false;
      return;
    }
    const Ints &axes = a.ints("axis"), &start = a.ints("start"), &stop = a.ints("stop"), &step = a.ints("step");
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const auto axis = static_cast<std::size_t>(axes[i]);
      if (step[i] != 1) {
        r.box.exact = false;
        continue;
      }
      const std::int64_t extent = b_.type_of(base).shape[axis];
      const auto clip = [&](std::int64_t v) { return std::clamp<std::int64_t>(v < 0 ? v + extent : v, 0, extent); };
      auto& [low, high] = r.box.ranges[axis];
      const std::int64_t from = low;
      low = from + clip(start[i]);
      high = std::max(low, from + clip(stop[i]));
    }
  }

  void collect(std::size_t position) {
    const OpId o = graph_.ops[position];
    if (m_.op(o).implicit || (m_.op(o).in_place && m_.row(o).view != View::none)) return;
    std::unordered_set<std::size_t> modified;
    for (const NewVersion& n : new_versions(m_, o)) modified.insert(n.operand);
    const std::vector<TensorId> given = operands(o);
    for (std::size_t i = 0; i < given.size(); ++i) {
      for (const Region& r : regions(given[i])) {
        if (!accesses_.contains(r.root)) roots_.push_back(r.root);
        accesses_[r.root].push_back({position, r.box, modified.contains(i), given[i]});
      }
    }
  }

  void check(const std::vector<TensorAccess>& accesses, std::vector<Ambiguity>& found) const {
    if (std::none_of(accesses.begin(), accesses.end(), [](const TensorAccess& a) { return a.modifies; })) return;
    const bool whole =
        std::all_of(accesses.begin(), accesses.end(), [&](const TensorAccess& a) { return a.box.ranges == accesses[0].box.ranges; });
    for (std::size_t i = 0; i < accesses.size(); ++i) {
      for (std::size_t j = i; j-- > 0;) {
        if (accesses[j].position == accesses[i].position) continue;
        if (accesses[i].modifies || accesses[j].modifies) compare(accesses[j], accesses[i], found);
        // What lies before a modification of the whole is ordered before it, or has been reported there.
        if (whole && accesses[j].modifies) break;
      }
    }
  }

  void compare(const TensorAccess& first, const TensorAccess& then, std::vector<Ambiguity>& found) const {
    const OpId a = graph_.ops[first.position], b = graph_.ops[then.position];
    if (m_.op(a).context != m_.op(b).context || !overlap(first.box, then.box) || ordered(first.position, then.position)) return;
    // Public programs call one optimiser graph after the other on a weight: calls keep the list's order among themselves.
    if (!m_.graphs(a).empty() && !m_.graphs(b).empty()) return;
    found.push_back(then.modifies ? Ambiguity{b, a, then.tensor} : Ambiguity{a, b, first.tensor});
  }

  const Builder& b_;
  const Module& m_;
  const Graph& graph_;
  std::unordered_map<OpId, std::size_t> position_;
  std::vector<std::vector<std::size_t>> before_;
  std::vector<std::size_t> chain_;
  std::unordered_map<TensorId, std::vector<Region>> regions_;
  std::unordered_map<TensorId, std::vector<TensorAccess>> accesses_;
  std::vector<TensorId> roots_;
};

}  // namespace

std::vector<Ambiguity> ambiguities(const Builder& builder) {
  std::vector<Ambiguity> found;
  for (std::size_t g = 0; g < builder.module().graph_count(); ++g) GraphCheck(builder, GraphId(static_cast<GraphId::rep>(g))).run(found);
  return found;
}

void reject_ambiguity(const Builder& builder) {
  const std::vector<Ambiguity> all = ambiguities(builder);
  if (all.empty()) return;
  const Module& m = builder.module();
  const auto text = [&](OpId o) {
    const std::string where = m.location_text(o);
    return fmt::format("{}{} '{}'{}", m.row(o).name, m.op(o).in_place ? "_" : "", m.name_of(o), where.empty() ? "" : " (" + where + ")");
  };
  const Ambiguity& a = all.front();
  throw_model_error(
      ErrorClass::popart, "inplace-ambiguity",
      fmt::format(
          "Inplacing ambiguity detected. {} modifies '{}', and nothing says whether {} comes before or after it ({} such pairs in all); "
          "put both in one `with popxl.in_sequence()`",
          text(a.modifies), builder.id_of(a.tensor), text(a.other), all.size()),
      m.location_text(a.modifies));
}

}  // namespace pando::transform
