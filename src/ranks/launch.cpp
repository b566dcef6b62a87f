#include "ranks/launch.h"

#include "base/error.h"
#include "base/files/temporary.h"
#include "base/messages.h"
#include "ranks/board.h"
#include "ranks/start/forward_output.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <thread>

namespace pando::ranks {

namespace {

constexpr const char* kQuiet = "OMPI_MCA_orte_execute_quiet";

std::optional<std::string> find_in_path(const std::string& name) {
  const char* path = std::getenv("PATH");
  for (std::string_view rest = path ? path : ""; !rest.empty();) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    const std::string candidate = std::string(rest.substr(0, colon)) + '/' + name;
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  return std::nullopt;
}

// The processes of the ranks, watched by descriptors that become readable when a process ends.
class Watch {
 public:
  Watch(const Board& board, unsigned ranks) : board_(board), fds_(ranks, -1) {}
  ~Watch() {
    for (int fd : fds_) {
      if (fd >= 0) close(fd);
    }
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // Who has ended in the middle of the run, first of all.
  const std::optional<unsigned>& dead() const { return dead_; }

  void look(int milliseconds) {
    std::vector<pollfd> polls;
    std::vector<unsigned> ranks;
    for (unsigned r = 0; r < fds_.size(); ++r) {
      if (fds_[r] == -1 && board_.process(r) > 0) fds_[r] = static_cast<int>(syscall(SYS_pidfd_open, board_.process(r), 0));
      if (fds_[r] < 0) continue;
      polls.push_back({fds_[r], POLLIN, 0});
      ranks.push_back(r);
    }
    if (poll(polls.data(), polls.size(), milliseconds) <= 0) return;
    for (std::size_t i = 0; i < polls.size(); ++i) {
      if ((polls[i].revents & POLLIN) == 0) continue;
      // One that went by itself has said so.
      if (!dead_ && board_.state(ranks[i]) == RankState::running) dead_ = ranks[i];
      close(fds_[ranks[i]]);
      fds_[ranks[i]] = -2;
    }
  }

 private:
  const Board& board_;
  std::vector<int> fds_;
  std::optional<unsigned> dead_;
};

pid_t start(const std::vector<std::string>& words, const ForwardOutput& output) {
  const pid_t parent = getpid(), child = fork();
  if (child < 0) fail(ErrorKind::no_environment, "no-process", "cannot start {}: {}", words[0], std::strerror(errno));
  if (child > 0) return child;
  // The ranks end with whoever started them.
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(127);
  output.take_over();
  std::vector<char*> argv;
  for (const std::string& w : words) argv.push_back(const_cast<char*>(w.c_str()));
  argv.push_back(nullptr);
  execv(words[0].c_str(), argv.data());
  _exit(127);
}

// The signal that has asked this process to end; 0: none.
std::atomic<int> asked_to_end{0};

// While it is there, a signal that asks this process to end is noted. What whoever started this process ignores stays ignored.
class Signals {
 public:
  Signals() {
    asked_to_end = 0;
    for (std::size_t i = 0; i < kAsking.size(); ++i) {
      sigaction(kAsking[i], nullptr, &before_[i]);
      if (before_[i].sa_handler == SIG_IGN) continue;
      struct sigaction noting{};
      noting.sa_handler = [](int signal) { asked_to_end = signal; };
      sigaction(kAsking[i], &noting, nullptr);
    }
  }
  ~Signals() {
    for (std::size_t i = 0; i < kAsking.size(); ++i) sigaction(kAsking[i], &before_[i], nullptr);
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

 private:
  static constexpr std::array<int, 3> kAsking{SIGTERM, SIGINT, SIGHUP};
  std::array<struct sigaction, kAsking.size()> before_;
};

// The status of mpirun. It is asked to end when this process is, and killed when it does not: among hundreds of ranks that begin it hears
// nothing for minutes.
int wait_for(pid_t mpirun, Watch& watch) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::seconds kPatience{3};
  std::optional<Clock::time_point> killed_at;
  int status = 0;
  while (waitpid(mpirun, &status, WNOHANG) == 0) {
    const auto begin = Clock::now();
    if (asked_to_end != 0 && !killed_at) {
      kill(mpirun, SIGTERM);
      killed_at = begin + kPatience;
    }
    if (killed_at && begin > *killed_at) kill(mpirun, SIGKILL);
    watch.look(20);
    if (Clock::now() - begin < std::chrono::milliseconds(1)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  watch.look(0);
  return status;
}

// Whether a rank knows why the run has ended: who failed has said it, who was stopped was asked to.
bool is_explained(const Board& board, unsigned ranks) {
  for (unsigned r = 0; r < ranks; ++r) {
    if (board.state(r) == RankState::failed || board.state(r) == RankState::stopped) return true;
  }
  return false;
}

}  // namespace

int launch(unsigned ranks, const std::vector<std::string>& command) {
  const auto mpirun = find_in_path("mpirun");
  if (!mpirun)
    fail(ErrorKind::no_environment, "no-mpirun",
         "ranks are processes of MPI, and there is no mpirun in PATH: install Open MPI, or leave --ranks out (devices are then threads of "
         "one process)");
  if (ranks > Board::kMostRanks)
    fail(ErrorKind::invalid_option, "too-many-ranks", "{} ranks on one host; at most {}", ranks, Board::kMostRanks);
  const std::string file = temporary_file(".board");
  int status = 0;
  {
    Board board(file);
    board.set_launcher(getpid());
    setenv(Board::kVariable, file.c_str(), 1);
    // What mpirun says of a rank that ended says less than the rank has said, and would stand behind it.
    setenv(kQuiet, "1", 0);
    std::vector<std::string> words{*mpirun, "--oversubscribe", "--bind-to", "none", "-n", std::to_string(ranks)};
    words.insert(words.end(), command.begin(), command.end());
    const Signals signals;
    ForwardOutput output;
    const pid_t child = start(words, output);
    output.begin();
    Watch watch(board, ranks);
    status = wait_for(child, watch);
    output.end();
    const bool asked = asked_to_end != 0;
    if (watch.dead() && !asked) complain(fmt::format("pando run: rank {} died: {}", *watch.dead(), board.describe(*watch.dead())));
    if (status != 0 && !asked && !watch.dead() && !is_explained(board, ranks))
      complain(fmt::format("pando run: {} failed before a rank could say why; {}=0 shows its own words", *mpirun, kQuiet));
  }
  std::filesystem::remove(file);
  if (const int signal = asked_to_end) {
    complain(fmt::format("pando run: ended by a signal, with its ranks: {}", strsignal(signal)));
    raise(signal);  // whoever waits for this process hears of the signal
    return 128 + signal;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace pando::ranks
