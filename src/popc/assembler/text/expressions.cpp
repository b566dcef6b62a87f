#include "popc/assembler/text/expressions.h"

#include <fmt/format.h>
#include <llvm/ADT/APFloat.h>

#include <cctype>
#include <charconv>

namespace pando::popc {

namespace {

bool begins_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '$'; }
bool is_in_name(char c) { return begins_name(c) || std::isdigit(static_cast<unsigned char>(c)) || c == '@'; }

struct Operator {
  std::string_view text;
  unsigned strength;
};
// Longer texts first.
constexpr Operator kOperators[] = {{"||", 1}, {"&&", 2}, {"<<", 8}, {">>", 8}, {"==", 6}, {"!=", 6}, {"<=", 7}, {">=", 7}, {"|", 3},
                                   {"^", 4},  {"&", 5},  {"<", 7},  {">", 7},  {"+", 9},  {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10}};

class Evaluator {
 public:
  Evaluator(std::string_view text, const LookUp& look_up) : text_(text), look_up_(look_up) {}

  AssemblyValue run() {
    const AssemblyValue out = binary(1);
    skip();
    if (at_ != text_.size()) fail(fmt::format("'{}' was found", text_.substr(at_)));
    return out;
  }

 private:
  [[noreturn]] void fail(const std::string& why) const { throw AssemblyError(fmt::format("expression '{}': {}", text_, why)); }

  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool take(std::string_view what) {
    skip();
    if (!text_.substr(at_).starts_with(what)) return false;
    at_ += what.size();
    return true;
  }

  const Operator* next_operator() {
    skip();
    for (const Operator& o : kOperators)
      if (text_.substr(at_).starts_with(o.text)) return &o;
    return nullptr;
  }

  AssemblyValue binary(unsigned least) {
    AssemblyValue left = unary();
    for (const Operator* o = next_operator(); o && o->strength >= least; o = next_operator()) {
      at_ += o->text.size();
      const AssemblyValue right = binary(o->strength + 1);
      left = apply(o->text, left, right);
    }
    return left;
  }

  std::int64_t number_of(const AssemblyValue& v) const {
    if (!v.is_number()) fail("a number is expected, an address was found");
    return v.number;
  }

  AssemblyValue apply(std::string_view o, AssemblyValue a, const AssemblyValue& b) const {
    if (o == "+" && b.is_number()) return a.number += b.number, a;
    if (o == "+" && a.is_number()) return apply(o, b, a);
    if (o == "-" && b.is_number()) return a.number -= b.number, a;
    if (o == "-" && a.section >= 0 && a.section == b.section) return {a.number - b.number, -1, ""};
    const std::int64_t x = number_of(a), y = number_of(b);
    const auto ux = static_cast<std::uint64_t>(x);
    if ((o == "/" || o == "%") && y == 0) fail("division by zero");
    if ((o == "<<" || o == ">>") && (y < 0 || y > 63)) fail("a shift by 0 to 63 is expected");
    // Comparisons are -1 where they hold, as GNU's and LLVM's are.
    const auto truth = [](bool holds) -> std::int64_t { return holds ? -1 : 0; };
    const std::int64_t value = o == "||"   ? (x || y)
                               : o == "&&" ? (x && y)
                               : o == "|"  ? (x | y)
                               : o == "^"  ? (x ^ y)
                               : o == "&"  ? (x & y)
                               : o == "==" ? truth(x == y)
                               : o == "!=" ? truth(x != y)
                               : o == "<"  ? truth(x < y)
                               : o == "<=" ? truth(x <= y)
                               : o == ">"  ? truth(x > y)
                               : o == ">=" ? truth(x >= y)
                               : o == "<<" ? static_cast<std::int64_t>(ux << y)
                               : o == ">>" ? static_cast<std::int64_t>(ux >> y)
                               : o == "+"  ? x + y
                               : o == "-"  ? x - y
                               : o == "*"  ? static_cast<std::int64_t>(ux * static_cast<std::uint64_t>(y))
                               : o == "/"  ? x / y
                                           : x % y;
    return {value, -1, ""};
  }

