// Executables whose numbers are changed and whose checksums fit again: read, refused, or run to some end; never a crash. The codelets are
// replaced by ones that do nothing, since native code is believed.
//
//   fuzz_structure [--seed S] [--runs N] [--seconds T]
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <iostream>
#include <sstream>
#include <string>

#include "base/archive.h"
#include "check.h"
#include "exec/runner.h"
#include "random.h"

namespace pando::fuzz {
namespace {

constexpr std::size_t kHead = 32, kBytesAt = 16, kSumAt = 24;  // tile/serialize.cpp
constexpr int kOfACase = 100;                                  // changed executables

bool does_nothing(char*, std::uint64_t, std::uint64_t, std::uint64_t*) { return true; }

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
    codelets.back().kernel = does_nothing;
  }
  Library out;
  out.add_builtin("nothing", std::move(codelets));
  return out;
}

void change(std::string& bytes, Random& random) {
  static const std::uint64_t numbers[] = {0, 1, 2, 7, 255, 4096, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff, 1ull << 32, 1ull << 47, 1ull << 63, ~0ull, ~0ull - 7};
  for (std::uint64_t k = random.between(1, 3); k > 0; --k) {
    const std::uint64_t at = kHead + random.below(bytes.size() - kHead - 8);
    std::uint64_t number = numbers[random.below(std::size(numbers))];
    switch (random.below(4)) {
      case 0: bytes[at] ^= static_cast<char>(1 << random.below(8)); break;
      case 1: std::memcpy(&bytes[at], &number, 4); break;
      case 2: std::memcpy(&bytes[at], &number, 8); break;
      default: {  // a little more or less
        std::uint32_t word = 0;
        std::memcpy(&word, &bytes[at], 4);
        word += static_cast<std::uint32_t>(random.between(0, 16)) - 8;
        std::memcpy(&bytes[at], &word, 4);
      }
    }
  }
  const std::uint64_t sum = checksum(std::string_view(bytes).substr(kHead)), size = bytes.size() - kHead;
  std::memcpy(&bytes[kBytesAt], &size, 8);
  std::memcpy(&bytes[kSumAt], &sum, 8);
}

// 1: it was accepted.
int read_and_run(const std::string& bytes, const Library& library, Random& random) {
  std::istringstream in(bytes);
  std::shared_ptr<const tile::Program> program;
  try {
    program = std::make_shared<const tile::Program>(tile::read(in));
    tile::check_bounds(*program, library);
  } catch (const std::exception&) {
    return 0;
  }
  try {
    exec::Options options;
    options.threads = 1;
    exec::Runner runner(program, library, options);
    std::ostringstream printed;
    runner.set_print_stream(&printed);
    std::vector<char> block(1 << 20);
    for (const tile::FifoInfo& f : program->fifos)
      if (f.elements * size_of(f.type) <= block.size()) runner.connect(f.handle, block.data(), nullptr);
    if (program->programs > 0 && random.below(4) == 0) runner.run(static_cast<unsigned>(random.below(program->programs)));
  } catch (const std::exception&) {
  }
  return 1;
}

// One case, in a process of its own. A program that does not end is one, too.
void run_case(std::uint64_t seed, int out) {
  std::signal(SIGALRM, [](int) { _exit(0); });
  const Case test = generate(seed);
  const std::string good = executable(test);
  const Library library = without_code(test.graph->library());
  Random random(seed);
  std::istringstream in(good);
  tile::check_bounds(tile::read(in), library);  // a good one is none of these
  int counts[2] = {0, 0};
  for (int n = 0; n < kOfACase; ++n) {
    std::string bad = good;
    change(bad, random);
    alarm(2);
    ++counts[0];
    if (write(out, counts, sizeof counts) != sizeof counts) _exit(3);
    counts[1] += read_and_run(bad, library, random);
  }
  _exit(0);
}

int run(std::uint64_t seed, std::uint64_t runs, double seconds) {
  const auto begin = std::chrono::steady_clock::now();
  std::uint64_t changed = 0, accepted = 0, failures = 0;
  for (std::uint64_t i = 0; i < runs; ++i) {
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() > seconds) break;
    int ends[2];
    if (pipe(ends) != 0) return 1;
    const pid_t child = fork();
    if (child == 0) {
      close(ends[0]);
      run_case(seed + i, ends[1]);
    }
    close(ends[1]);
    int counts[2] = {0, 0};
    while (read(ends[0], counts, sizeof counts) == sizeof counts) continue;
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    changed += static_cast<std::uint64_t>(counts[0]);
    accepted += static_cast<std::uint64_t>(counts[1]);
    if (status == 0) continue;
    ++failures;
    std::cout << fmt::format("seed {}: after {} changed executables: {}\n", seed + i, counts[0],
                             WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "it ends");
  }
  std::cout << fmt::format("{} changed executables, {} of them accepted, {} cases with faults\n", changed, accepted, failures);
  return failures > 0;
}

}  // namespace
}  // namespace pando::fuzz

int main(int argc, char** argv) {
  std::uint64_t seed = 1, runs = 1000000;
  double seconds = 15;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    if (name == "--seconds") seconds = std::stod(argv[i + 1]);
    else (name == "--seed" ? seed : runs) = std::stoull(argv[i + 1]);
  }
  return pando::fuzz::run(seed, runs, seconds);
}
