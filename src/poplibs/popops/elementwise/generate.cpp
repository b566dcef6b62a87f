#include "generate.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <sstream>

#include "kernels_version.h"

namespace popops::internal {

using namespace poplar;
namespace kernels = pando::kernels;
using kernels::Binary;
using kernels::Unary;

namespace {

constexpr unsigned kBlock = 256;  // elements between calls of kernels

// What a value is computed in: float for half.
std::string value_type(const Type& type) { return type == HALF ? "float" : type == BOOL ? "bool" : type.toString(); }

// The unsigned type that integers are computed in, so that they wrap around.
std::string wide_type(const Type& type) { return kernels::size_of(kernel_type(type)) == 8 ? "unsigned long long" : "unsigned int"; }

// The expressions of operations that clang turns into vector code; empty for those that are left to the kernels.
#define PANDO_EXPRESSION_text(expression) expression
#define PANDO_EXPRESSION_call(expression) ""
std::string_view expression_of(Unary op, bool floating) {
  switch (op) {
#define PANDO_ROW(NAME, name, types, float_cycles, integer_cycles, fw, float_text, of_floats, iw, integer_text, of_integers) \
  case Unary::name: return floating ? PANDO_EXPRESSION_##float_text(#of_floats) : PANDO_EXPRESSION_##integer_text(#of_integers);
    PANDO_UNARY_ROWS(PANDO_ROW)
#undef PANDO_ROW
    default: return "";
  }
}

std::string_view expression_of(Binary op, bool floating) {
  switch (op) {
#define PANDO_ROW(NAME, name, types, float_cycles, integer_cycles, chain, fw, float_text, of_floats, iw, integer_text, of_integers) \
  case Binary::name: return floating ? PANDO_EXPRESSION_##float_text(#of_floats) : PANDO_EXPRESSION_##integer_text(#of_integers);
    PANDO_BINARY_ROWS(PANDO_ROW)
#undef PANDO_ROW
    default: return "";
  }
}
#undef PANDO_EXPRESSION_text
#undef PANDO_EXPRESSION_call

bool is_of_a_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// The expression with what its words stand for: operands of this type, by name.
std::string filled(std::string_view expression, const Type& type, const std::string& x, const std::string& y) {
  const std::string wide = wide_type(type);
  const std::pair<std::string_view, std::string> words[] = {
      {"x", x}, {"y", y}, {"T", value_type(type)}, {"W", wide}, {"kOnes", type == BOOL ? "1u" : "~(" + wide + ")0"}};
  std::string out;
  for (std::size_t i = 0; i < expression.size();) {
    std::size_t end = i;
    while (end < expression.size() && is_of_a_word(expression[end])) ++end;
    if (end == i) {
      out += expression[i++];
      continue;
    }
    const std::string_view word = expression.substr(i, end - i);
    const auto known = std::find_if(std::begin(words), std::end(words), [&](const auto& w) { return w.first == word; });
    out += known == std::end(words) ? std::string(word) : known->second;
    i = end;
  }
  return out;
}

std::string constant_text(const Node& n) {
  if (is_floating(n.type)) return fmt::format("__builtin_bit_cast(float, {}u)", n.value);
  if (n.type == BOOL) return n.value != 0 ? "true" : "false";
  return fmt::format("({}){}ull", value_type(n.type), n.value);
}

class Generator {
 public:
  Generator(const Dag& dag, const std::vector<GeneratedOperand>& operands) : dag_(dag), operands_(operands), needed_(dag.needed()) {}

  GeneratedCodelet generate() {
    for (std::size_t i = 0; i < dag_.nodes.size(); ++i)
      if (needed_[i] && is_function(node(i)) && light_text(node(i)).empty()) heavy_.push_back(i);
    GeneratedCodelet out;
    out.calls_kernels = !heavy_.empty();
    const std::string body = text_of_class();
    // FNV-1a of the text: equal expressions have equal names.
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char c : body) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    const std::string name = fmt::format("Fused_{:016x}", hash);
    out.vertex = "popops::map::" + name;
    out.source = "#include <poplar/HalfFloat.hpp>\n#include <poplar/Vertex.hpp>\n\n";
    if (out.calls_kernels)
      out.source +=
          "extern \"C\" void pando_unary(unsigned char op, unsigned char type, const void *a, void *out, unsigned long n);\n"
          "extern \"C\" void pando_binary(unsigned char op, unsigned char type, const void *a, const void *b, void *out, unsigned long "
          "n);\n"
          "extern \"C\" void pando_convert(unsigned char from, unsigned char to, const void *in, void *out, unsigned long n);\n\n";
    out.source += "namespace popops {\nnamespace map {\n\nclass " + name + body + "\n} // namespace map\n} // namespace popops\n";
    return out;
  }

