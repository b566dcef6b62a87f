#include "project/text/parse.h"

#include "ir/checks/read_module.h"
#include "ir/text/print.h"
#include "project/text/line.h"

#include <optional>
#include <unordered_map>

namespace pando::project {

namespace {

// Types, data and ops are the model level's: each becomes a graph of a module's text, on the line on which it stands here, and the model
// level's parser reads that. Until the module is there, types and ops are known by the graph's number. The graphs that ops carry are copied
// as they are.
class Parser {
 public:
  Parser(std::string_view text, const std::string& file) : file_(file) {
    for (std::size_t at = 0; at <= text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      lines_.push_back(text.substr(at, end - at));
      at = end + 1;
    }
    model_.resize(lines_.size());
  }

  ProjectedProgram run() {
    header();
    while (Line* l = next()) {
      if (l->indentation() == 0 && l->peek_word() == "graph") break;
      if (l->take_word("stream")) {
        stream(*l);
      } else if (l->take_word("device")) {
        device(*l);
      } else {
        l->error("word-expected", "expected 'stream', 'device' or 'graph', found '{}'", l->rest().substr(0, 12));
      }
    }
    graphs();
    build();
    return std::move(p_);
  }

 private:
  // The next line with something in it; the same until it is taken.
  Line* next() {
    while (at_ < lines_.size()) {
      const std::string_view text = lines_[at_];
      const std::size_t first = text.find_first_not_of(' ');
      if (first == std::string_view::npos || text[first] == '#') {
        ++at_;
        continue;
      }
      return &line_.emplace(text, file_, at_ + 1);
    }
    return nullptr;
  }
  void done(Line& l) {
    if (!l.at_end() && !l.next_is('#')) l.error("trailing-text", "expected the end of the line, found '{}'", l.rest().substr(0, 12));
    ++at_;
  }
  Line& expect_line(const char* what) {
    Line* const l = next();
    if (l) return *l;
    line_.emplace(std::string_view(), file_, lines_.size());
    line_->error("end-of-text", "expected {}, found the end", what);
  }

  void header() {
    Line& l = expect_line("'project'");
    l.expect_word("project");
    std::string_view policy = l.rest();
    policy = policy.substr(0, std::min(policy.find('#'), policy.size()));
    try {
      p_.policy = parse_policy(policy);
    } catch (const ModelError& e) { l.error("state-policy", "{}", without_id(e.what())); }
    model_[at_] = "module";
    ++at_;
    Line& trips = expect_line("'trips'");
    trips.expect_word("trips");
    trips.expect_word("N");
    p_.drain = trips.shift();
    model_[at_] = "graph \"line 2\"(): return";
    done(trips);
  }

  // A type; the module's text gets a graph that has it. Ends at `end`, one of the signs at depth 0.
  std::string_view type_text(Line& l, std::string_view ends) {
    const std::string_view text = l.rest();
    std::size_t n = 0;
    for (int depth = 0; n < text.size() && (depth > 0 || ends.find(text[n]) == std::string_view::npos); ++n) {
      depth += text[n] == '[' || text[n] == '(';
      depth -= text[n] == ']' || text[n] == ')';
    }
    const std::size_t start = l.at();
    l.back_to(start + n);
    return text.substr(0, n);
  }

  // --- streams
  std::int32_t end(Line& l, Stream& s) {
    if (!l.take_word("host")) {
      const std::int64_t d = l.integer();
      if (d < 0) l.error("device-number", "there is no device {}", d);
      return static_cast<std::int32_t>(d);
    }
    s.host = l.quoted();
    if (!l.take_word("slice")) return kHost;
    s.slice = l.integer();
    l.expect_word("of");
    s.slices = l.integer();
    if (s.slice < 0 || s.slice >= s.slices) l.error("slice", "slice {} of {}", s.slice, s.slices);
    return kHost;
  }
  void stream(Line& l) {
    Stream s;
    s.name = l.name();
    if (!streams_.emplace(s.name, p_.streams.size()).second) l.error("defined-twice", "stream '{}' is declared twice", s.name);
    l.expect(":");
    s.from = end(l, s);
    l.expect("->");
    s.to = end(l, s);
    l.expect(",");
    model_[at_] = fmt::format("graph \"line {}\"(r: {}): return", at_ + 1, type_text(l, ","));
    l.expect(",");
    s.bytes = l.integer();
    l.expect_word("bytes");
    l.expect(",");
    l.expect_word("capacity");
    s.capacity = l.take_word("unbounded") ? kUnbounded : l.integer();
    if (s.capacity < kUnbounded) l.error("capacity", "a capacity of {}", s.capacity);
    s.type = ir::TypeId(next_graph_++);
    stream_lines_.push_back(l.number());
    p_.streams.push_back(std::move(s));
    done(l);
  }

