#include "ranks/command/poprun/options.h"

#include "base/error.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace pando::ranks {

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  bool inside = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      inside = true;
    } else if (c == '\\' && i + 1 < text.size()) {
      word += text[++i];
      inside = true;
    } else if (std::isspace(static_cast<unsigned char>(c))) {
      if (inside) words.push_back(std::move(word));
      word.clear();
      inside = false;
    } else {
      word += c;
      inside = true;
    }
  }
  if (quote != 0) fail(ErrorKind::invalid_option, "open-quote", "a quote without end in: {}", text);
  if (inside) words.push_back(std::move(word));
  return words;
}

namespace {

// Parts between commas, but for those in brackets.
std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (depth < 0 || depth > 1)
      fail(ErrorKind::invalid_option, "hosts", "'{}' is not a list of hosts: host1,host2 or host[1-3,5] is", text);
    if (c == ',' && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  if (depth != 0) fail(ErrorKind::invalid_option, "hosts", "'{}' is not a list of hosts: a bracket is open", text);
  return parts;
}

unsigned number_of(const std::string& text, const std::string& all) {
  const bool is_number = !text.empty() && text.size() < 7 && text.find_first_not_of("0123456789") == std::string::npos;
  if (!is_number) fail(ErrorKind::invalid_option, "hosts", "'{}' is not a number of a host, in '{}'", text, all);
  return static_cast<unsigned>(std::stoul(text));
}

}  // namespace

std::vector<std::string> hosts_of(const std::string& text) {
  std::vector<std::string> hosts;
  for (const std::string& part : parts_of(text)) {
    const std::size_t open = part.find('['), close = part.find(']');
    if (part.empty()) fail(ErrorKind::invalid_option, "hosts", "'{}' has a host without a name", text);
    if (open == std::string::npos) {
      hosts.push_back(part);
      continue;
    }
    for (const std::string& range : parts_of(part.substr(open + 1, close - open - 1))) {
      const std::size_t dash = range.find('-');
      const unsigned first = number_of(range.substr(0, dash), text);
      const unsigned last = dash == std::string::npos ? first : number_of(range.substr(dash + 1), text);
      if (last < first || last - first > 4096)
        fail(ErrorKind::invalid_option, "hosts", "'{}' is not a range of hosts, in '{}'", range, text);
      for (unsigned n = first; n <= last; ++n) hosts.push_back(part.substr(0, open) + std::to_string(n) + part.substr(close + 1));
    }
  }
  return hosts;
}

bool all_here(const std::vector<std::string>& hosts) {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return std::all_of(hosts.begin(), hosts.end(), [&](const std::string& host) {
    return host == "localhost" || host == "127.0.0.1" || host == "::1" || host == name.data();
  });
}

std::vector<std::string> take_interfaces(std::vector<std::string>& words) {
  std::vector<std::string> taken;
  for (std::size_t i = 0; i + 2 < words.size();) {
    const bool is_parameter = words[i] == "--mca" || words[i] == "-mca" || words[i] == "--gmca";
    if (is_parameter && (words[i + 1].ends_with("_if_include") || words[i + 1].ends_with("_if_exclude"))) {
      taken.push_back(fmt::format("{} {} {}", words[i], words[i + 1], words[i + 2]));
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(i), words.begin() + static_cast<std::ptrdiff_t>(i) + 3);
    } else {
      ++i;
    }
  }
  return taken;
}

namespace {

std::string numbers(unsigned first, unsigned count) {
  return count == 1 ? std::to_string(first) : fmt::format("{}-{}", first, first + count - 1);
}

}  // namespace

std::string topology_of(const PoprunOptions& o) {
  const auto hosts = static_cast<unsigned>(std::max<std::size_t>(1, o.hosts.size()));
  std::vector<std::vector<std::string>> rows{{"hosts"}, {"instances"}, {"replicas"}, {"IPUs"}};
  for (unsigned i = 0; i < o.instances; ++i) {
    const unsigned host = i * hosts / o.instances, first = i * o.local_replicas();
    rows[0].push_back(o.hosts.empty() ? "this" : o.hosts[host]);
    rows[1].push_back(std::to_string(i));
    rows[2].push_back(numbers(first, o.local_replicas()));
    rows[3].push_back(numbers(first * o.ipus_per_replica, o.local_replicas() * o.ipus_per_replica));
  }
  std::vector<std::size_t> widths(o.instances + 1);
  for (const auto& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  std::string text, line = "|";
  for (const std::size_t w : widths) line += std::string(w + 2, '-') + '|';
  const std::string title = "poprun topology";
  text += fmt::format("|{:^{}}|\n{}\n", title, std::max(line.size() - 2, title.size()), line);
  for (const auto& row : rows) {
    text += '|';
    for (std::size_t c = 0; c < row.size(); ++c)
      text += c == 0 ? fmt::format(" {:<{}} |", row[c], widths[c]) : fmt::format(" {:^{}} |", row[c], widths[c]);
    text += '\n';
  }
  return text + line + '\n';
}

}  // namespace pando::ranks
