#include "ir/text/print.h"

#include "base/element_type.h"
#include "ir/op_row.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <iterator>
#include <optional>
#include <unordered_map>

namespace pando::ir {

namespace {

constexpr std::int64_t kNumbersInText = 16;

bool is_plain_name(std::string_view s) {
  if (s.empty() || s == "return" || s == "final" || s == "note") return false;
  if (!std::isalpha(static_cast<unsigned char>(s[0])) && s[0] != '_') return false;
  for (char c : s) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '.' && c != '/') return false;
  }
  return true;
}

void append_quoted(std::string& out, std::string_view s) {
  out += '"';
  for (char c : s) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 32) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  out += '"';
}

void append_name(std::string& out, std::string_view s) {
  if (is_plain_name(s)) {
    out += s;
  } else {
    append_quoted(out, s);
  }
}

// Always with a point, an exponent or a word, so that it reads as a floating number again.
template <class T>
void append_number(std::string& out, T v) {
  const std::string text = fmt::format("{}", v);
  out += text;
  if (text.find_first_of(".enai") == std::string::npos) out += ".0";
}

void append_data(std::string& out, const HostTensor& t, bool elide) {
  bool numbers = t.elements() <= kNumbersInText && !is_complex(t.dtype());
  for (std::int64_t i = 0; numbers && i < t.elements(); ++i) numbers = !std::isnan(t.number(i));
  if (numbers) {
    out += '[';
    for (std::int64_t i = 0; i < t.elements(); ++i) {
      if (i) out += ", ";
      if (t.dtype() == DType::float64) {
        append_number(out, t.number(i));
      } else if (is_floating(t.dtype())) {
        append_number(out, static_cast<float>(t.number(i)));
      } else if (t.dtype() == DType::uint64) {
        out += fmt::format("{}", static_cast<std::uint64_t>(t.integer(i)));
      } else {
        out += fmt::format("{}", t.integer(i));
      }
    }
    out += ']';
    return;
  }
  if (elide) {
    out += "...";
    return;
  }
  constexpr char kHex[] = "0123456789abcdef";
  out += "hex\"";
  for (std::size_t i = 0; i < t.size_bytes(); ++i) {
    const auto b = static_cast<unsigned char>(t.data()[i]);
    out += kHex[b >> 4];
    out += kHex[b & 15];
  }
  out += '"';
}

class Printer {
 public:
  Printer(const Module& module, const PrintOptions& options) : module_(module), options_(options) {}

  void whole() {
    out_ += "module";
    if (module_.replicas() != 1) fmt::format_to(end(), " replicas {}", module_.replicas());
    out_ += '\n';
    for (std::size_t i = 0; i < module_.stream_count(); ++i) stream(HostStreamId(static_cast<std::uint32_t>(i)));
    for (std::size_t i = 0; i < module_.buffer_count(); ++i) buffer(BufferId(static_cast<std::uint32_t>(i)));
    for (std::size_t i = 0; i < module_.state_count(); ++i) state(StateId(static_cast<std::uint32_t>(i)));
    for (std::size_t i = 0; i < module_.graph_count(); ++i) {
      out_ += '\n';
      graph(GraphId(static_cast<std::uint32_t>(i)));
    }
  }

  void graph(GraphId id) {
    const Graph& g = module_.graph(id);
    label(g);
    number_names(g);
    out_ += "graph ";
    append_name(out_, g.name);
    out_ += '(';
    for (std::size_t i = 0; i < g.inputs.size(); ++i) {
      if (i) out_ += ", ";
      typed(g.inputs[i]);
      if (g.by_ref[i]) out_ += " by_ref";
    }
    out_ += "):\n";
    if (!g.note.empty()) {
      out_ += "    note ";
      append_quoted(out_, g.note);
      out_ += '\n';
    }
    for (OpId o : g.ops) {
      if (module_.op(o).implicit && !options_.implicit_ops) continue;
      out_ += "    ";
      op(o);
      out_ += '\n';
    }
    out_ += "    return";
    for (std::size_t i = 0; i < g.outputs.size(); ++i) {
      out_ += i ? ", " : " ";
      name(g.outputs[i]);
    }
    out_ += '\n';
    for (std::size_t i = 0; i < g.inputs.size(); ++i) {
      if (g.updated_inputs[i] == g.inputs[i]) continue;
      out_ += "    final ";
      name(g.inputs[i]);
      out_ += " = ";
      name(g.updated_inputs[i]);
      out_ += '\n';
    }
  }

