#include "popc/assembler/text/macros.h"

#include <fmt/format.h>

#include <cctype>

namespace pando::popc {

namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '$'; }

// Arguments are apart by commas, or by blanks where no operator joins what is left and right of them.
std::vector<std::string> split_arguments(const std::string& text) {
  std::vector<std::string> out;
  for (const std::string& part : split_at_commas(text)) {
    std::string word;
    bool quoted = false;
    int depth = 0;
    for (std::size_t i = 0; i < part.size(); ++i) {
      const char c = part[i];
      if (c == '"') quoted = !quoted;
      depth += (c == '(') - (c == ')');
      const bool is_blank = std::isspace(static_cast<unsigned char>(c));
      if (quoted || depth > 0 || !is_blank) {
        if (!is_blank || quoted || !word.empty()) word += c;
        continue;
      }
      const std::size_t next = part.find_first_not_of(" \t", i);
      const bool joined = word.empty() || next == std::string::npos ||
                          !(is_word(word.back()) || word.back() == ')' || word.back() == '"') ||
                          !(is_word(part[next]) || part[next] == '\\' || part[next] == '"' || part[next] == '(');
      if (joined) {
        i = next == std::string::npos ? part.size() : next - 1;
        continue;
      }
      out.push_back(word);
      word.clear();
      i = next - 1;
    }
    out.push_back(word);
  }
  return out;
}

std::string unquoted(const std::string& text) {
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') return text.substr(1, text.size() - 2);
  return text;
}

using Values = std::map<std::string, std::string>;

std::string substitute(const std::string& text, const Values& values, unsigned number) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 >= text.size()) {
      out += text[i];
      continue;
    }
    if (text[i + 1] == '@') {
      out += std::to_string(number), ++i;
    } else if (text.compare(i + 1, 2, "()") == 0) {
      i += 2;
    } else {
      std::size_t end = i + 1;
      while (end < text.size() &&
             (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_' || text[end] == '.' || text[end] == '$'))
        ++end;
      // The longest name that is a parameter's.
      std::size_t length = end - i - 1;
      while (length > 0 && !values.contains(text.substr(i + 1, length))) --length;
      if (length == 0) {
        out += text[i];
        continue;
      }
      out += values.at(text.substr(i + 1, length));
      i += length;
    }
  }
  return out;
}

}  // namespace

Macro read_macro_head(const std::string& text) {
  Macro out;
  std::size_t end = 0;
  while (end < text.size() && is_word(text[end])) ++end;
  out.name = text.substr(0, end);
  if (out.name.empty()) throw AssemblyError(".macro: a name is expected");
  std::string rest = trimmed(text.substr(end));
  if (rest.starts_with(',')) rest = trimmed(rest.substr(1));
  for (const std::string& written : split_arguments(rest)) {
    MacroParameter p;
    std::string name = written;
    if (const std::size_t equals = name.find('='); equals != std::string::npos) {
      p.standard = unquoted(trimmed(name.substr(equals + 1)));
      name = trimmed(name.substr(0, equals));
    }
    if (const std::size_t colon = name.find(':'); colon != std::string::npos) {
      const std::string what = trimmed(name.substr(colon + 1));
      p.is_required = what == "req";
      p.takes_rest = what == "vararg";
      if (!p.is_required && !p.takes_rest) throw AssemblyError(fmt::format(".macro: parameter '{}': 'req' or 'vararg' is expected", name));
      name = trimmed(name.substr(0, colon));
    }
    if (name.starts_with('\\')) name = name.substr(1);
    if (name.empty()) continue;
    p.name = name;
    out.parameters.push_back(p);
  }
  return out;
}

std::vector<Statement> expand(const Macro& macro, const std::string& arguments, unsigned number, const SourcePlace& place) {
  Values values;
  for (const MacroParameter& p : macro.parameters) values[p.name] = p.standard;
  std::size_t at = 0;
  bool takes_rest = false;
  for (const std::string& argument : split_arguments(arguments)) {
    const std::size_t equals = argument.find('=');
    const bool is_named = equals != std::string::npos && equals + 1 < argument.size() && argument[equals + 1] != '=' &&
                          values.contains(trimmed(argument.substr(0, equals)));
    if (is_named) {
      values[trimmed(argument.substr(0, equals))] = unquoted(trimmed(argument.substr(equals + 1)));
      continue;
    }
    if (takes_rest) {
      values[macro.parameters.back().name] += ", " + argument;
      continue;
    }
    if (at >= macro.parameters.size())
      throw AssemblyError(fmt::format("macro '{}' takes {} arguments; '{}' is one more", macro.name, macro.parameters.size(), argument));
    const MacroParameter& p = macro.parameters[at++];
    if (!argument.empty()) values[p.name] = unquoted(argument);
    takes_rest = p.takes_rest;
  }
  for (const MacroParameter& p : macro.parameters)
    if (p.is_required && values[p.name].empty())
      throw AssemblyError(fmt::format("macro '{}': parameter '{}' has no value", macro.name, p.name));
  std::vector<Statement> out;
  for (const Statement& s : macro.body) {
    // A parameter may hold a whole bundle, or several statements.
    const std::string text = substitute(s.text, values, number);
    for (Statement& piece : statements_of(text, place)) out.push_back({std::move(piece.text), s.place.line ? s.place : place});
  }
  return out;
}

}  // namespace pando::popc
