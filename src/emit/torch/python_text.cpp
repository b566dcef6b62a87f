#include "emit/torch/python_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>
#include <cmath>
#include <vector>

namespace pando::emit {

using namespace ir;

std::string py_number(double v) {
  if (std::isnan(v)) return "float(\"nan\")";
  if (std::isinf(v)) return v > 0 ? "float(\"inf\")" : "float(\"-inf\")";
  std::string text = fmt::format("{}", v);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string py_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string py_tuple(std::span<const std::int64_t> items) {
  if (items.size() == 1) return fmt::format("({},)", items[0]);
  return fmt::format("({})", fmt::join(items, ", "));
}

std::string py_list(std::span<const std::int64_t> items) { return fmt::format("[{}]", fmt::join(items, ", ")); }

std::string py_names(std::span<const std::string> names) {
  std::string out;
  for (const std::string& n : names) out += (out.empty() ? "" : ", ") + py_text(n);
  return "[" + out + "]";
}

std::string py_dtype(DType t) {
  if (t == DType::float8_143) return "torch.float8_e4m3fnuz";
  if (t == DType::float8_152) return "torch.float8_e5m2fnuz";
  return "torch." + std::string(name_of(t));
}

std::string py_value(const AttributeValue& value) {
  struct Write {
    std::string operator()(bool v) const { return v ? "True" : "False"; }
    std::string operator()(std::int64_t v) const { return std::to_string(v); }
    std::string operator()(double v) const { return py_number(v); }
    std::string operator()(const std::string& v) const { return py_text(v); }
    std::string operator()(const Ints& v) const { return py_tuple(v); }
    std::string operator()(const Floats& v) const {
      std::string out;
      for (const double d : v) out += (out.empty() ? "" : ", ") + py_number(d);
      return "[" + out + "]";
    }
    std::string operator()(const Strings& v) const { return py_names(v); }
    std::string operator()(DType v) const { return py_dtype(v); }
    std::string operator()(BlobId) const { return "None"; }
    std::string operator()(HostStreamId) const { return "None"; }
    std::string operator()(BufferId v) const { return std::to_string(v.value); }
  };
  return std::visit(Write{}, value);
}

std::string py_elements(const HostTensor& t) {
  std::string out;
  for (std::int64_t i = 0; i < t.elements(); ++i) {
    if (i > 0) out += ", ";
    out += t.dtype() == DType::boolean ? (t.integer(i) ? "True" : "False")
           : is_floating(t.dtype())    ? py_number(t.number(i))
                                       : std::to_string(t.integer(i));
  }
  return "[" + out + "]";
}

NameSet reserved_identifiers() {
  NameSet all;
  for (const char* name :
       {"False",  "None",     "True",      "and",    "as",   "assert",  "async",  "await",     "break", "class",   "continue",  "def",
        "del",    "elif",     "else",      "except", "for",  "finally", "from",   "global",    "if",    "import",  "in",        "is",
        "lambda", "nonlocal", "not",       "or",     "pass", "raise",   "return", "try",       "while", "with",    "yield",     "match",
        "case",   "torch",    "functions", "rank",   "var",  "const",   "F",      "step",      "t",     "w",       "samples",   "range",
        "zip",    "group",    "print",     "float",  "int",  "bool",    "len",    "VARIABLES", "LOADS", "OUTPUTS", "CONSTANTS", "BUFFERS"})
    all.emplace(name, 1);
  return all;
}

bool mentions(std::string_view text, std::string_view name) {
  const auto in_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || !in_word(text[at - 1])) && (end == text.size() || !in_word(text[end]))) return true;
  }
  return false;
}

std::string py_identifier(std::string_view name, NameSet& taken) {
  std::string id;
  for (const char c : name) id += std::isalnum(static_cast<unsigned char>(c)) && static_cast<unsigned char>(c) < 0x80 ? c : '_';
  if (id.empty() || std::isdigit(static_cast<unsigned char>(id[0]))) id = "_" + id;
  // Names in double underscores are Python's.
  if (id == "_" || (id.starts_with("__") && id.ends_with("__"))) id += "v";
  const auto [it, is_new] = taken.try_emplace(id, 1);
  if (is_new) return id;
  int& n = it->second;  // stays where it is while others are added
  while (true) {
    std::string unique = id + "_" + std::to_string(n++);
    if (taken.try_emplace(unique, 1).second) return unique;
  }
}

}  // namespace pando::emit
