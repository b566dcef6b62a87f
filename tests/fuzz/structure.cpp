// Executables whose numbers are changed and whose checksums fit again: read, rejected, or run to some end; never a crash. The codelets are
// replaced by ones that do nothing, since native code is believed.
//
//   fuzz_structure [--seed S|new] [--runs N] [--seconds T]
//   fuzz_structure --seed S --change N                    // that one alone, in this process: for debuggers
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <iostream>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>

#include "base/archive.h"
#include "check.h"
#include "codelet/hand_made.h"
#include "exec/runner.h"
#include "random.h"
#include "structure.h"
#include "time_limit.h"

namespace pando::fuzz {
namespace {

constexpr std::size_t kHead = 32, kBytesAt = 16, kSumAt = 24;  // tile/serialize.cpp
constexpr std::uint64_t kOfACase = 400;                        // changed executables

std::string executable(const Case& test) {
  compile::Options options;
  options.bounded_memory = test.graph->machine().bounded_memory;
  const compile::Result result = compile::compile(*test.graph, test.engines[0].programs, options);
  std::ostringstream out;
  tile::write(*result.program, out);
  return out.str();
}

Library without_code(const Library& library) {
  std::vector<Codelet> codelets;
  for (std::uint32_t i = 0; i < library.size(); ++i) {
    codelets.push_back(library[CodeletId(i)]);
    codelets.back().kernel = no_work;
  }
  Library out;
  out.add_builtin("nothing", std::move(codelets));
  return out;
}

void change(std::string& bytes, Random& random) {
  change_numbers(bytes, kHead, bytes.size(), random);
  const std::uint64_t sum = checksum(std::string_view(bytes).substr(kHead)), size = bytes.size() - kHead;
  std::memcpy(&bytes[kBytesAt], &size, 8);
  std::memcpy(&bytes[kSumAt], &sum, 8);
}

// A program that does not end is one, too: it is stopped, as a user would.
void run_a_while(exec::Runner& runner, unsigned program) {
  using namespace std::chrono_literals;
  std::mutex mutex;
  std::condition_variable ended;
  bool has_ended = false;
  std::thread stopper([&] {
    std::unique_lock lock(mutex);
    while (!ended.wait_for(lock, 3ms, [&] { return has_ended; })) runner.stop();
  });
  try {
    runner.run(program);
  } catch (const std::exception&) {}
  {
    const std::lock_guard lock(mutex);
    has_ended = true;
  }
  ended.notify_one();
  stopper.join();
}

// 1: it was accepted.
int read_and_run(const std::string& bytes, const Library& library, Random& random) {
  std::istringstream in(bytes);
  std::shared_ptr<const tile::Program> program;
  try {
    program = std::make_shared<const tile::Program>(tile::read(in));
    tile::check_bounds(*program, library);
  } catch (const std::exception&) { return 0; }
  if (random.below(4) != 0) return 1;
  try {
    exec::Options options;
    options.threads = 1;
    exec::Runner runner(program, library, options);
    std::ostringstream printed;
    runner.set_print_stream(&printed);
    std::vector<char> block(1 << 20);
    for (const tile::FifoInfo& f : program->fifos)
      if (f.elements * size_of(f.type) <= block.size()) runner.connect(f.handle, block.data(), nullptr);
    if (program->programs > 0) run_a_while(runner, static_cast<unsigned>(random.below(program->programs)));
  } catch (const std::exception&) {}
  return 1;
}

// Some cases, in a process of their own.
struct Told {
  std::uint64_t seed, change;
  std::uint64_t changed, accepted;
};

[[noreturn]] void run_cases(std::uint64_t seed, std::uint64_t cases, std::uint64_t first, std::uint64_t last, int out) {
  Told told = {seed, 0, 0, 0};
  for (; cases > 0; --cases, ++told.seed) {
    const Case test = generate(told.seed);
    const std::string good = executable(test);
    const Library library = without_code(test.graph->library());
    std::istringstream in(good);
    tile::check_bounds(tile::read(in), library);  // a good one is none of these
    for (std::uint64_t n = first; n < last; ++n) {
      told.change = n;
      Random random(told.seed * kOfACase + n);
      std::string bad = good;
      change(bad, random);
      limit_time();
      ++told.changed;
      if (write(out, &told, sizeof told) != sizeof told) _exit(3);
      told.accepted += static_cast<std::uint64_t>(read_and_run(bad, library, random));
    }
  }
  _exit(0);
}

int run(std::uint64_t seed, std::uint64_t runs, double seconds) {
  const auto begin = std::chrono::steady_clock::now();
  constexpr std::uint64_t kCasesOfAProcess = 5;
  std::uint64_t changed = 0, accepted = 0, failures = 0;
  for (std::uint64_t i = 0; i < runs && changed < runs; i += kCasesOfAProcess) {
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() > seconds) break;
    int ends[2];
    if (pipe(ends) != 0) return 1;
    const pid_t child = fork();
    if (child == 0) {
      close(ends[0]);
      run_cases(seed + i, kCasesOfAProcess, 0, kOfACase, ends[1]);
    }
    close(ends[1]);
    Told told = {seed + i, 0, 0, 0};
    while (read(ends[0], &told, sizeof told) == sizeof told) continue;
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    changed += told.changed;
    accepted += told.accepted;
    if (status == 0) continue;
    ++failures;
    std::cout << fmt::format("--seed {} --change {}: {}\n", told.seed, told.change,
                             WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "it ends")
              << std::flush;
  }
  std::cout << fmt::format("{} changed executables, {} of them accepted, {} cases with faults\n", changed, accepted, failures);
  return failures > 0;
}

}  // namespace
}  // namespace pando::fuzz

int main(int argc, char** argv) {
  using namespace pando::fuzz;
  if (argc == 5 && std::string(argv[3]) == "--change") {
    const std::uint64_t change = std::stoull(argv[4]);
    run_cases(std::stoull(argv[2]), 1, change, change + 1, STDOUT_FILENO);
  }
  return run_arguments(argc, argv, run);
}