  // --- devices
  void device(Line& l) {
    DeviceProgram d;
    const std::int64_t n = l.integer();
    if (n < 0 || (!p_.devices.empty() && n <= p_.devices.back().device))
      l.error("device-number", "devices are numbered from 0 and stand in ascending order");
    d.device = static_cast<std::int32_t>(n);
    l.expect(":");
    done(l);
    buffers_.clear();
    while (Line* next_line = next()) {
      if (next_line->indentation() == 0) break;
      item(*next_line, d);
    }
    p_.devices.push_back(std::move(d));
  }
  void item(Line& l, DeviceProgram& d) {
    if (l.take_word("state")) return buffer(l, d, BufferKind::state);
    if (l.take_word("sum")) return buffer(l, d, BufferKind::sum);
    if (l.take_word("buffer")) return buffer(l, d, BufferKind::value);
    const std::size_t depth = l.indentation();
    std::vector<Action>* section = nullptr;
    if (l.take_word("before")) section = &d.before;
    if (l.take_word("update")) section = &d.update;
    if (l.take_word("loop")) {
      l.expect_word("t");
      section = &d.loop;
    }
    if (!section)
      l.error("word-expected", "expected 'state', 'sum', 'buffer', 'before', 'loop' or 'update', found '{}'", l.rest().substr(0, 12));
    l.expect(":");
    done(l);
    Guard all;
    all.end = static_cast<std::int32_t>(p_.drain);
    block(d, *section, depth, section == &d.loop ? all : Guard(), section == &d.loop);
  }
  void buffer(Line& l, DeviceProgram& d, BufferKind kind) {
    Buffer b;
    b.kind = kind;
    b.name = l.name();
    if (!buffers_.emplace(b.name, d.buffers.size()).second) l.error("defined-twice", "'{}' is declared twice", b.name);
    l.expect(":");
    const std::string type(type_text(l, "= "));
    if (l.take_word("x")) b.copies = l.integer();
    if (b.copies < 1) l.error("copies", "{} copies", b.copies);
    b.type = ir::TypeId(next_graph_++);
    if (kind == BufferKind::state) {
      l.expect("=");
      model_[at_] =
          fmt::format("graph \"line {}\"(r: {}): c: {} = constant(data={}{}) return c", at_ + 1, type, type, bare(l, type), l.rest());
      l.back_to(lines_[at_].size());
    } else {
      model_[at_] = fmt::format("graph \"line {}\"(r: {}): return", at_ + 1, type);
    }
    buffer_types_[key(p_.devices.size(), d.buffers.size())] = type;
    d.buffers.push_back(std::move(b));
    done(l);
  }
  // "float32(4, 8)" of "Tensor[(4, 8), float32, 0]" or "float32[0]".
  std::string bare(Line& l, const std::string& type) const {
    if (!type.starts_with("Tensor[(")) return type.substr(0, type.find('[')) + "()";
    const std::size_t open = 7, close = type.find(')'), comma = type.find(',', close), last = type.find_first_of(",]", comma + 1);
    if (close == std::string::npos || comma == std::string::npos || last == std::string::npos)
      l.error("type", "'{}' is not a type of a tensor", type);
    std::string element = type.substr(comma + 1, last - comma - 1);
    element.erase(0, element.find_first_not_of(' '));
    return element + type.substr(open, close - open + 1);
  }
  static std::uint64_t key(std::size_t device, std::size_t buffer) { return static_cast<std::uint64_t>(device) << 32 | buffer; }

  // Actions deeper than `depth`.
  void block(DeviceProgram& d, std::vector<Action>& section, std::size_t depth, const Guard& guard, bool may_nest) {
    while (Line* l = next()) {
      const std::size_t mine = l->indentation();
      if (mine <= depth) return;
      if (may_nest && l->take_word("if")) {
        Guard inner = guard;
        do { condition(*l, inner); } while (l->take_word("and"));
        l->expect(":");
        done(*l);
        block(d, section, mine, inner, false);
      } else {
        action(*l, d, section, guard);
      }
    }
  }
  void condition(Line& l, Guard& g) const {
    if (l.take_word("last")) {
      l.expect_word("of");
      g.every = static_cast<std::int32_t>(l.integer());
      if (g.every < 1) l.error("window", "the last of {}", g.every);
      return;
    }
    l.expect_word("t");
    if (l.take(">=")) {
      g.first = static_cast<std::int32_t>(l.integer());
    } else {
      l.expect("<");
      l.expect_word("N");
      g.end = static_cast<std::int32_t>(l.shift());
    }
  }

