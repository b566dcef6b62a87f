#include "modules/harness.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "base/sanitizers.h"

namespace pando::fuzz {
namespace {

constexpr std::uint64_t kOfAProcess = 200;

// What a process says of where it is.
struct Progress {
  std::uint64_t seed, tool, accepted, rejected, failures;
  bool done;
};

// Words of the standard library, which say nothing to a user.
bool is_a_users_message(const std::string& what) {
  static constexpr std::array kStrange = {
      "bad_alloc",    "::at",     "_M_",  "basic_string", "bad_variant",         "bad variant",     "bad_optional",
      "bad optional", "vector::", "stoi", "stol",         "cannot create std::", "broken invariant"};
  for (const char* strange : kStrange) {
    if (what.find(strange) != std::string::npos) return false;
  }
  return what.find('[') != std::string::npos && what.back() == ']';
}

// False: something is wrong, which is said.
bool use(const Tool& tool, const std::string& text, std::uint64_t seed, Progress& p) {
  Random random(seed * 31 + p.tool);
  try {
    tool.use(text, random);
    ++p.accepted;
  } catch (const std::exception& e) {
    ++p.rejected;
    if (is_a_users_message(e.what())) return true;
    fmt::print("seed {}, {}: {}\n", seed, tool.name, e.what());
    std::fflush(stdout);
    return false;
  }
  return true;
}

// Memory that is asked for by mistake is rejected here, as on a small host.
void limit_memory() {
#if !defined(PANDO_SANITIZED)
  const rlimit limit = {std::uint64_t{3} << 30, std::uint64_t{3} << 30};
  setrlimit(RLIMIT_DATA, &limit);
#endif
}

[[noreturn]] void run_cases(const Subject& subject, Progress& p, std::uint64_t last) {
  limit_memory();
  if (std::freopen("/dev/null", "w", stderr) == nullptr) std::_Exit(2);
  for (; p.seed < last; ++p.seed) {
    const std::string text = subject.make(p.seed);
    for (; p.tool < subject.tools.size(); ++p.tool) {
      alarm(20);
      p.failures += !use(subject.tools[p.tool], text, p.seed, p);
    }
    p.tool = 0;
  }
  p.done = true;
  std::_Exit(0);
}

// What ended a process before its time; the case that did is left out from now on. False: a fault.
bool explain(const Subject& subject, Progress& p, int status) {
  const bool slow = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
  const Tool& tool = subject.tools[p.tool];
  const bool fine = slow && tool.runs;
  if (!fine) {
    const std::string how = slow ? "does not end" : WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "ends the process";
    fmt::print("seed {}, {}: {}\n", p.seed, tool.name, how);
    std::fflush(stdout);
  }
  if (++p.tool == subject.tools.size()) p.tool = 0, ++p.seed;
  return fine;
}

int show(const Subject& subject, std::uint64_t seed) {
  const std::string text = subject.make(seed);
  fmt::print("{}", text);
  Progress p{};
  bool good = true;
  for (; p.tool < subject.tools.size(); ++p.tool) {
    fmt::print(stderr, "{}\n", subject.tools[p.tool].name);
    good &= use(subject.tools[p.tool], text, seed, p);
    Random random(seed * 31 + p.tool);
    try {
      subject.tools[p.tool].use(text, random);
    } catch (const std::exception& e) { fmt::print(stderr, "  {}\n", e.what()); }
  }
  return good ? 0 : 1;
}

int run(const Subject& subject, const Arguments& a) {
  auto* const p = new (mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Progress{};
  p->seed = a.seed;
  const auto start = std::chrono::steady_clock::now();
  std::uint64_t crashes = 0;
  while (p->seed < a.seed + a.runs && crashes + p->failures < a.most) {
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > a.seconds) break;
    p->done = false;
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) run_cases(subject, *p, std::min(p->seed + kOfAProcess, a.seed + a.runs));
    int status = 0;
    waitpid(child, &status, 0);
    if (!p->done) crashes += !explain(subject, *p, status);
  }
  fmt::print("seed {}: {} texts through {} tools: {} taken, {} rejected, {} faults\n", a.seed, p->seed - a.seed, subject.tools.size(),
             p->accepted, p->rejected, crashes + p->failures);
  return crashes + p->failures == 0 ? 0 : 1;
}

}  // namespace

int fuzz_tools(const Subject& subject, int argc, char** argv) {
  const auto given = read_arguments(argc, argv, {}, {"--show"});
  if (!given) return 2;
  return given->has("--show") ? show(subject, given->seed) : run(subject, *given);
}

}  // namespace pando::fuzz
