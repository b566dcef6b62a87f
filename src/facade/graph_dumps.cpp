// Graph: Graphviz pictures, texts, serialised tensors.
#include "poplar/Graph.hpp"

#include <iterator>

#include "base/archive.h"
#include "facade/graph_json.h"
#include "facade/state/state.h"

namespace poplar {

using pando::ErrorKind;
using pando::fail;
using pando::facade::Access;
using pando::graph::View;

namespace g = pando::graph;

namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

// Calls `f` for the compute sets that a program executes, in program order; functions where they are called.
class ComputeSetWalk {
 public:
  ComputeSetWalk(const g::Graph& graph, std::vector<pando::ComputeSetId>& out) : graph_(graph), out_(out) {}

  void walk(const g::ProgramPtr& p) {
    if (p) std::visit([&](const auto& body) { visit(body); }, p->body);
  }

 private:
  void visit(const g::Execute& e) { out_.push_back(e.compute_set); }
  void visit(const g::Sequence& s) {
    for (const g::ProgramPtr& step : s.steps) walk(step);
  }
  void visit(const g::Repeat& r) { walk(r.body); }
  void visit(const g::RepeatWhile& r) {
    walk(r.condition);
    walk(r.body);
  }
  void visit(const g::If& i) {
    walk(i.then_body);
    walk(i.else_body);
  }
  void visit(const g::Switch& s) {
    for (const auto& c : s.cases) walk(c.second);
    walk(s.default_body);
  }
  void visit(const g::Call& c) {
    if (depth_ > graph_.functions().size()) return;  // recursion: an Engine will reject it
    ++depth_;
    if (c.function.index() < graph_.functions().size()) walk(graph_.functions()[c.function].body);
    --depth_;
  }
  template <class Body>
  void visit(const Body&) {}

  const g::Graph& graph_;
  std::vector<pando::ComputeSetId>& out_;
  std::size_t depth_ = 0;
};

// What a tensor needs so that another graph can make one like it.
struct TensorRecord {
  pando::ElementType type = pando::ElementType::float_;
  std::vector<std::uint64_t> shape;
  std::string name;
  std::vector<std::uint64_t> mapping;  // triples: tile, begin, end
};

template <class A, class R>
void tensor_members(A& a, R& r) {
  a(r.type, r.shape, r.name, r.mapping);
}

constexpr std::uint64_t kTensorsMagic = 0x31534e54504f50;  // "POPTNS1"

}  // namespace

void Graph::outputVertexGraph(std::ostream& out, ArrayRef<program::Program>) const {
  const g::Graph& graph = Access::shared(*this).graph;
  out << "digraph vertices {\n";
  for (std::uint32_t i = 0; i < graph.variables().size(); ++i)
    out << "  variable" << i << " [shape=box, label=" << quoted(graph.variables()[pando::VariableId(i)].name) << "];\n";
  for (std::uint32_t i = 0; i < graph.vertices().size(); ++i) {
    const g::Vertex& v = graph.vertices()[pando::VertexId(i)];
    const pando::Codelet& codelet = graph.library()[v.codelet];
    out << "  vertex" << i << " [label=" << quoted(codelet.name) << "];\n";
    for (const g::Edge& e : v.edges) {
      const pando::Field& field = codelet.fields[e.field];
      std::set<std::uint32_t> variables;
      for (const View& row : e.rows)
        for (const pando::VariableId id : row.variables()) variables.insert(id.value);
      for (const std::uint32_t id : variables) {
        if (field.is_read()) out << "  variable" << id << " -> vertex" << i << " [label=" << quoted(field.name) << "];\n";
        if (field.is_written()) out << "  vertex" << i << " -> variable" << id << " [label=" << quoted(field.name) << "];\n";
      }
    }
  }
  out << "}\n";
}

