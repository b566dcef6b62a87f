#include "facade/engine/tensor_watch.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/text/similar_names.h"
#include "base/values/element_text.h"
#include "tile/step.h"

namespace pando::facade {

namespace {

constexpr std::string_view kHandle = "pando.watch/";

// "a/b/w" has the names "w", "b/w" and "a/b/w".
bool is_named(std::string_view variable, std::string_view wanted) {
  return variable == wanted ||
         (variable.size() > wanted.size() && variable.ends_with(wanted) && variable[variable.size() - wanted.size() - 1] == '/');
}

// Of "pando.watch/12/a/b/w": the variable's name.
std::string_view variable_of(std::string_view handle) {
  handle.remove_prefix(kHandle.size());
  return handle.substr(handle.find('/') + 1);
}

bool has_nan(ElementType type) { return type == ElementType::float_ || type == ElementType::half; }

bool is_nan(ElementType type, const char* element) {
  if (type == ElementType::half) {
    std::uint16_t code = 0;
    std::memcpy(&code, element, sizeof code);
    return (code & 0x7fffu) > 0x7c00u;
  }
  std::uint32_t code = 0;
  std::memcpy(&code, element, sizeof code);
  return type == ElementType::float_ && (code & 0x7fffffffu) > 0x7f800000u;
}

bool lies_in(const tile::Operand& o, std::uint64_t width, TileId tile, std::uint64_t offset) {
  return o.count > 0 && o.tile == tile && offset >= o.offset && offset < o.offset + o.count * width;
}

// Of the run of a move that writes a byte: where it comes from.
bool writes(const tile::Move& m, TileId tile, std::uint64_t offset, std::uint64_t& source) {
  if (m.destination_tile != tile) return false;
  for (std::uint32_t i = 0; i < m.count; ++i) {
    const std::uint64_t to = m.destination + static_cast<std::uint64_t>(static_cast<std::int64_t>(i) * m.destination_step);
    if (offset < to || offset >= to + m.bytes) continue;
    source = m.source + static_cast<std::uint64_t>(static_cast<std::int64_t>(i) * m.source_step) + (offset - to);
    return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> parse_watch(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    std::string name = text.substr(begin, end - begin);
    name.erase(0, std::min(name.find_first_not_of(' '), name.size()));
    name.erase(name.find_last_not_of(' ') + 1);
    if (name.empty())
      fail(ErrorKind::invalid_option, "option-value",
           "option 'pando.watch' has the value '{}': a name is empty; expected names of tensors, with commas between", text);
    out.push_back(std::move(name));
    begin = end + 1;
  }
  return out;
}

WatchedVariables::WatchedVariables(graph::Graph& graph, const WatchSettings& settings)
    : graph_(graph), handles_(graph.host_handles().size()) {
  const auto& variables = graph.variables();
  for (const std::string& wanted : settings.tensors) {
    bool found = false;
    for (std::uint32_t i = 0; i < variables.size(); ++i) {
      const graph::Variable& v = variables[VariableId(i)];
      if (v.constant || v.elements == 0 || !is_named(v.name, wanted) || !v.mapping.complete(v.elements)) continue;
      found = true;
      graph_.add_host_handle(fmt::format("{}{}/{}", kHandle, i, v.name), graph::View::of_variable(VariableId(i), v.type, v.shape), true,
                             false);
    }
    if (found) continue;
    graph_.drop_host_handles(handles_);
    std::vector<std::string> names;
    for (const graph::Variable& v : variables)
      if (!v.constant && !v.name.empty()) names.push_back(v.name);
    std::string near;
    for (const std::string& name : similar_names(wanted, names)) near += (near.empty() ? "; did you mean '" : "', '") + name;
    fail(ErrorKind::invalid_option, "option-value",
         "option 'pando.watch' names '{}': the graph has no variable of that name that is mapped to tiles{}", wanted,
         near.empty() ? near : near + "'?");
  }
}

WatchedVariables::~WatchedVariables() { graph_.drop_host_handles(handles_); }

TensorWatch::TensorWatch(const tile::Program& program, const Library& library, const WatchSettings& settings, Memory memory)
    : program_(program),
      library_(library),
      settings_(settings),
      memory_(std::move(memory)),
      parts_(program.streams.size()),
      steps_(program.streams.size(), std::vector<std::uint64_t>(program.replication)) {
  std::vector<std::uint32_t> stream_of_tile(program.machine.tiles());
  for (std::uint32_t s = 0; s < program.streams.size(); ++s)
    for (const TileId t : program.streams[s].tiles) stream_of_tile[t.index()] = s;
  for (const std::string& wanted : settings.tensors) {
    bool found = false;
    for (const tile::HandleInfo& h : program.handles) {
      if (!h.name.starts_with(kHandle) || !is_named(variable_of(h.name), wanted)) continue;
      add(h, stream_of_tile);
      found = true;
    }
    if (!found)
      fail(ErrorKind::invalid_option, "option-value",
           "option 'pando.watch' names '{}', and the executable was compiled without it: compile the graph with the option", wanted);
  }
}

void TensorWatch::add(const tile::HandleInfo& handle, const std::vector<std::uint32_t>& stream_of_tile) {
  const tile::Transfer& t = program_.transfers[handle.read.index()];
  const std::string name(variable_of(handle.name));
  if (settings_.only_nan && !has_nan(t.type))
    fail(ErrorKind::invalid_option, "option-value", "option 'pando.watchNaN' is true, and '{}' is of type {}, which has no NaN", name,
         name_of(t.type));
  std::vector<Part*> of_stream(parts_.size());
  for (const tile::Move& m : t.moves) {
    const std::uint32_t s = stream_of_tile[m.source_tile.index()];
    if (std::none_of(parts_[s].begin(), parts_[s].end(), [&](const Part& p) { return p.name == handle.name; }))
      parts_[s].push_back({handle.name, t.type, {}, {}, {}});
    Part& part = parts_[s].back();
    for (std::uint32_t i = 0; i < m.count; ++i)
      part.pieces.push_back({m.source_tile, m.source + static_cast<std::uint64_t>(static_cast<std::int64_t>(i) * m.source_step), m.bytes,
                             m.destination + static_cast<std::uint64_t>(static_cast<std::int64_t>(i) * m.destination_step)});
  }
}

void TensorWatch::on_begin(unsigned program) {
  index_ = program;
  for (auto& steps : steps_) steps.assign(steps.size(), 0);
  for (std::vector<Part>& parts : parts_)
    for (Part& part : parts) {
      part.held.assign(program_.replication, {});
      part.changes.assign(program_.replication, 0);
      for (unsigned r = 0; r < program_.replication; ++r)
        for (const WatchedPiece& p : part.pieces) part.held[r].append(memory_(r, p.tile) + p.offset, p.bytes);
    }
  if (next_) next_->on_begin(program);
}

void TensorWatch::on_step(const tile::StepEvent& event) {
  if (next_) next_->on_step(event);
  ++steps_[event.stream.index()][event.replica.index()];
  for (Part& part : parts_[event.stream.index()]) look(part, event);
}

void TensorWatch::look(Part& part, const tile::StepEvent& event) {
  const unsigned replica = event.replica.value;
  const std::uint64_t width = size_of(part.type);
  char* held = part.held[replica].data();
  bool changed = false;
  for (const WatchedPiece& p : part.pieces) {
    const char* const now = memory_(replica, p.tile) + p.offset;
    if (std::memcmp(held, now, p.bytes) != 0) {
      for (std::uint64_t at = 0; at < p.bytes; at += width) {
        if (std::memcmp(held + at, now + at, width) == 0 || (settings_.only_nan && !is_nan(part.type, now + at))) continue;
        if (part.changes[replica] >= settings_.skip) stop(part, p, (p.in_tensor + at) / width, held + at, now + at, event);
        changed = true;
      }
      std::memcpy(held, now, p.bytes);
    }
    held += p.bytes;
  }
  if (changed) ++part.changes[replica];
}

void TensorWatch::stop(const Part& part, const WatchedPiece& piece, std::uint64_t element, const char* before, const char* now,
                       const tile::StepEvent& event) const {
  const tile::Stream& stream = program_.streams[event.stream.index()];
  const std::uint64_t offset = piece.offset + element * size_of(part.type) - piece.in_tensor;
  fail(ErrorKind::application_runtime_error, "watched-tensor",
       "element {} of '{}' on {}tile {} changed from {} to {}: {}; it was step {} of stream '{}' in program {}", element,
       variable_of(part.name), program_.replication > 1 ? fmt::format("replica {}, ", event.replica.value) : std::string(),
       piece.tile.value, element_text(part.type, before), element_text(part.type, now),
       writer(stream.code[event.instruction], piece.tile, offset), steps_[event.stream.index()][event.replica.index()], stream.name,
       index_);
}

std::string TensorWatch::writer(const tile::Instruction& in, TileId tile, std::uint64_t offset) const {
  switch (tile::row_of(in.op).work) {
    case tile::Work::compute: return writer_in(in.a, tile, offset);
    case tile::Work::exchange:
    case tile::Work::cross_replica: return mover(program_.exchanges[in.a], in.a, tile, offset);
    case tile::Work::transfer: {
      const tile::Transfer& t = program_.transfers[in.a];
      const bool remote = t.kind == tile::Transfer::Kind::remote;
      return fmt::format("{} '{}' wrote it", remote ? "remote buffer" : "stream",
                         remote ? program_.remote_buffers[t.index].handle : program_.fifos[t.index].handle);
    }
    case tile::Work::host_call: return "a host function wrote it";
    default:
      return fmt::format("the step '{}' wrote it",
                         in.name.valid() ? program_.names[in.name.index()] : std::string(tile::row_of(in.op).name));
  }
}

std::string TensorWatch::writer_in(std::uint32_t id, TileId tile, std::uint64_t offset) const {
  const tile::ComputeStep& step = program_.computes[id];
  const std::string where = fmt::format("compute set '{}' (step c{})", program_.names[step.name.index()], id);
  std::string present;
  std::size_t n = 0;
  for (const tile::VertexGroup& g : step.groups) {
    const Codelet& codelet = library_[g.codelet];
    const auto* begin = program_.vertices.data() + g.first;
    tile::VertexInstance wanted;
    wanted.tile = tile;
    const auto [from, to] = std::equal_range(begin, begin + g.count, wanted, [](const auto& a, const auto& b) { return a.tile < b.tile; });
    for (const auto* v = from; v != to; ++v) {
      std::size_t at = v->operands;
      for (const Field& f : codelet.fields) {
        if (!f.is_edge()) continue;
        const std::size_t rows = f.has_rows() ? program_.operands[at++].count : 1;
        for (const std::size_t end = at + rows; at < end; ++at)
          if (f.is_written() && lies_in(program_.operands[at], size_of(f.type), tile, offset))
            return fmt::format("field '{}' of vertex {} ({}) in {} wrote it", f.name, v->vertex.value, codelet.name, where);
      }
      if (n++ < 5) present += fmt::format("{}{} ({})", n > 1 ? ", " : "", v->vertex.value, codelet.name);
    }
  }
  return fmt::format("no vertex of {} has it as an output, so one wrote beyond its fields (pando.checked names it); on the tile ran {}{}",
                     where, n == 0 ? "no vertex" : "vertex " + present, n > 5 ? fmt::format(" and {} more", n - 5) : std::string());
}

std::string TensorWatch::mover(const tile::Exchange& exchange, std::uint32_t id, TileId tile, std::uint64_t offset) const {
  const std::string where = fmt::format("exchange '{}' (step x{})", program_.names[exchange.name.index()], id);
  std::uint64_t source = 0;
  for (const auto* list : {&exchange.receive, &exchange.arrange})
    for (const tile::Move& m : *list) {
      if (!writes(m, tile, offset, source)) continue;
      std::string of;
      for (const tile::Allocation& a : program_.allocations)
        if (a.tile == m.source_tile && source >= a.offset && source < a.offset + a.size && a.category == tile::Category::variable &&
            of.empty())
          of = fmt::format(" ('{}')", program_.names[a.name.index()]);
      return fmt::format("{} copied it from tile {}{}", where, m.source_tile.value, of);
    }
  return fmt::format("{} wrote it", where);
}

}  // namespace pando::facade
