#include "emit/torch/function_writer.h"

#include "base/archive.h"
#include "base/check.h"
#include "emit/torch/python_text.h"
#include "ir/error.h"
#include "ir/op_row.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace pando::emit {

using namespace ir;

namespace {

std::string comma_list(std::span<const std::string> items) { return fmt::format("{}", fmt::join(items, ", ")); }

std::string_view bytes_of(const HostTensor& t) { return {reinterpret_cast<const char*>(t.data()), t.size_bytes()}; }
std::uint64_t checksum_of(const HostTensor& t) { return checksum(bytes_of(t)); }

bool are_equal(const HostTensor& a, const HostTensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() && bytes_of(a) == bytes_of(b);
}

}  // namespace

ProgramWriter::ProgramWriter(const Module& module, std::int32_t device, bool canonical)
    : m_(module), device_(device), canonical_(canonical), reserved_(reserved_identifiers()) {
  value_places_.resize(m_.value_count());
  for (std::size_t g = 0; g < m_.graph_count() && !canonical_; ++g) {
    function_names_.push_back(g == 0 ? std::string("step")
                                     : py_identifier(m_.graph(GraphId(static_cast<GraphId::rep>(g))).name, reserved_));
  }
}

std::string ProgramWriter::local(std::string_view name, NameSet& taken, const char* prefix) {
  return canonical_ ? fmt::format("{}{}", prefix, taken.size()) : py_identifier(name, taken);
}

std::string ProgramWriter::plain(const std::string& name) const {
  const std::string part = fmt::format(".{}", device_);
  for (std::size_t at = name.find(part); at != std::string::npos; at = name.find(part, at + 1)) {
    const std::size_t end = at + part.size();
    if (end == name.size() || name[end] == '.') return name.substr(0, at) + name.substr(end);
  }
  return name;
}

std::string ProgramWriter::constant(OpId op) {
  const BlobId blob = std::get<BlobId>(*m_.attributes(op).find("data"));
  const auto [it, is_new] = constants_.try_emplace(blob.value);
  if (is_new) it->second = constant_of(m_.blob(blob), m_.name_of(m_.result(op)));
  return "const." + it->second;
}

// Equal ones, as the mask of each layer, are one.
std::string ProgramWriter::constant_of(const HostTensor& data, const std::string& name) {
  const std::uint64_t sum = checksum_of(data);
  const auto [begin, end] = constants_by_checksum_.equal_range(sum);
  const auto known = std::find_if(begin, end, [&](const auto& c) { return are_equal(text_.constants[c.second].data, data); });
  if (known != end) return text_.constants[known->second].local;
  const std::string own = local(name, constants_taken_, "c");
  if (canonical_) constants_taken_.emplace(own, 1);
  constants_by_checksum_.emplace(sum, text_.constants.size());
  text_.constants.push_back({own, data});
  if (canonical_) text_.functions += fmt::format("# constant {:x}\n", sum);
  return own;
}

std::string ProgramWriter::load(HostStreamId stream, const std::string& name) {
  return load_named(name, m_.stream(stream).dtype, m_.stream(stream).shape);
}

std::string ProgramWriter::load_named(const std::string& name, DType dtype, const Shape& shape) {
  const auto [it, is_new] = loads_.try_emplace(name);
  if (is_new) {
    it->second = local(plain(name), streams_taken_, "s");
    if (canonical_) streams_taken_.emplace(it->second, 1);
    text_.loads.push_back({it->second, name, dtype, shape, 0});
  }
  return it->second;
}

std::string ProgramWriter::store(const std::string& name, const std::string& wanted) {
  const auto [it, is_new] = stores_.try_emplace(wanted);
  if (is_new) {
    it->second = local(plain(wanted), outputs_taken_, "o");
    if (canonical_) outputs_taken_.emplace(it->second, 1);
    text_.outputs.push_back({it->second, name});
  }
  return it->second;
}

std::size_t ProgramWriter::buffer(BufferId id) {
  const auto [it, is_new] = buffers_.try_emplace(id.value, buffers_.size());
  if (!is_new) return it->second;
  const RemoteBuffer& b = m_.buffer(id);
  ProgramText::Buffer buffer{b.entries, b.dtype, b.shape, {}};
  for (std::size_t s = 0; s < m_.state_count(); ++s) {
    const State& state = m_.state(StateId(static_cast<StateId::rep>(s)));
    if (state.input || state.buffer != id) continue;
    const std::string name = local(plain(state.name), variables_taken_, "v");
    if (canonical_) variables_taken_.emplace(name, 1);
    buffer.variables.push_back({state.row, name, state.name, state.data.valid() ? m_.blob(state.data) : HostTensor()});
  }
  text_.buffers.push_back(std::move(buffer));
  return it->second;
}

