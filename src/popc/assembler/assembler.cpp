#include "popc/assembler/assembler.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <regex>

#include "popc/assembler/instructions/rows.h"
#include "popc/assembler/text/expressions.h"
#include "popc/assembler/text/operands.h"

namespace pando::popc {

namespace {

constexpr unsigned kDeepest = 100;  // macros in macros

bool is_code(const std::string& section) { return section.starts_with(".text") || section.starts_with(".init"); }

struct Words {
  std::string first, rest;
};
Words first_word(const std::string& text) {
  const std::size_t end = text.find_first_of(" \t\"(");
  if (end == std::string::npos) return {text, ""};
  return {text.substr(0, end), trimmed(text.substr(end))};
}

// Registers that an operand of the form writes.
bool overlaps(const AssemblyOperand& a, const AssemblyOperand& b) {
  return a.bank == b.bank && a.first < b.first + b.count && b.first < a.first + a.count;
}

}  // namespace

Assembler::Assembler(std::string file) {
  unit_.file = std::move(file);
  enter_section(".text");
}

void Assembler::inherit(const Assembler& other) {
  macros_ = other.macros_;
  for (const auto& [name, symbol] : other.unit_.symbols)
    if (symbol.section < 0) unit_.symbols[name] = symbol;
}

void Assembler::report(const SourcePlace& place, const std::string& what) {
  const std::string text = prefix(place) + what;
  if (reported_.insert(text).second) faults_.push_back({place, text});
  bundle_.has_fault = true;
}

std::vector<std::string> Assembler::errors() const {
  std::vector<Fault> sorted = faults_;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Fault& a, const Fault& b) { return a.place.file == b.place.file && a.place.line < b.place.line; });
  std::vector<std::string> out;
  for (const Fault& f : sorted) out.push_back(f.text);
  return out;
}

void Assembler::add(std::string_view text, SourcePlace place) {
  run(statements_of(text, place), 0);
  if (!conditions_.empty()) report(place, ".if without .endif");
  conditions_.clear();
  if (bundle_.is_open) report(bundle_.place, "'{' without '}'");
  bundle_ = {};
}

void Assembler::run(const std::vector<Statement>& all, unsigned depth) {
  for (std::size_t i = 0; i < all.size() && !ended_; ++i) {
    const Statement& s = all[i];
    try {
      const Words words = first_word(s.text);
      if (conditional(words.first, words.rest)) continue;
      if (!conditions_.empty() && !conditions_.back().holds) continue;
      if (words.first == ".macro") {
        Macro macro = read_macro_head(words.rest);
        i = collect_body(all, i + 1, macro.body, ".macro", ".endm");
        macros_[macro.name] = std::move(macro);
      } else if (words.first == ".rept") {
        Macro once;
        i = collect_body(all, i + 1, once.body, ".rept", ".endr");
        for (std::int64_t n = number_of(words.rest); n > 0; --n) run(expand(once, "", expansions_++, s.place), depth + 1);
      } else {
        statement(s, depth);
      }
    } catch (const AssemblyError& e) { report(s.place, e.what()); }
  }
}

std::size_t Assembler::collect_body(const std::vector<Statement>& all, std::size_t begin, std::vector<Statement>& body, const char* opens,
                                    const char* closes) {
  unsigned open = 1;
  for (std::size_t i = begin; i < all.size(); ++i) {
    const std::string word = first_word(all[i].text).first;
    open += word == opens;
    open -= word == closes || word == std::string(closes) + "acro";
    if (open == 0) return i;
    body.push_back(all[i]);
  }
  throw AssemblyError(fmt::format("{} without {}", opens, closes));
}

bool Assembler::conditional(const std::string& name, const std::string& rest) {
  const bool here = conditions_.empty() || conditions_.back().holds;
  if (name.starts_with(".if")) {
    Condition c;
    c.outer = here;
    conditions_.push_back(c);
    if (here) conditions_.back().holds = conditions_.back().held_before = truth_of(name, rest);
    return true;
  }
  if (name != ".else" && name != ".elseif" && name != ".endif") return false;
  if (conditions_.empty()) throw AssemblyError(fmt::format("{} without .if", name));
  Condition& c = conditions_.back();
  if (name == ".endif") return conditions_.pop_back(), true;
  c.holds = c.outer && !c.held_before && (name == ".else" || truth_of(".if", rest));
  c.held_before = c.held_before || c.holds;
  return true;
}

