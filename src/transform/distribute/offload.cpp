#include "ir/op_table.h"
#include "transform/distribute/recipe.h"

#include <map>
#include <set>

namespace pando::transform {

namespace {

class Offload {
 public:
  Offload(Recipe& recipe, const Mesh& mesh, ir::Module& out)
      : r_(recipe), mesh_(mesh), out_(out), load_(ir::op_kind("remote_load")), store_(ir::op_kind("remote_store")) {}

  void run() {
    for (std::size_t stage = 0; stage < r_.cells.size(); ++stage) {
      std::vector<Step>& forward = segment(stage, Segment::forward);
      made_.clear();
      for (const Step& s : forward) made_.insert(s.results.begin(), s.results.end());
      rows_.clear();
      for (Segment later : {Segment::backward, Segment::weights}) fetch(segment(stage, later));
      spill(forward);
    }
  }

 private:
  std::vector<Step>& segment(std::size_t stage, Segment s) { return r_.cells[stage][static_cast<std::size_t>(s)]; }

  // Puts a load before the first use of each value that the forward pass has made.
  void fetch(std::vector<Step>& steps) {
    std::map<std::uint32_t, std::uint32_t> here;
    std::vector<Step> out;
    for (Step& s : steps) {
      for (std::uint32_t& x : s.operands) {
        if (!made_.contains(x)) continue;
        const auto [it, added] = here.try_emplace(x, 0u);
        if (added) {
          it->second = copy_of(x);
          out.push_back(row_step(Step::load_row, load_, row_of(x), it->second, row_of(x)));
        }
        x = it->second;
      }
      out.push_back(std::move(s));
    }
    steps = std::move(out);
  }

  std::uint32_t copy_of(std::uint32_t x) {
    Located copy = r_.located[x];
    copy.input = false;
    r_.located.push_back(std::move(copy));
    return static_cast<std::uint32_t>(r_.located.size() - 1);
  }
  std::uint32_t row_of(std::uint32_t x) {
    const auto [it, added] = rows_.try_emplace(x, 0u);
    if (added) {
      it->second = copy_of(x);
      add_buffers(r_.located[it->second], mesh_.sizes[kTime], out_);
    }
    return it->second;
  }
  Step row_step(Step::Kind kind, ir::OpKind op, std::uint32_t from, std::uint32_t to, std::uint32_t row) {
    Step s;
    s.kind = kind;
    s.op = op;
    s.operands = {from};
    s.results = {to};
    for (ir::BufferId b : r_.located[row].buffers) s.attributes.push_back(out_.intern({{"buffer", b}}));
    return s;
  }

  // Stores each behind its last use; what is also sent is stored behind it, too: the send comes when the pass ends.
  void spill(std::vector<Step>& forward) {
    std::map<std::uint32_t, std::size_t> last;
    for (std::size_t i = 0; i < forward.size(); ++i) {
      for (const auto* list : {&forward[i].operands, &forward[i].results}) {
        for (std::uint32_t x : *list) {
          if (rows_.contains(x)) last[x] = i;
        }
      }
    }
    std::vector<Step> out;
    for (std::size_t i = 0; i < forward.size(); ++i) {
      out.push_back(std::move(forward[i]));
      for (const auto& [x, at] : last) {
        if (at == i) out.push_back(row_step(Step::store_row, store_, x, rows_.at(x), rows_.at(x)));
      }
    }
    forward = std::move(out);
  }

  Recipe& r_;
  const Mesh& mesh_;
  ir::Module& out_;
  ir::OpKind load_, store_;
  std::set<std::uint32_t> made_;
  std::map<std::uint32_t, std::uint32_t> rows_;
};

}  // namespace

void offload_activations(Recipe& recipe, const Mesh& mesh, ir::Module& out) { Offload(recipe, mesh, out).run(); }

}  // namespace pando::transform
