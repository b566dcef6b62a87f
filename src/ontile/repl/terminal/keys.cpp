#include "ontile/repl/terminal/keys.h"

#include <fmt/format.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace pando::ontile {
namespace {

constexpr char kControlC = 3, kLeave = 0x1d;
constexpr char kControlU = 0x15;  // empties a line: of one that is empty nothing is to be seen

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

bool has_left(const Group& group) { return group.ending == Ending::exited || group.ending == Ending::skipped; }

std::string plain_lines(std::string_view text) {
  std::string plain;
  for (const char c : text)
    if (c != '\r') plain += c;
  plain.erase(0, plain.find_first_not_of('\n'));
  return plain;
}

}  // namespace

std::string render_keys(const std::vector<Group>& groups, const Style& style) {
  std::vector<Group> shown = groups;
  std::erase_if(shown, [](const Group& one) { return one.ending == Ending::skipped; });
  if (shown.size() == 1) return shown[0].text;
  std::string prompt;
  for (Group& one : shown) {
    const std::string mine(prompt_of(one.text));
    if (prompt.empty()) prompt = mine;
    one.text = plain_lines(std::string_view(one.text).substr(0, one.text.size() - mine.size()));
  }
  return "\n" + render(shown, style) + prompt;
}

void run_keys(Shell& shell, Interrupts& interrupts) {
  const RawTerminal raw;
  fmt::print("Every key goes to the tiles; Ctrl-D or Ctrl-] leaves.\n");
  std::fflush(stdout);
  for (char key = kControlU;;) {
    const std::vector<Group> groups = group(shell.machine().key(key));
    interrupts.take();  // it was for the command that has just ended
    const std::string text = render_keys(groups, shell.style());
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
    if (std::all_of(groups.begin(), groups.end(), has_left)) break;
    key = read_key(interrupts);
    if (key == kLeave) break;
  }
  fmt::print("\n");
}

}  // namespace pando::ontile
