#include "emit/torch/assemble.h"

#include "base/archive.h"
#include "base/check.h"
#include "emit/torch/python_text.h"
#include "ir/error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace pando::emit {

using namespace ir;

namespace {

constexpr std::size_t kAlignment = 64;
// Constants of more elements lie in constants.bin.
constexpr std::int64_t kInline = 16;

std::string program_name(std::size_t n) { return fmt::format("program_{}", n); }

std::string dtype_and_shape(DType dtype, const Shape& shape) { return fmt::format("{}, {}", py_text(name_of(dtype)), py_tuple(shape)); }

// "Rank 0 (device 1)" or "Ranks 0 and 2 (devices 1 and 3)"; many are counted.
std::string who(const std::vector<Rank>& ranks, std::size_t program) {
  std::vector<std::size_t> numbers;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    if (ranks[r].program == program) numbers.push_back(r);
  }
  if (numbers.size() == 1) return fmt::format("rank {} (device {})", numbers[0], ranks[numbers[0]].device);
  if (numbers.size() > 8) return fmt::format("{} ranks, of which {} is the first,", numbers.size(), numbers[0]);
  return fmt::format("ranks {}", fmt::join(numbers, ", "));
}

std::string declarations(const TypeTable& types, const ProgramText& p, const std::string& name) {
  std::string out = "VARIABLES = {\n";
  for (const auto& v : p.variables)
    out += fmt::format("    {}: ({}),\n", py_text(v.local), dtype_and_shape(types[v.type].dtype, types[v.type].shape));
  out += "}\nLOADS = {\n";
  for (const auto& l : p.loads) out += fmt::format("    {}: ({}, {}),\n", py_text(l.local), dtype_and_shape(l.dtype, l.shape), l.per_step);
  out += "}\nOUTPUTS = [";
  for (std::size_t i = 0; i < p.outputs.size(); ++i) out += (i ? ", " : "") + py_text(p.outputs[i].local);
  out += "]\nCONSTANTS = {\n";
  for (const auto& c : p.constants) {
    out += fmt::format("    {}: ", py_text(c.local));
    out += c.data.elements() > kInline ? py_text(name + "." + c.local)
                                       : fmt::format("({}, {})", dtype_and_shape(c.data.dtype(), c.data.shape()), py_elements(c.data));
    out += ",\n";
  }
  out += "}\nBUFFERS = [\n";
  for (const auto& b : p.buffers) {
    out += fmt::format("    ({}, {}, {{", b.rows, dtype_and_shape(b.dtype, b.shape));
    for (std::size_t i = 0; i < b.variables.size(); ++i)
      out += fmt::format("{}\"{}\": {}", i ? ", " : "", b.variables[i].row, py_text(b.variables[i].local));
    out += "}),\n";
  }
  out += "]\n";
  std::string shorter;
  // Empty ones on one line.
  for (std::size_t at = 0; at < out.size();) {
    const std::size_t end = out.find('\n', at);
    const std::string_view line(out.data() + at, end - at);
    const bool opens = line.ends_with("{") || line.ends_with("[");
    if (opens && end + 1 < out.size() && (out[end + 1] == '}' || out[end + 1] == ']')) {
      shorter += line;
    } else {
      shorter += line;
      shorter += '\n';
    }
    at = end + 1;
  }
  return shorter;
}

// Functions of a Python file, in their order, and what stands before the first one.
struct Functions {
  std::string head;
  std::vector<std::pair<std::string, std::string>> all;
};

Functions functions_of(std::string_view text) {
  Functions f;
  std::size_t at = text.find("\ndef ");
  f.head = text.substr(0, text.find("\n# ---"));
  while (at != std::string_view::npos) {
    const std::size_t next = text.find("\ndef ", at + 1);
    std::string body(text.substr(at + 1, next == std::string_view::npos ? next : next - at - 1));
    if (const std::size_t section = body.find("\n# ---"); section != std::string::npos) body.resize(section);
    while (body.ends_with('\n')) body.pop_back();
    f.all.emplace_back(body.substr(4, body.find('(') - 4), body);
    at = next;
  }
  return f;
}

