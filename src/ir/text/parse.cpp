#include "ir/text/parse.h"

#include "ir/op_table.h"
#include "ir/reject_at.h"
#include "ir/shared/tuples.h"
#include "poplar/exceptions.hpp"

#include <charconv>
#include <cmath>
#include <limits>
#include <unordered_map>

namespace pando::ir {

namespace {

class Parser {
 public:
  Parser(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  Module whole() {
    expect_word("module");
    if (take_word("replicas")) {
      const std::int64_t n = integer();
      if (n < 1 || n > (1 << 24)) error("replicas", "{} replicas", n);
      module_.set_replicas(n);
    }
    for (;;) {
      skip_space();
      if (take_word("stream")) {
        stream();
      } else if (take_word("buffer")) {
        buffer();
      } else if (take_word("variable")) {
        state();
      } else {
        break;
      }
    }
    declare_graphs();
    for (std::uint32_t g = 0; peek_word() == "graph"; ++g) graph(GraphId(g));
    skip_space();
    if (at_ < text_.size()) error("trailing-text", "expected 'graph' or the end, found '{}'", text_.substr(at_, 20));
    if (module_.graph_count() == 0) error("no-graph", "a module needs a main graph");
    return std::move(module_);
  }
  const TextPlaces& places() const { return places_; }
  // What the module rejects, not the text's form (a shape that cannot be), gets the place at which it was read.
  [[noreturn]] void reject_here(ErrorClass kind, std::string_view what) const {
    reject_at(kind, id_of(what), location_in(text_, at_, file_), "{}", without_id(what));
  }

 private:
  // --- words
  template <class... Args>
  [[noreturn]] void error(std::string_view id, fmt::format_string<Args...> format, Args&&... args) const {
    reject_at(ErrorClass::popart, id, location_in(text_, at_, file_), format, std::forward<Args>(args)...);
  }

  void skip_space() {
    while (at_ < text_.size()) {
      if (text_[at_] == '#') {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (is_space(text_[at_])) {
        ++at_;
      } else {
        break;
      }
    }
  }
  // A text of a million ops has tens of millions of characters: the C library's functions, which ask the locale, would take a tenth of the
  // time.
  static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
  static bool in_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '/';
  }

  std::string_view peek_word() {
    skip_space();
    std::size_t end = at_;
    while (end < text_.size() && in_word(text_[end])) ++end;
    return text_.substr(at_, end - at_);
  }
  std::string_view word() {
    const std::string_view w = peek_word();
    if (w.empty()) error("word-expected", "expected a word, found {}", next_text());
    at_ += w.size();
    return w;
  }
  bool take_word(std::string_view w) {
    if (peek_word() != w) return false;
    at_ += w.size();
    return true;
  }
  void expect_word(std::string_view w) {
    if (!take_word(w)) error("word-expected", "expected '{}', found {}", w, next_text());
  }
  bool take(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) error("sign-expected", "expected '{}', found {}", c, next_text());
  }
  bool next_is(char c) {
    skip_space();
    return at_ < text_.size() && text_[at_] == c;
  }
  std::string next_text() const {
    return at_ < text_.size() ? fmt::format("'{}'", text_.substr(at_, std::min<std::size_t>(12, text_.find('\n', at_) - at_))) : "the end";
  }

  std::string quoted() {
    expect('"');
    std::string out;
    while (at_ < text_.size() && text_[at_] != '"') {
      char c = text_[at_++];
      if (c == '\\') {
        if (at_ >= text_.size()) break;
        c = text_[at_++];
        if (c == 'x') {
          unsigned value = 0;
          const auto [p, e] = std::from_chars(text_.data() + at_, text_.data() + std::min(at_ + 2, text_.size()), value, 16);
          if (e != std::errc()) error("bad-escape", "a bad \\x escape");
          at_ = static_cast<std::size_t>(p - text_.data());
          c = static_cast<char>(value);
        }
      }
      out += c;
    }
    if (at_ >= text_.size()) error("open-text", "a text without its closing quote");
    ++at_;
    return out;
  }
  std::string name() { return next_is('"') ? quoted() : std::string(word()); }

  std::int64_t integer() {
    skip_space();
    std::int64_t v = 0;
    const auto [p, e] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), v);
    if (e != std::errc()) error("integer-expected", "expected an integer, found {}", next_text());
    at_ = static_cast<std::size_t>(p - text_.data());
    return v;
  }