  AssemblyValue unary() {
    if (take("-")) {
      sign_ = 0;
      const std::int64_t n = number_of(unary());
      return {sign_ != 0 ? n ^ sign_ : -n, -1, ""};
    }
    sign_ = 0;
    if (take("+")) return unary();
    if (take("~")) return {~number_of(unary()), -1, ""};
    if (take("!")) return {number_of(unary()) == 0, -1, ""};
    if (take("(")) {
      const AssemblyValue inside = binary(1);
      if (!take(")")) fail("')' is expected");
      return inside;
    }
    skip();
    if (at_ >= text_.size()) fail("it ends where a value is expected");
    if (std::isdigit(static_cast<unsigned char>(text_[at_]))) return number();
    if (text_[at_] == '\'' && at_ + 2 < text_.size()) return at_ += text_[at_ + 2] == '\'' ? 3 : 2, AssemblyValue{text_[at_ - 2], -1, ""};
    if (!begins_name(text_[at_])) fail(fmt::format("'{}' was found where a value is expected", text_.substr(at_)));
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_in_name(text_[at_])) ++at_;
    const std::string name(text_.substr(begin, at_ - begin));
    if (name == "infh") return {0x7c00, -1, ""};
    if (name == "nanh") return {0x7e00, -1, ""};
    return look_up_(name);
  }

  AssemblyValue number() {
    std::size_t end = at_;
    const bool is_hexadecimal = text_.substr(at_).starts_with("0x") || text_.substr(at_).starts_with("0X");
    const auto is_digit = [&](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) || c == '.' ||
             (!is_hexadecimal && (c == '+' || c == '-') && (text_[end - 1] == 'e' || text_[end - 1] == 'E'));
    };
    while (end < text_.size() && is_digit(text_[end])) ++end;
    std::string word(text_.substr(at_, end - at_));
    at_ = end;
    if (!is_hexadecimal && (word.back() == 'h' || word.find('.') != std::string::npos)) return floating(word);
    while (!word.empty() && (word.back() == 'u' || word.back() == 'U' || word.back() == 'l' || word.back() == 'L')) word.pop_back();
    int base = 10;
    std::size_t begin = 0;
    if (is_hexadecimal)
      base = 16, begin = 2;
    else if (word.starts_with("0b") || word.starts_with("0B"))
      base = 2, begin = 2;
    else if (word.size() > 1 && word[0] == '0')
      base = 8, begin = 1;
    std::uint64_t value = 0;
    const auto [stop, error] = std::from_chars(word.data() + begin, word.data() + word.size(), value, base);
    if (error != std::errc() || stop != word.data() + word.size()) fail(fmt::format("'{}' is no number", word));
    return {static_cast<std::int64_t>(value), -1, ""};
  }

  AssemblyValue floating(std::string word) {
    const bool is_half = word.back() == 'h';
    if (is_half || word.back() == 'f') word.pop_back();
    double value = 0;
    const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || stop != word.data() + word.size()) fail(fmt::format("'{}' is no number", word));
    sign_ = is_half ? 0x8000 : 0x80000000;
    if (is_half) return {half_bits(value), -1, ""};
    const auto single = static_cast<float>(value);
    return {static_cast<std::int64_t>(__builtin_bit_cast(std::uint32_t, single)), -1, ""};
  }

  std::string_view text_;
  const LookUp& look_up_;
  std::size_t at_ = 0;
  std::int64_t sign_ = 0;  // of the constant of floating point that was read last: its bit
};

}  // namespace

AssemblyValue evaluate(std::string_view expression, const LookUp& look_up) { return Evaluator(expression, look_up).run(); }

std::uint16_t half_bits(double value) {
  llvm::APFloat f(value);
  bool loses = false;
  f.convert(llvm::APFloat::IEEEhalf(), llvm::APFloat::rmNearestTiesToEven, &loses);
  return static_cast<std::uint16_t>(f.bitcastToAPInt().getZExtValue());
}

}  // namespace pando::popc
