#include "modules/mutate.h"

#include "ir/op_row.h"
#include "ir/op_table.h"
#include "ir/semantics/infer.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace pando::fuzz {
namespace {

bool in_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '/' || c == '-';
}

// Words, texts in quotes, and all else one by one.
std::vector<std::string> tokens_of(std::string_view line) {
  std::vector<std::string> all;
  for (std::size_t at = 0; at < line.size();) {
    std::size_t end = at + 1;
    if (line[at] == '"') {
      while (end < line.size() && line[end] != '"') end += line[end] == '\\' ? 2 : 1;
      end = std::min(end + 1, line.size());
    } else if (in_word(line[at])) {
      while (end < line.size() && in_word(line[end])) ++end;
    }
    all.emplace_back(line.substr(at, end - at));
    at = end;
  }
  return all;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> all;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    all.emplace_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return all;
}

std::string joined(const std::vector<std::string>& parts, std::string_view between) {
  std::string all;
  for (const std::string& p : parts) (all += p) += between;
  return all;
}

bool is_number(const std::string& t) { return t.find_first_not_of("-0123456789") == std::string::npos && t != "-"; }

std::string some_number(const std::string& was, Random& random) {
  static constexpr std::array<const char*, 16> kNumbers = {
      "0",     "1",          "-1",         "2",          "3",     "7",     "-2",         "16",
      "65536", "1073741824", "2147483647", "2147483648", "-5000", "99999", "4294967296", "9223372036854775807"};
  if (random.chance(70) || was.size() > 9) return kNumbers[random.below(kNumbers.size())];
  return std::to_string(std::stoll(was) + (random.chance(50) ? 1 : -1));
}

std::string some_type(Random& random) {
  static constexpr std::array<const char*, 8> kTypes = {"float32", "float16", "int32", "bool", "uint8", "int64", "float64", "uint32"};
  return kTypes[random.below(kTypes.size())];
}

std::string some_op(Random& random) {
  const auto table = ir::op_table();
  return std::string(table[random.below(table.size())]->name);
}

std::size_t some_word(const std::vector<std::string>& tokens, Random& random) {
  for (int tries = 0; tries < 20; ++tries) {
    const std::size_t i = random.below(tokens.size());
    if (in_word(tokens[i][0]) || tokens[i][0] == '"') return i;
  }
  return random.below(tokens.size());
}

void change_tokens(std::vector<std::string>& lines, std::string& line, Random& random) {
  std::vector<std::string> tokens = tokens_of(line);
  if (tokens.empty()) return;
  const std::size_t at = some_word(tokens, random);
  switch (random.below(10)) {
    case 0:
    case 1:
    case 2: {
      if (is_number(tokens[at])) {
        tokens[at] = some_number(tokens[at], random);
        break;
      }
      const std::vector<std::string> others = tokens_of(lines[random.below(lines.size())]);
      if (!others.empty()) tokens[at] = others[some_word(others, random)];
      break;
    }
    case 3: tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(at)); break;
    case 4: tokens.insert(tokens.begin() + static_cast<std::ptrdiff_t>(at), tokens[random.below(tokens.size())]); break;
    case 5: std::swap(tokens[at], tokens[some_word(tokens, random)]); break;
    case 6: tokens[at] = some_type(random); break;
    case 7: {  // another op with these operands
      for (std::size_t i = 1; i < tokens.size(); ++i) {
        if (tokens[i] != "(" || !in_word(tokens[i - 1][0])) continue;
        tokens[i - 1] = some_op(random);
        break;
      }
      break;
    }
    case 8: {  // an operand or attribute less, or twice
      const auto comma = std::find(tokens.begin() + static_cast<std::ptrdiff_t>(at), tokens.end(), ",");
      if (comma == tokens.end()) break;
      const auto next = std::find(comma + 1, tokens.end(), ",");
      const std::vector<std::string> piece(comma, next);
      random.chance(50) ? void(tokens.erase(comma, next)) : void(tokens.insert(comma, piece.begin(), piece.end()));
      break;
    }
    default: {
      for (std::string& t : tokens) {
        if (is_number(t) && random.chance(40)) t = some_number(t, random);
      }
    }
  }
  line = joined(tokens, "");
}

void change_bytes(std::string& line, Random& random) {
  if (line.empty()) return;
  const std::size_t at = random.below(line.size());
  random.chance(50) ? void(line[at] = static_cast<char>(random.below(256)))
                    : void(line.insert(at, 1, static_cast<char>(random.below(128))));
}

// Results get the types that follow.
void retype(ir::Module& m, ir::OpId o) {
  std::vector<ir::TypeId> operands;
  for (ir::ValueId v : m.operands(o)) operands.push_back(m.value(v).type);
  try {
    const std::vector<ir::Type> types = ir::infer_types(m, m.row(o), operands, m.attributes(o), m.graphs(o), m.op(o).in_place);
    const auto results = m.results(o);
    if (types.size() != results.size()) return;
    for (std::size_t i = 0; i < types.size(); ++i) m.set_type(results[i], types[i]);
  } catch (const std::exception&) {}  // no operands for this op
}

// Numbers of attributes and lists, which change what an op does more than whether it is one.
void change_attribute(std::string& line, Random& random) {
  std::vector<std::string> tokens = tokens_of(line);
  std::vector<std::size_t> places;
  for (std::size_t i = 1; i < tokens.size(); ++i) {
    if (is_number(tokens[i]) && (tokens[i - 1] == "=" || tokens[i - 1] == "[" || tokens[i - 1] == " ")) places.push_back(i);
  }
  if (places.empty()) return;
  std::string& token = tokens[places[random.below(places.size())]];
  token = some_number(token, random);
  line = joined(tokens, "");
}

}  // namespace

std::string repaired(const std::string& text) {
  try {
    ir::Module m = ir::parse(text);
    for (int pass = 0; pass < 2; ++pass) {
      for (std::size_t g = 0; g < m.graph_count(); ++g) {
        const std::vector<ir::OpId> ops = m.graph(ir::GraphId(static_cast<std::uint32_t>(g))).ops;
        for (ir::OpId o : ops) retype(m, o);
      }
    }
    return ir::print(m);
  } catch (const std::exception&) { return text; }
}

std::string mutated(const std::string& text, Random& random) {
  std::vector<std::string> lines = lines_of(text);
  for (std::uint64_t n = random.chance(50) ? 1 : random.between(2, 4); n > 0 && !lines.empty(); --n) {
    const std::size_t at = random.below(lines.size()), other = random.below(lines.size());
    const std::uint64_t kind = random.below(20);
    if (kind == 0) {
      lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(at));
    } else if (kind == 1) {
      lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(other), std::string(lines[at]));
    } else if (kind == 2) {
      std::swap(lines[at], lines[other]);
    } else if (kind == 3) {
      change_bytes(lines[at], random);
    } else if (kind < 12) {
      change_attribute(lines[at], random);
    } else {
      change_tokens(lines, lines[at], random);
    }
  }
  return joined(lines, "\n");
}

}  // namespace pando::fuzz
