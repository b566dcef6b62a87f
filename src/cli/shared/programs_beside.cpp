// Messages of commands, and the programs that stand beside `pando`.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "base/messages.h"
#include "cli/command_row.h"

namespace pando::cli {

void complain_of(std::string_view command, std::string_view text) { complain(fmt::format("pando {}: {}", command, text)); }

std::string program_beside(std::string_view name) { return std::filesystem::read_symlink("/proc/self/exe").parent_path() / name; }

void become(std::string_view name, const std::vector<std::string>& arguments) {
  const std::string path = program_beside(name);
  std::vector<const char*> words = {path.c_str()};
  for (const std::string& argument : arguments) words.push_back(argument.c_str());
  words.push_back(nullptr);
  execv(path.c_str(), const_cast<char* const*>(words.data()));
  fail(ErrorKind::poplar_error, "no-such-program", "cannot run {}: {}", path, std::strerror(errno));
}

}  // namespace pando::cli