  // --- actions
  Slot slot(Line& l, const DeviceProgram& d) const {
    Slot s;
    const std::string name = l.name();
    const auto it = buffers_.find(name);
    if (it == buffers_.end()) l.error("undefined", "device {} has no state, sum or buffer '{}'", d.device, name);
    s.buffer = static_cast<std::uint32_t>(it->second);
    const std::int64_t copies = d.buffers[s.buffer].copies;
    if (!l.take("[")) {
      if (copies > 1) l.error("copy", "'{}' has {} copies; say which", name, copies);
      return s;
    }
    index(l, s);
    l.expect("%");
    if (const std::int64_t n = l.integer(); n != copies || n == 1)
      l.error("copy", "'{}' has {} {}; the index is taken modulo {}", name, copies, copies == 1 ? "copy" : "copies", n);
    l.expect("]");
    return s;
  }
  // "t", "(t - 1)", "(t / 4 - 1)", "((t - 1) / 4 + 1)".
  void index(Line& l, Slot& s) const {
    if (l.take_word("t")) return;
    l.expect("(");
    const bool nested = l.take("(");
    l.expect_word("t");
    s.shift = static_cast<std::int32_t>(-l.shift());
    if (nested) l.expect(")");
    if (l.take("/")) {
      s.every = static_cast<std::int32_t>(l.integer());
      if (s.every < 1) l.error("window", "a division by {}", s.every);
      s.offset = static_cast<std::int32_t>(l.shift());
    } else if (nested) {
      l.error("sign-expected", "expected '/'");
    }
    l.expect(")");
  }

  void action(Line& l, DeviceProgram& d, std::vector<Action>& section, const Guard& guard) {
    Action a;
    a.guard = guard;
    std::vector<Slot> operands, results;
    std::vector<std::string> operand_texts;
    const std::size_t start = (l.rest(), l.at());
    // Results, or an op's name and a bracket at once.
    l.name();
    const bool has_results = !l.next_is('(');
    l.back_to(start);
    if (has_results) {
      do { results.push_back(slot(l, d)); } while (l.take(","));
      l.expect("=");
    }
    if (has_results && l.take_word("receive")) {
      a.kind = ActionKind::receive;
      l.expect("(");
      a.stream = stream_of(l);
      l.expect(")");
      if (results.size() != 1) l.error("receive", "one value is received at a time");
    } else if (!has_results && l.take_word("send")) {
      a.kind = ActionKind::send;
      l.expect("(");
      operands.push_back(slot(l, d));
      l.expect(",");
      a.stream = stream_of(l);
      l.expect(")");
    } else {
      a.op = call(l, d, operands, results);
    }
    if (l.take_word("reading")) readings(l, d, operands);
    a.operand_begin = static_cast<std::uint32_t>(d.slots.size());
    a.operand_count = static_cast<std::uint32_t>(operands.size());
    d.slots.insert(d.slots.end(), operands.begin(), operands.end());
    a.result_begin = static_cast<std::uint32_t>(d.slots.size());
    a.result_count = static_cast<std::uint32_t>(results.size());
    d.slots.insert(d.slots.end(), results.begin(), results.end());
    section.push_back(a);
    done(l);
  }
  std::uint32_t stream_of(Line& l) const {
    const std::string name = l.name();
    const auto it = streams_.find(name);
    if (it == streams_.end()) l.error("undefined", "there is no stream '{}'", name);
    return static_cast<std::uint32_t>(it->second);
  }

  // "add(a, b[t % 2], attribute=value) @graph": operands are read here, the rest is the model level's.
  // Its graph, in place of the op.
  ir::OpId call(Line& l, const DeviceProgram& d, std::vector<Slot>& operands, const std::vector<Slot>& results) {
    const std::string op = l.name();
    l.expect("(");
    std::string inputs, names, outputs, returns;
    while (!l.next_is(')')) {
      if (!operands.empty()) {
        const std::size_t before = l.at();
        l.expect(",");
        if (is_attribute(l)) {
          l.back_to(before);
          break;
        }
      } else if (is_attribute(l)) {
        break;
      }
      operands.push_back(slot(l, d));
      const std::string name = fmt::format("o{}", operands.size());
      inputs += fmt::format("{}{}: {}", inputs.empty() ? "" : ", ", name, buffer_types_.at(key(p_.devices.size(), operands.back().buffer)));
      names += (names.empty() ? "" : ", ") + name;
    }
    for (std::size_t i = 0; i < results.size(); ++i) {
      outputs += fmt::format("{}r{}: {}", i ? ", " : "", i, buffer_types_.at(key(p_.devices.size(), results[i].buffer)));
    }
    if (results.size() > 1) outputs = "(" + outputs + ")";
    const std::string_view rest = call_rest(l);
    const ir::OpId graph(next_graph_++);
    model_[at_] =
        fmt::format("graph \"line {}\"({}): {}{}{}({}{} return", at_ + 1, inputs, outputs, outputs.empty() ? "" : " = ", op, names, rest);
    return graph;
  }
  static bool is_attribute(Line& l) {
    const std::size_t start = (l.rest(), l.at());
    l.name();
    const bool found = l.next_is('=');
    l.back_to(start);
    return found;
  }
  // From behind the operands to the end of the call and its graphs: up to "reading" or a comment, outside of quotes.
  std::string_view call_rest(Line& l) const {
    const std::string_view text = l.rest();
    bool quoted = false;
    std::size_t n = 0;
    for (; n < text.size(); ++n) {
      if (quoted && text[n] == '\\') {
        ++n;
      } else if (text[n] == '"') {
        quoted = !quoted;
      } else if (!quoted && (text[n] == '#' || text.substr(n, 9) == " reading ")) {
        break;
      }
    }
    l.back_to(l.at() + n);
    return text.substr(0, n);
  }

