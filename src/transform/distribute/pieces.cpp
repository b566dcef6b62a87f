#include "transform/distribute/pieces.h"

#include "ir/error.h"
#include "ir/reject_at.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace pando::transform {

using namespace ir;
using Json = nlohmann::ordered_json;

namespace {

template <class List>
auto* named(List& list, const std::string& part) {
  const auto it = std::find_if(list.begin(), list.end(), [&](const auto& p) { return p.part == part; });
  return it == list.end() ? nullptr : &*it;
}

std::string state_of_input(const Module& m, std::uint32_t input) {
  for (std::size_t s = 0; s < m.state_count(); ++s) {
    const State& state = m.state(StateId(static_cast<StateId::rep>(s)));
    if (state.input == input) return state.name;
  }
  return m.name_of(m.graph(m.main_graph()).inputs[input]);
}

Json json_of(const std::vector<PieceTable::Entry>& pieces, bool loads) {
  Json list = Json::array();
  for (const auto& p : pieces) {
    Json item{{"part", p.part}, {"whole", p.whole}, {"start", p.start}};
    if (loads) item["load"] = p.load;
    list.push_back(std::move(item));
  }
  return list;
}

}  // namespace

const PieceTable::Entry* PieceTable::variable(const std::string& part) const { return named(variables, part); }
const PieceTable::Entry* PieceTable::output(const std::string& part) const { return named(outputs, part); }

std::vector<const PieceTable::Entry*> PieceTable::stream(const std::string& part) const {
  std::vector<const Entry*> all;
  for (const Entry& p : streams) {
    if (p.part == part) all.push_back(&p);
  }
  std::stable_sort(all.begin(), all.end(), [](const Entry* a, const Entry* b) { return a->load < b->load; });
  return all;
}

namespace {

// Names as the texts have them: there they are numbered where several values have one. Data have no names, and each op's text has its own.
Module with_names_of_text(Module m) {
  for (std::size_t b = 0; b < m.blob_count(); ++b) {
    const BlobId id(static_cast<BlobId::rep>(b));
    m.set_blob(id, HostTensor(m.blob(id).dtype(), {0}));
  }
  const std::string text = print(m);
  m = Module();
  return parse(text);
}

}  // namespace

PieceTable pieces_of(const Program& sequential, const Distributed& d) {
  const Module s = with_names_of_text(sequential.module), m = with_names_of_text(d.module);
  const Graph &whole = s.graph(s.main_graph()), &part = m.graph(m.main_graph());
  PieceTable t;
  const auto add_whole = [&](const std::string& name, const Type& type) { t.whole_tensors[name] = {type.dtype, type.shape}; };
  for (const Piece& p : d.inputs) {
    const std::string name = state_of_input(s, p.whole);
    add_whole(name, s.type_of(whole.inputs[p.whole]));
    t.variables.push_back({state_of_input(m, p.part), name, p.start});
  }
  for (const Piece& p : d.remote) {
    const std::string name = state_of_input(s, p.whole);
    add_whole(name, s.type_of(whole.inputs[p.whole]));
    t.variables.push_back({m.state(StateId(p.part)).name, name, p.start});
  }
  for (const Piece& p : d.outputs) {
    const std::string name = s.name_of(whole.outputs[p.whole]);
    add_whole(name, s.type_of(whole.outputs[p.whole]));
    t.outputs.push_back({m.name_of(part.outputs[p.part]), name, p.start});
  }
  for (const Piece& p : d.streams) {
    const HostStream& stream = s.stream(HostStreamId(p.whole));
    t.whole_tensors[stream.name] = {stream.dtype, stream.shape};
    t.streams.push_back({m.stream(HostStreamId(p.part)).name, stream.name, p.start, p.load});
  }
  return t;
}

std::string print_pieces(const PieceTable& t) {
  Json whole_tensors = Json::object();
  for (const auto& [name, w] : t.whole_tensors) whole_tensors[name] = {{"dtype", name_of(w.dtype)}, {"shape", w.shape}};
  const Json all{{"whole_tensors", whole_tensors},
                 {"variables", json_of(t.variables, false)},
                 {"outputs", json_of(t.outputs, false)},
                 {"streams", json_of(t.streams, true)}};
  try {
    return all.dump(1) + '\n';
  } catch (const Json::exception&) {
    reject(ErrorClass::value, "pieces-names", "a name of the program is not UTF-8, which a file of pieces cannot hold");
  }
}

PieceTable read_pieces(std::string_view text, const std::string& file) {
  PieceTable t;
  try {
    const Json all = Json::parse(text);
    constexpr const char* kParts[] = {"whole_tensors", "variables", "outputs", "streams"};
    if (!all.is_object() || !std::ranges::all_of(kParts, [&](const char* part) { return all.contains(part); })) {
      reject_at(ErrorClass::value, "pieces", {file}, "it is not a file of pieces (an object of {}): pando transform --pieces writes one",
                fmt::join(kParts, ", "));
    }
    for (const auto& [name, w] : all.at("whole_tensors").items()) {
      const auto dtype = dtype_named(w.at("dtype").get<std::string>());
      if (!dtype) reject_at(ErrorClass::value, "pieces", {file}, "'{}' is not an element type", w.at("dtype").get<std::string>());
      t.whole_tensors[name] = {*dtype, w.at("shape").get<Shape>()};
    }
    const auto read = [&](const char* key, std::vector<PieceTable::Entry>& to) {
      for (const Json& p : all.at(key)) {
        to.push_back({p.at("part").get<std::string>(), p.at("whole").get<std::string>(), p.at("start").get<Shape>(), p.value("load", 0u)});
        const auto whole = t.whole_tensors.find(to.back().whole);
        if (whole == t.whole_tensors.end() || whole->second.shape.size() != to.back().start.size()) {
          reject_at(ErrorClass::value, "pieces", {file, 0, 0, key}, "'{}' is a piece of '{}', of which nothing or something else is said",
                    to.back().part, to.back().whole);
        }
      }
    };
    read("variables", t.variables);
    read("outputs", t.outputs);
    read("streams", t.streams);
  } catch (const nlohmann::json::parse_error& e) {
    reject_at(ErrorClass::value, "pieces", location_in(text, e.byte - 1, file), "{}", e.what());
  } catch (const Json::exception& e) { reject_at(ErrorClass::value, "pieces", {file}, "{}", e.what()); }
  return t;
}

}  // namespace pando::transform
