#include "project/policy.h"

#include "ir/error.h"

#include <charconv>
#include <vector>

namespace pando::project {

namespace {

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    if (end > at) words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

bool read(std::string_view word, std::int64_t least, std::int64_t& value) {
  const auto [p, e] = std::from_chars(word.data(), word.data() + word.size(), value);
  return e == std::errc() && p == word.data() + word.size() && value >= least && value <= (1 << 30);
}

}  // namespace

std::string to_string(const Policy& p) {
  const std::string bound = p.at_most < 0 ? "" : " at most " + std::to_string(p.at_most);
  switch (p.kind) {
    case PolicyKind::strict: return "strict";
    case PolicyKind::delay: return "delay" + bound;
    case PolicyKind::stash: return "stash" + bound;
    case PolicyKind::double_buffered: return "2BW " + std::to_string(p.window);
    case PolicyKind::flush: return "flush " + std::to_string(p.window);
  }
  return {};
}

Policy parse_policy(std::string_view text) {
  const auto words = words_of(text);
  const std::string_view name = words.empty() ? std::string_view() : words[0];
  Policy p;
  if (name == "strict" && words.size() == 1) return p;
  if (name == "delay" || name == "stash") {
    p.kind = name == "delay" ? PolicyKind::delay : PolicyKind::stash;
    if (words.size() == 1) return p;
    if (words.size() == 4 && words[1] == "at" && words[2] == "most" && read(words[3], 0, p.at_most)) return p;
  }
  if (name == "2BW" || name == "flush") {
    p.kind = name == "2BW" ? PolicyKind::double_buffered : PolicyKind::flush;
    if (words.size() == 2 && read(words[1], name == "2BW" ? 2 : 1, p.window)) return p;
  }
  ir::reject(
      ir::ErrorClass::value, "state-policy",
      "'{}' is not a policy of state; strict, delay, stash (both may say 'at most N'), '2BW M' and 'flush M' (M samples, of 2BW 2 or "
      "more) are",
      text);
}

}  // namespace pando::project
