#include "ranks/timeline/phases.h"

#include "ir/op_row.h"

#include <set>

namespace pando::ranks {

using namespace ir;

namespace {

class Phases {
 public:
  explicit Phases(const split::Program& program) : program_(program), backward_(program.parts.size()) {
    for (std::size_t p = 0; p < program.parts.size(); ++p) {
      backward_[p].resize(program.parts[p].module.value_count());
      for (const split::ChannelEnd& end : program.parts[p].channels) ends_[{p, end.stream.index()}] = end.channel;
    }
  }

  // Messages carry it from device to device, so once more as long as one has changed.
  void find() {
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t p = 0; p < program_.parts.size(); ++p) changed |= walk(p);
    }
  }

  std::map<std::string, std::string> names(std::size_t p, bool trains) const {
    const Module& m = program_.parts[p].module;
    std::map<std::string, std::string> out;
    const std::set<ValueId> updates = updates_of(p);
    for (std::size_t i = 0; i < m.value_count(); ++i) {
      const ValueId v(static_cast<ValueId::rep>(i));
      const char* phase = !trains ? "compute" : updates.contains(v) ? "update" : backward_[p][i] ? "backward" : "forward";
      out.emplace(m.name_of(v), phase);
    }
    return out;
  }
  bool any() const {
    for (const auto& part : backward_)
      for (const bool b : part)
        if (b) return true;
    return false;
  }

 private:
  // True: a message has become one of the backward pass.
  bool walk(std::size_t p) {
    const Module& m = program_.parts[p].module;
    bool changed = false;
    for (std::size_t g = 0; g < m.graph_count(); ++g) {
      const Graph& graph = m.graph(GraphId(static_cast<GraphId::rep>(g)));
      const bool gradient = graph.note.starts_with("Gradient");
      for (const OpId o : graph.ops) {
        bool is = gradient || m.row(o).phase == OpPhase::backward;
        for (const ValueId v : m.operands(o)) is = is || backward_[p][v.index()];
        for (const GraphId called : m.graphs(o)) is = is || m.graph(called).note.starts_with("Gradient");
        if (const AttributeValue* a = m.attributes(o).find("stream"); a && std::holds_alternative<HostStreamId>(*a)) {
          const auto end = ends_.find({p, std::get<HostStreamId>(*a).index()});
          if (end != ends_.end() && is) changed |= messages_.insert(end->second).second;
          is = is || (end != ends_.end() && messages_.contains(end->second));
        }
        if (is)
          for (const ValueId v : m.results(o)) backward_[p][v.index()] = true;
      }
    }
    return changed;
  }

  // What variables become, of the backward pass.
  std::set<ValueId> updates_of(std::size_t p) const {
    const Module& m = program_.parts[p].module;
    const Graph& main = m.graph(m.main_graph());
    std::set<ValueId> out;
    for (std::size_t i = 0; i < m.op_count(); ++i) {
      const OpId o(static_cast<OpId::rep>(i));
      if (m.op(o).erased || m.row(o).phase != OpPhase::update) continue;
      out.insert(m.results(o).begin(), m.results(o).end());
    }
    for (std::size_t i = 0; i < main.inputs.size(); ++i)
      if (main.updated_inputs[i] != main.inputs[i] && backward_[p][main.updated_inputs[i].index()]) out.insert(main.updated_inputs[i]);
    return out;
  }

  const split::Program& program_;
  std::vector<std::vector<bool>> backward_;
  std::map<std::pair<std::size_t, std::size_t>, std::uint32_t> ends_;
  std::set<std::uint32_t> messages_;  // channels of the backward pass
};

}  // namespace

std::vector<std::map<std::string, std::string>> phases_of(const split::Program& program) {
  Phases phases(program);
  phases.find();
  const bool trains = phases.any();
  std::vector<std::map<std::string, std::string>> out;
  for (std::size_t p = 0; p < program.parts.size(); ++p) out.push_back(phases.names(p, trains));
  return out;
}

}  // namespace pando::ranks