bool Assembler::truth_of(const std::string& name, const std::string& rest) {
  const auto unquoted = [](std::string t) {
    t = trimmed(t);
    return t.size() >= 2 && t.front() == '"' && t.back() == '"' ? t.substr(1, t.size() - 2) : t;
  };
  if (name == ".ifc" || name == ".ifnc" || name == ".ifeqs" || name == ".ifnes") {
    std::vector<std::string> two = split_at_commas(rest);
    two.resize(std::max<std::size_t>(two.size(), 2));
    return (unquoted(two[0]) == unquoted(two[1])) == (name == ".ifc" || name == ".ifeqs");
  }
  if (name == ".ifb" || name == ".ifnb") return unquoted(rest).empty() == (name == ".ifb");
  if (name == ".ifdef" || name == ".ifndef") {
    const bool known = unit_.symbols.contains(rest) || late_.contains(rest);
    return known == (name == ".ifdef");
  }
  const std::int64_t n = number_of(rest);
  if (name == ".if" || name == ".ifne") return n != 0;
  if (name == ".ifeq") return n == 0;
  if (name == ".iflt") return n < 0;
  if (name == ".ifle") return n <= 0;
  if (name == ".ifgt") return n > 0;
  if (name == ".ifge") return n >= 0;
  throw AssemblyError(fmt::format("directive '{}' is unknown", name));
}

void Assembler::statement(const Statement& s, unsigned depth) {
  if (s.text == "{") return open_bundle(s);
  if (s.text == "}") return close_bundle(s);
  const std::string text = take_labels(s);
  if (text.empty()) return;
  const Words words = first_word(text);
  if (const auto macro = macros_.find(words.first); macro != macros_.end()) {
    if (depth > kDeepest) throw AssemblyError(fmt::format("macro '{}' calls itself without end", words.first));
    const Macro copy = macro->second;
    return run(expand(copy, words.rest, expansions_++, s.place), depth + 1);
  }
  static const std::regex assignment(R"(([A-Za-z_.$][\w.$]*)\s*=\s*([^=].*))");
  std::smatch found;
  if (text.find('=') != std::string::npos && std::regex_match(text, found, assignment))
    return directive(s, ".set", found[1].str() + "," + found[2].str());
  if (text.starts_with("DEF_STACK_") || text.starts_with("DEF_FUNC_CALL")) return;  // of StackSizeDefs.hpp: stacks are not taken from it
  if (text[0] == '.') return directive(s, words.first, words.rest);
  instruction(s, words.first, words.rest);
}

std::string Assembler::take_labels(const Statement& s) {
  static const std::regex label(R"(^([A-Za-z_.$][\w.$@]*|"[^"]+"|\d+)\s*:(?!:))");
  std::string text = s.text;
  if (text.find(':') == std::string::npos) return text;
  std::smatch found;
  while (std::regex_search(text, found, label)) {
    std::string name = found[1].str();
    if (name.front() == '"') name = name.substr(1, name.size() - 2);
    define_label(name, s.place);
    text = trimmed(found.suffix().str());
  }
  return text;
}

void Assembler::define_label(const std::string& written, const SourcePlace& place) {
  if (bundle_.is_open) throw AssemblyError(fmt::format("label '{}' in a bundle", written));
  std::string name = written;
  if (std::isdigit(static_cast<unsigned char>(name[0]))) name = fmt::format(".local.{}.{}", written, ++local_counts_[written]);
  AssemblySymbol& symbol = unit_.symbols[name];
  if (symbol.section >= 0) throw AssemblyError(fmt::format("label '{}' is defined before", name));
  symbol = {static_cast<int>(current_), ends_[current_], false, place};
}

void Assembler::enter_section(const std::string& name) {
  for (std::size_t i = 0; i < unit_.sections.size(); ++i)
    if (unit_.sections[i].name == name) return void(current_ = i);
  current_ = unit_.sections.size();
  unit_.sections.emplace_back().name = name;
}

