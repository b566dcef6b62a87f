// The line editor of builds without libedit: lines as the terminal gives them, with its own backspace. No history, no completion, no
// indentation that is proposed, and no key for pasting.
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>

#include "ontile/repl/terminal/line_editor.h"

namespace pando::ontile {

LineEditor::LineEditor(Interrupts& interrupts, Completer complete, std::string history)
    : interrupts_(interrupts), complete_(std::move(complete)), history_file_(std::move(history)) {}

LineEditor::~LineEditor() = default;

void LineEditor::remember(std::string_view) {}

LineEditor::Line LineEditor::read(std::string_view prompt, std::string_view, bool) {
  for (const char c : prompt)
    if (c != '\1') std::fputc(c, stdout);  // around what has no width
  std::fflush(stdout);
  Line line;
  for (;;) {
    pollfd ready[] = {{STDIN_FILENO, POLLIN, 0}, {interrupts_.descriptor(), POLLIN, 0}};
    if (poll(ready, 2, -1) < 0 && errno != EINTR) return {End::end, {}};
    if (interrupts_.take()) return {End::interrupted, {}};
    if (ready[0].revents == 0) continue;
    char c = 0;
    const ssize_t n = ::read(STDIN_FILENO, &c, 1);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n <= 0) return line.text.empty() ? Line{End::end, {}} : line;
    if (c == '\n') return line;
    line.text += c;
  }
}

}  // namespace pando::ontile