// The functions that some text calls as functions.NAME, and those that they call.
std::string used_functions(const std::vector<ProgramText>& programs) {
  const Functions f = functions_of(python_file("functions.py"));
  std::set<std::string> used;
  constexpr std::string_view kModule = "functions.";
  for (const ProgramText& p : programs) {
    for (std::size_t at = p.functions.find(kModule); at != std::string::npos; at = p.functions.find(kModule, at + 1)) {
      std::size_t end = at + kModule.size();
      while (end < p.functions.size() && (std::isalnum(static_cast<unsigned char>(p.functions[end])) || p.functions[end] == '_')) ++end;
      used.insert(p.functions.substr(at + kModule.size(), end - at - kModule.size()));
    }
  }
  if (used.empty()) return {};
  for (std::size_t before = 0; before != used.size();) {
    before = used.size();
    for (const auto& [name, body] : f.all) {
      if (!used.contains(name)) continue;
      for (const auto& [other, text] : f.all) {
        if (mentions(body, other)) used.insert(other);
      }
    }
  }
  std::string out = f.head;
  while (out.ends_with('\n')) out.pop_back();
  out += '\n';
  for (const auto& [name, body] : f.all) {
    if (used.erase(name)) out += "\n\n" + body + "\n";
  }
  PANDO_CHECK(used.empty());
  return out;
}

std::string program_text(const TypeTable& types, const ProgramText& p, const std::string& name, const std::string& ranks) {
  std::string out =
      fmt::format("\"\"\"What {} runs: one step. Written by `pando emit torch`; it is yours to edit.\"\"\"\n\nimport torch\n", ranks);
  if (mentions(p.functions, "F")) out += "import torch.nn.functional as F\n";
  if (p.functions.find("functions.") != std::string::npos) out += "\nimport functions\n";
  return out + "\n" + declarations(types, p, name) + "\n\n" + p.functions;
}

// A line for each name. Written as it comes: a JSON object of many members is slow to make.
std::string names_file(const ProgramText& p) {
  const auto quoted = [](std::string_view text) {
    const bool plain = std::ranges::all_of(text, [](char c) { return c >= ' ' && c < 0x7f && c != '"' && c != '\\'; });
    return plain ? '"' + std::string(text) + '"' : nlohmann::json(text).dump();
  };
  std::string out = "{";
  for (const auto& [function, labels] : p.labels) {
    out += (out.size() > 1 ? ",\n" : "\n") + quoted(function) + ": {";
    std::unordered_set<std::string_view> seen;
    for (const auto& [key, label] : labels) {
      if (!seen.insert(key).second) continue;
      out += seen.size() > 1 ? ",\n" : "\n";
      out += quoted(key);
      out += ": ";
      out += quoted(label);
    }
    out += "\n}";
  }
  return out + "\n}\n";
}

template <class T>
std::string list_of(const std::vector<T>& items, const std::function<std::string(const T&)>& text) {
  std::string out;
  for (const T& item : items) out += (out.empty() ? "" : ", ") + text(item);
  return "[" + out + "]";
}

void check_pieces(const std::vector<Rank>& ranks, const transform::PieceTable& pieces) {
  std::set<std::string> variables;
  for (const Rank& r : ranks) {
    for (const auto& v : r.text.variables) variables.insert(v.name);
    for (const auto& b : r.text.buffers) {
      for (const auto& v : b.variables) variables.insert(v.name);
    }
  }
  for (const auto& e : pieces.variables) {
    if (!variables.contains(e.part))
      reject(ErrorClass::value, "pieces-of-another", "the pieces are of another program: there is no variable '{}'", e.part);
  }
}

}  // namespace

std::string program_key(const TypeTable& types, const ProgramText& p) {
  std::string key = declarations(types, p, "") + p.functions;
  for (const auto& c : p.channels) key += fmt::format("{}\n", c.capacity);
  for (const auto& g : p.groups) key += fmt::format("{}\n", g.size());
  return key;
}

void TensorFile::add(const std::string& name, const HostTensor& t, const double* allowed) {
  bytes_.resize((bytes_.size() + kAlignment - 1) / kAlignment * kAlignment);
  enter(name, t, bytes_.size(), allowed);
  bytes_.append(reinterpret_cast<const char*>(t.data()), t.size_bytes());
}

void TensorFile::share(const std::string& name, const HostTensor& t) {
  const std::string_view bytes(reinterpret_cast<const char*>(t.data()), t.size_bytes());
  const std::uint64_t sum = checksum(bytes);
  const auto [begin, end] = shared_.equal_range(sum);
  const auto known =
      std::find_if(begin, end, [&](const auto& at) { return std::string_view(bytes_).substr(at.second, bytes.size()) == bytes; });
  if (known != end) return enter(name, t, known->second, nullptr);
  add(name, t);
  shared_.emplace(sum, bytes_.size() - bytes.size());
}

