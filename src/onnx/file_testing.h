// Writes ONNX files for tests, and runs what is made of them.
#pragma once

#include "ir/semantics/interpreter.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "onnx/import.h"
#include "pando/model_error.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace pando::onnx {

// Writes messages, for tests.
struct Bytes {
  std::string text;
  Bytes& number(std::uint32_t field, std::uint64_t v) {
    varint(field << 3);
    varint(v);
    return *this;
  }
  Bytes& bytes(std::uint32_t field, std::string_view b) {
    varint(field << 3 | 2);
    varint(b.size());
    text.append(b);
    return *this;
  }
  Bytes& bytes(std::uint32_t field, const Bytes& b) { return bytes(field, b.text); }
  Bytes& real(std::uint32_t field, float v) {
    varint(field << 3 | 5);
    text.append(reinterpret_cast<const char*>(&v), 4);
    return *this;
  }
  void varint(std::uint64_t v) {
    for (; v >= 0x80; v >>= 7) text.push_back(static_cast<char>(v | 0x80));
    text.push_back(static_cast<char>(v));
  }
};

inline Bytes floats(const std::string& name, std::vector<std::int64_t> dims, const std::vector<float>& data, bool raw) {
  Bytes t;
  for (std::int64_t d : dims) t.number(1, static_cast<std::uint64_t>(d));
  t.number(2, 1).bytes(8, name);
  const std::string_view all(reinterpret_cast<const char*>(data.data()), 4 * data.size());
  return t.bytes(raw ? 9 : 4, all);
}
inline Bytes longs(const std::string& name, const std::vector<std::int64_t>& data) {
  Bytes t, packed;
  for (std::int64_t d : data) packed.varint(static_cast<std::uint64_t>(d));
  t.number(1, data.size()).number(2, 7).bytes(7, packed);
  return t.bytes(8, name);
}
inline Bytes node(const std::string& op, const std::vector<std::string>& in, const std::vector<std::string>& out,
                  const std::vector<Bytes>& attributes = {}) {
  Bytes n;
  for (const auto& i : in) n.bytes(1, i);
  for (const auto& o : out) n.bytes(2, o);
  n.bytes(3, "node of " + (out.empty() ? std::string("nothing") : out[0])).bytes(4, op);
  for (const Bytes& a : attributes) n.bytes(5, a);
  return n;
}
inline Bytes integer(const std::string& name, std::int64_t v) { return Bytes().bytes(1, name).number(3, static_cast<std::uint64_t>(v)); }
inline Bytes integers(const std::string& name, const std::vector<std::int64_t>& v) {
  Bytes a;
  a.bytes(1, name);
  for (std::int64_t i : v) a.number(8, static_cast<std::uint64_t>(i));
  return a;
}
// Dimensions below zero are named "batch".
inline Bytes value(const std::string& name, const std::vector<std::int64_t>& dims, std::uint64_t type = 1) {
  Bytes shape;
  for (std::int64_t d : dims) shape.bytes(1, d < 0 ? Bytes().bytes(2, "batch") : Bytes().number(1, static_cast<std::uint64_t>(d)));
  return Bytes().bytes(1, name).bytes(2, Bytes().bytes(1, Bytes().number(1, type).bytes(2, shape)));
}
struct Made {
  Bytes graph;
  Made& add(const Bytes& n) {
    graph.bytes(1, n);
    return *this;
  }
  Made& data(const Bytes& t) {
    graph.bytes(5, t);
    return *this;
  }
  Made& in(const Bytes& v) {
    graph.bytes(11, v);
    return *this;
  }
  Made& out(const std::string& name) {
    graph.bytes(12, value(name, {}));
    return *this;
  }
  std::string model(std::uint64_t opset = 13) const {
    return Bytes().number(1, 8).bytes(8, Bytes().bytes(1, "").number(2, opset)).bytes(7, graph).text;
  }
};

inline std::vector<double> numbers(const ir::HostTensor& t) {
  std::vector<double> all;
  for (std::int64_t i = 0; i < t.elements(); ++i) all.push_back(t.number(i));
  return all;
}
inline ir::HostTensor tensor(ir::Shape shape, const std::vector<double>& v) {
  return ir::HostTensor::of_floats(ir::DType::float32, std::move(shape), v);
}

// Outputs, given the values of inputs that have no data; others begin with theirs.
inline std::vector<ir::HostTensor> run(const ir::Module& m, const std::vector<ir::HostTensor>& given) {
  EXPECT_EQ(ir::print(ir::parse(ir::print(m))), ir::print(m));
  ir::Interpreter i(m);
  std::vector<ir::HostValue> inputs;
  for (std::uint32_t s = 0; s < m.state_count(); ++s) inputs.push_back({s < given.size() ? given[s] : i.state(ir::StateId(s), 0), {}});
  std::vector<ir::HostTensor> out;
  for (auto& v : i.run_graph(m.main_graph(), inputs)) out.push_back(v.tensor);
  out.resize(m.graph(m.main_graph()).outputs.size());
  return out;
}

inline std::string rejection(const std::string& bytes, const ImportOptions& options = {}) {
  try {
    import_model(read(bytes), options);
  } catch (const ModelError& e) { return std::string(e.id()) + ": " + e.what(); }
  return "accepted";
}

}  // namespace pando::onnx