void Graph::outputComputeGraph(std::ostream& out, ArrayRef<program::Program> programs) const {
  const g::Graph& graph = Access::shared(*this).graph;
  std::vector<pando::ComputeSetId> order;
  for (const g::ProgramPtr& p : Access::nodes(*this, programs)) ComputeSetWalk(graph, order).walk(p);
  out << "digraph compute {\n";
  for (std::size_t i = 0; i < order.size(); ++i) {
    const g::ComputeSet& cs = graph.compute_sets()[order[i]];
    out << "  step" << i << " [label=" << quoted(fmt::format("{} ({} vertices)", cs.name, cs.vertices.size())) << "];\n";
    if (i > 0) out << "  step" << i - 1 << " -> step" << i << ";\n";
  }
  out << "}\n";
}

void Graph::serialize(std::ostream& out) const { out << print(Access::shared(*this).graph, {}); }

void Graph::serialize(std::ostream& out, SerializationFormat format) const { serialize(out, {}, format); }

void Graph::serialize(std::ostream& out, ArrayRef<program::Program> progs, SerializationFormat format) const {
  const std::vector<g::ProgramPtr> programs = Access::nodes(*this, progs);
  const nlohmann::ordered_json graph = pando::facade::json_of(Access::shared(*this).graph, programs);
  if (format == SerializationFormat::JSON) {
    out << graph.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
    return;
  }
  const std::vector<std::uint8_t> bytes = nlohmann::ordered_json::to_cbor(graph);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

void Graph::serializeTensors(std::ostream& out, ArrayRef<Tensor> tensors, SerializationFormat) const {
  pando::ArchiveWriter w;
  w(kTensorsMagic, static_cast<std::uint64_t>(tensors.size()));
  for (const Tensor& t : tensors) {
    TensorRecord r;
    r.type = Access::view(*this, t, "a tensor of serializeTensors").type();
    for (const std::size_t d : t.shape()) r.shape.push_back(d);
    r.name = t.getVarStr();
    const TileToTensorMapping mapping = getTileMapping(t, nullptr);
    for (std::size_t tile = 0; tile < mapping.size(); ++tile)
      for (const Interval& i : mapping[tile]) r.mapping.insert(r.mapping.end(), {tile, i.begin(), i.end()});
    tensor_members(w, r);
  }
  out.write(w.bytes().data(), static_cast<std::streamsize>(w.bytes().size()));
}

std::vector<Tensor> Graph::deserializeTensors(std::istream& in, SerializationFormat) {
  const std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  pando::ArchiveReader reader(bytes);
  std::uint64_t magic = 0, count = 0;
  reader(magic, count);
  if (!reader.ok() || magic != kTensorsMagic)
    fail(ErrorKind::graph_object_load_error, "tensors-data", "these bytes are no serialised tensors");
  std::vector<Tensor> tensors;
  for (std::uint64_t i = 0; i < count; ++i) {
    TensorRecord r;
    tensor_members(reader, r);
    if (!reader.ok() || r.mapping.size() % 3 != 0 || static_cast<std::size_t>(r.type) >= pando::kElementTypes)
      fail(ErrorKind::graph_object_load_error, "tensors-data", "serialised tensor {} of {} is damaged", i, count);
    TileToTensorMapping mapping;
    for (std::size_t k = 0; k < r.mapping.size(); k += 3) {
      if (r.mapping[k] >= getTarget().getNumTiles())
        fail(ErrorKind::invalid_tile_mapping, "tile-range", "deserializeTensors: there is no tile {}; there are {}", r.mapping[k],
             getTarget().getNumTiles());
      if (r.mapping[k + 1] > r.mapping[k + 2])
        fail(ErrorKind::graph_object_load_error, "tensors-data", "serialised tensor {} of {} is damaged: elements [{}, {})", i, count,
             r.mapping[k + 1], r.mapping[k + 2]);
      if (mapping.size() <= r.mapping[k]) mapping.resize(r.mapping[k] + 1);
      mapping[r.mapping[k]].emplace_back(r.mapping[k + 1], r.mapping[k + 2]);
    }
    Tensor t = addVariable(Access::type(r.type), std::vector<std::size_t>(r.shape.begin(), r.shape.end()), r.name);
    setTileMapping(t, mapping);
    tensors.push_back(std::move(t));
  }
  return tensors;
}

}  // namespace poplar
