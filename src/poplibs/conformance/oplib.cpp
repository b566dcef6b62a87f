#include "oplib.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <sstream>

#include <poplar/Engine.hpp>
#include <poplar/IPUModel.hpp>
#include <poplar/TypeConversion.hpp>
#include <poplin/codelets.hpp>
#include <popnn/codelets.hpp>
#include <popops/codelets.hpp>
#include <poprand/codelets.hpp>
#include <poputil/exceptions.hpp>

namespace oplib {

using namespace poplar;

std::string name_of(Machine machine) {
  switch (machine) {
    case Machine::cpu: return "cpu";
    case Machine::ipu1: return "ipu1";
    case Machine::ipu2: return "ipu2";
    default: return "full";
  }
}

Device device_of(Machine machine) {
  if (machine == Machine::cpu) return Device::createCPUDevice();
  IPUModel model("ipu2");
  model.numIPUs = machine == Machine::ipu2 ? 2 : 1;
  model.tilesPerIPU = machine == Machine::full ? 1472 : 16;
  return model.createDevice();
}

std::string name_of(Mapping mapping) {
  switch (mapping) {
    case Mapping::linear: return "linear";
    case Mapping::one: return "one";
    case Mapping::scattered: return "scattered";
    default: return "views";
  }
}

void map_tensor(Graph& graph, const Tensor& tensor, Mapping mapping) {
  const Tensor flat = tensor.flatten();
  const unsigned tiles = graph.getTarget().getNumTiles();
  const std::size_t n = flat.numElements();
  if (mapping == Mapping::one) return graph.setTileMapping(tensor, tiles - 1);
  const std::size_t piece = mapping == Mapping::scattered ? 5 : std::max<std::size_t>(1, (n + tiles - 1) / tiles);
  for (std::size_t begin = 0, i = 0; begin < n; begin += piece, ++i) {
    const unsigned tile = static_cast<unsigned>(mapping == Mapping::scattered ? (i * 7 + 3) % tiles : i);
    graph.setTileMapping(flat.slice(begin, std::min(n, begin + piece)), tile);
  }
}

bool is_floating(const Type& type) { return type == FLOAT || type == HALF; }

namespace {

// Calls f with a null pointer to the host type that stands for `type`.
template <class F>
auto with_host_type(const Type& type, F f) {
  if (type == FLOAT) return f(static_cast<float*>(nullptr));
  if (type == INT) return f(static_cast<int*>(nullptr));
  if (type == UNSIGNED_INT) return f(static_cast<unsigned*>(nullptr));
  if (type == BOOL || type == UNSIGNED_CHAR) return f(static_cast<unsigned char*>(nullptr));
  if (type == CHAR || type == SIGNED_CHAR) return f(static_cast<signed char*>(nullptr));
  if (type == SHORT) return f(static_cast<short*>(nullptr));
  if (type == UNSIGNED_SHORT) return f(static_cast<unsigned short*>(nullptr));
  if (type == LONGLONG) return f(static_cast<long long*>(nullptr));
  if (type == UNSIGNED_LONGLONG) return f(static_cast<unsigned long long*>(nullptr));
  throw std::runtime_error("no host type for " + type.toString());
}

template <class T>
double to_integer(double value) {
  return static_cast<double>(static_cast<T>(static_cast<std::int64_t>(value)));
}

std::vector<char> bytes_of(const Values& v) {
  if (v.type == HALF) {
    std::vector<char> out(2 * v.size());
    for (std::size_t i = 0; i < v.size(); ++i) {
      const _Float16 h = static_cast<_Float16>(v[i]);
      std::memcpy(&out[2 * i], &h, 2);
    }
    return out;
  }
  return with_host_type(v.type, [&](auto* none) {
    using T = std::remove_reference_t<decltype(*none)>;
    std::vector<char> out(sizeof(T) * v.size());
    for (std::size_t i = 0; i < v.size(); ++i) {
      const T value = static_cast<T>(v[i]);
      std::memcpy(&out[sizeof(T) * i], &value, sizeof(T));
    }
    return out;
  });
}

std::vector<double> values_of(const Type& type, const std::vector<char>& bytes) {
  std::vector<double> out;
  if (type == HALF) {
    for (std::size_t i = 0; i < bytes.size(); i += 2) {
      _Float16 h;
      std::memcpy(&h, &bytes[i], 2);
      out.push_back(static_cast<double>(h));
    }
    return out;
  }
  with_host_type(type, [&](auto* none) {
    using T = std::remove_reference_t<decltype(*none)>;
    for (std::size_t i = 0; i < bytes.size(); i += sizeof(T)) {
      T value;
      std::memcpy(&value, &bytes[i], sizeof(T));
      out.push_back(static_cast<double>(value));
    }
  });
  return out;
}

std::size_t size_of(const Type& type) {
  return type == HALF ? 2 : with_host_type(type, [](auto* none) { return sizeof *none; });
}

void add_all_codelets(Graph& graph) {
  popops::addCodelets(graph);
  poplin::addCodelets(graph);
  popnn::addCodelets(graph);
  poprand::addCodelets(graph);
}

Tensor variable(Graph& graph, const Operand& o) {
  if (o.mapping != Mapping::views || o.shape.size() < 2) {
    const Tensor t = graph.addVariable(o.type, o.shape, o.name);
    map_tensor(graph, t, o.mapping == Mapping::views ? Mapping::linear : o.mapping);
    return t;
  }
  std::vector<std::size_t> reversed(o.shape.rbegin(), o.shape.rend());
  std::vector<unsigned> order(o.shape.size());
  for (unsigned i = 0; i < order.size(); ++i) order[i] = static_cast<unsigned>(order.size() - 1 - i);
  const Tensor t = graph.addVariable(o.type, reversed, o.name);
  map_tensor(graph, t, Mapping::linear);
  return t.dimShuffle(order);
}

}  // namespace

double rounded(const Type& type, double value) {
  if (type == FLOAT) return static_cast<double>(static_cast<float>(value));
  if (type == HALF) return static_cast<double>(static_cast<_Float16>(value));
  if (type == BOOL) return value != 0;
  return with_host_type(type, [&](auto* none) { return to_integer<std::remove_reference_t<decltype(*none)>>(value); });
}

Operand operand(const std::string& name, const Type& type, const std::vector<std::size_t>& shape,
                const std::function<double(std::size_t)>& value, Mapping mapping) {
  Operand o;
  o.name = name;
  o.type = type;
  o.shape = shape;
  o.mapping = mapping;
  std::size_t n = 1;
  for (const std::size_t d : shape) n *= d;
  for (std::size_t i = 0; i < n; ++i) o.values.push_back(rounded(type, value(i)));
  return o;
}

namespace {

std::uint64_t mixed(std::uint64_t i, std::uint64_t seed) {
  std::uint64_t z = (i + 1) * 0x9e3779b97f4a7c15 + seed * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace

std::function<double(std::size_t)> uniform(double low, double high, std::uint64_t seed) {
  return [=](std::size_t i) { return low + (high - low) * static_cast<double>(mixed(i, seed) >> 11) * 0x1p-53; };
}

std::function<double(std::size_t)> integers(std::int64_t low, std::int64_t high, std::uint64_t seed) {
  return [=](std::size_t i) {
    return static_cast<double>(low + static_cast<std::int64_t>(mixed(i, seed) % static_cast<std::uint64_t>(high - low + 1)));
  };
}

std::vector<Values> run(Machine machine, const std::vector<Operand>& operands, const Build& build, const RunOptions& options) {
  const Device device = device_of(machine);
  Graph graph(device.getTarget());
  add_all_codelets(graph);
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    tensors.push_back(variable(graph, operands[i]));
    graph.createHostWrite("in" + std::to_string(i), tensors.back());
  }
  std::vector<Tensor> inputs = tensors;
  program::Sequence prog;
  std::vector<Tensor> results = build(graph, inputs, prog);
  if (options.in_place) results.insert(results.end(), tensors.begin(), tensors.end());
  for (std::size_t i = 0; i < results.size(); ++i) graph.createHostRead("out" + std::to_string(i), results[i]);
  Engine engine(graph, prog, options.engine);
  engine.load(device);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const std::vector<char> bytes = bytes_of(operands[i]);
    engine.writeTensor("in" + std::to_string(i), bytes.data(), bytes.data() + bytes.size());
  }
  for (unsigned i = 0; i < options.repetitions; ++i) engine.run(0);
  std::vector<Values> out;
  for (std::size_t i = 0; i < results.size(); ++i) {
    std::vector<char> bytes(size_of(results[i].elementType()) * results[i].numElements());
    engine.readTensor("out" + std::to_string(i), bytes.data(), bytes.data() + bytes.size());
    Values v;
    v.type = results[i].elementType();
    v.shape = results[i].shape();
    v.values = values_of(v.type, bytes);
    out.push_back(std::move(v));
  }
  return out;
}

double share_of_tiles_used(Machine machine, const std::vector<Operand>& operands, const Build& build) {
  const Device device = device_of(machine);
  Graph graph(device.getTarget());
  add_all_codelets(graph);
  std::vector<Tensor> tensors;
  for (const Operand& o : operands) tensors.push_back(variable(graph, o));
  program::Sequence prog;
  build(graph, tensors, prog);
  std::ostringstream text;
  graph.serialize(text);
  // Lines "xN Codelet on tile T: ...".
  std::set<std::string> tiles;
  std::istringstream lines(text.str());
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find(" on tile ");
    if (at != std::string::npos) tiles.insert(line.substr(at + 9, line.find_first_not_of("0123456789", at + 9) - at - 9));
  }
  return static_cast<double>(tiles.size()) / graph.getTarget().getNumTiles();
}

