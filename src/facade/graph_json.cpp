#include "facade/graph_json.h"

#include <algorithm>

#include "graph/text/print_parts.h"

namespace pando::facade {

namespace {

using Json = nlohmann::ordered_json;

Json json_of(const graph::Variable& v) {
  Json mapping = Json::array();
  for (const graph::MappedInterval& m : v.mapping.intervals()) mapping.push_back({m.tile.value, m.elements.begin, m.elements.end});
  Json out = {{"name", v.name}, {"type", name_of(v.type)}, {"shape", v.shape}, {"constant", v.constant}, {"mapping", mapping}};
  if (!v.initial.empty()) out["values"] = graph::text_of_values(v.initial, v.type);
  return out;
}

Json json_of(const graph::Graph& of, const graph::Vertex& v) {
  const Codelet& codelet = of.library()[v.codelet];
  Json edges = Json::object();
  for (const graph::Edge& e : v.edges) {
    Json rows = Json::array();
    for (const graph::View& row : e.rows) rows.push_back(row.valid() ? Json(text_of_row(of, row)) : Json());
    edges[codelet.fields[e.field].name] = rows;
  }
  return {{"codelet", codelet.name},
          {"computeSet", v.compute_set.value},
          {"tile", v.tile.valid() ? Json(v.tile.value) : Json()},
          {"edges", edges}};
}

// A line for each step, indented by its depth.
Json lines_of(const graph::Graph& of, const graph::ProgramPtr& program) {
  std::string text;
  print_program(of, program, 0, text);
  Json lines = Json::array();
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

Json arguments(const std::vector<std::pair<ElementType, std::uint64_t>>& list) {
  Json out = Json::array();
  for (const auto& [type, elements] : list) out.push_back({{"type", name_of(type)}, {"elements", elements}});
  return out;
}

template <class Items, class Make>
Json list_of(const Items& items, Make make) {
  Json out = Json::array();
  for (const auto& item : items) out.push_back(make(item));
  return out;
}

}  // namespace

nlohmann::ordered_json json_of(const graph::Graph& of, std::span<const graph::ProgramPtr> programs) {
  const Machine& m = of.machine();
  Json out = {{"target", {{"name", m.name}, {"ipus", m.ipus}, {"tilesPerIpu", m.tiles_per_ipu}}},
              {"replicationFactor", of.replication_factor()}};
  out["variables"] = list_of(of.variables(), [](const graph::Variable& v) { return json_of(v); });
  out["computeSets"] = list_of(of.compute_sets(), [](const graph::ComputeSet& cs) {
    return Json{{"name", cs.name}, {"vertices", list_of(cs.vertices, [](VertexId v) { return Json(v.value); })}};
  });
  out["vertices"] = list_of(of.vertices(), [&](const graph::Vertex& v) { return json_of(of, v); });
  out["streams"] = list_of(of.fifos(), [](const graph::Fifo& f) {
    return Json{{"handle", f.handle}, {"toDevice", f.to_device}, {"type", name_of(f.type)}, {"elements", f.elements}};
  });
  out["remoteBuffers"] = list_of(of.remote_buffers(), [](const graph::RemoteBuffer& b) {
    return Json{{"handle", b.handle}, {"type", name_of(b.type)}, {"elements", b.elements}, {"rows", b.repeats}};
  });
  out["hostFunctions"] = list_of(of.host_functions(), [](const graph::HostFunction& f) {
    return Json{{"handle", f.handle}, {"inputs", arguments(f.inputs)}, {"outputs", arguments(f.outputs)}};
  });
  out["hostHandles"] = list_of(of.host_handles(), [&](const graph::HostHandle& h) {
    return Json{{"name", h.name}, {"read", h.readable}, {"write", h.writable}, {"tensor", text_of(of, h.tensor)}};
  });
  out["functions"] = list_of(of.functions(), [&](const graph::Function& f) {
    return Json{{"name", f.name}, {"inStreamingMemory", f.in_streaming_memory}, {"steps", lines_of(of, f.body)}};
  });
  out["programs"] = list_of(programs, [&](const graph::ProgramPtr& p) { return lines_of(of, p); });
  return out;
}

}  // namespace pando::facade
