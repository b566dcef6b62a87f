#include "ontile/repl/terminal/line_editor.h"

#include <histedit.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <clocale>
#include <cstring>
#include <cwchar>

#include "ontile/repl/terminal/indent.h"

namespace pando::ontile {
namespace {

constexpr int kHistorySize = 5000;
// Terminals that know it mark what is pasted.
constexpr std::string_view kMarkPastes = "\033[?2004h", kMarkNoPastes = "\033[?2004l", kPasteEnd = "\033[201~";

void write_terminal(std::string_view text) {
  for (ssize_t n = 0; !text.empty() && (n = write(STDOUT_FILENO, text.data(), text.size())) > 0;)
    text.remove_prefix(static_cast<std::size_t>(n));
}

winsize terminal_size() {
  winsize size = {};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) size = {};
  if (size.ws_col < 2) size.ws_col = 80;
  if (size.ws_row < 1) size.ws_row = 24;
  return size;
}

// As it is put into a line: other systems' line ends become ours, the last ones go.
std::wstring tidy_paste(std::wstring text) {
  std::wstring tidy;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == L'\r' && i + 1 < text.size() && text[i + 1] == L'\n') continue;
    tidy += text[i] == L'\r' ? L'\n' : text[i];
  }
  tidy.erase(tidy.find_last_not_of(L'\n') + 1);
  return tidy;
}

}  // namespace

LineEditor::LineEditor(Interrupts& interrupts, Completer complete, std::string history)
    : interrupts_(interrupts), complete_(std::move(complete)), history_file_(std::move(history)) {
  std::setlocale(LC_CTYPE, "");
  if (MB_CUR_MAX == 1) std::setlocale(LC_CTYPE, "C.UTF-8");
  editor_ = el_init("pando", stdin, stdout, stderr);
  history_ = history_init();
  HistEvent event;
  ::history(history_, &event, H_SETSIZE, kHistorySize);
  ::history(history_, &event, H_SETUNIQUE, 1);
  el_set(editor_, EL_CLIENTDATA, this);
  el_set(editor_, EL_HIST, ::history, history_);
  el_set(editor_, EL_PROMPT_ESC, prompt, '\1');
  el_set(editor_, EL_GETCFN, get_key);
  load_history();
  bind_keys();
}

LineEditor::~LineEditor() {
  history_end(history_);
  el_end(editor_);
}

void LineEditor::bind_keys() {
  el_set(editor_, EL_EDITOR, "emacs");
  el_set(editor_, EL_ADDFN, "pando-tab", "Complete or indent", on_tab);
  el_set(editor_, EL_ADDFN, "pando-backspace", "Delete a character or an indentation", on_backspace);
  el_set(editor_, EL_ADDFN, "pando-up", "Line above or history", on_up);
  el_set(editor_, EL_ADDFN, "pando-down", "Line below or history", on_down);
  el_set(editor_, EL_ADDFN, "pando-end", "End of line or paste mode", on_end);
  el_set(editor_, EL_ADDFN, "pando-paste", "What is pasted", on_paste);
  const std::pair<const char*, const char*> keys[] = {
      {"\t", "pando-tab"},
      {"^?", "pando-backspace"},
      {"^H", "pando-backspace"},
      {"^E", "pando-end"},
      {"\033[A", "pando-up"},
      {"\033OA", "pando-up"},
      {"^P", "pando-up"},
      {"\033[B", "pando-down"},
      {"\033OB", "pando-down"},
      {"^N", "pando-down"},
      {"\033[200~", "pando-paste"},
      {"^R", "em-inc-search-prev"},
      {"\033[H", "ed-move-to-beg"},
      {"\033[F", "ed-move-to-end"},
      {"\033[1~", "ed-move-to-beg"},
      {"\033[4~", "ed-move-to-end"},
      {"\033[3~", "ed-delete-next-char"},
      {"\033[1;5C", "em-next-word"},
      {"\033[1;5D", "ed-prev-word"},
      {"^W", "ed-delete-prev-word"},
      {"^L", "ed-clear-screen"},
      // Escape and x would run a command of the editor, which crashes on a quotation mark, and may bind keys and read files.
      {"\033x", "ed-unassigned"},
      {"\033X", "ed-unassigned"},
      {"\370", "ed-unassigned"},
  };
  for (const auto& [key, function] : keys) el_set(editor_, EL_BIND, key, function, nullptr);
}

void LineEditor::load_history() {
  HistEvent event;
  if (!history_file_.empty()) ::history(history_, &event, H_LOAD, history_file_.c_str());
  for (int more = ::history(history_, &event, H_LAST); more != -1; more = ::history(history_, &event, H_PREV))
    entries_.emplace_back(event.str);
}