void TensorFile::enter(const std::string& name, const HostTensor& t, std::size_t at, const double* allowed) {
  entries_.push_back(fmt::format("{}: [{}, [{}], {}{}]", nlohmann::json(name).dump(), py_text(name_of(t.dtype())),
                                 fmt::join(t.shape(), ", "), at, allowed ? fmt::format(", {}", *allowed) : ""));
}

void TensorFile::put(const std::string& name, std::vector<File>& files) const {
  files.push_back({name + ".json", fmt::format("{{\n{}\n}}\n", fmt::join(entries_, ",\n"))});
  // A file without bytes could not be mapped.
  files.push_back({name + ".bin", bytes_.empty() ? std::string(kAlignment, '\0') : bytes_});
}

std::vector<Rank> ranks_of(const TypeTable& types, const std::vector<std::int32_t>& devices,
                           const std::function<ProgramText(std::int32_t, bool)>& write, std::vector<ProgramText>& programs) {
  std::unordered_map<std::string, std::size_t> known;
  std::vector<Rank> ranks;
  for (const std::int32_t d : devices) {
    Rank rank{d, 0, write(d, true)};
    const auto [it, is_new] = known.try_emplace(program_key(types, rank.text), programs.size());
    rank.program = it->second;
    if (is_new) programs.push_back(write(d, false));
    rank.text.functions.clear();
    ranks.push_back(std::move(rank));
  }
  return ranks;
}

void add_programs(const TypeTable& types, const std::vector<ProgramText>& programs, const std::vector<Rank>& ranks, Emitted& out) {
  TensorFile constants;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    const std::string name = program_name(i);
    out.files.push_back({name + ".py", program_text(types, programs[i], name, who(ranks, i))});
    out.files.push_back({name + ".names.json", names_file(programs[i])});
    for (const auto& c : programs[i].constants) {
      if (c.data.elements() > kInline) constants.share(name + "." + c.local, c.data);
    }
  }
  if (!constants.empty()) constants.put("constants", out.files);
  TensorFile data;
  std::set<std::string> added;
  const auto add = [&](const std::string& name, const HostTensor& t) {
    if (!t.empty_handle() && added.insert(name).second) data.add(name, t);
  };
  for (const Rank& r : ranks) {
    for (const auto& v : r.text.variables) add(v.name, v.data);
    for (const auto& b : r.text.buffers) {
      for (const auto& v : b.variables) add(v.name, v.data);
    }
  }
  if (!data.empty()) data.put("data", out.files);
  out.ranks = ranks.size();
  out.programs = programs.size();
}