  // A number as its characters: digits, sign, point, exponent, inf.
  std::string_view number_text() {
    skip_space();
    std::size_t end = at_;
    while (end < text_.size() && (in_word(text_[end]) || text_[end] == '-' || text_[end] == '+')) ++end;
    if (end == at_) error("number-expected", "expected a number, found {}", next_text());
    const std::string_view t = text_.substr(at_, end - at_);
    at_ = end;
    return t;
  }
  double number_of(std::string_view t) {
    double v = 0;
    const char* begin = t.data() + (!t.empty() && t[0] == '+');
    const auto [p, e] = std::from_chars(begin, t.data() + t.size(), v);
    if (e == std::errc::invalid_argument || p != t.data() + t.size()) error("number-expected", "expected a number, found '{}'", t);
    return v;
  }

  // --- types
  Shape shape() {
    expect('(');
    Shape s;
    while (!take(')')) {
      if (!s.empty()) expect(',');
      s.push_back(integer());
    }
    return s;
  }
  DType dtype() {
    const std::string_view w = word();
    const auto t = dtype_named(w);
    if (!t) error("element-type", "'{}' is not an element type", w);
    return *t;
  }
  // What may stand behind the element type: device, memory, shard.
  void place(Type& t) {
    while (take(',')) place_item(t);
    expect(']');
  }
  void place_item(Type& t) {
    if (take_word("shard_of")) {
      t.meta_shape = shape();
      return;
    }
    std::string_view w = word();
    if (w == "streaming") {
      t.place.memory = Memory::streaming;
    } else if (w == "host") {
      t.place.memory = Memory::host;
    } else if (w == "io") {
      t.place.tiles = TileSet::io;
    } else if (w == "compute") {
      t.place.tiles = TileSet::compute;
    } else {
      device(t, w);
    }
  }
  void device(Type& t, std::string_view w) {
    t.place.tiles = TileSet::compute;
    if (w.ends_with(".io")) t.place.tiles = TileSet::io;
    if (w.ends_with(".any")) t.place.tiles = TileSet::undefined;
    w = w.substr(0, w.find('.'));
    const bool variable = !w.empty() && w[0] == 'd';
    std::int32_t n = -1;
    const char* begin = w.data() + variable;
    const auto [p, e] = std::from_chars(begin, w.data() + w.size(), n);
    if (e != std::errc() || p != w.data() + w.size() || n < 0 || n > kMostDevice) error("place", "'{}' is not a place", w);
    t.place.device = variable ? Device::variable(n) : Device::numbered(n);
  }
  Type type() {
    Type t;
    if (++depth_ > 100) error("too-deep", "types nested deeper than 100");
    if (take_word("Tuple")) {
      t.kind = Type::Kind::tuple;
      expect('[');
      while (!take(']')) {
        if (!t.elements.empty()) expect(',');
        t.elements.push_back(module_.type(type()));
      }
    } else if (take_word("Tensor")) {
      expect('[');
      t.shape = shape();
      expect(',');
      t.dtype = dtype();
      place(t);
    } else {
      t.dtype = dtype();
      if (take('[')) {
        place_item(t);
        place(t);
      }
    }
    --depth_;
    return t;
  }

