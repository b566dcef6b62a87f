// Calls every public function with good and bad arguments, at random. None may crash, hang, or take what is of another graph; each returns
// or throws a std::exception. Calls run in a process of their own for each function.
//   test_misuse [--rounds N] [--seed S|new] [--only PART_OF_A_NAME] [--list]
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>

#include "base/sanitizers.h"
#include "base/testing/places.h"
#include "base/testing/processor_time.h"
#include "fuzz/arguments.h"
#include "fuzz/time_limit.h"
#include "misuse/world.h"

#if defined(PANDO_ASAN)
// A single request that the plain build's limit would reject is rejected here too.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1:max_allocation_size_mb=1024"; }
#endif

namespace misuse {
void add_rows_0(std::vector<Row>& rows);
void add_rows_1(std::vector<Row>& rows);
void add_rows_2(std::vector<Row>& rows);
void add_rows_3(std::vector<Row>& rows);
void add_rows_4(std::vector<Row>& rows);
void add_rows_5(std::vector<Row>& rows);

namespace {

struct Options {
  unsigned rounds = 12, seed = 1;
  std::string only;
  bool list = false, verbose = false;
};

// Of a child, to its parent: before each call, and after it.
struct Told {
  unsigned seed;
  double seconds;
  char what[512];
};

// The call that took most of the processor's time.
struct Slowest {
  double seconds = 0;
  std::string call;
};

// Names in a file of "NAME: why" lines.
std::set<std::string> names_in(const char* file) {
  std::ifstream in(pando::source_path(std::string("tests/misuse/") + file));
  std::set<std::string> names;
  for (std::string line; std::getline(in, line);)
    if (!line.empty() && line[0] != '#') names.insert(line.substr(0, line.find(": ")));
  return names;
}

std::string wrong_with(const Row& row, unsigned seed, bool takes_foreign, bool verbose) {
  World w(seed);
  try {
    row.call(w);
  } catch (const std::exception& e) {
    if (verbose) std::printf("    %u throws: %.160s\n", seed, e.what());
    return worlds_wrong(w);
  } catch (...) { return "throws what is no std::exception"; }
  if (verbose) std::printf("    %u returns%s\n", seed, w.gave_foreign ? " (foreign)" : "");
  if (w.gave_foreign && w.gave_graph && !takes_foreign) return "takes what belongs to another graph";
  if (std::string wrong = worlds_wrong(w); !wrong.empty()) return wrong;
  if (seed % 4 != 0) return {};
  try {
    if (w.model_world) {
      run_model(w);
      return {};
    }
    poplar::Engine engine(w.own, w.program, {{"pando.threads", "1"}});
    engine.load(w.device);
    engine.run(0);
  } catch (const std::exception& e) {
    if (verbose) std::printf("    %u runs: %.160s\n", seed, e.what());
  }
  return {};
}

// How a child ends whose memory is at its end where no exception can say so.
constexpr int kOutOfMemory = 77;

// What a call may write beyond what there was before it. A good one needs a few megabytes. A bad one may ask for something of billions of
// pieces; that is no mistake, but filling gigabytes before they end takes seconds of a call that else takes a millisecond.
#if defined(PANDO_ASAN)
constexpr unsigned kMostGigabytes = 16;  // with what is around and behind each block
#else
constexpr unsigned kMostGigabytes = 1;
#endif

// Plain builds get std::bad_alloc. AddressSanitizer's operator new reports instead, and ends the process; its shadow is terabytes of
// address space, so what counts is what can be written.
void limit_memory() {
  unsigned long field = 0, data = 0;
  std::ifstream statm("/proc/self/statm");
  for (int i = 0; i < 6 && statm >> field; ++i) data = field;
  const rlimit space = {data * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + (rlim_t{kMostGigabytes} << 30), RLIM_INFINITY};
  setrlimit(RLIMIT_DATA, &space);
#if defined(PANDO_ASAN)
  __asan_set_error_report_callback([](const char* report) {
    if (std::strstr(report, "out-of-memory") || std::strstr(report, "allocation-size-too-big")) _exit(kOutOfMemory);
  });
#else
  const rlimit all = {16ull << 30, 16ull << 30};  // with what is shared or only reserved
  setrlimit(RLIMIT_AS, &all);
#endif
}

// In a child: tells the seed before each call, and what is wrong after it.
[[noreturn]] void run_rounds(const Row& row, const Options& options, unsigned first, bool takes_foreign, int out) {
  limit_memory();
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  if (!options.verbose && !std::freopen("/dev/null", "w", stdout)) _exit(3);
  if (!options.verbose && !std::getenv("MISUSE_SHOW") && !std::freopen("/dev/null", "w", stderr)) _exit(3);
  for (unsigned seed = first; seed < options.seed + options.rounds; ++seed) {
    pando::fuzz::limit_time();
    Told told = {seed, 0, ""};
    if (write(out, &told, sizeof told) != sizeof told) _exit(3);
    const double begin = pando::processor_seconds();
    const std::string wrong = wrong_with(row, seed, takes_foreign, options.verbose);
    told.seconds = pando::processor_seconds() - begin;
    std::snprintf(told.what, sizeof told.what, "%s", wrong.c_str());
    if (write(out, &told, sizeof told) != sizeof told) _exit(3);
  }
  std::fflush(stdout);
  _exit(0);
}

// Runs the rounds from `seed` on in a child, and adds a line for all that is wrong. Where they have to go on, or nothing.
std::optional<unsigned> check_from(unsigned seed, const Row& row, const Options& options, bool takes_foreign,
                                   std::vector<std::string>& wrong, Slowest& slowest) {
  int ends[2];
  if (pipe(ends) != 0) return wrong.push_back("no pipe"), std::nullopt;
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    run_rounds(row, options, seed, takes_foreign, ends[1]);
  }
  close(ends[1]);
  for (Told told; read(ends[0], &told, sizeof told) == sizeof told;) {
    seed = told.seed;
    if (told.seconds > slowest.seconds) slowest = {told.seconds, row.name + " with seed " + std::to_string(seed)};
    if (told.what[0] != 0) wrong.push_back("seed " + std::to_string(seed) + ": " + told.what);
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status))
    wrong.push_back("seed " + std::to_string(seed) + ": " +
                    (WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGPROF ? "does not end"
                                                                                : std::string("dies: ") + strsignal(WTERMSIG(status))));
  else if (WEXITSTATUS(status) == kOutOfMemory && seed + 1 < options.seed + options.rounds)
    return seed + 1;
  else if (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != kOutOfMemory)
    wrong.push_back("seed " + std::to_string(seed) + ": ends the process with status " + std::to_string(WEXITSTATUS(status)));
  return std::nullopt;
}