void LineEditor::remember(std::string_view entry) {
  const std::string text(entry);
  if (text.empty() || (!entries_.empty() && entries_.back() == text)) return;
  entries_.push_back(text);
  HistEvent event;
  ::history(history_, &event, H_ENTER, text.c_str());
  if (!history_file_.empty()) ::history(history_, &event, H_SAVE, history_file_.c_str());
}

LineEditor::Line LineEditor::read(std::string_view prompt, std::string_view begun, bool pasting) {
  prompt_ = prompt;
  pasting_ = pasting;
  paste_asked_ = false;
  place_ = entries_.size();
  shown_.clear();
  rows_ = columns_ = 0;
  fit_terminal();
  if (!begun.empty()) el_push(editor_, std::string(begun).c_str());
  std::fflush(stdout);
  write_terminal(kMarkPastes);
  el_set(editor_, EL_PREP_TERM, 1);  // before the prompt is there: who types at once is to be understood
  int length = 0;
  const char* const text = el_gets(editor_, &length);
  write_terminal(kMarkNoPastes);
  if (interrupts_.take()) {
    el_reset(editor_);
    return {End::interrupted, {}};
  }
  if (paste_asked_) return {End::paste, {}};
  if (text == nullptr || length <= 0) return {End::end, {}};
  std::string line(text, static_cast<std::size_t>(length));
  if (line.back() == '\n') line.pop_back();
  return {End::line, line};
}

LineEditor& LineEditor::self(EditLine* editor) {
  void* data = nullptr;
  el_get(editor, EL_CLIENTDATA, &data);
  return *static_cast<LineEditor*>(data);
}

const char* LineEditor::prompt(EditLine* editor) { return self(editor).prompt_.c_str(); }

void LineEditor::wait_for_key() {
  pollfd ready[] = {{STDIN_FILENO, POLLIN, 0}, {interrupts_.descriptor(), POLLIN, 0}};
  while (poll(ready, 2, -1) < 0 && errno == EINTR) continue;
  fit_terminal();
}

// The editor's library keeps the rows that it has drawn. Told of fewer than it has in use, it goes on with those that it has freed; and
// what is drawn in all of them it takes for one row more where a character comes behind it. So it is told of more than the line can take.
void LineEditor::fit_terminal() {
  const winsize size = terminal_size();
  const LineInfoW* const line = el_wline(editor_);
  const auto length = static_cast<std::size_t>(line->lastchar - line->buffer) + prompt_.size();
  const auto lines = static_cast<std::size_t>(std::count(line->buffer, line->lastchar, L'\n')) + 2;
  const std::size_t columns = columns_ > 0 ? std::min<std::size_t>(columns_, size.ws_col) : size.ws_col;
  const std::size_t shown = 8 * length;  // a character may be shown as "\U+10ffff", or be a tab
  const std::size_t in_use = lines + shown / columns + 1;
  constexpr std::size_t kSpare = 100;
  if (size.ws_row == rows_ && size.ws_col == columns_ && in_use + kSpare / 2 <= drawn_rows_) return;
  const bool cursor_may_be_beyond = columns_ > size.ws_col && shown >= size.ws_col;
  rows_ = size.ws_row;
  columns_ = size.ws_col;
  if (in_use + kSpare / 2 > drawn_rows_) drawn_rows_ = 2 * in_use + kSpare;
  drawn_rows_ = std::max(drawn_rows_, std::size_t{size.ws_row});
  el_set(editor_, EL_SETTC, "li", std::to_string(drawn_rows_).c_str(), nullptr);
  el_set(editor_, EL_SETTC, "co", std::to_string(columns_).c_str(), nullptr);
  if (!cursor_may_be_beyond) return;
  // The library would go on to write where its cursor was, behind the end of the shorter row: the line is drawn anew.
  write_terminal("\r\033[J");
  el_set(editor_, EL_REFRESH);
}

int LineEditor::get_key(EditLine* editor, wchar_t* key) {
  LineEditor& me = self(editor);
  std::mbstate_t state = {};
  for (;;) {
    me.wait_for_key();
    if (me.interrupts_.happened()) return -1;
    char byte = 0;
    const ssize_t n = ::read(STDIN_FILENO, &byte, 1);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n <= 0) return static_cast<int>(n);
    const std::size_t used = std::mbrtowc(key, &byte, 1, &state);
    if (used == static_cast<std::size_t>(-2)) continue;  // more bytes belong to it
    if (used == static_cast<std::size_t>(-1))
      state = {};
    else
      return 1;
  }
}

std::string LineEditor::before_cursor() const {
  const LineInfo* const line = el_line(editor_);
  return {line->buffer, line->cursor};
}