  // --- data
  HostTensor data(DType dtype, const Shape& shape) {
    module_.type(tensor_type(dtype, shape));  // rejects sizes that no host holds
    const std::size_t bytes_needed = static_cast<std::size_t>(elements_of(shape)) * size_of(dtype);
    if (take_word("hex")) {
      const std::size_t open = at_ + 1, close = text_.find('"', std::min(open, text_.size()));
      if (!next_is('"') || close == std::string_view::npos) error("data", "hex without its text");
      if ((close - open) != 2 * bytes_needed) error("data", "{} hex digits, expected {}", close - open, 2 * bytes_needed);
      HostTensor t(dtype, shape);
      std::byte* to = t.writable();
      for (std::size_t i = 0; i < bytes_needed; ++i) {
        unsigned v = 0;
        const auto [p, e] = std::from_chars(text_.data() + open + 2 * i, text_.data() + open + 2 * i + 2, v, 16);
        if (e != std::errc() || p != text_.data() + open + 2 * i + 2) error("data", "a bad hex digit");
        to[i] = static_cast<std::byte>(v);
      }
      at_ = close + 1;
      return t;
    }
    expect('[');
    // Before anything is allocated: as many numbers as elements can stand in the text that is left.
    if (elements_of(shape) > static_cast<std::int64_t>(text_.size() - at_)) error("data", "fewer numbers than elements");
    HostTensor t(dtype, shape);
    std::int64_t i = 0;
    while (!take(']')) {
      if (i) expect(',');
      const std::string_view n = number_text();
      if (i >= t.elements()) error("data", "more numbers than elements");
      if (is_floating(dtype) || is_complex(dtype)) {
        t.set(i, number_of(n));
      } else if (dtype == DType::uint64) {
        std::uint64_t v = 0;
        if (std::from_chars(n.data(), n.data() + n.size(), v).ec != std::errc()) error("data", "'{}' is not a uint64", n);
        t.set_integer(i, static_cast<std::int64_t>(v));
      } else {
        std::int64_t v = 0;
        if (std::from_chars(n.data(), n.data() + n.size(), v).ec != std::errc()) error("data", "'{}' is not an integer", n);
        t.set_integer(i, v);
      }
      ++i;
    }
    if (i != t.elements()) error("data", "{} numbers for {} elements", i, t.elements());
    return t;
  }
  BlobId blob(DType t) {
    const Shape s = shape();
    return module_.add_blob(data(t, s));
  }

  // --- attributes
  AttributeValue attribute() {
    skip_space();
    if (next_is('"')) return quoted();
    if (next_is('[')) return list();
    if (take('@')) return reference();
    const std::string_view w = peek_word();
    if (w == "true" || w == "false") {
      at_ += w.size();
      return w == "true";
    }
    if (const auto t = dtype_named(w)) {
      at_ += w.size();
      if (next_is('(')) return blob(*t);
      return *t;
    }
    for (std::string_view empty : {"ints", "floats", "texts"}) {
      if (!take_word(empty)) continue;
      expect('[');
      expect(']');
      if (empty == "ints") return Ints();
      if (empty == "floats") return Floats();
      return Strings();
    }
    return scalar(number_text());
  }
  static bool is_integer_text(std::string_view t) { return t.find_first_not_of("-0123456789") == std::string_view::npos; }
  AttributeValue scalar(std::string_view t) {
    if (!is_integer_text(t)) return number_of(t);
    std::int64_t v = 0;
    const auto [p, e] = std::from_chars(t.data(), t.data() + t.size(), v);
    if (e != std::errc() || p != t.data() + t.size()) error("integer-expected", "'{}' is not an integer of 64 bits", t);
    return v;
  }
  AttributeValue list() {
    expect('[');
    if (next_is('"')) {
      Strings s{quoted()};
      while (take(',')) s.push_back(quoted());
      expect(']');
      return s;
    }
    std::vector<std::string_view> items{number_text()};
    while (take(',')) items.push_back(number_text());
    expect(']');
    if (!is_integer_text(items[0])) {
      Floats f;
      for (std::string_view t : items) f.push_back(number_of(t));
      return f;
    }
    Ints v;
    for (std::string_view t : items) {
      const AttributeValue x = scalar(t);
      if (!std::holds_alternative<std::int64_t>(x)) error("mixed-list", "integers and floating numbers in one list");
      v.push_back(std::get<std::int64_t>(x));
    }
    return v;
  }
  AttributeValue reference() {
    const std::string_view w = word();
    const bool stream = w.starts_with("stream");
    if (!stream && !w.starts_with("buffer")) error("reference", "'@{}' is neither a stream nor a buffer", w);
    std::uint32_t n = 0;
    const auto [p, e] = std::from_chars(w.data() + 6, w.data() + w.size(), n);
    if (e != std::errc() || p != w.data() + w.size() || n >= (stream ? module_.stream_count() : module_.buffer_count())) {
      error("reference", "there is no '@{}'", w);
    }
    if (stream) return HostStreamId(n);
    return BufferId(n);
  }

