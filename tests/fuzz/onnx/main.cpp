// ONNX models made of random nodes of all operators, with hostile sizes, attributes and operands, and models whose bytes are changed: read
// or rejected (modules/harness.h has the command line). What is made of one prints and parses, and the shape of each value is known.
#include "modules/harness.h"
#include "onnx/file_testing.h"
#include "onnx/operator.h"

#include <array>
#include <limits>

namespace pando::fuzz {
namespace {

using onnx::AttributeType;
using onnx::Bytes;
using onnx::Made;

constexpr std::array<std::int64_t, 16> kNumbers = {0,   1,         -1,        2,         3,         4,     7,          -2,
                                                   100, INT64_MAX, INT64_MIN, 1LL << 32, 1LL << 62, 65536, 2147483647, -1000000};

std::int64_t some_number(Random& random) { return kNumbers[random.below(random.chance(70) ? 8 : kNumbers.size())]; }
std::vector<std::int64_t> some_numbers(Random& random) {
  std::vector<std::int64_t> all(random.below(5));
  for (std::int64_t& n : all) n = some_number(random);
  return all;
}

Bytes some_tensor(Random& random, const std::string& name) {
  Bytes t;
  std::vector<std::int64_t> dims(random.below(4));
  for (std::int64_t& d : dims) d = random.chance(90) ? static_cast<std::int64_t>(random.below(4)) : some_number(random);
  if (random.chance(80)) {
    std::int64_t elements = 1;
    for (std::int64_t& d : dims) {
      d = d < 0 || d > 8 ? 2 : d;
      elements *= d;
    }
    if (random.chance(60)) return onnx::floats(name, dims, std::vector<float>(static_cast<std::size_t>(elements), 0.5F), random.chance(50));
    std::vector<std::int64_t> data(static_cast<std::size_t>(elements));
    for (std::int64_t& d : data) d = some_number(random);
    Bytes packed;
    for (std::int64_t d : data) packed.varint(static_cast<std::uint64_t>(d));
    for (std::int64_t d : dims) t.number(1, static_cast<std::uint64_t>(d));
    return t.number(2, random.chance(80) ? 7 : random.below(20)).bytes(7, packed).bytes(8, name);
  }
  for (std::int64_t d : dims) t.number(1, static_cast<std::uint64_t>(d));
  t.number(2, random.below(30)).bytes(8, name).bytes(9, std::string(random.below(40), '\1'));
  if (random.chance(30)) t.bytes(13, Bytes().bytes(1, "location").bytes(2, "../data")).number(14, random.below(3));
  return t;
}

Bytes some_attribute(Random& random, const onnx::Signature::AttributeParameter& a) {
  static constexpr std::array<const char*, 10> kWords = {"mean", "constant", "SAME_UPPER", "linear",    "sum",
                                                         "none", "reflect",  "forward",    "ij,jk->ik", "floor"};
  Bytes b;
  b.bytes(1, a.name);
  const AttributeType type = random.chance(95) ? a.type : static_cast<AttributeType>(random.below(15));
  switch (type) {
    case AttributeType::integer: b.number(3, static_cast<std::uint64_t>(some_number(random))); break;
    case AttributeType::real: b.real(2, static_cast<float>(some_number(random))); break;
    case AttributeType::text: b.bytes(4, kWords[random.below(kWords.size())]); break;
    case AttributeType::tensor: b.bytes(5, some_tensor(random, "")); break;
    case AttributeType::integers:
      for (std::int64_t n : some_numbers(random)) b.number(8, static_cast<std::uint64_t>(n));
      break;
    case AttributeType::reals:
      for (std::int64_t n : some_numbers(random)) b.real(7, static_cast<float>(n));
      break;
    case AttributeType::texts:
      for (std::uint64_t n = random.below(4); n > 0; --n) b.bytes(9, kWords[random.below(kWords.size())]);
      break;
    case AttributeType::graph:
      b.bytes(6, Bytes().bytes(1, onnx::node("Identity", {"x"}, {"inner"})).bytes(12, onnx::value("inner", {})));
      break;
    default: break;
  }
  return random.chance(90) ? b.number(20, static_cast<std::uint64_t>(type)) : b;
}

Bytes some_node(Random& random, const std::vector<std::string>& values, std::uint64_t number) {
  const auto all = onnx::operator_table();
  const onnx::Signature& s = all[random.below(all.size())].signature;
  Bytes n;
  const std::uint64_t more = random.chance(5) ? 1 : 0;
  for (std::size_t k = 0; k < s.operands.size() + more; ++k) {
    if (k < s.operands.size() && s.operands[k].optional && random.chance(20)) break;
    n.bytes(1, random.pick(values));
  }
  const std::uint64_t results = random.chance(5) ? random.below(4) : s.results.size();
  for (std::uint64_t k = 0; k < results; ++k) n.bytes(2, fmt::format("y{}_{}", number, k));
  n.bytes(3, fmt::format("node {}", number)).bytes(4, s.name).bytes(7, s.domain);
  for (const auto& a : s.attributes) {
    if (a.required ? random.chance(95) : random.chance(40)) n.bytes(5, some_attribute(random, a));
  }
  return n;
}

// Bytes are changed, numbers among them that say how long things are.
void change_bytes(std::string& model, Random& random) {
  for (std::uint64_t n = random.between(1, 6); n > 0 && !model.empty(); --n) {
    const std::size_t at = random.below(model.size());
    switch (random.below(5)) {
      case 0: model[at] ^= static_cast<char>(1 << random.below(8)); break;
      case 1: model[at] = static_cast<char>(random.below(256)); break;
      case 2: model.erase(at, random.between(1, 8)); break;
      case 3: model.insert(at, model.substr(random.below(model.size()), random.between(1, 12))); break;
      default: model.resize(random.chance(20) ? at : model.size()); break;
    }
  }
}

std::string model_of_case(std::uint64_t seed) {
  Random random(seed);
  Made made;
  made.in(onnx::value("x", {2, 3})).in(onnx::value("z", {1, 2, 4, 4})).in(onnx::value("i", {3}, 7)).in(onnx::value("b", {2, 3}, 9));
  if (random.chance(10)) made.in(onnx::value("h", some_numbers(random), random.below(20)));
  std::vector<std::string> values{"x", "z", "i", "b", "s", "w", "t", ""};
  made.data(onnx::longs("s", some_numbers(random))).data(some_tensor(random, "w")).data(some_tensor(random, "t"));
  for (std::uint64_t n = 0, nodes = random.between(1, 3); n < nodes; ++n) {
    made.add(some_node(random, values, n));
    values.push_back(fmt::format("y{}_0", n));
  }
  made.out(values.back());
  std::string model = made.model(random.chance(50) ? random.between(7, 24) : 13);
  if (random.chance(40)) change_bytes(model, random);
  return model;
}

void import(const std::string& bytes, Random& random) {
  onnx::ImportOptions options;
  options.streams = random.chance(20);
  const ir::Module m = onnx::import_model(onnx::read(bytes, "/nonexistent", "model.onnx"), options);
  ir::print(ir::parse(ir::print(m)));
}

}  // namespace
}  // namespace pando::fuzz

int main(int argc, char** argv) {
  return pando::fuzz::fuzz_tools({pando::fuzz::model_of_case, {{"import", pando::fuzz::import}}}, argc, argv);
}