void Assembler::align(std::uint64_t to) {
  if (to == 0 || (to & (to - 1)) != 0 || to > 4096)
    throw AssemblyError(fmt::format("an alignment of {} bytes is no power of two up to 4096", to));
  section().align = std::max(section().align, static_cast<std::uint32_t>(to));
  std::uint32_t& end = ends_[current_];
  while (end % to != 0) {
    if (is_code(section().name) && end % 4 == 0) {
      AssemblyInstruction nop;
      nop.row = find_instruction("nop");
      nop.form = "-";
      nop.text = "nop";
      append({nop});
    } else {
      section().bytes.resize(++end);
    }
  }
}

void Assembler::directive(const Statement& s, const std::string& name, const std::string& rest) {
  static const std::set<std::string> ignored = {".type",
                                                ".size",
                                                ".extern",
                                                ".file",
                                                ".loc",
                                                ".ident",
                                                ".hidden",
                                                ".protected",
                                                ".stack_sizes",
                                                ".addrsig",
                                                ".weak",
                                                ".local",
                                                ".addrsig_sym",
                                                ".allow_invalid_operands",
                                                ".allow_invalid_execution_mode",
                                                ".allow_invalid_repeat",
                                                ".warn_on_invalid_bundles",
                                                ".error_on_invalid_bundles",
                                                ".error_on_invalid_operands",
                                                ".error_on_invalid_execution_mode",
                                                ".error_on_invalid_repeat"};
  if (name == ".weak" || name == ".globl" || name == ".global") {
    for (const std::string& symbol : split_at_commas(rest)) globals_.insert(symbol);
  } else if (ignored.contains(name) || name.starts_with(".cfi_")) {
  } else if (name == ".worker" || name == ".supervisor") {
    is_supervisor_ = name == ".supervisor";
  } else if (name == ".allow_optimizations") {
    swaps_ = true;
  } else if (name == ".section" || name == ".pushsection") {
    enter_section(split_at_commas(rest).at(0));
  } else if (name == ".text" || name == ".data" || name == ".bss" || name == ".rodata") {
    enter_section(name);
  } else if (name == ".align" || name == ".balign") {
    align(static_cast<std::uint64_t>(number_of(split_at_commas(rest).at(0))));
  } else if (name == ".p2align") {
    align(std::uint64_t{1} << std::min<std::int64_t>(number_of(split_at_commas(rest).at(0)), 16));
  } else if (name == ".equ" || name == ".set") {
    const std::size_t comma = rest.find(',');
    if (comma == std::string::npos) throw AssemblyError(fmt::format("{}: NAME, VALUE is expected", name));
    const std::string symbol = trimmed(rest.substr(0, comma)), expression = unique_local_labels(trimmed(rest.substr(comma + 1)));
    try {
      const AssemblyValue v = value_of(expression);
      if (!v.symbol.empty()) throw AssemblyError("");
      unit_.symbols[symbol] = {v.section, v.number, false};
      late_.erase(symbol);
    } catch (const AssemblyError&) { late_[symbol] = expression; }
  } else if (name == ".purgem") {
    if (macros_.erase(rest) == 0) throw AssemblyError(fmt::format(".purgem: there is no macro '{}'", rest));
  } else if (name == ".error") {
    throw AssemblyError(fmt::format(".error {}", rest));
  } else if (name == ".end") {
    ended_ = true;
  } else if (!data_directive(s, name, rest)) {
    throw AssemblyError(fmt::format("directive '{}' is unknown", name));
  }
}

