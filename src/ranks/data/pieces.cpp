#include "ranks/data/pieces.h"

#include "ir/reject_at.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

namespace pando::ranks {

using namespace ir;

namespace {

using Entries = std::vector<transform::PieceTable::Entry>;
using Shapes = std::map<std::string, Shape>;

// Where the pieces of each whole end; all of them together.
void check_ends(const transform::PieceTable& pieces, const Shapes& ends, const std::string& file) {
  for (const auto& [whole, end] : ends) {
    const Shape& all = pieces.shape_of(whole);
    if (end != all)
      reject_at(ErrorClass::value, "pieces", {file}, "'{}' is a tensor of shape {}; its pieces end at {}", whole, to_string(all),
                to_string(end));
  }
}

void check_list(const transform::PieceTable& pieces, const Entries& entries, const Shapes& parts, std::string_view what,
                const std::string& file) {
  Shapes ends;
  for (const auto& e : entries) {
    const auto part = parts.find(e.part);
    if (part == parts.end())
      reject_at(ErrorClass::value, "pieces", {file}, "'{}' is {} of another program: this one has none of that name", e.part, what);
    try {
      const Shape box = box_of(pieces.shape_of(e.whole), e.start, part->second, e.part);
      Shape& end = ends.try_emplace(e.whole, box.size()).first->second;
      for (std::size_t d = 0; d < box.size(); ++d) end[d] = std::max(end[d], e.start[d] + box[d]);
    } catch (const ModelError& error) { reject_at(ErrorClass::value, "pieces", {file}, "{}", without_id(error.what())); }
  }
  check_ends(pieces, ends, file);
}

}  // namespace

Shape box_of(const Shape& all, const Shape& start, const Shape& shape, const std::string& name) {
  Shape box(start.size() - std::min(start.size(), shape.size()), 1);
  box.insert(box.end(), shape.begin(), shape.end());
  bool inside = start.size() == box.size() && all.size() == box.size();
  // Without sums, which may be greater than any number.
  for (std::size_t d = 0; inside && d < box.size(); ++d) inside = start[d] >= 0 && box[d] <= all[d] && start[d] <= all[d] - box[d];
  if (!inside)
    reject(ErrorClass::value, "pieces", "'{}' of shape {} at {} is not a piece of a tensor of shape {}", name, to_string(shape),
           to_string(start), to_string(all));
  return box;
}

void check_pieces(const transform::PieceTable& pieces, const Module& m, const std::string& file) {
  Shapes variables, streams, outputs;
  for (std::size_t i = 0; i < m.state_count(); ++i) {
    const State& s = m.state(StateId(static_cast<StateId::rep>(i)));
    variables[s.name] = m.type(s.type).shape;
  }
  for (std::size_t i = 0; i < m.stream_count(); ++i) {
    const HostStream& s = m.stream(HostStreamId(static_cast<HostStreamId::rep>(i)));
    (s.direction == HostStream::Direction::host_to_device ? streams : outputs)[s.name] = s.shape;
  }
  for (ValueId v : m.graph(m.main_graph()).outputs) outputs[m.name_of(v)] = m.type_of(v).shape;
  check_list(pieces, pieces.variables, variables, "a variable", file);
  check_list(pieces, pieces.streams, streams, "a stream", file);
  check_list(pieces, pieces.outputs, outputs, "an output", file);
}

}  // namespace pando::ranks
