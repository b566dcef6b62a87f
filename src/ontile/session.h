// Python interpreters on the tiles of a machine, driven from the host.
//
//   Session session({.ipus = 1});
//   Reply reply = session.run("print(__tileid % 2)", Session::Input::line);
//   // reply.texts = {"0\n", "1\n"}; reply.answers[3] = {tile 3, Ending::done, text 1}
//
// A session is one machine, one executable and one thread that calls it. Only interrupt() may be called from elsewhere.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <poplar/Export.hpp>

namespace pando::ontile {

enum class Cut { lines, bytes };

// How a command ended on a tile.
enum class Ending : std::uint8_t {
  done,     // it ran to its end
  raised,   // an exception came to the top: the text ends with its traceback
  exited,   // SystemExit: Answer::status is its status
  ended,    // the tile's interpreter is gone (stack overflow, wrong address, no memory, no fuel): the text ends with why; see reset()
  skipped,  // the interpreter had been ended before
};

struct Answer {
  std::uint32_t tile = 0;
  Ending ending = Ending::done;
  std::uint32_t text = 0;  // index into Reply::texts
  int status = 0;
};

// What the selected tiles said to one command.
struct Reply {
  std::vector<std::string> texts;  // distinct, in the order of the first tile that said them
  std::vector<Answer> answers;     // one per selected tile, in tile order
};

struct SessionOptions {
  unsigned ipus = 1;
  unsigned tiles = 0;          // interpreters, on tiles 0 to tiles - 1; 0: on every tile of the machine
  bool has_data = false;       // whether tiles have __tiledata
  std::string data;            // cut over the tiles in tile order
  Cut cut = Cut::lines;        // at line boundaries, in pieces of about the same size, or anywhere
  bool counted_clock = false;  // time on a tile is 10 us more each time that it looks: the same in each run
  std::uint64_t fuel = 0;      // rounds of loops that a command may take on a tile before that tile is ended; 0: no limit
  // Asked for a line when tiles read standard input and none can go on without it: all that wait get the same. `said` is what the selected
  // tiles have written until now; that is then no part of the command's reply. False: there is no more input. Without this there is none.
  // It must not throw.
  std::function<bool(const Reply& said, std::string& line)> input;
  // Given what the selected tiles have written until now, while a command runs: some times a second if it goes on for long, and when there
  // is much of it; that is then no part of the command's reply, nor kept. The tiles wait meanwhile. Without this a reply has all. It must
  // not throw.
  std::function<void(const Reply& said)> output;
  // Each tile's disk, mounted at '/' when its Python first looks there, and the file that all of them are kept in: read at the start,
  // written after each command that changed one (a kill at any moment leaves a whole image, or a last write that is cut off:
  // disk_notice()). No file: what is on the disks goes with the session.
  std::string disk;
  unsigned disk_kib = 0;                           // of each tile; 0: as the file says, or 64 if it is new. Neither: tiles have no disks
  unsigned lent_kib = 0;                           // of each tile, for the files of others: tile.RemoteBlockDevice
  std::function<void(std::string_view)> progress;  // told what takes long: "compiling", "loading" ...
};

struct TileState {
  bool ended = false;
  std::string why;  // of an ended one
};

// What TAB offers for the end of a line: `insert` if there is one way to go on, else the candidates as MicroPython lists them.
struct Completion {
  std::string insert;
  std::string candidates;
};

class POPLAR_EXPORT Session {
 public:
  enum class Input {
    line,    // one statement as at a prompt: the value of an expression is printed
    script,  // a file: nothing is printed but by print()
    cell,    // a file, but values of expressions at its top level are printed
  };

  // Throws poplar_error and its kinds, and invalid_option for a number of tiles or IPUs that the machine does not have.
  explicit Session(const SessionOptions& options);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  unsigned ipus() const;
  unsigned tiles() const;
  // What was cut off SessionOptions::disk when it was opened, and where it is kept; empty: nothing.
  const std::string& disk_notice() const;

  // Runs a command on every selected tile; returns when all of them have ended it. `name` is the file that tracebacks show.
  Reply run(std::string_view source, Input input, std::string_view name = "<stdin>");
  // One key for the event-driven REPL of every selected tile (echo, history, completion and paste mode are the tile's own). The first
  // key starts it. Ending::exited: the tile saw Ctrl-D.
  Reply key(char key);
  // Whether `source` is whole, or a prompt would go on with "...". No tile is asked: all would say the same.
  bool is_complete(std::string_view source);
  // Asks the first selected tile that is alive.
  Completion complete(std::string_view line);

  // Raises KeyboardInterrupt on every tile that is running. From any thread or signal handler. Nothing happens if no command runs.
  void interrupt() noexcept;

  // Which tiles commands go to. Throws invalid_option if there is no such tile, or none is named.
  void select(const std::vector<unsigned>& tiles);
  void select_all();
  const std::vector<unsigned>& selected() const;

  // New interpreters on these tiles: everything that they knew is gone, __tileid and the like are there again.
  void reset(const std::vector<unsigned>& tiles);
  // SessionOptions::output of the commands that follow.
  void set_output(std::function<void(const Reply& said)> output);
  TileState state(unsigned tile) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pando::ontile