  // --- declarations
  void stream() {
    if (integer() != static_cast<std::int64_t>(module_.stream_count())) error("numbering", "streams are numbered in order from 0");
    HostStream s;
    s.name = quoted();
    expect_word("to");
    const std::string_view w = word();
    if (w != "device" && w != "host") error("direction", "a stream goes to device or to host, not to '{}'", w);
    s.direction = w == "device" ? HostStream::Direction::host_to_device : HostStream::Direction::device_to_host;
    expect(':');
    const Type t = type();
    s.dtype = t.dtype;
    s.shape = t.shape;
    module_.add_stream(std::move(s));
  }
  void buffer() {
    if (integer() != static_cast<std::int64_t>(module_.buffer_count())) error("numbering", "buffers are numbered in order from 0");
    RemoteBuffer b;
    expect_word("number");
    b.number = integer();
    expect(':');
    const Type t = type();
    b.dtype = t.dtype;
    b.shape = t.shape;
    b.meta_shape = t.meta_shape;
    expect_word("x");
    b.entries = integer();
    if (b.entries < 1) error("entries", "a buffer of {} rows", b.entries);
    module_.add_buffer(std::move(b));
  }
  void state() {
    skip_space();
    places_.states.push_back(at_);
    State s;
    s.name = quoted();
    s.grouping = ReplicaGrouping(module_.replicas());
    if (take_word("input")) {
      const std::int64_t n = integer();
      if (n < 0 || n > (1 << 30)) error("state-input", "input {}", n);
      s.input = static_cast<std::uint32_t>(n);
    }
    if (take_word("row")) {
      s.row = integer();
      expect_word("of");
      expect('@');
      const AttributeValue r = reference();
      if (!std::holds_alternative<BufferId>(r)) error("reference", "a remote variable lies in a buffer");
      s.buffer = std::get<BufferId>(r);
    }
    s.sharded = take_word("sharded");
    if (take_word("groups")) {
      const AttributeValue groups = list();
      if (!std::holds_alternative<Ints>(groups)) error("groups", "groups are integers");
      s.grouping = ReplicaGrouping::of_assignment(std::get<Ints>(groups));
    }
    if (take_word("all_replicas")) s.retrieval = Retrieval::all_replicas;
    expect(':');
    s.type = module_.type(type());
    if (take('=')) s.data = blob(dtype());
    module_.add_state(std::move(s));
  }

  // Graphs may be referred to before they are written: their names first.
  void declare_graphs() {
    const std::size_t start = at_;
    for (std::size_t line = text_.find("graph ", at_); line != std::string_view::npos; line = text_.find("\ngraph ", line + 1)) {
      at_ = line + (text_[line] == '\n');
      if (at_ != 0 && text_[at_ - 1] != '\n') continue;
      places_.graphs.push_back(at_);
      expect_word("graph");
      std::string n = name();
      if (graphs_.contains(n)) error("graph-twice", "two graphs are named '{}'", n);
      const GraphId id = module_.add_graph(n);
      graphs_.emplace(std::move(n), id);
    }
    at_ = start;
  }

