#include "graph/text/print_parts.h"

#include <fmt/format.h>

#include <iterator>

#include "base/values/element_text.h"

namespace pando::graph {

namespace {

constexpr std::uint64_t kMostRuns = 32;    // of one tensor
constexpr std::uint64_t kMostValues = 16;  // of one constant

std::string text_of(const Graph& graph, const Run& run) {
  const std::uint64_t v = run.variable.value, elements = graph.variables()[run.variable].elements;
  if (run.count == 1 || run.stride == 0) {
    const std::string element = elements == 1 ? fmt::format("v{}", v) : fmt::format("v{}[{}]", v, run.offset);
    return run.count == 1 ? element : fmt::format("{}*{}", element, run.count);
  }
  if (run.stride != 1) return fmt::format("v{}[{} by {} x {}]", v, run.offset, run.stride, run.count);
  if (run.count == elements) return fmt::format("v{}", v);
  return fmt::format("v{}[{},{})", v, run.offset, run.offset + run.count);
}

}  // namespace

std::string quoted(std::string_view text) {
  std::string out = "'";
  for (char c : text) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string text_of_row(const Graph& graph, const View& view) {
  if (!view.valid()) return "unconnected";
  std::string text;
  std::uint64_t runs = 0;
  view.for_each_run([&](const Run& run) {
    if (++runs <= kMostRuns) text += (runs > 1 ? " " : "") + text_of(graph, run);
  });
  if (runs == 0) text = "nothing";
  if (runs > kMostRuns) text += fmt::format(" and {} runs more", runs - kMostRuns);
  return text;
}

std::string text_of(const Graph& graph, const View& view) {
  if (!view.valid()) return "nothing";
  std::string text = text_of_row(graph, view);
  Region region;
  Shape natural{view.num_elements()};
  ElementType type = view.type();
  const std::vector<VariableId> ids = view.variables();
  if (!ids.empty()) type = graph.variables()[ids[0]].type;
  if (view.single_region(region) && region.elements.size() == graph.variables()[region.variable].elements)
    natural = graph.variables()[region.variable].shape;
  if (type != view.type()) text += fmt::format(" as {}", name_of(view.type()));
  if (natural != view.shape()) text += " as " + to_string(view.shape());
  return text;
}

std::string text_of_values(std::string_view bytes, ElementType type) {
  const std::size_t size = size_of(type), n = bytes.size() / size;
  std::string text;
  for (std::size_t i = 0; i < n && i < kMostValues; ++i) text += (i ? " " : "") + element_text(type, bytes.data() + i * size);
  if (n > kMostValues) text += fmt::format(" and {} more", n - kMostValues);
  return text;
}

std::string text_of(const TileMap& map, std::uint64_t elements) {
  const std::vector<MappedInterval>& list = map.intervals();
  if (elements == 0) return "nothing";
  if (list.empty()) return "unmapped";
  std::string text;
  std::uint64_t at = 0;
  auto add = [&](std::uint64_t begin, std::uint64_t end, const std::string& where) {
    text += text.empty() ? "" : ", ";
    if (begin != 0 || end != elements) text += fmt::format("[{},{}) ", begin, end);
    text += where;
  };
  for (std::size_t i = 0; i < list.size();) {
    if (list[i].elements.begin > at) add(at, list[i].elements.begin, "unmapped");
    // Consecutive tiles with equally many elements; the last may have fewer.
    const std::uint64_t each = list[i].elements.size();
    std::size_t j = i + 1;
    while (j < list.size() && list[j].tile.value == list[j - 1].tile.value + 1 && list[j].elements.begin == list[j - 1].elements.end &&
           list[j - 1].elements.size() == each && list[j].elements.size() <= each)
      ++j;
    if (j - i < 3) j = i + 1;
    const std::uint64_t begin = list[i].elements.begin;
    at = list[j - 1].elements.end;
    if (j - i == 1)
      add(begin, at, fmt::format("tile {}", list[i].tile.value));
    else
      add(begin, at, fmt::format("tiles {}..{} linear {}", list[i].tile.value, list[j - 1].tile.value, each));
    i = j;
  }
  if (at < elements) add(at, elements, "unmapped");
  return text;
}

}  // namespace pando::graph