bool Assembler::data_directive(const Statement& s, const std::string& name, const std::string& rest) {
  static const std::map<std::string, unsigned> sizes = {{".byte", 1},  {".short", 2}, {".half", 2}, {".hword", 2},
                                                        {".2byte", 2}, {".int", 4},   {".long", 4}, {".word", 4},
                                                        {".4byte", 4}, {".float", 4}, {".quad", 8}, {".8byte", 8}};
  std::uint32_t& end = ends_[current_];
  if (const auto size = sizes.find(name); size != sizes.end()) {
    for (std::string word : split_at_commas(rest)) {
      if (name == ".float" && word.find_first_of(".e") == std::string::npos) word += ".0";
      if (name == ".half" && word.find('.') != std::string::npos && word.back() != 'h') word += 'h';
      section().expressions.push_back({end, size->second, unique_local_labels(word), {}, s.place});
      end += size->second;
      section().bytes.resize(end);
    }
    return true;
  }
  if (name == ".space" || name == ".skip" || name == ".zero") {
    const std::int64_t bytes = number_of(split_at_commas(rest).at(0));
    if (bytes < 0 || bytes > (1 << 20)) throw AssemblyError(fmt::format("{}: {} bytes", name, bytes));
    end += static_cast<std::uint32_t>(bytes);
    section().bytes.resize(end);
    return true;
  }
  if (name != ".ascii" && name != ".asciz" && name != ".string") return false;
  for (std::string text : split_at_commas(rest)) {
    if (text.size() < 2 || text.front() != '"') throw AssemblyError(fmt::format("{}: a text in quotes is expected", name));
    text = text.substr(1, text.size() - 2);
    if (name != ".ascii") text += '\0';
    section().bytes.resize(end);
    section().bytes += text;
    end += static_cast<std::uint32_t>(text.size());
  }
  return true;
}

void Assembler::open_bundle(const Statement& s) {
  if (bundle_.is_open) throw AssemblyError("'{' in a bundle");
  bundle_.is_open = true;
  bundle_.has_fault = false;
  bundle_.place = s.place;
  bundle_.instructions.clear();
}

void Assembler::close_bundle(const Statement&) {
  if (!bundle_.is_open) throw AssemblyError("'}' without '{'");
  bundle_.is_open = false;
  std::vector<AssemblyInstruction>& both = bundle_.instructions;
  if (bundle_.has_fault) return;
  const auto reject = [&](const std::string& why) { report(bundle_.place, why); };
  if (both.size() != 2) {
    reject(fmt::format("a bundle holds two instructions, one of the main pipe and one of the auxiliary pipe; {} found", both.size()));
    return;
  }
  if (swaps_ && pipe_of(both[0]) == Bank::aux && pipe_of(both[1]) == Bank::main) std::swap(both[0], both[1]);
  if (pipe_of(both[0]) != Bank::main || pipe_of(both[1]) != Bank::aux)
    reject(fmt::format("a bundle is an instruction of the main pipe, then one of the auxiliary pipe; found '{}' and '{}'", both[0].text,
                       both[1].text));
  const std::vector<std::string> a = form_operands(both[0].form), b = form_operands(both[1].form);
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t k = 0; k < b.size(); ++k)
      if ((a[i][0] == '=' || a[i][0] == '+') && (b[k][0] == '=' || b[k][0] == '+') && overlaps(both[0].operands[i], both[1].operands[k]))
        reject(fmt::format("both instructions of a bundle write one register: '{}' and '{}'", both[0].text, both[1].text));
  append(std::move(both));
}

void Assembler::append(std::vector<AssemblyInstruction> instructions) {
  std::uint32_t& end = ends_[current_];
  if (end % 4 != 0) throw AssemblyError("code that does not begin at a multiple of 4 bytes");
  CodeItem item;
  item.instructions = std::move(instructions);
  item.offset = end;
  end += item.bytes();
  section().items.push_back(std::move(item));
}

void Assembler::instruction(const Statement& s, const std::string& name, const std::string& rest) {
  AssemblyInstruction i;
  i.place = s.place;
  i.text = trimmed(name + " " + rest);
  const bool is_constant = name == "ldconst";
  std::string mnemonic = name;
  for (const std::string& operand : split_at_commas(rest)) i.operands.push_back(read_operand(operand));
  if ((name == "get" || name == "put") &&
      std::any_of(i.operands.begin(), i.operands.end(), [](const auto& o) { return o.bank == Bank::aux; }))
    mnemonic = "u" + name;
  i.row = find_instruction(mnemonic);
  if (!i.row) {
    const std::vector<std::string> similar = similar_instructions(name);
    throw AssemblyError(fmt::format("instruction '{}' is unknown: '{}'{}", name, i.text,
                                    similar.empty() ? "" : fmt::format("; similar: {}", fmt::join(similar, ", "))));
  }
  i.form = fitting_form(*i.row, i.operands);
  if (i.form.empty()) throw AssemblyError(fmt::format("'{}' has other operands: '{}'; expected: {}", name, i.text, i.row->forms));
  for (AssemblyOperand& o : i.operands) o.expression = unique_local_labels(o.expression);
  if (is_constant) return load_constant(s, std::move(i));
  if (bundle_.is_open) return bundle_.instructions.push_back(std::move(i));
  append({std::move(i)});
}