std::size_t ProgramWriter::peer(std::int32_t device) {
  const auto [it, is_new] = peers_.try_emplace(device, peers_.size());
  if (is_new) text_.peers.push_back(device);
  return it->second;
}

std::size_t ProgramWriter::group(const std::vector<std::int32_t>& devices) {
  const auto [it, is_new] = groups_.try_emplace(devices, groups_.size());
  if (is_new) text_.groups.push_back(devices);
  return it->second;
}

std::string ProgramWriter::variable(const std::string& name, TypeId type, const HostTensor& data) {
  const std::string id = local(plain(name), variables_taken_, "v");
  if (canonical_) variables_taken_.emplace(id, 1);
  text_.variables.push_back({id, name, type, data});
  return id;
}

void ProgramWriter::line(std::string& out, int indent, std::string_view left, std::string_view right, const std::string& function,
                         std::string_view label) {
  out.append(static_cast<std::size_t>(indent), ' ');
  if (left.empty()) {
    out += right;
  } else {
    out += left;
    out += " = ";
    out += right;
  }
  out += '\n';
  if (canonical_ || label.empty()) return;
  const std::string_view first = left.substr(0, left.find_first_of(",="));
  text_.labels[function].emplace_back(left.empty() ? right : first.substr(0, first.find_last_not_of(' ') + 1), label);
}

const std::vector<std::vector<std::size_t>>& ProgramWriter::shared_inputs(GraphId graph) {
  if (const auto it = shared_.find(graph.value); it != shared_.end()) return it->second;
  const Graph& g = m_.graph(graph);
  std::map<ValueId, std::set<std::size_t>> of;
  for (std::size_t i = 0; i < g.inputs.size(); ++i) of[g.inputs[i]] = {i};
  const auto take = [&](ValueId to, ValueId from) {
    if (const auto it = of.find(from); it != of.end()) of[to].insert(it->second.begin(), it->second.end());
  };
  for (OpId o : g.ops) {
    const TorchRow* row = find_torch_row(m_.op(o).kind);
    if ((row && row->shares) || m_.op(o).graph_count != 0) {
      for (ValueId r : m_.results(o)) {
        for (ValueId x : m_.operands(o)) take(r, x);
      }
    }
  }
  std::vector<std::vector<std::size_t>> all;
  for (const auto& values : {g.outputs, g.updated_inputs}) {
    for (ValueId v : values) all.emplace_back(of[v].begin(), of[v].end());
  }
  return shared_[graph.value] = std::move(all);
}

std::string ProgramWriter::function(GraphId graph, const Ints& modified) {
  const auto [it, is_new] = functions_.try_emplace({graph.value, modified});
  if (!is_new) return it->second;
  std::string name = canonical_ ? fmt::format("g{}", functions_.size()) : function_names_[graph.index()];
  if (!canonical_ && std::count_if(functions_.begin(), functions_.end(), [&](const auto& f) { return f.first.first == graph.value; }) > 1)
    name = py_identifier(name, reserved_);
  functions_[{graph.value, modified}] = name;
  const Graph& g = m_.graph(graph);
  std::vector<DeviceStep> steps;
  for (OpId o : g.ops) {
    steps.push_back({o, StepKind::local, {m_.operands(o).begin(), m_.operands(o).end()}, {m_.results(o).begin(), m_.results(o).end()}});
  }
  std::vector<ValueId> results = g.outputs;
  for (const std::int64_t i : modified) results.push_back(g.updated_inputs[static_cast<std::size_t>(i)]);
  FunctionWriter writer(*this, name, steps, results);
  std::string parameters = "rank";
  for (ValueId v : g.inputs) {
    const std::string parameter = writer.new_local(m_.name_of(v));
    writer.give(v, parameter, false, false);
    parameters += ", " + parameter;
  }
  std::string body;
  writer.write(body, 4, {});
  std::string text = fmt::format("def {}({}):\n", name, parameters);
  if (!g.note.empty() && !canonical_) text += fmt::format("    # {}\n", g.note.substr(0, g.note.find('\n')));
  if (mentions(body, "const")) text += "    const = rank.constants\n";
  std::vector<std::string> names;
  for (ValueId v : results) names.push_back(writer.text_of(v));
  text_.functions += text + body + (names.empty() ? "    return None\n\n\n" : fmt::format("    return {}\n\n\n", comma_list(names)));
  return name;
}