  void readings(Line& l, const DeviceProgram& d, std::vector<Slot>& operands) const {
    std::vector<bool> said(operands.size(), false);
    do {
      const std::string name = l.name();
      l.expect_word("of");
      l.expect_word(p_.policy.windowed() ? "w" : "i");
      const auto delay = static_cast<std::int32_t>(-l.shift());
      std::size_t first = operands.size();
      for (std::size_t i = operands.size(); i-- > 0;) {
        const Buffer& b = d.buffers[operands[i].buffer];
        if (b.name == name && b.kind == BufferKind::state && !said[i]) first = i;
      }
      if (first == operands.size()) l.error("reading", "no operand reads the state '{}'", name);
      said[first] = true;
      // Said once, it is of every operand; said again, of the next ones.
      for (std::size_t i = first; i < operands.size(); ++i) {
        if (operands[i].buffer == operands[first].buffer) operands[i].delay = delay;
      }
    } while (l.take(","));
  }

  // --- the module
  void graphs() {
    for (; at_ < lines_.size(); ++at_) model_[at_] = std::string(lines_[at_]);
  }
  std::shared_ptr<ir::Module> model(const std::string& text) const {
    try {
      return std::make_shared<ir::Module>(ir::read_module(text, file_));
    } catch (const ModelError&) { throw; } catch (const std::exception& e) {
      // A shape that there cannot be, say.
      ir::reject_at(ir::ErrorClass::popart, "type", {file_}, "{}", without_id(e.what()));
    }
  }
  void build() {
    std::string text;
    for (const std::string& line : model_) text += line + '\n';
    const auto module = model(text);
    // What was numbered by its graph gets the graph's type or op.
    const auto type_of = [&](ir::TypeId graph) { return module->value(module->graph(ir::GraphId(graph.value)).inputs[0]).type; };
    for (std::size_t i = 0; i < p_.streams.size(); ++i) {
      Stream& s = p_.streams[i];
      s.type = type_of(s.type);
      if (const std::int64_t bytes = module->types().bytes_of(s.type); bytes != s.bytes) {
        Line(std::string_view(), file_, stream_lines_[i]).error("bytes", "a message of '{}' is {} bytes, not {}", s.name, bytes, s.bytes);
      }
    }
    for (DeviceProgram& d : p_.devices) {
      for (Buffer& b : d.buffers) {
        const ir::Graph& graph = module->graph(ir::GraphId(b.type.value));
        b.type = type_of(b.type);
        if (const ir::Device on = module->type(b.type).place.device; on.known() && on.value != d.device) {
          Line(std::string_view(), file_, buffer_line(graph))
              .error("place", "'{}' lies on device {}, not on device {}", b.name, on.value, d.device);
        }
        if (!graph.ops.empty()) b.initial = module->blob(std::get<ir::BlobId>(*module->attributes(graph.ops[0]).find("data")));
      }
      for (auto* actions : {&d.before, &d.loop, &d.update}) {
        for (Action& a : *actions) {
          if (a.kind == ActionKind::compute) a.op = module->graph(ir::GraphId(a.op.value)).ops[0];
        }
      }
    }
    p_.module = module;
  }

  // A graph of this parser's making is named after its line.
  static std::size_t buffer_line(const ir::Graph& graph) { return std::stoul(graph.name.substr(graph.name.find(' ') + 1)); }

  const std::string& file_;
  std::vector<std::string_view> lines_;
  // The module's text, line by line.
  std::vector<std::string> model_;
  std::size_t at_ = 0;
  std::optional<Line> line_;
  ProjectedProgram p_;
  std::unordered_map<std::string, std::size_t> streams_, buffers_;
  std::unordered_map<std::uint64_t, std::string> buffer_types_;
  std::vector<std::size_t> stream_lines_;
  // Graph 0 stands for the main graph, which a module must have.
  std::uint32_t next_graph_ = 1;
};

}  // namespace

ProjectedProgram parse(std::string_view text, const std::string& file) { return Parser(text, file).run(); }

}  // namespace pando::project