 private:
  const Node& node(std::size_t i) const { return dag_.nodes[i]; }
  const Node& argument(const Node& n, unsigned k) const { return node(static_cast<std::size_t>(n.arguments[k])); }
  static bool is_function(const Node& n) { return n.kind != NodeKind::operand && n.kind != NodeKind::constant; }

  std::string name_of(int i) const { return "v" + std::to_string(i); }

  template <class Op>
  static std::string function_text(Op op, const Type& type, const std::string& a, const std::string& b) {
    return filled(expression_of(op, is_floating(type)), type, a, b);
  }

  // The node as an expression of its arguments' values.
  std::string light_text(const Node& n) const {
    const std::string a = name_of(n.arguments[0]), b = name_of(n.arguments[1]), c = name_of(n.arguments[2]);
    switch (n.kind) {
      case NodeKind::unary: return function_text(static_cast<Unary>(n.op), argument(n, 0).type, a, b);
      case NodeKind::binary: return function_text(static_cast<Binary>(n.op), argument(n, 0).type, a, b);
      case NodeKind::clamp: return fmt::format("({0} < {1} ? {1} : {0}) > {2} ? {2} : ({0} < {1} ? {1} : {0})", a, b, c);
      case NodeKind::select: return fmt::format("{} ? {} : {}", c, a, b);
      default: return cast_text(n, a);
    }
  }

  // Conversions from float to integers saturate: the kernels do that.
  std::string cast_text(const Node& n, const std::string& a) const {
    const Type& from = argument(n, 0).type;
    if (n.type == HALF) return fmt::format("(float)(half)(float){}", a);
    if (n.type == BOOL) return a + " != 0";
    if (is_floating(from) && !is_floating(n.type)) return "";
    return fmt::format("({}){}", value_type(n.type), a);
  }

  std::string text_of_class() {
    std::ostringstream out;
    out << " : public poplar::Vertex {\npublic:\n";
    for (std::size_t k = 0; k < operands_.size(); ++k)
      if (operands_[k].used && operands_[k].in_place < 0)
        out << "  poplar::Vector<poplar::Input<poplar::Vector<" << operands_[k].type.toString() << ">>> in" << k << ";\n";
    for (std::size_t r = 0; r < dag_.results.size(); ++r)
      out << "  poplar::Vector<poplar::" << (is_shared(r) ? "InOut" : "Output") << "<poplar::Vector<" << result_type(r).toString()
          << ">>> out" << r << ";\n";
    out << "\n  bool compute() {\n    for (unsigned long row = 0; row < out0.size(); ++row) {\n      const unsigned long n = "
           "out0[row].size();\n";
    for (std::size_t k = 0; k < operands_.size(); ++k)
      if (operands_[k].used && operands_[k].in_place < 0)
        out << "      const auto *const p" << k << " = in" << k << '[' << (operands_[k].scalar ? "0" : "row") << "].data();\n";
    for (std::size_t r = 0; r < dag_.results.size(); ++r) out << "      auto *const q" << r << " = out" << r << "[row].data();\n";
    if (heavy_.empty())
      write_loop(out, "      ", "n", "i", dag_.results, {}, true);
    else
      write_blocks(out);
    out << "    }\n    return true;\n  }\n};\n";
    return out.str();
  }

  bool is_shared(std::size_t r) const {
    return std::any_of(operands_.begin(), operands_.end(),
                       [&](const GeneratedOperand& o) { return o.used && o.in_place == static_cast<int>(r); });
  }
  const Type& result_type(std::size_t r) const { return node(static_cast<std::size_t>(dag_.results[r])).type; }