// Lines that say what is wrong with the function.
std::vector<std::string> check(const Row& row, const Options& options, bool takes_foreign, Slowest& slowest) {
  std::vector<std::string> wrong;
  for (std::optional<unsigned> seed = options.seed; seed;) seed = check_from(*seed, row, options, takes_foreign, wrong, slowest);
  return wrong;
}

int run(const Options& options) {
  std::vector<Row> rows;
  for (auto add : {add_rows_0, add_rows_1, add_rows_2, add_rows_3, add_rows_4, add_rows_5}) add(rows);
  add_op_rows(rows);
  add_graph_function_rows(rows);
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.name < b.name; });
  const std::set<std::string> foreign = names_in("takes_foreign.txt"), known = names_in("known_faults.txt");
  // What takes long is made once, before all children.
  { World warm(0); }
  deep_sum();
  Slowest slowest;
  std::size_t bad = 0, done = 0, listed = 0;
  for (const Row& row : rows) {
    if (row.name.find(options.only) == std::string::npos) continue;
    ++done;
    if (options.list) {
      std::puts(row.name.c_str());
      continue;
    }
    if (options.verbose) std::printf("  %s\n", row.name.c_str()), std::fflush(stdout);
    const std::string name = row.name.substr(0, row.name.find('('));
    const std::vector<std::string> wrong = check(row, options, foreign.count(name) > 0, slowest);
    if (!wrong.empty()) ++(known.count(name) > 0 ? listed : bad);
    for (const std::string& line : wrong) std::printf("%s\n    %s\n", row.name.c_str(), line.c_str());
    std::fflush(stdout);
  }
  if (!options.list)
    std::printf("each call may write %u GB; the slowest took %.1f s: %s\n", kMostGigabytes, slowest.seconds, slowest.call.c_str());
  std::printf("misuse: %zu functions, %zu calls, %zu functions with faults, %zu more with faults that known_faults.txt lists\n", done,
              done * options.rounds, bad, listed);
  return bad > 0;
}

}  // namespace
}  // namespace misuse

int main(int argc, char** argv) {
  misuse::Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string a = argv[i];
    if (a == "--list")
      options.list = true;
    else if (a == "--verbose")
      options.verbose = true;
    else if ((a == "--rounds" || a == "--seed") && i + 1 < argc) {
      const auto number = a == "--seed" ? pando::fuzz::seed_in(argv[++i]) : pando::fuzz::number_in(argv[++i]);
      if (!number) return std::fprintf(stderr, "%s '%s': a number is expected\n", a.c_str(), argv[i]), 2;
      (a == "--seed" ? options.seed : options.rounds) = static_cast<unsigned>(*number);
    } else if (a == "--only" && i + 1 < argc)
      options.only = argv[++i];
    else
      return std::fprintf(stderr, "unknown argument %s\n", argv[i]), 2;
  }
  return misuse::run(options);
}