void add_layout(const TypeTable& types, const std::vector<Rank>& ranks, const Options& options, Emitted& out) {
  (void)types;
  std::map<std::int32_t, std::size_t> rank_of;
  for (std::size_t r = 0; r < ranks.size(); ++r) rank_of[ranks[r].device] = r;
  std::vector<std::vector<std::size_t>> groups;
  std::map<std::vector<std::size_t>, std::size_t> numbers;
  const auto group_number = [&](const std::vector<std::int32_t>& devices) {
    std::vector<std::size_t> members;
    for (const std::int32_t d : devices) members.push_back(rank_of.at(d));
    const auto [it, is_new] = numbers.try_emplace(members, groups.size());
    if (is_new) groups.push_back(members);
    return it->second;
  };
  std::string text;
  for (const Rank& r : ranks) {
    std::vector<std::size_t> mine;
    for (const auto& g : r.text.groups) mine.push_back(group_number(g));
    text += fmt::format("    {{\"device\": {}, \"program\": \"{}\", \"groups\": [{}],\n     \"peers\": {},\n", r.device,
                        program_name(r.program), fmt::join(mine, ", "),
                        list_of<std::int32_t>(r.text.peers, [&](const auto& d) { return std::to_string(rank_of.at(d)); }));
    if (!r.text.channels.empty()) {
      text +=
          fmt::format("     \"channels\": {},\n", list_of<ProgramText::Channel>(r.text.channels, [&](const auto& c) {
                        return fmt::format("({}, {}, {})", rank_of.at(c.peer), c.capacity < 0 ? "None" : std::to_string(c.capacity), c.tag);
                      }));
    }
    text += fmt::format("     \"variables\": {},\n",
                        list_of<ProgramText::Variable>(r.text.variables, [](const auto& v) { return py_text(v.name); }));
    text += fmt::format("     \"loads\": {}, ", list_of<ProgramText::Load>(r.text.loads, [](const auto& l) { return py_text(l.name); }));
    text += fmt::format("\"outputs\": {},\n", list_of<ProgramText::Output>(
                                                  r.text.outputs, [](const auto& o) { return o.name.empty() ? "None" : py_text(o.name); }));
    std::string rows;
    for (const auto& b : r.text.buffers) {
      for (const auto& v : b.variables) rows += (rows.empty() ? "" : ", ") + py_text(v.name);
    }
    text += fmt::format("     \"rows\": [{}]}},\n", rows);
  }
  std::string head =
      "\"\"\"Which rank runs which program, which ranks meet, and which part of which whole tensor everything is.\"\"\"\n\n"
      "WORLD_SIZE = " +
      std::to_string(ranks.size()) + "\n\n# Ranks that meet in collectives, in the order of the program.\nGROUPS = [\n";
  for (const auto& g : groups) head += fmt::format("    [{}],\n", fmt::join(g, ", "));
  head += "]\n\n# By rank. Variables, streams and results stand in the order of the program's own lists.\nRANKS = [\n" + text + "]\n\n";
  transform::PieceTable none;
  const transform::PieceTable& pieces = options.pieces ? *options.pieces : none;
  if (options.pieces) check_pieces(ranks, pieces);
  const auto entries = [](const std::vector<transform::PieceTable::Entry>& all) {
    std::string list;
    for (const auto& e : all) list += fmt::format("    {}: ({}, {}),\n", py_text(e.part), py_text(e.whole), py_tuple(e.start));
    return list;
  };
  head += "# Whole tensors of the sequential program: element type and shape.\nWHOLES = {\n";
  for (const auto& [name, w] : pieces.whole_tensors)
    head += fmt::format("    {}: ({}),\n", py_text(name), dtype_and_shape(w.dtype, w.shape));
  head += "}\n# Of variables and of results: the whole, and where the part begins.\nPARTS = {\n" + entries(pieces.variables) +
          "}\nOUTPUT_PARTS = {\n" + entries(pieces.outputs) + "}\n# Of streams: the same for each block of a step.\nLOADS = {\n";
  std::map<std::string, std::vector<const transform::PieceTable::Entry*>> loads;
  for (const auto& e : pieces.streams) loads[e.part].push_back(&e);
  for (auto& [part, all] : loads) {
    std::stable_sort(all.begin(), all.end(), [](const auto* a, const auto* b) { return a->load < b->load; });
    std::string list;
    for (const auto* e : all) list += fmt::format("{}({}, {})", list.empty() ? "" : ", ", py_text(e->whole), py_tuple(e->start));
    head += fmt::format("    {}: [{}],\n", py_text(part), list);
  }
  out.files.push_back({"layout.py", head + "}\n"});
}

void add_support(const std::vector<ProgramText>& programs, std::size_t ranks, Emitted& out) {
  if (std::string functions = used_functions(programs); !functions.empty()) {
    if (!mentions(functions, "math.inf") && functions.find("math.") == std::string::npos)
      functions.erase(functions.find("import math\n\n"), std::string_view("import math\n\n").size());
    if (functions.find("F.") == std::string::npos) {
      constexpr std::string_view kImport = "import torch.nn.functional as F\n";
      functions.erase(functions.find(kImport), kImport.size());
    }
    out.files.push_back({"functions.py", std::move(functions)});
  }
  for (const char* name : {"runtime.py", "run.py", "check.py"}) out.files.push_back({name, std::string(python_file(name))});
  out.files.push_back(
      {"launch.sh",
       fmt::format(
           "#!/bin/sh\n# Starts the {} on this host: ./launch.sh --steps 10 --seed 1. On several hosts, run torchrun on each of them "
           "with the\n# same --rdzv-endpoint, --nnodes and --nproc-per-node.\nexec torchrun --standalone --nproc-per-node {} "
           "\"$(dirname \"$0\")/run.py\" \"$@\"\n",
           ranks == 1 ? "rank" : fmt::format("{} ranks", ranks), ranks),
       true});
}

}  // namespace pando::emit
