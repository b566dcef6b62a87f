#include "codelet/popc/popc_process.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "base/error.h"
#include "base/files/temporary.h"

extern char** environ;

namespace pando {

namespace {

namespace fs = std::filesystem;

std::optional<std::string> in_path() {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path candidate = fs::path(folder.empty() ? "." : folder) / "popc";
    if (access(candidate.c_str(), X_OK) == 0) return candidate.string();
  }
  return std::nullopt;
}

std::optional<std::string> beside_library() {
  Dl_info info;
  if (dladdr(reinterpret_cast<const void*>(&find_popc), &info) == 0 || info.dli_fname == nullptr) return std::nullopt;
  std::error_code none;
  const fs::path candidate = fs::canonical(info.dli_fname, none).parent_path().parent_path() / "bin" / "popc";
  if (access(candidate.c_str(), X_OK) != 0) return std::nullopt;
  return candidate.string();
}

struct Descriptor {
  explicit Descriptor(int fd) : fd(fd) {}
  ~Descriptor() {
    if (fd >= 0) close(fd);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int fd;
};

int memory_file(const char* name, const std::string& content) {
  const int fd = memfd_create(name, MFD_CLOEXEC);
  std::size_t done = 0;
  while (fd >= 0 && done < content.size()) {
    const ssize_t n = write(fd, content.data() + done, content.size() - done);
    if (n <= 0) break;
    done += static_cast<std::size_t>(n);
  }
  if (fd >= 0) lseek(fd, 0, SEEK_SET);
  return fd;
}

std::string whole_file(int fd) {
  std::string out;
  char buffer[65536];
  lseek(fd, 0, SEEK_SET);
  for (ssize_t n; (n = read(fd, buffer, sizeof buffer)) > 0;) out.append(buffer, static_cast<std::size_t>(n));
  return out;
}

}  // namespace

std::optional<std::string> find_popc() {
  if (const char* chosen = std::getenv("PANDO_POPC"); chosen && *chosen) return chosen;
  if (auto found = beside_library()) return found;
  return in_path();
}

PopcResult run_popc(const std::vector<std::string>& arguments, const std::string& input) {
  const auto popc = find_popc();
  if (!popc)
    fail(ErrorKind::no_environment, "no-popc",
         "the codelet compiler 'popc' was found neither in PANDO_POPC, beside the library nor in PATH");
  const std::string output = temporary_file();
  const Descriptor standard_input(memory_file("codelet", input)), messages(memory_file("messages", ""));
  if (standard_input.fd < 0 || messages.fd < 0) {
    unlink(output.c_str());
    fail(ErrorKind::no_environment, "no-temporary", "the host has no memory for a codelet's source and messages");
  }

  std::vector<std::string> all = {*popc};
  all.insert(all.end(), arguments.begin(), arguments.end());
  all.insert(all.end(), {"-o", output});
  std::vector<char*> argv;
  for (std::string& a : all) argv.push_back(a.data());
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, standard_input.fd, 0);
  posix_spawn_file_actions_adddup2(&actions, messages.fd, 1);
  posix_spawn_file_actions_adddup2(&actions, messages.fd, 2);
  pid_t child = 0;
  const int failure = posix_spawn(&child, popc->c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) {
    unlink(output.c_str());
    fail(ErrorKind::no_environment, "no-popc", "cannot start the codelet compiler '{}'", *popc);
  }
  int status = 0;
  pid_t ended = 0;
  while ((ended = waitpid(child, &status, 0)) < 0 && errno == EINTR) {}
  if (ended != child) {
    unlink(output.c_str());
    fail(ErrorKind::no_environment, "no-child",
         "how the codelet compiler ended cannot be known ({}): the process ignores SIGCHLD, or waits for "
         "children that are not its own",
         std::strerror(errno));
  }
  PopcResult result;
  result.ok = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  result.messages = whole_file(messages.fd);
  if (WIFSIGNALED(status)) result.messages += fmt::format("popc: ended by signal {}\n", WTERMSIG(status));
  // popc may have put a new file in the place of the reserved one: read by name.
  if (result.ok) {
    std::ostringstream bytes;
    bytes << std::ifstream(output, std::ios::binary).rdbuf();
    result.gp = bytes.str();
  }
  unlink(output.c_str());
  return result;
}

std::vector<std::string> split_flags(const std::string& flags) {
  std::vector<std::string> out;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < flags.size(); ++i) {
    const char c = flags[i];
    if (c == '\\' && quote != '\'' && i + 1 < flags.size()) {
      word += flags[++i];
      in_word = true;
    } else if (quote != 0) {
      if (c == quote)
        quote = 0;
      else
        word += c;
    } else if (c == '"' || c == '\'') {
      quote = c;
      in_word = true;
    } else if (c == ' ' || c == '\t' || c == '\n') {
      if (in_word) out.push_back(std::exchange(word, {}));
      in_word = false;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (in_word) out.push_back(word);
  return out;
}

}  // namespace pando