// One instruction, or two: setzi loads 20 bits, `or` the others.
void Assembler::load_constant(const Statement&, AssemblyInstruction whole) {
  if (bundle_.is_open) throw AssemblyError("'ldconst' may be two instructions: not in a bundle");
  AssemblyInstruction low = whole, high = whole;
  low.row = find_instruction("setzi");
  high.row = find_instruction("or");
  const bool is_main = whole.operands[0].bank == Bank::main;
  low.form = is_main ? "=m,z20" : "=a,z20";
  high.form = is_main ? "=m,m,zu" : "=a,a,zu";
  const std::string expression = whole.operands[1].expression;
  bool has_upper = true, has_lower = true;
  try {
    const AssemblyValue v = value_of(expression);
    has_upper = v.is_number() && (v.number & 0xfff00000) != 0;
    has_lower = !v.is_number() || (v.number & 0xfffff) != 0 || !has_upper;
    if (v.is_number()) {
      low.operands[1].expression = std::to_string(v.number & 0xfffff);
      high.operands[1].expression = std::to_string(v.number & 0xfff00000);
    }
  } catch (const AssemblyError&) { has_upper = false; }
  AssemblyOperand from = high.operands[0];
  if (!has_lower) from.first = 15;
  high.operands.insert(high.operands.begin() + 1, from);
  if (has_lower) append({low});
  if (has_upper) append({high});
}

std::string Assembler::unique_local_labels(const std::string& expression) const {
  static const std::regex local(R"(\b(\d+)([bf])\b)");
  if (expression.find_first_of("bf.") == std::string::npos) return expression;
  std::string out;
  auto last = expression.begin();
  for (std::sregex_iterator i(expression.begin(), expression.end(), local), end; i != end; ++i) {
    const std::size_t at = static_cast<std::size_t>(i->position());
    const std::string number = (*i)[1].str();
    const bool is_binary = (at > 0 && (std::isalnum(static_cast<unsigned char>(expression[at - 1])) || expression[at - 1] == '.'));
    out.append(last, i->prefix().second);
    const auto known = local_counts_.find(number);
    const unsigned count = known == local_counts_.end() ? 0 : known->second;
    out += is_binary ? i->str() : fmt::format(".local.{}.{}", number, (*i)[2].str() == "b" ? count : count + 1);
    last = (*i)[0].second;
  }
  out.append(last, expression.end());
  // `.` is here, not where the expression is evaluated.
  static const std::regex here(R"((^|[^\w.$])\.(?![\w.]))");
  return std::regex_replace(out, here, fmt::format("$1.here.{}.{}", current_, ends_.contains(current_) ? ends_.at(current_) : 0));
}

AssemblyValue Assembler::look_up(const std::string& name, bool is_complete) {
  if (const auto control = control_register(name)) return {static_cast<std::int64_t>(*control), -1, ""};
  if (name.starts_with(".here.")) {
    const std::size_t dot = name.find('.', 6);
    return {std::stoll(name.substr(dot + 1)), std::stoi(name.substr(6, dot - 6)), ""};
  }
  if (const auto known = unit_.symbols.find(name); known != unit_.symbols.end()) return {known->second.number, known->second.section, ""};
  if (const auto late = late_.find(name); late != late_.end()) {
    if (!evaluating_.insert(name).second) throw AssemblyError(fmt::format("'{}' is defined by itself", name));
    const AssemblyValue v = evaluate(late->second, [&](const std::string& n) { return look_up(n, is_complete); });
    evaluating_.erase(name);
    return v;
  }
  if (!is_complete) throw AssemblyError(fmt::format("'{}' has no value yet", name));
  if (name.starts_with(".local."))
    throw AssemblyError(fmt::format("there is no label {}: behind or before here", name.substr(7, name.find('.', 7) - 7)));
  return {0, -1, name};
}

