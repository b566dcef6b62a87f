#include "popc/vertices/inline_python.h"

#include <stdexcept>
#include <vector>

namespace pando::popc {

namespace {

constexpr const char* kHeader = "#include <poplar/Vertex.hpp>\n#include <libIPUpy.hpp>\n#line 1\n";
constexpr std::string_view kStart = "IPUpy_start", kEnd = "IPUpy_end";

// ipupyc.py fails with the same words.
struct Fault {
  std::size_t line;
  std::string what;
};

std::string stripped(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t\r") + 1 - first));
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> out;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find(separator, begin);
    out.emplace_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return out;
    begin = end + 1;
  }
}

// The pragma's name if the line is a pragma, and what follows it in `rest`.
std::string pragma_of(const std::string& line, std::string* rest = nullptr) {
  std::string text = stripped(line);
  if (text.rfind("#pragma", 0) != 0) return "";
  text = text.substr(7);
  const std::string after = stripped(text);
  if (after == text) return "";
  const std::string name = after.substr(0, after.find_first_of(" \t\r"));
  if (rest) *rest = stripped(std::string_view(after).substr(name.size()));
  return name;
}

bool is_name(const std::string& text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  for (std::size_t i = 0; i < text.size(); ++i)
    if (!is_letter(text[i]) && (i == 0 || text[i] < '0' || text[i] > '9')) return false;
  return !text.empty();
}

struct Operand {
  std::string python, cpp;
  char type;
};

Operand parse_operand(const std::string& item, std::size_t line) {
  const std::size_t equals = item.find('=');
  Operand o{stripped(equals == std::string::npos ? item : item.substr(0, equals)),
            stripped(equals == std::string::npos ? item : item.substr(equals + 1)), 'i'};
  if (!o.cpp.empty() && o.cpp.back() == '>') {
    const std::size_t open = o.cpp.rfind('<');
    if (open == std::string::npos) throw Fault{line, "'" + o.cpp + "': '<' is missing"};
    const std::string type = stripped(std::string_view(o.cpp).substr(open + 1, o.cpp.size() - open - 2));
    if (type != "int" && type != "float" && type != "char") throw Fault{line, "unknown type '" + type + "'; known: int, float, char"};
    if (equals == std::string::npos) o.python = stripped(std::string_view(o.cpp).substr(0, open));
    o.cpp = stripped(std::string_view(o.cpp).substr(0, open));
    o.type = type == "float" ? 'f' : type == "char" ? 'b' : 'i';
  }
  if (!is_name(o.python)) throw Fault{line, "'" + o.python + "' is no name of a Python variable"};
  if (o.cpp.empty()) throw Fault{line, "'" + o.python + "=' names no field"};
  return o;
}

// The calls before the Python text.
std::string opening(const std::string& list, std::size_t line) {
  if (list.size() < 2 || list.front() != '[' || list.back() != ']')
    throw Fault{line, "expected '[name=field<type>, ...]' after IPUpy_start, found '" + list + "'"};
  std::string stdout_arguments = "0, 0", arrays;
  const std::string inner = stripped(std::string_view(list).substr(1, list.size() - 2));
  for (const std::string& item : inner.empty() ? std::vector<std::string>{} : split(inner, ',')) {
    const Operand o = parse_operand(item, line);
    const std::string memory = "&" + o.cpp + "[0], " + o.cpp + ".size()";
    if (o.python == "stdout")
      stdout_arguments = "(char *)" + memory;
    else
      arrays += "IPUpy_add_memory_as_array(\"" + o.python + "\", (void *)" + memory + ", '" + o.type + "'); ";
  }
  return "{ IPUpy_set_stdout(" + stdout_arguments + "); IPUpy_init((char *)__builtin_frame_address(0)); " + arrays + "IPUpy_do_str(\"\"";
}

std::string quoted(std::string_view python) {
  std::string out = "\"";
  for (const char c : python) {
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
  return out + "\\n\"";
}

std::string expand(std::string_view source) {
  std::string out = kHeader;
  std::string indent;
  std::size_t began = 0;  // line of the open block's start, or 0
  const std::vector<std::string> lines = split(source, '\n');
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines[i];
    std::string rest;
    const std::string pragma = pragma_of(line, &rest);
    if (i > 0) out += '\n';
    if (pragma == kStart) {
      if (began) throw Fault{i + 1, "IPUpy_start inside the block that begins at line " + std::to_string(began)};
      began = i + 1;
      indent = line.substr(0, line.find('#'));
      out += indent + opening(rest, i + 1);
    } else if (pragma == kEnd) {
      if (!began) throw Fault{i + 1, "IPUpy_end without IPUpy_start"};
      began = 0;
      out += indent + ", 0); IPUpy_deinit(); }";
    } else if (!began) {
      out += line;
    } else {
      const bool blank = stripped(line).empty();
      if (!blank && line.rfind(indent, 0) != 0) throw Fault{i + 1, "indented less than the block's #pragma"};
      const std::string_view python = blank ? std::string_view() : std::string_view(line).substr(indent.size());
      out += indent + quoted(python.substr(0, python.size() - (!python.empty() && python.back() == '\r')));
    }
  }
  if (began) throw Fault{began, "IPUpy_start without IPUpy_end"};
  return out;
}

}  // namespace

bool has_inline_python(std::string_view source) {
  if (source.find(kStart) == std::string_view::npos && source.find(kEnd) == std::string_view::npos) return false;
  for (const std::string& line : split(source, '\n'))
    if (const std::string pragma = pragma_of(line); pragma == kStart || pragma == kEnd) return true;
  return false;
}

std::string expand_inline_python(std::string_view source, const std::string& file) {
  try {
    return expand(source);
  } catch (const Fault& fault) { throw std::runtime_error(file + ":" + std::to_string(fault.line) + ": " + fault.what); }
}

}  // namespace pando::popc