  // A loop over elements [0, count) that computes the targets from operands and from what `ready` has in arrays. Results go to their
  // outputs, other targets to their arrays.
  void write_loop(std::ostringstream& out, const std::string& margin, const std::string& count, const std::string& element,
                  const std::vector<int>& targets, const std::set<int>& ready, bool results) {
    std::vector<bool> wanted(dag_.nodes.size());
    for (const int t : targets) wanted[static_cast<std::size_t>(t)] = true;
    for (std::size_t i = dag_.nodes.size(); i-- > 0;)
      if (wanted[i] && ready.count(static_cast<int>(i)) == 0)
        for (const int a : node(i).arguments)
          if (a >= 0) wanted[static_cast<std::size_t>(a)] = true;
    out << margin << "#pragma clang loop vectorize(assume_safety) interleave(assume_safety)\n"
        << margin << "for (unsigned long i = 0; i < " << count << "; ++i) {\n";
    for (std::size_t i = 0; i < dag_.nodes.size(); ++i) {
      if (!wanted[i]) continue;
      const Node& n = node(i);
      out << margin << "  const " << value_type(n.type) << ' ' << name_of(static_cast<int>(i)) << " = ";
      if (ready.count(static_cast<int>(i)) != 0)
        out << "b" << i << "[i]";
      else if (n.kind == NodeKind::operand)
        out << operand_text(n, element);
      else if (n.kind == NodeKind::constant)
        out << constant_text(n);
      else
        out << light_text(n);
      out << ";\n";
    }
    for (std::size_t k = 0; k < targets.size(); ++k) {
      if (results)
        out << margin << "  q" << k << '[' << element << "] = (" << result_type(k).toString() << ')' << name_of(targets[k]) << ";\n";
      else
        out << margin << "  b" << targets[k] << "[i] = " << name_of(targets[k]) << ";\n";
    }
    out << margin << "}\n";
  }

  std::string operand_text(const Node& n, const std::string& element) const {
    const GeneratedOperand& o = operands_[n.operand];
    const std::string conversion = n.type == HALF ? "(float)" : "";
    if (o.in_place >= 0) return fmt::format("{}q{}[{}]", conversion, o.in_place, element);
    return fmt::format("{}p{}[{}]", conversion, n.operand, o.scalar ? "0" : element);
  }

  // Kernels work on arrays of one block each; loops between them compute their arguments.
  void write_blocks(std::ostringstream& out) {
    std::set<int> arrays, ready;
    for (const std::size_t h : heavy_) {
      arrays.insert(static_cast<int>(h));
      for (const int a : node(h).arguments)
        if (a >= 0) arrays.insert(a);
    }
    out << "      for (unsigned long begin = 0; begin < n; begin += " << kBlock << ") {\n        const unsigned long m = n - begin < "
        << kBlock << " ? n - begin : " << kBlock << ";\n";
    for (const int a : arrays)
      out << "        " << value_type(node(static_cast<std::size_t>(a)).type) << " b" << a << '[' << kBlock << "];\n";
    for (const std::size_t h : heavy_) {
      std::vector<int> missing;
      for (const int a : node(h).arguments)
        if (a >= 0 && ready.count(a) == 0 && std::find(missing.begin(), missing.end(), a) == missing.end()) missing.push_back(a);
      if (!missing.empty()) write_loop(out, "        ", "m", "begin + i", missing, ready, false);
      ready.insert(missing.begin(), missing.end());
      out << "        " << call_text(h) << ";\n";
      ready.insert(static_cast<int>(h));
    }
    write_loop(out, "        ", "m", "begin + i", dag_.results, ready, true);
    out << "      }\n";
  }

  std::string call_text(std::size_t h) const {
    const Node& n = node(h);
    const unsigned type = static_cast<unsigned>(register_type(argument(n, 0).type));
    if (n.kind == NodeKind::unary) return fmt::format("pando_unary({}, {}, b{}, b{}, m)", n.op, type, n.arguments[0], h);
    if (n.kind == NodeKind::binary)
      return fmt::format("pando_binary({}, {}, b{}, b{}, b{}, m)", n.op, type, n.arguments[0], n.arguments[1], h);
    return fmt::format("pando_convert({}, {}, b{}, b{}, m)", type, static_cast<unsigned>(register_type(n.type)), n.arguments[0], h);
  }

  const Dag& dag_;
  const std::vector<GeneratedOperand>& operands_;
  std::vector<bool> needed_;
  std::vector<std::size_t> heavy_;  // nodes that kernels compute
};

}  // namespace

GeneratedCodelet generate_codelet(const Dag& dag, const std::vector<GeneratedOperand>& operands) {
  return Generator(dag, operands).generate();
}

void add_generated(Graph& graph, const GeneratedCodelet& codelet) {
  if (graph.hasCodelet(codelet.vertex)) return;
  std::string flags = "-O3";
  Dl_info info;
  if (codelet.calls_kernels && dladdr(reinterpret_cast<const void*>(&pando_unary), &info) != 0 && info.dli_fname != nullptr) {
    const std::string library = info.dli_fname;
    // With the version, which is part of the call: what other kernels were called by is not taken from the cache.
    flags += " -L" + library.substr(0, library.rfind('/')) + " -lpando_kernels -DPANDO_KERNELS=" PANDO_KERNELS_VERSION_NAME;
  }
  std::stringstream source(codelet.source);
  graph.addCodelets(source, flags);
}

}  // namespace popops::internal
