// Random graph programs against the interpreter.
//
//   fuzz_graph [--seed S|new] [--runs N] [--seconds T] [--most FAILURES] [--all] [--shrink] [--show]
//
// Cases S, S+1, ... each in a process of its own, so that a crash or a hang is a finding like any other. Every case runs with
// all switches on, with all off and with a random choice, on one and two threads; `--all` takes every combination. A failing
// case prints its seed; `--shrink` leaves out items while it still fails and prints what remains at both levels.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "arguments.h"
#include "check.h"
#include "random.h"

namespace pando::fuzz {
namespace {

constexpr unsigned kSecondsPerCase = 20;

// What the child wrote to its standard error, on one line.
std::string complaints(std::FILE* file) {
  std::rewind(file);
  std::string text;
  for (int c; (c = std::fgetc(file)) != EOF && text.size() < 2000;) text += c == '\n' ? ' ' : static_cast<char>(c);
  std::fclose(file);
  return text;
}

// The text that `work` returns in a child process; if the child dies, how.
std::string isolated(const std::function<std::string()>& work) {
  int pipe_ends[2];
  std::FILE* errors = std::tmpfile();
  if (pipe(pipe_ends) != 0) return "no pipe";
  std::cout.flush();
  const pid_t child = fork();
  if (child == 0) {
    close(pipe_ends[0]);
    dup2(fileno(errors), STDERR_FILENO);
    alarm(kSecondsPerCase);
    const std::string text = work();
    for (std::size_t done = 0; done < text.size();) {
      const ssize_t n = ::write(pipe_ends[1], text.data() + done, text.size() - done);
      if (n <= 0) break;
      done += static_cast<std::size_t>(n);
    }
    std::cout.flush();
    _exit(0);
  }
  close(pipe_ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = ::read(pipe_ends[0], buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<std::size_t>(n));
  close(pipe_ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  const std::string said = complaints(errors);
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) return "hangs: " + said;
  if (WIFSIGNALED(status)) return fmt::format("dies by signal {}: {}", WTERMSIG(status), said);
  if (WEXITSTATUS(status) != 0) return fmt::format("exits with {}: {}", WEXITSTATUS(status), said);
  return text;
}

std::string verdict(std::uint64_t seed, const LeftOut& left_out, const Setup& setup) {
  return isolated([&] { return check(generate(seed, left_out), setup); });
}

std::vector<Setup> setups(std::uint64_t seed, bool all) {
  std::vector<Setup> list;
  if (!all) return {setup_of((1 << kSwitches) - 1, 2), setup_of(0, 1), setup_of(static_cast<unsigned>(mixed(seed)), 1 + seed % 3)};
  for (unsigned bits = 0; bits < 1u << kSwitches; ++bits)
    for (unsigned threads : {1u, 2u, 3u}) list.push_back(setup_of(bits, threads));
  return list;
}

// As many items as possible whose absence leaves a failure: chunks of halving size, to a fixed point.
LeftOut shrunk(std::uint64_t seed, const Setup& setup) {
  LeftOut left_out;
  unsigned items = 0;
  if (const std::string n = isolated([&] { return std::to_string(generate(seed).items); }); !n.empty()) items = std::stoul(n);
  for (unsigned size = std::max(1u, items / 2); size >= 1;) {
    bool progress = false;
    for (unsigned begin = 0; begin < items; begin += size) {
      LeftOut more = left_out;
      for (unsigned i = begin; i < std::min(items, begin + size); ++i) more.insert(i);
      if (more.size() == left_out.size() || !is_failure(verdict(seed, more, setup))) continue;
      left_out = std::move(more);
      progress = true;
    }
    if (size == 1 && !progress) break;
    if (size > 1) size /= 2;
  }
  return left_out;
}

// Ready to commit: the graph as text, and, as far as the compiler comes, the tile program.
void show(std::uint64_t seed, const LeftOut& left_out, const Setup& setup, const std::string& why) {
  std::cout << "# seed " << seed << ", " << to_string(setup) << "\n# " << why << "\n";
  isolated([&] {
    const Case test = generate(seed, left_out);
    for (const Engine& engine : test.engines) {
      std::cout << "# an engine, which runs programs:";
      for (unsigned p : engine.runs) std::cout << " " << p;
      std::cout << "\n" << graph::print(*test.graph, engine.programs) << std::flush;
      compile::Options options = setup.compile;
      options.validate = false;
      options.bounded_memory = test.graph->machine().bounded_memory;
      const compile::Result result = compile::compile(*test.graph, engine.programs, options);
      std::cout << tile::print(*result.program, test.graph->library()) << std::flush;
    }
    return std::string();
  });
}

bool run_case(std::uint64_t seed, const Arguments& arguments, std::uint64_t& skipped) {
  for (const Setup& setup : setups(seed, arguments.has("--all"))) {
    const std::string why = verdict(seed, {}, setup);
    if (why.starts_with("skip")) ++skipped;
    if (arguments.has("--show")) show(seed, {}, setup, why);
    if (!is_failure(why)) continue;
    std::cout << "FAIL seed " << seed << " (" << to_string(setup) << "): " << why << std::endl;
    if (!arguments.has("--shrink")) return false;
    const LeftOut left_out = shrunk(seed, setup);
    show(seed, left_out, setup, verdict(seed, left_out, setup));
    return false;
  }
  return true;
}

int run(const Arguments& arguments) {
  const auto begin = std::chrono::steady_clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
  std::uint64_t done = 0, failed = 0, skipped = 0;
  for (; done < arguments.runs && seconds() < arguments.seconds && failed < arguments.most; ++done)
    failed += !run_case(arguments.seed + done, arguments, skipped);
  std::cout << fmt::format("seeds {} to {}: {} failed, {} setups meant nothing\n", arguments.seed, arguments.seed + done - 1, failed,
                           skipped);
  // A generator whose cases mean nothing tests nothing.
  if (skipped > done) std::cout << "too many cases mean nothing\n";
  return failed == 0 && skipped <= done ? 0 : 1;
}

}  // namespace
}  // namespace pando::fuzz

int main(int argc, char** argv) {
  const auto given = pando::fuzz::read_arguments(argc, argv, {.runs = 100}, {"--all", "--shrink", "--show"});
  return given ? pando::fuzz::run(*given) : 2;
}