  void op(OpId o) {
    const Op& op = module_.op(o);
    if (const auto it = labels_.find(o.value); it != labels_.end()) fmt::format_to(end(), "[{}] ", it->second);
    results(o);
    call(o, [&](std::size_t i) { name(module_.operand(o, i)); });
    suffixes(o, op);
  }

  // `operand(i)` writes operand i.
  template <class F>
  void call(OpId o, F operand) {
    const Op& op = module_.op(o);
    out_ += module_.row(o).name;
    if (op.in_place) out_ += '_';
    out_ += '(';
    bool first = true;
    for (std::size_t i = 0; i < op.operand_count; ++i) {
      if (!first) out_ += ", ";
      first = false;
      operand(i);
    }
    for (const auto& [name, value] : module_.attributes(o).items()) {
      if (!first) out_ += ", ";
      first = false;
      out_ += name;
      out_ += '=';
      std::visit([this](const auto& v) { this->value(v); }, value);
    }
    out_ += ')';
    for (GraphId g : module_.graphs(o)) {
      out_ += " @";
      append_name(out_, module_.graph(g).name);
    }
  }

  void write(std::string_view text) { out_ += text; }
  std::string take() { return std::move(out_); }

 private:
  std::back_insert_iterator<std::string> end() { return std::back_inserter(out_); }

  // Ops that others come after get numbers.
  void label(const Graph& g) {
    labels_.clear();
    before_.clear();
    if (g.after.empty()) return;
    for (const auto& [first, then] : g.after) {
      labels_.emplace(first.value, 0);
      before_[then.value].push_back(first);
    }
    std::uint32_t next = 1;
    for (OpId o : g.ops) {
      if (auto it = labels_.find(o.value); it != labels_.end()) it->second = next++;
    }
  }

  // Values of a graph that share a name: all but the first get a number.
  void number_names(const Graph& g) {
    numbered_.clear();
    std::unordered_map<std::uint32_t, std::uint32_t> next;  // by name
    const auto see = [&](ValueId v) { next.try_emplace(module_.value(v).name.value, 0u); };
    for_each_value(g, see);
    std::vector<bool> taken;
    const auto number = [&](ValueId v) {
      const NameId n = module_.value(v).name;
      if (taken.size() <= n.index()) taken.resize(n.index() + 1);
      if (!taken[n.index()]) {
        taken[n.index()] = true;
        return;
      }
      std::string wanted;
      std::optional<NameId> known;
      do {
        wanted = fmt::format("{}__t{}", module_.name_of(v), next[n.value]++);
        known = module_.find_name(wanted);
      } while (known && next.contains(known->value));
      numbered_.emplace(v.value, std::move(wanted));
    };
    for_each_value(g, number);
  }
  template <class F>
  void for_each_value(const Graph& g, F f) const {
    for (ValueId v : g.inputs) f(v);
    for (OpId o : g.ops) {
      for (ValueId v : module_.results(o)) f(v);
    }
  }
  void name(ValueId v) {
    const auto it = numbered_.find(v.value);
    append_name(out_, it == numbered_.end() ? module_.name_of(v) : it->second);
  }

  void typed(ValueId v) {
    name(v);
    out_ += ": ";
    type(module_.value(v).type);
  }

  void type(TypeId t) {
    if (t.index() >= types_.size()) types_.resize(t.index() + 1);
    std::string& text = types_[t.index()];
    if (text.empty()) text = module_.types().to_string(t);
    out_ += text;
  }

