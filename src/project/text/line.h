// One line of a text, read from left to right.
#pragma once

#include "ir/reject_at.h"

#include <cctype>
#include <charconv>
#include <string>
#include <string_view>

namespace pando::project {

class Line {
 public:
  Line(std::string_view text, const std::string& file, std::size_t number) : text_(text), file_(file), number_(number) {}

  std::size_t number() const { return number_; }
  std::size_t indentation() const {
    const std::size_t n = text_.find_first_not_of(' ');
    return n == std::string_view::npos ? 0 : n;
  }
  bool at_end() {
    skip_space();
    return at_ >= text_.size();
  }
  std::string_view rest() {
    skip_space();
    return text_.substr(at_);
  }
  void back_to(std::size_t at) { at_ = at; }
  std::size_t at() const { return at_; }

  template <class... Args>
  [[noreturn]] void error(std::string_view id, fmt::format_string<Args...> format, Args&&... args) const {
    ir::reject_at(ir::ErrorClass::popart, id, {file_, number_, at_ + 1}, format, std::forward<Args>(args)...);
  }

  bool next_is(char c) {
    skip_space();
    return at_ < text_.size() && text_[at_] == c;
  }
  bool take(std::string_view sign) {
    skip_space();
    if (text_.substr(at_, sign.size()) != sign) return false;
    at_ += sign.size();
    return true;
  }
  void expect(std::string_view sign) {
    if (!take(sign)) error("sign-expected", "expected '{}', found '{}'", sign, rest().substr(0, 12));
  }
  std::string_view peek_word() {
    skip_space();
    std::size_t end = at_;
    while (end < text_.size() && in_word(text_[end])) ++end;
    return text_.substr(at_, end - at_);
  }
  bool take_word(std::string_view w) {
    if (peek_word() != w) return false;
    at_ += w.size();
    return true;
  }
  void expect_word(std::string_view w) {
    if (!take_word(w)) error("word-expected", "expected '{}', found '{}'", w, rest().substr(0, 12));
  }
  std::string name() {
    if (next_is('"')) return quoted();
    const std::string_view w = peek_word();
    if (w.empty()) error("word-expected", "expected a name, found '{}'", rest().substr(0, 12));
    at_ += w.size();
    return std::string(w);
  }
  std::string quoted() {
    expect("\"");
    std::string out;
    while (at_ < text_.size() && text_[at_] != '"') {
      char c = text_[at_++];
      if (c == '\\' && at_ < text_.size()) c = escaped();
      out += c;
    }
    expect("\"");
    return out;
  }
  std::int64_t integer() {
    skip_space();
    std::int64_t v = 0;
    const auto [p, e] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), v);
    if (e != std::errc() || v < -(1 << 30) || v > (1 << 30))
      error("integer-expected", "expected an integer, found '{}'", rest().substr(0, 12));
    at_ = static_cast<std::size_t>(p - text_.data());
    return v;
  }
  // " + 2", " - 1", or nothing.
  std::int64_t shift() {
    if (take("+")) return integer();
    return take("-") ? -integer() : 0;
  }

 private:
  static bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '/'; }
  void skip_space() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  char escaped() {
    const char c = text_[at_++];
    if (c != 'x') return c;
    unsigned value = 0;
    const auto [p, e] = std::from_chars(text_.data() + at_, text_.data() + std::min(at_ + 2, text_.size()), value, 16);
    if (e != std::errc()) error("bad-escape", "a bad \\x escape");
    at_ = static_cast<std::size_t>(p - text_.data());
    return static_cast<char>(value);
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t number_;
  std::size_t at_ = 0;
};

}  // namespace pando::project
