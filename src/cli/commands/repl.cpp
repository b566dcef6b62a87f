// pando repl: becomes pando-repl, which stands beside this program.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "cli/commands.h"

namespace pando::cli {

void become(const std::string& name, const std::vector<std::string>& arguments) {
  const std::string path = std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
  std::vector<const char*> words = {path.c_str()};
  for (const std::string& argument : arguments) words.push_back(argument.c_str());
  words.push_back(nullptr);
  execv(path.c_str(), const_cast<char* const*>(words.data()));
  fail(ErrorKind::poplar_error, "no-such-program", "cannot run {}: {}", path, std::strerror(errno));
}

void add_repl(CLI::App& app, int&) {
  CLI::App* const command = app.add_subcommand("repl", "A Python prompt for all tiles; scripts, files and pipes, too");
  command->prefix_command();
  command->set_help_flag();  // its own options are its own, --help among them
  command->callback([command] { become("pando-repl", command->remaining()); });
}

}  // namespace pando::cli