unsigned char LineEditor::on_tab(EditLine* editor, int) {
  LineEditor& me = self(editor);
  const std::string before = me.before_cursor();
  const std::string line = before.substr(before.rfind('\n') + 1);
  if (me.pasting_ || line.find_first_not_of(" \t") == line.npos) {
    el_insertstr(editor, me.pasting_ ? "\t" : std::string(kIndent - line.size() % kIndent, ' ').c_str());
    return CC_REFRESH;
  }
  const Completion found = me.complete_(line);
  if (!found.insert.empty()) {
    el_insertstr(editor, found.insert.c_str());
    return CC_REFRESH;
  }
  if (found.candidates.empty()) return CC_REFRESH_BEEP;
  std::string text = found.candidates;
  text.erase(text.find_last_not_of("\r\n ") + 1);
  text.erase(0, text.find_first_not_of("\r\n"));
  write_terminal("\r\n" + text + "\r\n");
  return CC_REDISPLAY;
}

unsigned char LineEditor::on_backspace(EditLine* editor, int) {
  const std::size_t n = backspace(self(editor).before_cursor());
  if (n == 0) return CC_REFRESH_BEEP;
  el_deletestr(editor, static_cast<int>(n));
  return CC_REFRESH;
}

unsigned char LineEditor::replace(const std::string& text) {
  el_replacestr(editor_, text.c_str());
  el_cursor(editor_, static_cast<int>(text.size()) + 1);
  return CC_REFRESH;
}

// Within a text of several lines: to the same column of the line above or below. CC_ERROR if there is none.
unsigned char LineEditor::move_line(int step) {
  const LineInfoW* const line = el_wline(editor_);
  const std::wstring text(line->buffer, line->lastchar);
  const std::size_t at = static_cast<std::size_t>(line->cursor - line->buffer);
  const std::size_t begin = at == 0 ? 0 : text.rfind(L'\n', at - 1) + 1;
  std::size_t target_begin = 0, target_end = 0;
  if (step < 0) {
    if (begin == 0) return CC_ERROR;
    target_end = begin - 1;
    target_begin = target_end == 0 ? 0 : text.rfind(L'\n', target_end - 1) + 1;
  } else {
    const std::size_t end = text.find(L'\n', at);
    if (end == text.npos) return CC_ERROR;
    target_begin = end + 1;
    target_end = std::min(text.find(L'\n', target_begin), text.size());
  }
  const std::size_t target = std::min(target_begin + (at - begin), target_end);
  el_cursor(editor_, static_cast<int>(target) - static_cast<int>(at));
  return CC_REFRESH;
}

// To the next entry in that direction that begins with what was written before the cursor.
unsigned char LineEditor::walk_history(int step) {
  const LineInfo* const line = el_line(editor_);
  const std::string now(line->buffer, line->lastchar);
  if (place_ == entries_.size() || now != shown_) {  // a walk begins here
    place_ = entries_.size();
    begun_ = sought_ = now;
  }
  for (std::size_t at = place_; step < 0 ? at > 0 : at < entries_.size();) {
    at += static_cast<std::size_t>(step);
    const std::string& entry = at == entries_.size() ? begun_ : entries_[at];
    if (!entry.starts_with(sought_) || (at < entries_.size() && entry == now)) continue;
    place_ = at;
    shown_ = entry;
    return replace(entry);
  }
  return CC_REFRESH_BEEP;
}

unsigned char LineEditor::on_up(EditLine* editor, int) {
  LineEditor& me = self(editor);
  const unsigned char moved = me.move_line(-1);
  return moved == CC_ERROR ? me.walk_history(-1) : moved;
}

unsigned char LineEditor::on_down(EditLine* editor, int) {
  LineEditor& me = self(editor);
  const unsigned char moved = me.move_line(1);
  return moved == CC_ERROR ? me.walk_history(1) : moved;
}

unsigned char LineEditor::on_end(EditLine* editor, int) {
  LineEditor& me = self(editor);
  const LineInfo* const line = el_line(editor);
  if (line->buffer == line->lastchar && !me.pasting_) {
    me.paste_asked_ = true;
    return CC_EOF;
  }
  el_cursor(editor, static_cast<int>(line->lastchar - line->cursor));
  return CC_REFRESH;
}

unsigned char LineEditor::on_paste(EditLine* editor, int) {
  const std::wstring end(kPasteEnd.begin(), kPasteEnd.end());
  std::wstring text;
  for (wchar_t key = 0; !text.ends_with(end);) {
    if (el_wgetc(editor, &key) != 1) return CC_EOF;
    text += key;
  }
  text.resize(text.size() - end.size());
  el_winsertstr(editor, tidy_paste(std::move(text)).c_str());
  return CC_REFRESH;
}

}  // namespace pando::ontile