  void results(OpId o) {
    const auto results = module_.results(o);
    if (results.empty()) return;
    if (results.size() > 1) out_ += '(';
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (i) out_ += ", ";
      typed(results[i]);
    }
    out_ += results.size() > 1 ? ") = " : " = ";
  }

  void suffixes(OpId o, const Op& op) {
    if (op.result_count == 0 && module_.name_of(o) != std::string(module_.row(o).name) + "_out") {
      out_ += " as ";
      append_quoted(out_, module_.name_of(o));
    }
    if (op.context == Context::accumulate_outer) out_ += " during accumulate_outer";
    if (op.context == Context::weights_from_host) out_ += " during weights_from_host";
    if (op.context == Context::weights_to_host) out_ += " during weights_to_host";
    if (op.implicit) out_ += " implicit";
    if (const auto it = before_.find(o.value); it != before_.end()) {
      out_ += " after ";
      for (std::size_t i = 0; i < it->second.size(); ++i) fmt::format_to(end(), "{}[{}]", i ? ", " : "", labels_.at(it->second[i].value));
    }
    if (options_.locations && op.location.valid()) {
      const Location& l = module_.location(op.location);
      out_ += " loc(";
      append_quoted(out_, l.file);
      fmt::format_to(end(), ":{})", l.line);
    }
  }

  void value(bool v) { out_ += v ? "true" : "false"; }
  void value(std::int64_t v) { fmt::format_to(end(), "{}", v); }
  void value(double v) { append_number(out_, v); }
  void value(const std::string& v) { append_quoted(out_, v); }
  void value(const Ints& v) { list(v, "ints"); }
  void value(const Floats& v) { list(v, "floats"); }
  void value(const Strings& v) { list(v, "texts"); }
  void value(DType v) { out_ += name_of(v); }
  void value(HostStreamId v) { fmt::format_to(end(), "@stream{}", v.value); }
  void value(BufferId v) { fmt::format_to(end(), "@buffer{}", v.value); }
  void value(BlobId v) {
    const HostTensor& t = module_.blob(v);
    fmt::format_to(end(), "{}{}", name_of(t.dtype()), to_string(t.shape()));
    append_data(out_, t, options_.elide_data);
  }

  template <class T>
  void list(const std::vector<T>& items, std::string_view empty) {
    if (items.empty()) out_ += empty;
    out_ += '[';
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i) out_ += ", ";
      value(items[i]);
    }
    out_ += ']';
  }

  void stream(HostStreamId id) {
    const HostStream& s = module_.stream(id);
    fmt::format_to(end(), "stream {} ", id.value);
    append_quoted(out_, s.name);
    out_ += s.direction == HostStream::Direction::host_to_device ? " to device: " : " to host: ";
    out_ += module_.types().to_string(tensor_type(s.dtype, s.shape));
    out_ += '\n';
  }

  void buffer(BufferId id) {
    const RemoteBuffer& b = module_.buffer(id);
    Type t = tensor_type(b.dtype, b.shape);
    t.meta_shape = b.meta_shape;
    fmt::format_to(end(), "buffer {} number {}: {} x {}\n", id.value, b.number, module_.types().to_string(t), b.entries);
  }

  void state(StateId id) {
    const State& s = module_.state(id);
    out_ += "variable ";
    append_quoted(out_, s.name);
    if (s.input) fmt::format_to(end(), " input {}", *s.input);
    if (s.buffer.valid()) fmt::format_to(end(), " row {} of @buffer{}", s.row, s.buffer.value);
    if (s.sharded) out_ += " sharded";
    if (s.grouping.groups() > 1 || s.grouping.replicas() != module_.replicas()) {
      out_ += " groups ";
      value(Ints(s.grouping.assignment()));
    }
    if (s.retrieval == Retrieval::all_replicas) out_ += " all_replicas";
    out_ += ": ";
    type(s.type);
    if (s.data.valid()) {
      out_ += " = ";
      value(s.data);
    }
    out_ += '\n';
  }

  const Module& module_;
  const PrintOptions& options_;
  std::string out_;
  std::vector<std::string> types_;
  std::unordered_map<std::uint32_t, std::string> numbered_;
  std::unordered_map<std::uint32_t, std::uint32_t> labels_;
  std::unordered_map<std::uint32_t, std::vector<OpId>> before_;
};

}  // namespace

std::string print(const Module& module, const PrintOptions& options) {
  Printer p(module, options);
  p.whole();
  return p.take();
}

std::string print_graph(const Module& module, GraphId graph, const PrintOptions& options) {
  Printer p(module, options);
  p.graph(graph);
  return p.take();
}

std::string print_op(const Module& module, OpId op, const PrintOptions& options) {
  Printer p(module, options);
  p.op(op);
  return p.take();
}

std::string print_call(const Module& module, OpId op, std::span<const std::string> operands) {
  const PrintOptions options;
  Printer p(module, options);
  p.call(op, [&](std::size_t i) { p.write(operands[i]); });
  return p.take();
}

std::string print_name(std::string_view name) {
  std::string out;
  append_name(out, name);
  return out;
}

std::string print_data(const HostTensor& data) {
  std::string out;
  append_data(out, data, false);
  return out;
}

}  // namespace pando::ir
