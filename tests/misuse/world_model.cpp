#include "misuse/world.h"

#include "ir/op_table.h"
#include "ir/semantics/samples.h"

#include <algorithm>

namespace misuse {

namespace ir = pando::ir;
using model::Attribute;
using model::Builder;
using model::Data;
using model::Session;
using model::Shape;

namespace {

std::int64_t elements(const Shape& shape) {
  std::int64_t n = 1;
  for (std::int64_t d : shape) {
    if (d < 0 || __builtin_mul_overflow(n, d, &n) || n > 1 << 20) return -1;
  }
  return n;
}

std::size_t bytes_of(const std::string& element) {
  if (element.find("64") != std::string::npos) return 8;
  if (element.find("32") != std::string::npos) return 4;
  return element.find("16") != std::string::npos ? 2 : 1;
}

Data data_of(const model::Type& type) {
  const std::int64_t n = elements(type.shape);
  return {type, std::vector<std::byte>(n < 0 ? 24 : static_cast<std::size_t>(n) * bytes_of(type.element))};
}

Builder small_program(std::vector<model::Tensor>& tensors, std::vector<model::Stream>& in, std::vector<model::Stream>& out) {
  Builder b;
  const model::Graph main = b.main();
  in = {b.stream_to_device("in", {"float32", {4, 4}}), b.stream_to_device("indices", {"int32", {3}})};
  out = {b.stream_to_host("out", {"float32", {4, 4}})};
  tensors.push_back(b.variable(Data::of<float>({4, 4}, std::vector<float>(16, 0.5f)), "v"));
  tensors.push_back(b.variable(Data::of<float>({4}, {1, 2, 3, 4}), "x"));
  tensors.push_back(b.variable(Data::of<std::int32_t>({3}, {0, 1, 2}), "i"));
  tensors.push_back(b.constant(main, Data::of<float>({}, {2}), "c"));
  tensors.push_back(b.op(main, "host_load", {}, {{"stream", in[0]}})[0]);
  tensors.push_back(b.op(main, "host_load", {}, {{"stream", in[1]}})[0]);
  tensors.push_back(b.op(main, "transpose", {tensors[0]}, {{"permutation", std::vector<std::int64_t>{1, 0}}}, {}, true)[0]);
  tensors.push_back(b.constant(main, Data::of<bool>({4}, {true, false, true, true}), "mask"));
  tensors.push_back(b.constant(main, data_of({"float32", {0, 4}}), "empty"));
  return b;
}

}  // namespace

ModelWorld::ModelWorld() : own(small_program(good, in, out)), other(small_program(foreign, foreign_in, foreign_out)) {
  inner = own.create_graph("g");
  within = {own.input(inner, {"float32", {4, 4}}, "a"), own.input(inner, {"float32", {4}}, "b", true)};
  within.push_back(own.op(inner, "add", {within[0], within[1]})[0]);
  own.output(inner, within[2]);
  const model::Graph second = own.create_graph("h");
  const model::Tensor t = own.input(second, {"float32", {4, 4}}, "a");
  own.output(second, own.op(second, "relu", {t})[0]);
  graphs = {own.main(), inner, second};
  foreign_graph = other.create_graph("g");
  // Whose numbers are nothing of `own`.
  for (int i = 0; i < 30; ++i) foreign.push_back(other.constant(other.main(), Data::of<float>({}, {1})));
}

std::map<model::Stream, Data> ModelWorld::inputs() const {
  return {{in[0], Data::of<float>({4, 4}, std::vector<float>(16, 1.5f))}, {in[1], Data::of<std::int32_t>({3}, {0, 1, 3})}};
}

ModelWorld& World::model() {
  if (!model_world) model_world = std::make_shared<ModelWorld>();
  return *model_world;
}

BuilderArgument::BuilderArgument(World& w) : own(w.roll(12) ? &w.model().own : nullptr) {
  w.gave_graph = true;
  if (!own) Builder gone(std::move(empty));
}

std::string_view model_text(World& w) {
  static const std::string texts[] = {
      "v",
      "x",
      "in",
      "add",
      "matmul",
      "w",
      "module\ngraph main():\n    return\n",
      "module\ngraph main():\n    a: Tensor[(2), float32] = init(dtype=float32, init_type=\"zero\", shape=[3])\n    return\n",
      "module\ngraph main():\n    call(main)\n    return\n",
      "module\n\nstream in: Tensor[(99999999999, 99999999999), float32] to device\n",
      "",
      "((((((((",
      "a\nb",
      "graph",
      "\xff\xfe",
      std::string("a\0b", 3)};
  static std::string made;
  if (w.roll(4) == 0) {
    // A valid text with one byte changed.
    made = w.model().own.module().text();
    made[w.roll(static_cast<unsigned>(made.size()))] = "()[]{}:,=0-9a\n \xff"[w.roll(16)];
    return made;
  }
  return texts[w.roll(3) ? w.roll(8) : w.roll(16)];
}

namespace {

// One of `good` mostly; of another builder; a number that stands for nothing.
template <class Handle>
Handle some(World& w, const std::vector<Handle>& good, const Handle& foreign) {
  switch (w.roll(14)) {
    case 0: w.gave_foreign = true; return foreign;
    case 1: return {Maker<std::uint32_t>::make(w)};
    case 2: return {0xffffffff};
    default: return good[w.roll(static_cast<unsigned>(good.size()))];
  }
}

}  // namespace

model::Graph Maker<model::Graph>::make(World& w) { return some(w, w.model().graphs, w.model().foreign_graph); }

model::Tensor Maker<model::Tensor>::make(World& w) {
  const ModelWorld& m = w.model();
  return some(w, w.roll(4) ? m.good : m.within, m.foreign[w.roll(static_cast<unsigned>(m.foreign.size()))]);
}

model::Stream Maker<model::Stream>::make(World& w) { return some(w, w.roll(2) ? w.model().in : w.model().out, w.model().foreign_in[0]); }

model::Type Maker<model::Type>::make(World& w) {
  static const char* const elements[] = {"float32", "float32", "float16",    "int32", "bool",   "uint8",
                                         "float64", "int64",   "float8_143", "",      "float31"};
  static const Shape shapes[] = {
      {4, 4}, {4}, {}, {3}, {0}, {1 << 20, 1 << 20}, {-1}, {1ll << 62, 4}, {0, 1ll << 62, 1ll << 62}, {1ll << 55}, {(1ll << 62) + 1, -2}};
  return {elements[w.roll(3) ? w.roll(4) : w.roll(11)], w.roll(3) ? shapes[w.roll(5)] : shapes[w.roll(11)]};
}

Data Maker<Data>::make(World& w) {
  Data d = data_of(Maker<model::Type>::make(w));
  if (w.roll(6) == 0) d.bytes.resize(w.roll(100));
  return d;
}

Attribute Maker<Attribute>::make(World& w) {
  const auto number = [&]() -> std::int64_t {
    static const std::int64_t odd[] = {-1, -4, 1ll << 31, 1ll << 32, INT64_MAX, INT64_MIN, 1ll << 62};
    return w.roll(3) ? w.roll(5) : odd[w.roll(7)];
  };
  switch (w.roll(9)) {
    case 0: return w.roll(2) == 0;
    case 1: return number();
    case 2: return Maker<double>::make(w);
    case 3: return text(w);
    case 4: return std::vector<double>(w.roll(4), Maker<double>::make(w));
    case 5: return std::vector<std::string>(w.roll(4), text(w));
    case 6: return Maker<model::Stream>::make(w);
    default: {
      std::vector<std::int64_t> list;
      for (unsigned n = w.roll(5); n > 0; --n) list.push_back(number());
      return list;
    }
  }
}

model::Attributes Maker<model::Attributes>::make(World& w) {
  static const char* const names[] = {"axis", "axes", "shape", "count", "stream", "keepdims", "no-such", ""};
  model::Attributes all;
  for (unsigned n = w.roll(3); n > 0; --n) all[names[w.roll(8)]] = Maker<Attribute>::make(w);
  return all;
}

model::Options Maker<model::Options>::make(World& w) {
  model::Options o;
  static const char* const devices[] = {"cpu", "cpu", "ipu_model", "ipu_hw", "", "gpu"};
  const auto odd = [&](std::int64_t usual) { return w.roll(8) ? usual : static_cast<std::int64_t>(Maker<std::uint64_t>::make(w)); };
  o.device = devices[w.roll(3) ? w.roll(3) : w.roll(6)];
  o.tiles_per_ipu = odd(4);
  o.num_io_tiles = odd(w.roll(2));
  o.num_host_transfers = odd(1);
  if (w.roll(8) == 0) o.engine[text(w)] = text(w);
  return o;
}

std::map<model::Stream, Data> Maker<std::map<model::Stream, Data>>::make(World& w) {
  std::map<model::Stream, Data> all = w.model().inputs();
  if (w.roll(2)) return all;
  switch (w.roll(4)) {
    case 0: all.erase(all.begin()); break;
    case 1: all.begin()->second = Maker<Data>::make(w); break;
    case 2: all.begin()->second.bytes.resize(w.roll(65)); break;
    default: {
      const model::Stream s = Maker<model::Stream>::make(w);
      all.erase(s);
      all[s] = Maker<Data>::make(w);
    }
  }
  return all;
}

model::Module Maker<model::Module>::make(World& w) {
  const std::string_view texts[] = {"module\ngraph main():\n    return\n", model_text(w)};
  if (w.roll(3) == 0) {
    try {
      return model::Module::parse(texts[w.roll(2)]);
    } catch (const pando::ModelError&) {}
  }
  model::Module m = w.model().own.module();
  if (w.roll(12) == 0) model::Module taken(std::move(m));
  return m;
}

Session Maker<Session>::make(World& w) {
  Builder& b = w.model().own;
  w.gave_graph = true;
  b.op(b.main(), "host_store", {w.model().good[4]}, {{"stream", w.model().out[0]}});
  model::Options o;
  o.device = "cpu";
  if (w.roll(3) == 0) o.device = "ipu_model", o.tiles_per_ipu = 4;
  Session s = w.roll(2) ? Session(b, o) : Session(b.module(), o);
  // The session has what it needs of its builder.
  if (w.roll(4) == 0) Builder gone(std::move(b));
  if (w.roll(12) == 0) Session taken(std::move(s));
  return s;
}

std::string model_wrong(World& w) {
  std::string text;
  model::Module m = [&] {
    try {
      return w.model().own.module();
    } catch (const pando::ModelError& e) {
      if (e.id() == "moved-from") return model::Module::parse("module\ngraph main():\n    return\n");
      throw;
    }
  }();
  for (const model::Violation& v : m.verify()) return "leaves a module that is not valid: " + v.rule + ", " + v.where + ": " + v.message;
  text = m.text();
  try {
    if (model::Module::parse(text).text() != text) return "leaves a module whose text does not come back";
  } catch (const pando::ModelError& e) { return std::string("leaves a module whose text is not read: ") + e.what(); }
  return {};
}

void run_model(World& w) {
  model::Options o;
  o.device = "cpu";
  Session s(w.model().own, o);
  s.run(w.model().inputs());
}

namespace {

Attribute public_attribute(const ir::AttributeValue& value) {
  Attribute out = false;
  std::visit(
      [&](const auto& v) {
        using V = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<V, pando::ir::DType>)
          out = std::string(ir::name_of(v));
        else if constexpr (std::is_constructible_v<Attribute, V>)
          out = v;
      },
      value);
  return out;
}

// Operands and attributes of a sample, or of the row's rules.
void call_op(World& w, const ir::OpRow& row) {
  ModelWorld& m = w.model();
  Builder& b = m.own;
  w.gave_graph = true;
  const model::Graph main = b.main();
  std::vector<model::Tensor> operands;
  model::Attributes attributes;
  std::vector<model::Graph> graphs;
  const std::vector<ir::Sample> samples = row.samples ? row.samples() : std::vector<ir::Sample>();
  if (!samples.empty()) {
    const ir::Sample& sample = samples[w.roll(static_cast<unsigned>(samples.size()))];
    for (const ir::HostTensor& t : ir::sample_data(sample, 1)) {
      operands.push_back(
          b.variable({{std::string(ir::name_of(t.dtype())), t.shape()}, std::vector<std::byte>(t.data(), t.data() + t.size_bytes())}, "t"));
    }
    for (const auto& [name, value] : sample.attributes.items()) attributes[name] = public_attribute(value);
  } else {
    for (unsigned n = w.roll(4); n > 0; --n) operands.push_back(Maker<model::Tensor>::make(w));
    for (const ir::AttributeRule& rule : row.attributes) {
      if (!rule.name.empty() && (rule.required || w.roll(3) == 0)) attributes[std::string(rule.name)] = Maker<Attribute>::make(w);
    }
  }
  for (int g = 0; g < row.graphs; ++g) graphs.push_back(Maker<model::Graph>::make(w));
  if (row.graphs > 0 && w.roll(2)) operands = {m.good[0], m.good[1]}, graphs.assign(graphs.size(), m.inner);
  for (unsigned changes = w.roll(3); changes > 0; --changes) {
    switch (w.roll(5)) {
      case 0:
        if (!operands.empty()) operands[w.roll(static_cast<unsigned>(operands.size()))] = Maker<model::Tensor>::make(w);
        break;
      case 1: operands.resize(w.roll(static_cast<unsigned>(operands.size()) + 2)); break;
      case 2:
        if (operands.size() > 1) operands[0] = operands[1];  // the same twice
        break;
      default: {
        if (attributes.empty()) break;
        auto it = attributes.begin();
        std::advance(it, w.roll(static_cast<unsigned>(attributes.size())));
        // Of the same kind, mostly.
        for (int attempt = 0; attempt < 20; ++attempt) {
          Attribute other = Maker<Attribute>::make(w);
          if (attempt < 19 && other.index() != it->second.index()) continue;
          it->second = std::move(other);
          break;
        }
      }
    }
  }
  // Of what is given in the end.
  const auto is_foreign = [own = main.builder](auto h) { return h.builder != 0 && h.builder != own; };
  w.gave_foreign = std::any_of(operands.begin(), operands.end(), is_foreign) || std::any_of(graphs.begin(), graphs.end(), is_foreign) ||
                   std::any_of(attributes.begin(), attributes.end(), [&](const auto& a) {
                     const model::Stream* const s = std::get_if<model::Stream>(&a.second);
                     return s != nullptr && is_foreign(*s);
                   });
  b.op(main, row.name, operands, attributes, graphs, row.has_in_place && w.roll(2) == 0);
}

}  // namespace

void add_op_rows(std::vector<Row>& rows) {
  for (const ir::OpRow* row : ir::op_table()) {
    rows.push_back({"pando::model::Builder::op(\"" + std::string(row->name) + "\")", [row](World& w) { call_op(w, *row); }});
  }
}

}  // namespace misuse