  // --- graphs
  void graph(GraphId id) {
    expect_word("graph");
    if (id.index() >= module_.graph_count() || name() != module_.graph(id).name)
      error("graph-place", "'graph' must stand at the beginning of a line");
    values_.clear();
    labels_.clear();
    expect('(');
    while (!take(')')) {
      if (!module_.graph(id).inputs.empty()) expect(',');
      const std::string n = name();
      expect(':');
      const Type t = type();
      define(n, module_.add_input(id, t, n, take_word("by_ref")));
    }
    expect(':');
    if (take_word("note")) module_.graph(id).note = quoted();
    while (peek_word() != "return") op(id);
    expect_word("return");
    if (next_word_on_line()) {
      module_.add_output(id, use());
      while (take(',')) module_.add_output(id, use());
    }
    while (take_word("final")) {
      const ValueId input = use();
      if (module_.value(input).producer.valid()) error("final", "'{}' is not an input", module_.name_of(input));
      expect('=');
      module_.graph(id).updated_inputs[module_.value(input).index] = use();
    }
  }
  bool next_word_on_line() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    return at_ < text_.size() && (in_word(text_[at_]) || text_[at_] == '"');
  }
  void define(const std::string& n, ValueId v) {
    if (module_.name_of(v) != n || !values_.emplace(n, v).second) error("defined-twice", "'{}' is defined twice", n);
  }
  ValueId use() {
    const std::string n = name();
    const auto it = values_.find(n);
    if (it == values_.end()) error("undefined", "'{}' is not defined before its use", n);
    return it->second;
  }

  struct Result {
    std::string name;
    TypeId type;
  };
  std::vector<Result> results() {
    std::vector<Result> all;
    const auto one = [&] {
      std::string n = name();
      expect(':');
      all.push_back({std::move(n), module_.type(type())});
    };
    if (take('(')) {
      do { one(); } while (take(','));
      expect(')');
      expect('=');
      return all;
    }
    // A name and a colon, or the op's name at once.
    const std::size_t start = at_;
    name();
    const bool has_result = next_is(':');
    at_ = start;
    if (!has_result) return all;
    one();
    expect('=');
    return all;
  }

  void op(GraphId g) {
    skip_space();
    const std::size_t begin = at_;
    std::optional<std::int64_t> label;
    if (take('[')) {
      label = integer();
      expect(']');
    }
    const std::vector<Result> defined = results();
    const std::size_t start_of_name = (skip_space(), at_);
    const std::string_view n = word();
    auto kind = find_op(n);
    const bool in_place = !kind && n.ends_with('_');
    if (in_place) kind = find_op(n.substr(0, n.size() - 1));
    if (!kind) at_ = start_of_name;
    if (!kind) error("unknown-op", "there is no op named '{}'", n);
    expect('(');
    std::vector<ValueId> operands;
    Attributes attributes;
    for (bool first = true; !take(')'); first = false) {
      if (!first) expect(',');
      const std::size_t start = at_;
      std::string w = name();
      if (take('=')) {
        attributes.set(w, attribute());
        continue;
      }
      at_ = start;
      operands.push_back(use());
    }
    std::vector<GraphId> graphs;
    while (take('@')) {
      const std::string callee = name();
      const auto id = graphs_.find(callee);
      if (id == graphs_.end()) error("unknown-graph", "there is no graph named '{}'", callee);
      graphs.push_back(id->second);
    }
    std::vector<TypeId> types;
    for (const Result& r : defined) types.push_back(r.type);
    std::string op_name;
    if (take_word("as")) op_name = quoted();
    if (op_name.empty() && !defined.empty()) op_name = defined[0].name;
    const OpId id = module_.add_op(g, *kind, operands, attributes, graphs, {}, op_name);
    module_.op(id).in_place = in_place;
    places_.ops.push_back(begin);
    for (std::size_t i = 0; i < types.size(); ++i) define_result(g, id, i, defined[i]);
    suffixes(g, id);
    if (label) labels_[*label] = id;
  }
  void define_result(GraphId, OpId op, std::size_t i, const Result& r) {
    const ValueId v = module_.add_result(op, r.type, static_cast<std::uint32_t>(i), r.name);
    define(r.name, v);
  }
  void suffixes(GraphId g, OpId id) {
    if (take_word("during")) {
      const std::string_view w = word();
      if (w == "accumulate_outer") {
        module_.op(id).context = Context::accumulate_outer;
      } else if (w == "weights_from_host") {
        module_.op(id).context = Context::weights_from_host;
      } else if (w == "weights_to_host") {
        module_.op(id).context = Context::weights_to_host;
      } else {
        error("context", "'{}' is not a program of a module", w);
      }
    }
    module_.op(id).implicit = take_word("implicit");
    if (take_word("after")) {
      do {
        expect('[');
        const auto it = labels_.find(integer());
        if (it == labels_.end()) error("label", "no earlier op has this number");
        expect(']');
        module_.graph(g).after.emplace_back(it->second, id);
      } while (take(','));
    }
    if (take_word("loc")) {
      expect('(');
      Location l;
      l.file = quoted();
      expect(':');
      l.line = static_cast<std::uint32_t>(integer());
      expect(')');
      module_.op(id).location = module_.location(l);
    }
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0;
  int depth_ = 0;
  Module module_;
  TextPlaces places_;
  std::unordered_map<std::string, GraphId> graphs_;
  std::unordered_map<std::string, ValueId> values_;
  std::unordered_map<std::int64_t, OpId> labels_;
};

}  // namespace

Module parse(std::string_view text, const std::string& file, TextPlaces* places) {
  Parser parser(text, file);
  try {
    Module module = parser.whole();
    if (places) *places = parser.places();
    return module;
  } catch (const ModelError& e) {
    if (!e.location().empty()) throw;
    parser.reject_here(e.kind(), e.what());
  } catch (const poplar::poplar_error& e) { parser.reject_here(ErrorClass::popart, e.what()); }
}

}  // namespace pando::ir
