// Python on every tile: how fast interpreters start, answer and exchange, what they keep in memory, and the speed of their bytecode beside
// native MicroPython and CPython.
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>

#include "base/testing/places.h"
#include "bench.h"
#include "ontile/session.h"

namespace pando::bench {
namespace {

using ontile::Session;
using ontile::SessionOptions;

// Anonymous memory that this process holds: tiles' shared images do not count.
double resident_mebibytes() {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);)
    if (line.rfind("RssAnon:", 0) == 0) return std::stod(line.substr(8)) / 1024;
  return 0;
}

struct Targets {
  double ready, line, key, first_line;
};

void sessions(unsigned ipus, const Targets& targets) {
  SessionOptions options;
  options.ipus = ipus;
  const unsigned tiles = ipus * 1472;
  const std::string many = fmt::format("{} interpreters", tiles);
  const auto say = [&](const std::string& what, double ms, double at_most) {
    print_figure({many + ", " + what, "ms", 1e3 * ms, 0, "", at_most, 0});
  };
  std::unique_ptr<Session> session;
  say("first start, compiled", seconds_of([&] { session = std::make_unique<Session>(options); }), 10000);
  session.reset();
  double ready = 1e30;
  for (int i = 0; i < 7; ++i) {
    session.reset();
    ready = std::min(ready, seconds_of([&] { session = std::make_unique<Session>(options); }));
  }
  say("ready from a cached executable", ready, targets.ready);
  const double before = resident_mebibytes();
  const auto line = [&] { session->run("print(__tileid % 3, sum(range(10)))", Session::Input::line); };
  say("first line", seconds_of(line), targets.first_line);
  say("warm line of three answers", best_of(15, line), targets.line);
  say("warm line of one answer", best_of(15, [&] { session->run("print('hello')", Session::Input::line); }), targets.line);
  print_figure({many + ", resident after first use, a tile", "KiB", (resident_mebibytes() - before) * 1024 / tiles, 0, "", 32, 0});
  session->key('x');
  say("a key", best_of(100, [&] { session->key('x'); }), targets.key);
}

void exchange() {
  SessionOptions options;
  Session session(options);
  session.run(
      "def rounds(n):\n  for i in range(n):\n    r = alltoall(__tileid + i)\n    if sum(r) != i * __ntiles + __ntiles * (__ntiles - 1) // "
      "2: raise ValueError(i)\n",
      Session::Input::script);
  session.run("rounds(2)", Session::Input::line);
  constexpr int kRounds = 20;
  const double seconds = best_of(2, [&] {
    const ontile::Reply reply = session.run(fmt::format("rounds({})", kRounds), Session::Input::line);
    if (reply.answers.front().ending != ontile::Ending::done) throw std::runtime_error(reply.texts.front());
  });
  print_figure({"alltoall of an int on 1472 tiles, a round", "ms", 1e3 * seconds / kRounds, 0, "", 100, 0});
}

std::map<std::string, double> parse(std::istream& in) {
  std::map<std::string, double> out;
  std::string name;
  for (double ns = 0; in >> name >> ns;) out[name] = ns;
  return out;
}

// The script, with objects and names at another place for each `placement`.
std::string loops(unsigned placement) {
  std::string script;
  for (unsigned i = 0; i < placement; ++i) script += fmt::format("moved{0} = bytearray({0})\n", i);
  std::ifstream file(source_path("bench/ontile/loops.py"));
  return script.append(std::istreambuf_iterator<char>(file), {});
}

// Empty if there is no such program.
std::map<std::string, double> loops_of(const std::string& program, const std::string& script) {
  const std::string path = std::filesystem::temp_directory_path() / fmt::format("pando-bench-loops-{}.py", getpid());
  std::ofstream(path) << script;
  const std::string command = program + " " + path + " 2>/dev/null";
  std::FILE* const pipe = popen(command.c_str(), "r");
  std::string text;
  char buffer[512];
  for (std::size_t n = 0; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) text.append(buffer, n);
  pclose(pipe);
  std::filesystem::remove(path);
  std::istringstream in(text);
  return parse(in);
}

std::map<std::string, double> loops_on_a_tile(const std::string& script) {
  SessionOptions options;
  options.tiles = 1;
  Session session(options);
  std::istringstream in(session.run(script, Session::Input::script).texts.front());
  return parse(in);
}

// In turns, so that both see the same host. A loop's time depends on where things come to lie, on both sides: each has its best place.
void bytecode() {
  const std::string program = build_path("ontile/native/micropython");
  std::map<std::string, double> tile, native, cpython;
  const auto keep_best = [](std::map<std::string, double>& best, const std::map<std::string, double>& run) {
    for (const auto& [name, ns] : run) best[name] = best.count(name) ? std::min(best[name], ns) : ns;
  };
  for (unsigned placement = 0; placement < 4; ++placement) {
    const std::string script = loops(placement);
    keep_best(tile, loops_on_a_tile(script));
    keep_best(native, loops_of(program, script));
    keep_best(cpython, loops_of("python3", script));
  }
  if (native.empty()) throw std::runtime_error("no native MicroPython to compare with: " + program);
  double log_sum = 0;
  for (const char* name : {"while", "for", "call", "method", "list", "dict", "try", "len", "generator", "raise"}) {
    log_sum += std::log(tile[name] / native[name]);
    print_figure({fmt::format("bytecode, {} (CPython {:.1f} ns)", name, cpython[name]), "ns", tile[name], native[name],
                  "native MicroPython", 1.9, 0});
  }
  print_figure({"bytecode, geometric mean of the ratios of ten loops", "x", std::exp(log_sum / 10), 0, "", 1.5, 0});
}

}  // namespace
}  // namespace pando::bench

int main() {
  const std::filesystem::path cache = std::filesystem::temp_directory_path() / fmt::format("pando-bench-python-{}", getpid());
  setenv("POPLAR_EXECUTABLE_CACHE_DIR", cache.c_str(), 1);
  pando::bench::bytecode();
  pando::bench::sessions(1, {20, 8, 0.3, 2500});
  pando::bench::exchange();
  pando::bench::sessions(32, {500, 250, 10, 2500});
  std::filesystem::remove_all(cache);
}
