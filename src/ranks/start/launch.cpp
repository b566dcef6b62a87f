#include "ranks/launch.h"

#include "base/error.h"
#include "base/messages.h"
#include "ranks/board.h"
#include "ranks/start/forward_output.h"
#include "ranks/start/leave_nothing.h"
#include "ranks/start/loopback.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
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
#include <optional>
#include <thread>
#include <tuple>

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

// Where the system gives no network of its own: ranks share memory and listen on nothing, mpirun speaks on the loopback address, though it
// listens on all.
void stay_on_loopback() {
  setenv("OMPI_MCA_btl", "self,vader", 0);
  setenv("OMPI_MCA_oob_tcp_if_include", "lo", 0);
}

pid_t start(const std::vector<std::string>& words, const ForwardOutput& output, bool one_host) {
  const pid_t parent = getpid(), child = fork();
  if (child < 0) fail(ErrorKind::no_environment, "no-process", "cannot start {}: {}", words[0], std::strerror(errno));
  if (child > 0) return child;
  if (one_host && !leave_network()) stay_on_loopback();
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

// How long ranks may take to come. They give up by themselves, and say who is missing; later, who is none of them ends the run.
class Patience {
 public:
  Patience(const Board& board, unsigned ranks, double seconds) : board_(board), ranks_(ranks), seconds_(seconds) {}

  // Ranks that have not come in time; none: no reason to end.
  std::vector<unsigned> missing() {
    if (seconds_ <= 0 || all_came_) return {};
    std::vector<unsigned> missing;
    for (unsigned r = 0; r < ranks_; ++r)
      if (board_.state(r) == RankState::absent) missing.push_back(r);
    all_came_ = missing.empty();
    constexpr double kTheirOwn = 2;
    const double waited = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    return waited > seconds_ + kTheirOwn ? missing : std::vector<unsigned>();
  }

 private:
  const Board& board_;
  const unsigned ranks_;
  const double seconds_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  bool all_came_ = false;
};

// The status of mpirun. It is asked to end when this process is, or when ranks do not come, and killed when it does not: among hundreds of
// ranks that begin it hears nothing for minutes.
int wait_for(pid_t mpirun, Watch& watch, Patience& patience, std::vector<unsigned>& missing) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::seconds kPatience{3};
  std::optional<Clock::time_point> killed_at;
  int status = 0;
  while (waitpid(mpirun, &status, WNOHANG) == 0) {
    const auto begin = Clock::now();
    if (!killed_at && missing.empty()) missing = patience.missing();
    if ((asked_to_end != 0 || !missing.empty()) && !killed_at) {
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

int launch(unsigned ranks, const std::vector<std::string>& command, double timeout, const Launcher& launcher) {
  const auto mpirun = find_in_path("mpirun");
  if (!mpirun)
    fail(ErrorKind::no_environment, "no-mpirun", "{}s are processes of MPI, and there is no mpirun in PATH: install Open MPI{}",
         launcher.member, launcher.knows_steps ? ", or leave --ranks out (devices are then threads of one process)" : "");
  if (ranks > Board::kMostRanks)
    fail(ErrorKind::invalid_option, "too-many-ranks", "{} {}s on one host; at most {}", ranks, launcher.member, Board::kMostRanks);
  int status = 0;
  {
    const LeaveNothing nothing(ranks, Board::kVariable);
    Board board(nothing.mark());
    board.set_launcher(getpid());
    setenv(Board::kVariable, nothing.mark().c_str(), 1);
    setenv("OMPI_MCA_orte_tmpdir_base", nothing.folder().c_str(), 0);
    if (!nothing.memory().empty()) setenv("OMPI_MCA_btl_vader_backing_directory", nothing.memory().c_str(), 0);
    // What mpirun says of a rank that ended says less than the rank has said, and would stand behind it.
    setenv(kQuiet, "1", 0);
    std::vector<std::string> words{*mpirun};
    words.insert(words.end(), launcher.placing.begin(), launcher.placing.end());
    words.insert(words.end(), {"-n", std::to_string(ranks)});
    words.insert(words.end(), launcher.options.begin(), launcher.options.end());
    words.insert(words.end(), command.begin(), command.end());
    const Signals signals;
    ForwardOutput output;
    const pid_t child = start(words, output, launcher.one_host);
    output.begin();
    Watch watch(board, ranks);
    Patience patience(board, ranks, timeout);
    std::vector<unsigned> missing;
    status = wait_for(child, watch, patience, missing);
    output.end();
    const bool asked = asked_to_end != 0;
    const auto& [name, member] = std::tie(launcher.name, launcher.member);
    if (watch.dead() && !asked)
      complain(
          fmt::format("{}: {} {} died{}", name, member, *watch.dead(), launcher.knows_steps ? ": " + board.describe(*watch.dead()) : ""));
    if (!missing.empty()) {
      complain(fmt::format("{}: {} {} has not come within {} s (--timeout)", name, member, fmt::join(missing, ", "), timeout));
    } else if (status != 0 && !asked && !watch.dead() && !is_explained(board, ranks))
      complain(fmt::format("{}: {} failed before a{} {} could say why; {}=0 shows its own words", name, *mpirun,
                           member.starts_with("i") ? "n" : "", member, kQuiet));
  }
  if (const int signal = asked_to_end) {
    complain(fmt::format("{}: ended by a signal, with its {}s: {}", launcher.name, launcher.member, strsignal(signal)));
    raise(signal);  // whoever waits for this process hears of the signal
    return 128 + signal;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace pando::ranks