const std::vector<Type> kAllTypes = {FLOAT,       HALF,          INT,   UNSIGNED_INT,   BOOL,     CHAR,
                                     SIGNED_CHAR, UNSIGNED_CHAR, SHORT, UNSIGNED_SHORT, LONGLONG, UNSIGNED_LONGLONG};

Tensor linear(Graph& graph, const Type& type, const std::vector<std::size_t>& shape) {
  const Tensor t = graph.addVariable(type, shape);
  map_tensor(graph, t, Mapping::linear);
  return t;
}

void expect_shares(const std::vector<ShareRow>& rows) {
  for (const ShareRow& row : rows)
    for (const Type& type : kAllTypes) {
      const Build build = [&](Graph& g, std::vector<Tensor>&, program::Sequence& prog) {
        row.build(g, type, prog);
        return std::vector<Tensor>{};
      };
      if (std::find(row.types.begin(), row.types.end(), type) == row.types.end())
        EXPECT_THROW(share_of_tiles_used(Machine::full, {}, build), poputil::poplibs_error) << row.name << ' ' << type;
      else
        EXPECT_GE(share_of_tiles_used(Machine::full, {}, build), 0.9) << row.name << ' ' << type;
    }
}

Tolerance tolerance_of(const Type& type) {
  if (type == FLOAT) return {2e-6, 2e-7};
  if (type == HALF) return {2e-3, 2e-4};
  return {};
}

void expect_close(const Values& actual, const std::vector<double>& expected, Tolerance tolerance, const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  std::size_t wrong = 0;
  std::ostringstream text;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double a = actual[i], e = expected[i];
    if (a == e || (std::isnan(a) && std::isnan(e)) || std::abs(a - e) <= tolerance.absolute + tolerance.relative * std::abs(e)) continue;
    if (++wrong <= 5) text << "  [" << i << "] is " << a << ", expected " << e << '\n';
  }
  EXPECT_EQ(wrong, 0u) << what << ": of " << expected.size() << " elements (" << actual.type.toString() << ")\n" << text.str();
}

std::vector<double> map1(const Values& x, const std::function<double(double)>& f) {
  std::vector<double> out;
  for (const double v : x.values) out.push_back(f(v));
  return out;
}

std::vector<double> map2(const Values& x, const Values& y, const std::function<double(double, double)>& f) {
  std::vector<double> out;
  for (std::size_t i = 0; i < x.size(); ++i) out.push_back(f(x[i], y[i]));
  return out;
}

}  // namespace oplib