void ProgramWriter::write(OpId o, std::span<const std::string> operands, std::span<const std::string> targets, bool in_place,
                          std::string& out, int indent, const std::string& function) {
  const OpRow& row = m_.row(o);
  const std::string_view label = row.name;
  const Attributes& a = m_.attributes(o);
  if (row.control != Control::none) return control(o, operands, targets, out, indent, function);
  if (has(row.effects, Effects::code)) return;
  if (has(row.effects, Effects::stream)) {
    const HostStreamId s = std::get<HostStreamId>(*a.find("stream"));
    const std::string& name = m_.stream(s).name;
    if (targets.empty())
      return line(out, indent, "", fmt::format("rank.output({}, {})", py_text(store(name, name)), operands[0]), function, label);
    return line(out, indent, targets[0], fmt::format("rank.load({})", py_text(load(s, name))), function, label);
  }
  if (has(row.effects, Effects::remote)) {
    const std::size_t b = buffer(std::get<BufferId>(*a.find("buffer")));
    if (targets.empty())
      return line(out, indent, "", fmt::format("rank.remote_store({}, {}, {})", b, operands[0], operands[1]), function, label);
    return line(out, indent, targets[0], fmt::format("rank.remote_load({}, {})", b, operands.back()), function, label);
  }
  const TorchRow* torch = find_torch_row(m_.op(o).kind);
  PANDO_CHECK(torch);
  if (row.bundles) {
    const std::size_t n = targets.size();
    for (std::size_t i = 0; i < n; ++i) {
      const std::vector<std::string> pair{operands[i], operands[n + i]};
      Call call(m_, o, pair);
      line(out, indent, targets[i], expressions(*torch, call, in_place)[0], function, label);
    }
    return;
  }
  Call call(m_, o, operands);
  const std::vector<std::string> lines = expressions(*torch, call, in_place);
  if (lines.size() == targets.size()) {
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (targets[i] != "_" || lines.size() == 1) line(out, indent, targets[i], lines[i], function, label);
    }
  } else {
    line(out, indent, comma_list(targets), lines[0], function, label);
  }
}

void ProgramWriter::control(OpId o, std::span<const std::string> operands, std::span<const std::string> targets, std::string& out,
                            int indent, const std::string& function) {
  const OpRow& row = m_.row(o);
  const Attributes& a = m_.attributes(o);
  const auto call = [&](GraphId graph, std::span<const std::string> arguments, const Ints& modified, int at) {
    std::string text = this->function(graph, modified) + "(rank";
    for (const std::string& x : arguments) text += ", " + x;
    line(out, at, comma_list(targets), text + ")", function, "");
  };
  if (row.control == Control::call) return call(m_.graphs(o)[0], operands, a.ints("modified"), indent);
  if (row.control == Control::repeat) return repeat(o, operands, targets, out, indent, function);
  PANDO_CHECK(row.control == Control::branch);
  const auto first = static_cast<std::size_t>(a.integer("then_inputs"));
  const std::string space(static_cast<std::size_t>(indent), ' ');
  out += fmt::format("{}if bool({}):\n", space, operands[0]);
  call(m_.graphs(o)[0], operands.subspan(1, first), {}, indent + 4);
  out += fmt::format("{}else:\n", space);
  call(m_.graphs(o)[1], operands.subspan(1 + first), {}, indent + 4);
}

// Output i of a trip is input i of the next; inputs that a trip modifies keep what it made of them.
void ProgramWriter::repeat(OpId o, std::span<const std::string> operands, std::span<const std::string> targets, std::string& out,
                           int indent, const std::string& function) {
  const GraphId graph = m_.graphs(o)[0];
  const Ints& modified = m_.attributes(o).ints("modified");
  const std::size_t outputs = m_.graph(graph).outputs.size();
  const std::string space(static_cast<std::size_t>(indent), ' '), name = this->function(graph, modified);
  // Carried values have the results' names; a result that nobody reads is carried all the same.
  std::vector<std::string> carried;
  for (std::size_t i = 0; i < targets.size(); ++i) carried.push_back(targets[i] == "_" ? fmt::format("carried_{}", i) : targets[i]);
  std::vector<std::string> arguments(operands.begin(), operands.end()), begin;
  for (std::size_t i = 0; i < carried.size(); ++i) {
    const std::size_t input = i < outputs ? i : static_cast<std::size_t>(modified[i - outputs]);
    begin.push_back(operands[input]);
    // A modified input that an output is carried to takes the output.
    if (i < outputs || input >= outputs) arguments[input] = carried[i];
  }
  if (!carried.empty()) out += fmt::format("{}{} = {}\n", space, comma_list(carried), comma_list(begin));
  out += fmt::format("{}for _ in range({}):\n", space, m_.attributes(o).integer("count"));
  const std::string text = fmt::format("{}(rank{}{})", name, arguments.empty() ? "" : ", ", comma_list(arguments));
  line(out, indent + 4, comma_list(carried), text, function, "");
}

}  // namespace pando::emit
