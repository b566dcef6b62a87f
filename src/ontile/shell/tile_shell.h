// The shell of tile 0, from the host: what it wants of the machine and of the host is done here. Its other half is on_tile.py.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ontile/repl/shell/groups.h"
#include "ontile/repl/shell/machine.h"

namespace pando::ontile {

struct TileShellOptions {
  bool allow_host = false;          // !COMMAND runs on the host
  bool interactive = false;         // somebody sits there
  std::string machine, tile, disk;  // what lshw says of them
  Style style;                      // of what several tiles answer
};

class TileShell {
 public:
  using Print = std::function<void(std::string_view)>;

  TileShell(Machine& machine, TileShellOptions options, Print print);

  // Carries out a line; its status, as shells have them: 0 is good, 130 after Ctrl-C.
  int line(std::string_view text);
  bool has_left() const { return has_left_; }  // after `exit`
  std::string prompt();
  Completion complete(std::string_view line);

 private:
  void start();
  std::string ask(const std::string& code);  // what tile 0 prints
  int run_program(const std::string& tiles);
  int run_on_host(const std::string& command);
  Reply run_shown(const std::string& code, std::string_view name);
  int show(const Reply& reply);

  Machine& machine_;
  TileShellOptions options_;
  Print print_;
  int status_ = 0;
  bool has_left_ = false;
};

// What several tiles said, or one of them: what a person sees.
std::string text_of(const Reply& reply, const Style& style);

}  // namespace pando::ontile
