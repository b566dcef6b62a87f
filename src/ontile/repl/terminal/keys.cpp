#include "ontile/repl/terminal/keys.h"

#include <fmt/format.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>

namespace pando::ontile {
namespace {

constexpr char kControlC = 3, kControlD = 4, kLeave = 0x1d;

// The terminal gives keys as they come, without echo; Ctrl-C stays a signal.
class RawTerminal {
 public:
  RawTerminal() {
    tcgetattr(STDIN_FILENO, &before_);
    termios raw = before_;
    raw.c_iflag &= ~static_cast<tcflag_t>(ICRNL | INLCR | IXON);
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | IEXTEN);
    tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
  }
  ~RawTerminal() { tcsetattr(STDIN_FILENO, TCSADRAIN, &before_); }
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;

 private:
  termios before_ = {};
};

// Ctrl-C is the key it would have been.
char read_key(Interrupts& interrupts) {
  for (;;) {
    pollfd ready[] = {{STDIN_FILENO, POLLIN, 0}, {interrupts.descriptor(), POLLIN, 0}};
    if (poll(ready, 2, -1) < 0 && errno != EINTR) return kLeave;
    if (interrupts.take()) return kControlC;
    char key = 0;
    const ssize_t n = read(STDIN_FILENO, &key, 1);
    if (n == 1) return key;
    if (n == 0 || (errno != EINTR && errno != EAGAIN)) return kLeave;
  }
}

// The prompt that this ends with, if it does.
std::string_view prompt_of(std::string_view text) {
  for (const std::string_view prompt : {">>> ", "... ", "=== "})
    if (text.ends_with(prompt)) return prompt;
  return {};
}

std::string plain_lines(std::string_view text) {
  std::string plain;
  for (const char c : text)
    if (c != '\r') plain += c;
  plain.erase(0, plain.find_first_not_of('\n'));
  return plain;
}

}  // namespace

std::string render_keys(const std::vector<Group>& groups, const Style& style) {
  if (groups.size() == 1) return groups[0].text;
  std::vector<Group> shown = groups;
  std::string_view prompt;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const std::string_view mine = prompt_of(groups[i].text);
    if (prompt.empty()) prompt = mine;
    shown[i].text = plain_lines(std::string_view(groups[i].text).substr(0, groups[i].text.size() - mine.size()));
  }
  return "\n" + render(shown, style) + std::string(prompt);
}

void run_keys(Shell& shell, Interrupts& interrupts) {
  const RawTerminal raw;
  fmt::print("Every key goes to the tiles; Ctrl-D or Ctrl-] leaves.\n");
  std::fflush(stdout);
  for (char key = '\r';;) {
    const std::vector<Group> groups = group(shell.machine().key(key));
    interrupts.take();  // it was for the command that has just ended
    const std::string text = render_keys(groups, shell.style());
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
    const bool all_left = groups.size() == 1 && groups[0].ending == Ending::exited;
    if (key == kControlD && all_left) break;
    key = read_key(interrupts);
    if (key == kLeave) break;
  }
  fmt::print("\n");
}

}  // namespace pando::ontile
