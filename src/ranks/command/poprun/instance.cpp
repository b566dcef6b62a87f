#include "ranks/command/poprun/instance.h"

#include "base/error.h"
#include "base/messages.h"
#include "ranks/board.h"
#include "ranks/start/end_with.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <thread>

namespace pando::ranks {

namespace {

std::atomic<pid_t> program{0};
std::atomic<bool> asked{false};
std::atomic<Board*> shown{nullptr};
unsigned number = 0;

// Said at once: who asks may not wait for the program to end.
void pass_on(int signal) {
  asked = true;
  if (Board* const board = shown) board->set_state(number, RankState::stopped);
  if (const pid_t child = program) kill(child, signal);
}

std::optional<unsigned> number_in(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const char* text = std::getenv(name); text != nullptr && *text != 0) return static_cast<unsigned>(std::strtoul(text, nullptr, 10));
  }
  return std::nullopt;
}

// What an instance prints that nobody wants to see. The end of its errors is kept: where it fails, it is what says why.
class Silence {
 public:
  static constexpr std::size_t kKept = 16 << 10;

  Silence() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) fail(ErrorKind::no_environment, "no-pipe", "cannot make a pipe: {}", std::strerror(errno));
    read_ = ends[0];
    write_ = ends[1];
  }
  // In the child.
  void take_over() const {
    const int nothing = open("/dev/null", O_WRONLY);
    dup2(nothing, STDOUT_FILENO);
    dup2(write_, STDERR_FILENO);
  }
  void begin() {
    close(write_);
    thread_ = std::thread([this] {
      char text[4096];
      ssize_t n = 0;
      while ((n = read(read_, text, sizeof text)) > 0 || (n < 0 && errno == EINTR)) {
        if (n < 0) continue;
        kept_.append(text, static_cast<std::size_t>(n));
        if (kept_.size() > 2 * kKept) kept_.erase(0, kept_.size() - kKept);
      }
    });
  }
  std::string end() {
    thread_.join();
    close(read_);
    return std::move(kept_);
  }

 private:
  int read_ = -1, write_ = -1;
  std::string kept_;
  std::thread thread_;
};

[[noreturn]] void become(const std::vector<std::string>& command, unsigned index) {
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  complain(fmt::format("poprun: instance {} cannot run '{}': {}", index, command[0], std::strerror(errno)));
  _exit(errno == ENOENT ? 127 : 126);
}

void set(const char* name, unsigned value, bool overwrite = true) { setenv(name, std::to_string(value).c_str(), overwrite ? 1 : 0); }

std::string replicas_of(unsigned index) {
  const unsigned local = number_in({kLocalReplicas}).value_or(1), first = index * local;
  return local == 1 ? fmt::format("replica {}", first) : fmt::format("replicas {} to {}", first, first + local - 1);
}

}  // namespace

int run_instance(const std::vector<std::string>& command) {
  const std::optional<unsigned> index = number_in({"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"});
  if (!index) fail(ErrorKind::no_environment, "no-instance", "an instance is a process that mpirun has started, and this one is not");
  const unsigned here = std::max(1u, number_in({"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}).value_or(1));
  set("POPDIST_INSTANCE_INDEX", *index);
  set("POPDIST_LOCAL_INSTANCE_INDEX", number_in({"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID"}).value_or(*index));
  set("POPDIST_REPLICA_INDEX_OFFSET", *index * number_in({kLocalReplicas}).value_or(1));
  set("PANDO_THREADS", std::max(1u, std::thread::hardware_concurrency() / here), false);
  const char* const file = std::getenv(Board::kVariable);
  Board board(file ? file : "");
  if (board.launcher() != 0) end_with(board.launcher());
  board.set_rank(*index, getpid(), RankState::running);
  number = *index;
  shown = &board;

  const std::optional<unsigned> only = number_in({kOnlyOutputFrom});
  std::optional<Silence> silence;
  if (only && *only != *index) silence.emplace();
  const pid_t parent = getpid(), child = fork();
  if (child < 0) fail(ErrorKind::no_environment, "no-process", "cannot start instance {}: {}", *index, std::strerror(errno));
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(128 + SIGTERM);
    if (silence) silence->take_over();
    become(command, *index);
  }
  program = child;
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) std::signal(signal, pass_on);
  if (silence) silence->begin();
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  const std::string kept = silence ? silence->end() : "";
  const bool ended = WIFEXITED(status);
  const int code = ended ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (code != 0 && !asked) {
    if (!kept.empty()) complain(fmt::format("poprun: instance {} has said:\n{}", *index, kept));
    complain(ended ? fmt::format("poprun: instance {} ({}) has failed: it ended with status {}", *index, replicas_of(*index), code)
                   : fmt::format("poprun: instance {} ({}) died: {}", *index, replicas_of(*index), strsignal(WTERMSIG(status))));
  }
  shown = nullptr;
  board.set_state(*index, asked ? RankState::stopped : code == 0 ? RankState::finished : RankState::failed);
  return code;
}

}  // namespace pando::ranks
