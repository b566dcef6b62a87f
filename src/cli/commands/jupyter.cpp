// pando jupyter install: tells Jupyter of the kernel whose cells run on all tiles.
#include <fmt/format.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/command/arguments.h"
#include "base/command/files.h"
#include "base/error.h"
#include "cli/command_row.h"

namespace pando::cli {
namespace {

namespace fs = std::filesystem;

struct Arguments {
  bool user = false;
  std::string prefix;
  std::string python = "python3";
  unsigned ipus = 0;
  unsigned tiles = 0;
};

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Where Jupyter looks for what one user has.
fs::path user_folder() {
  if (const std::string data = environment("JUPYTER_DATA_DIR"); !data.empty()) return data;
  if (const std::string data = environment("XDG_DATA_HOME"); !data.empty()) return fs::path(data) / "jupyter";
  const std::string home = environment("HOME");
  if (home.empty()) fail(ErrorKind::no_environment, "no-home", "HOME is not set; say where with --prefix");
  return fs::path(home) / ".local" / "share" / "jupyter";
}

// The kernel's sources stand beside this program: PREFIX/bin, PREFIX/share/pando/python.
fs::path sources(const fs::path& program) {
  const fs::path found = program.parent_path().parent_path() / "share" / "pando" / "python" / "pando_kernel";
  if (!fs::exists(found / "__main__.py")) fail(ErrorKind::file_load_error, "no-kernel", "no Jupyter kernel in {}", found.string());
  return found;
}

std::string quoted(const std::string& text) {
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

bool has_ipykernel(const std::string& python) {
  const int status = std::system((quoted(python) + " -c 'import ipykernel' >/dev/null 2>&1").c_str());
  return status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

nlohmann::ordered_json describe(const Arguments& arguments, const fs::path& program) {
  nlohmann::json command = {program.string(), "repl", "--json"};
  if (arguments.ipus > 0) command.insert(command.end(), {"--ipus", std::to_string(arguments.ipus)});
  if (arguments.tiles > 0) command.insert(command.end(), {"--tiles", std::to_string(arguments.tiles)});
  return {{"argv", {arguments.python, "-Xfrozen_modules=off", sources(program).string(), "-f", "{connection_file}"}},
          {"display_name", "Pando (Python on every tile)"},
          {"language", "python"},
          {"interrupt_mode", "signal"},
          {"env", {{"PANDO_KERNEL_COMMAND", command.dump()}}}};
}

int install(const Arguments& arguments) {
  if (!has_ipykernel(arguments.python)) {
    complain_of(
        "jupyter",
        fmt::format("{0} has no ipykernel: {0} -m pip install ipykernel (Debian: apt install python3-ipykernel); or name another Python "
                    "with --python",
                    arguments.python));
    return kNo;
  }
  const fs::path data = arguments.prefix.empty() ? user_folder() : fs::absolute(arguments.prefix) / "share" / "jupyter";
  const fs::path folder = data / "kernels" / "pando";
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail(ErrorKind::poplar_error, "no-folder", "cannot make {}: {}", folder.string(), error.message());
  const fs::path program = fs::read_symlink("/proc/self/exe");
  write_file((folder / "kernel.json").string(), describe(arguments, program).dump(2) + "\n");
  fmt::print("installed {}\n", (folder / "kernel.json").string());
  return 0;
}

void describe(CLI::App* jupyter, Invocation& invocation) {
  const auto arguments = std::make_shared<Arguments>();
  jupyter->require_subcommand(1);
  CLI::App* const command = jupyter->add_subcommand("install", "Register the kernel with Jupyter");
  auto* const user = command->add_flag("--user", arguments->user, "For this user (without --prefix)");
  command->add_option("--prefix", arguments->prefix, "For the Jupyter of that prefix, or of that virtual environment")->excludes(user);
  command->add_option("--python", arguments->python, "The Python that runs the kernel")->capture_default_str();
  command->add_option("--ipus", arguments->ipus, "IPUs of its machine")->check(at_least_one<std::int32_t>());
  command->add_option("--tiles", arguments->tiles, "Its interpreters, on the first so many tiles")->check(at_least_one<std::int32_t>());
  command->callback([arguments, &invocation] { invocation.status = install(*arguments); });
}

}  // namespace

CommandRow command_jupyter() {
  return {
      .name = "jupyter",
      .group = CommandGroup::python,
      .summary = "Install the Jupyter kernel whose cells run on all tiles",
      .describe = describe,
      .examples = {{"pando jupyter install --user", "then choose the kernel Pando in a notebook"},
                   {"pando jupyter install --prefix ~/.venv --tiles 64", "for a virtual environment, with 64 interpreters"}},
      .statuses = {{"0", "installed"}, {"1", "that Python has no ipykernel"}, {"2", "the input or the command line is wrong"}},
  };
}

}  // namespace pando::cli
