#include "popc/assembler/text/statements.h"

#include <fmt/format.h>

#include <cctype>
#include <regex>

namespace pando::popc {

std::string prefix(const SourcePlace& place) { return fmt::format("{}:{}: ", place.file, place.line); }

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t\r\n") + 1 - first));
}

std::vector<std::string> split_at_commas(std::string_view text) {
  std::vector<std::string> out;
  std::string part;
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\' && i + 1 < text.size())
      part += c, part += text[++i];
    else if (c == '"')
      quoted = !quoted, part += c;
    else if (!quoted && c == ',' && depth == 0)
      out.push_back(trimmed(part)), part.clear();
    else
      depth += quoted ? 0 : (c == '(') - (c == ')'), part += c;
  }
  const std::string last = trimmed(part);
  if (!last.empty() || !out.empty()) out.push_back(last);
  return out;
}

namespace {

class Splitter {
 public:
  Splitter(std::string_view text, SourcePlace place) : text_(text), place_(std::move(place)) {}

  std::vector<Statement> run() {
    for (at_ = 0; at_ < text_.size();) {
      if (line_begins_ && takes_marker()) continue;
      const char c = text_[at_];
      if (c == '"') {
        take_quoted();
      } else if (text_.substr(at_).starts_with("//")) {
        skip_to_end();
      } else if (text_.substr(at_).starts_with("/*")) {
        skip_block();
      } else if (c == '\n') {
        finish();
        ++place_.line;
        ++at_;
        line_begins_ = true;
      } else if (c == ';') {
        finish();
        ++at_;
      } else if ((c == '{' && trimmed(part_).empty()) || c == '}') {
        finish();
        out_.push_back({std::string(1, c), place_});
        ++at_;
      } else if (c == '{' && trimmed(part_).ends_with(':')) {
        finish();
      } else {
        if (!std::isspace(static_cast<unsigned char>(c))) line_begins_ = false;
        part_ += c;
        ++at_;
      }
    }
    finish();
    return std::move(out_);
  }

 private:
  void finish() {
    if (const std::string text = trimmed(part_); !text.empty()) out_.push_back({text, place_});
    part_.clear();
  }

  void skip_to_end() {
    while (at_ < text_.size() && text_[at_] != '\n') ++at_;
  }

  void skip_block() {
    for (at_ += 2; at_ < text_.size() && !text_.substr(at_).starts_with("*/"); ++at_)
      if (text_[at_] == '\n') ++place_.line;
    at_ = std::min(at_ + 2, text_.size());
    part_ += ' ';
  }

  void take_quoted() {
    const std::size_t begin = at_++;
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n') at_ += text_[at_] == '\\' ? 2 : 1;
    if (at_ < text_.size() && text_[at_] == '"') ++at_;
    at_ = std::min(at_, text_.size());
    part_ += text_.substr(begin, at_ - begin);
    line_begins_ = false;
  }

  bool takes_marker() {
    std::size_t i = at_;
    while (i < text_.size() && (text_[i] == ' ' || text_[i] == '\t')) ++i;
    if (i >= text_.size() || text_[i] != '#') return false;
    const std::size_t end = std::min(text_.find('\n', i), text_.size());
    static const std::regex marker(R"re(#\s+(\d+)\s+"((?:[^"\\]|\\.)*)".*)re");
    const std::string line(text_.substr(i, end - i));
    std::smatch found;
    at_ = end;
    if (std::regex_match(line, found, marker)) {
      place_ = {found[2].str(), static_cast<unsigned>(std::stoul(found[1].str()))};
      at_ = std::min(end + 1, text_.size());
    }
    return true;
  }

  std::string_view text_;
  SourcePlace place_;
  std::size_t at_ = 0;
  bool line_begins_ = true;
  std::string part_;
  std::vector<Statement> out_;
};

}  // namespace

std::vector<Statement> statements_of(std::string_view text, SourcePlace place) { return Splitter(text, std::move(place)).run(); }

}  // namespace pando::popc
