#include "tile/text.h"

#include <fmt/format.h>

#include <cstring>

#include "base/values/element_text.h"

namespace pando::tile {

std::string text_of(TileId tile, std::uint64_t offset) {
  if (!tile.valid()) return fmt::format("host@{}", offset);
  return fmt::format("t{}@{:#x}", tile.value, offset);
}

std::string text_of(const Location& l) { return text_of(l.tile, l.offset); }

std::string text_of(const Move& m) {
  std::string text =
      fmt::format("{} -> {} {} bytes", text_of(m.source_tile, m.source), text_of(m.destination_tile, m.destination), m.bytes);
  if (m.count != 1) text += fmt::format(" x {}, step {} -> {}", m.count, m.source_step, m.destination_step);
  return text;
}

std::string text_of(const std::vector<TileId>& tiles) {
  std::string text;
  for (std::size_t i = 0; i < tiles.size();) {
    std::size_t j = i + 1;
    while (j < tiles.size() && tiles[j].value == tiles[j - 1].value + 1) ++j;
    if (!text.empty()) text += ' ';
    text += j - i == 1 ? fmt::format("{}", tiles[i].value) : fmt::format("{}..{}", tiles[i].value, tiles[j - 1].value);
    i = j;
  }
  return text.empty() ? "none" : text;
}

std::string quoted(const Program& program, NameId name) {
  if (!name.valid() || program.names[name.index()].empty()) return "";
  return fmt::format(" \"{}\"", program.names[name.index()]);
}

namespace {

template <class T>
T load(const char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

std::string text_of_operand(const Operand& o) { return fmt::format("{}[{}]", text_of(o.tile, o.offset), o.count); }

std::string text_of_edge(const Program& program, const Field& field, std::uint32_t& operand) {
  const bool rows = field.has_rows();
  if (!rows) return text_of_operand(program.operands[operand++]);
  const std::uint32_t count = program.operands[operand++].count;
  std::string text = "{";
  for (std::uint32_t r = 0; r < count; ++r) text += (r ? ", " : "") + text_of_operand(program.operands[operand++]);
  return text + "}";
}

std::string text_of_state(const Program& program, const Field& field, std::uint32_t& at) {
  const std::size_t size = size_of(field.type);
  const auto next = [&] {
    at += static_cast<std::uint32_t>(size);
    return element_text(field.type, program.state.data() + at - size);
  };
  if (field.shape == FieldShape::scalar) return next();
  const auto count = load<std::uint32_t>(program.state.data() + at);
  at += 4;
  std::string text = "[";
  for (std::uint32_t i = 0; i < count; ++i) text += (i ? " " : "") + next();
  return text + "]";
}

}  // namespace

std::string text_of(const Program& program, const Codelet& codelet, const VertexInstance& vertex) {
  std::string text = fmt::format("{} v{}", codelet.name, vertex.vertex.value);
  std::uint32_t operand = vertex.operands, state = vertex.state;
  for (const Field& field : codelet.fields)
    text +=
        fmt::format(" {} = {}", field.name, field.is_edge() ? text_of_edge(program, field, operand) : text_of_state(program, field, state));
  if (vertex.cycles != kUnestimated)
    text += fmt::format(" ({} cycles)", vertex.cycles);
  else
    text += codelet.counting == CountedBy::nothing ? " (unestimated)" : " (counted)";
  return text;
}

std::string text_of(const LiveRange& range) {
  std::string text;
  for (const auto& [begin, end] : range) text += fmt::format("{}[{}, {})", text.empty() ? "" : " ", begin, end);
  return text.empty() ? "never" : text;
}

std::uint64_t total_bytes(const std::vector<Move>& moves) {
  std::uint64_t n = 0;
  for (const Move& m : moves) n += std::uint64_t{m.bytes} * m.count;
  return n;
}

}  // namespace pando::tile
