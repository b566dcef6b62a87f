// Reading lines from a terminal: editing, history, completion, pasting, with libedit. Builds without it have plain_line_editor.cpp.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ontile/repl/shell/interrupts.h"
#include "ontile/session.h"

// Of libedit.
struct editline;
struct history;

namespace pando::ontile {

class LineEditor {
 public:
  using Completer = std::function<Completion(std::string_view)>;

  // `history` is a file; entries may have several lines. If it cannot be written the history lasts as long as this object.
  LineEditor(Interrupts& interrupts, Completer complete, std::string history);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  enum class End { line, interrupted, paste, end };  // Enter, Ctrl-C, Ctrl-E on an empty line, Ctrl-D on an empty line
  struct Line {
    End end = End::line;
    std::string text;  // without the last line end; others may be in it, after pasting or from the history
  };
  // `begun` stands there already and can be edited. Keys mean themselves while `pasting`.
  Line read(std::string_view prompt, std::string_view begun = {}, bool pasting = false);

  void remember(std::string_view entry);

 private:
  void bind_keys();
  void load_history();
  void wait_for_key();
  void fit_terminal();
  std::string before_cursor() const;
  unsigned char replace(const std::string& text);
  unsigned char move_line(int step);
  unsigned char walk_history(int step);

  static LineEditor& self(editline* editor);
  static const char* prompt(editline* editor);
  static int get_key(editline* editor, wchar_t* key);
  static unsigned char on_tab(editline* editor, int key);
  static unsigned char on_backspace(editline* editor, int key);
  static unsigned char on_up(editline* editor, int key);
  static unsigned char on_down(editline* editor, int key);
  static unsigned char on_end(editline* editor, int key);
  static unsigned char on_paste(editline* editor, int key);

  Interrupts& interrupts_;
  Completer complete_;
  std::string history_file_;
  editline* editor_ = nullptr;
  struct history* history_ = nullptr;
  std::vector<std::string> entries_;  // oldest first
  std::size_t place_ = 0;             // in entries_; their number: the line that is being written
  std::string begun_;                 // that line, while one of the history is shown
  std::string sought_;                // what shown lines of the history begin with
  std::string shown_;
  std::string prompt_;
  bool pasting_ = false;
  bool paste_asked_ = false;
  unsigned rows_ = 0, columns_ = 0;  // of the terminal
  std::size_t drawn_rows_ = 0;       // that the library may use
};

}  // namespace pando::ontile