AssemblyValue Assembler::value_of(const std::string& expression) {
  return evaluate(unique_local_labels(expression), [&](const std::string& name) { return look_up(name, false); });
}

std::int64_t Assembler::number_of(const std::string& expression) {
  const AssemblyValue v = value_of(expression);
  if (!v.is_number()) throw AssemblyError(fmt::format("'{}': a number is expected, an address was found", expression));
  return v.number;
}

void Assembler::finish_instruction(AssemblyInstruction& i) {
  const std::vector<std::string> form = i.form == "-" ? std::vector<std::string>{} : form_operands(i.form);
  for (std::size_t k = 0; k < i.operands.size(); ++k) {
    AssemblyOperand& o = i.operands[k];
    if (o.kind != AssemblyOperand::Kind::expression) continue;
    o.value = evaluate(o.expression, [&](const std::string& name) { return look_up(name, true); });
    const bool takes_place = form[k] == "L" || form[k] == "z20" || form[k] == "c32";
    if (!takes_place && !o.value.is_number())
      throw AssemblyError(fmt::format("'{}': '{}' is no number", i.text, o.value.symbol.empty() ? o.expression : o.value.symbol));
    if (form[k] == "L" && o.value.is_number()) throw AssemblyError(fmt::format("'{}': a label is expected", i.text));
    if (!o.value.is_number()) continue;
    if (const std::string why = why_unfit(form[k], o.value.number); !why.empty()) throw AssemblyError(fmt::format("'{}': {}", i.text, why));
  }
}

// Bodies of rpt: bundles at multiples of 8 bytes, without control.
void Assembler::check_repeats(const CodeSection& section) {
  for (std::size_t i = 0; i < section.items.size(); ++i) {
    const AssemblyInstruction& first = section.items[i].instructions[0];
    if (!first.row || first.row->flow != Flow::repeat) continue;
    const std::uint64_t length = static_cast<std::uint64_t>(first.operands[1].value.number) + 1;
    for (std::uint64_t k = 1; k <= length; ++k) {
      if (i + k >= section.items.size()) {
        report(first.place, fmt::format("'{}': its body goes beyond the end of the code", first.text));
        break;
      }
      const CodeItem& body = section.items[i + k];
      const AssemblyInstruction& in = body.instructions[0];
      if (body.instructions.size() != 2)
        report(in.place, fmt::format("'{}' in the body of rpt (line {}): only bundles are repeated", in.text, first.place.line));
      else if (in.row->flow != Flow::next || in.row->name == "get" || in.row->name == "put")
        report(in.place,
               fmt::format("'{}' in the body of rpt (line {}): no control and no get or put is repeated", in.text, first.place.line));
      else if (body.offset % 8 != 0)
        report(in.place,
               fmt::format("'{}' in the body of rpt (line {}) begins at {} mod 8: bundles that are repeated begin at multiples of 8",
                           in.text, first.place.line, body.offset % 8));
      else
        continue;
      break;
    }
  }
}

AssemblyUnit Assembler::finish() {
  for (CodeSection& s : unit_.sections) {
    for (CodeItem& item : s.items)
      for (AssemblyInstruction& i : item.instructions) try {
          finish_instruction(i);
        } catch (const AssemblyError& e) { report(i.place, e.what()); }
    for (DataExpression& d : s.expressions) try {
        d.value = evaluate(d.expression, [&](const std::string& name) { return look_up(name, true); });
      } catch (const AssemblyError& e) { report(d.place, e.what()); }
  }
  for (std::size_t i = 0; i < unit_.sections.size(); ++i) unit_.sections[i].bytes.resize(ends_[i]);
  if (faults_.empty())
    for (const CodeSection& s : unit_.sections) check_repeats(s);
  for (const auto& [name, expression] : late_) try {
      const AssemblyValue v = look_up(name, true);
      if (v.symbol.empty()) unit_.symbols[name] = {v.section, v.number, false};
    } catch (const AssemblyError& e) { report({unit_.file, 0}, e.what()); }
  for (const std::string& name : globals_)
    if (const auto known = unit_.symbols.find(name); known != unit_.symbols.end()) known->second.is_global = true;
  return std::move(unit_);
}

}  // namespace pando::popc
