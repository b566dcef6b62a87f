// pando dump: the text of a level, of a program while it runs or of an executable file.
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <optional>
#include <sstream>

#include "base/command/arguments.h"
#include "base/command/files.h"
#include "base/error.h"
#include "base/files/temporary.h"
#include "base/messages.h"
#include "cli/command_row.h"
#include "facade/state/state.h"
#include "poplar/Executable.hpp"
#include "tile/program.h"

namespace pando::cli {
namespace {

constexpr std::string_view kExecutableMagic = "PANDEXE1";   // what poplar::Executable::serialize begins with
constexpr std::string_view kTileProgramMagic = "PANDOTIL";  // what tile::write begins with

struct Arguments {
  std::string level;
  std::optional<std::uint32_t> tile;
  std::string output = "-";
  std::vector<std::string> command;  // a program and its arguments, or one executable file
};

bool is_executable_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string head(kExecutableMagic.size(), '\0');
  return in.read(head.data(), static_cast<std::streamsize>(head.size())) && (head == kExecutableMagic || head == kTileProgramMagic);
}

Library library_of(const tile::Program& program) {
  Library library;
  for (std::size_t m = 0; m < program.modules.size(); ++m) library.load_bytes(program.modules[m].get(), fmt::format("module {}", m));
  if (library.size() < program.codelet_names.size())
    fail(ErrorKind::graph_object_load_error, "missing-codelets", "the executable names {} codelets, its modules hold {}",
         program.codelet_names.size(), library.size());
  return library;
}

int dump_program(const Arguments& arguments, const tile::Program& program, const Library& library) {
  tile::PrintOptions options;
  if (arguments.tile) {
    if (*arguments.tile >= program.machine.tiles())
      fail(ErrorKind::index_error, "tile-out-of-range", "tile {}; {} is for {} tiles", *arguments.tile, arguments.command.front(),
           program.machine.tiles());
    options.only_tile = TileId(*arguments.tile);
  }
  write_file(arguments.output, tile::print(program, library, options));
  return 0;
}

int dump_executable(const Arguments& arguments) {
  const std::string& path = arguments.command.front();
  if (arguments.level != "tile")
    fail(ErrorKind::invalid_option, "level-not-in-file", "{} is an executable: it holds the tile level only, not the {} level", path,
         arguments.level);
  std::string bytes = read_file(path);
  const bool whole = bytes.starts_with(kExecutableMagic);
  std::istringstream in(std::move(bytes));
  if (!whole) {
    const tile::Program program = tile::read(in);
    return dump_program(arguments, program, library_of(program));
  }
  const poplar::Executable executable = poplar::Executable::deserialize(in);
  const poplar::core::ExecutableState& state = facade::Access::state(executable);
  return dump_program(arguments, *state.program, state.library);
}

// A file that goes away with this object.
class TemporaryFile {
 public:
  TemporaryFile() : path_(temporary_file()) {}
  ~TemporaryFile() { unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// As a shell reports it: 128 + signal for one that died.
int run_program(const std::vector<std::string>& command) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  pid_t child = 0;
  const int error = posix_spawnp(&child, words.front(), nullptr, nullptr, words.data(), environ);
  if (error == ENOENT && command.front().find('/') == std::string::npos)
    fail(ErrorKind::file_load_error, "cannot-run", "cannot run {}: no folder of PATH has a program of this name", command.front());
  if (error != 0) fail(ErrorKind::file_load_error, "cannot-run", "cannot run {}: {}", command.front(), std::strerror(error));
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) fail(ErrorKind::no_environment, "no-child", "how {} ended cannot be known: SIGCHLD is ignored", command.front());
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// The program writes its dump into a file of its own, so that its standard output stays as it is.
int dump_running(const Arguments& arguments) {
  const TemporaryFile dump;
  setenv("PANDO_DUMP_LEVEL", arguments.level.c_str(), 1);
  setenv("PANDO_DUMP_FILE", dump.path().c_str(), 1);
  if (arguments.tile)
    setenv("PANDO_DUMP_TILE", std::to_string(*arguments.tile).c_str(), 1);
  else
    unsetenv("PANDO_DUMP_TILE");
  const int status = run_program(arguments.command);
  const std::string text = read_file(dump.path());
  if (text.empty()) {
    complain_of("dump", fmt::format("{} dumped nothing: it compiled no graph (or, for the model level, made no session)",
                                    arguments.command.front()));
    return status != 0 ? status : kNo;
  }
  write_file(arguments.output, text);
  return status;
}

// Without -- a file was meant, not a program of that name somewhere.
void reject_file(const Arguments& arguments) {
  const std::string& path = arguments.command.front();
  read_file(path);  // says it if it is a folder or not there
  const bool is_program = access(path.c_str(), X_OK) == 0;
  fail(ErrorKind::file_load_error, "no-executable", "{} is not an executable file: it begins with neither {} nor {}{}", path,
       kExecutableMagic, kTileProgramMagic,
       is_program ? fmt::format("; a program follows --: pando dump --level={} -- {}", arguments.level, path) : "");
}

int run(const Arguments& arguments, bool is_program) {
  if (arguments.command.size() == 1 && is_executable_file(arguments.command.front())) return dump_executable(arguments);
  if (!is_program) reject_file(arguments);
  return dump_running(arguments);
}

void describe(CLI::App* command, Invocation& invocation) {
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("--level", arguments->level, "model (after each pass), graph, plan (what each pass of the compiler adds) or tile")
      ->required()
      ->check(one_of({"model", "graph", "plan", "tile"}));
  command->add_option("--tile", arguments->tile, "Show this tile only")->check(whole_number(0, std::numeric_limits<std::uint32_t>::max()));
  command->add_option("-o,--output", arguments->output, "File to write; - is standard output, after the program's own")
      ->capture_default_str();
  command->add_option("program", arguments->command, "After --, a program and its arguments; or one executable file")->required();
  command->callback([arguments, &invocation] { invocation.status = run(*arguments, invocation.has_dashes); });
}

}  // namespace

CommandRow command_dump() {
  return {
      .name = "dump",
      .group = CommandGroup::look,
      .summary = "Show a level of what a program compiles, or of an executable file",
      .describe = describe,
      .examples = {{"pando dump --level=graph -- ./program", "variables, vertices and control programs, after the program's own output"},
                   {"pando dump --level=tile --tile=3 -o tile3.txt -- ./program --size 4", "what tile 3 does, into a file"},
                   {"pando dump --level=tile program.exe", "an executable that Engine or popxl has saved"}},
      .statuses = {{"N", "the program's status"},
                   {"1", "the program worked and compiled nothing"},
                   {"2", "the input or the command line is wrong"}},
  };
}

}  // namespace pando::cli
