// Many rounds of alltoall, every received value checked on every tile, and the memory that the process holds.
//
//   ontile_rounds --tiles 1472 --rounds 10000
//
// Fails at a wrong value, at an exception, and if the second half of the rounds needs more memory than the first left behind.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

#include <fmt/format.h>

#include "ontile/session.h"

namespace {

using pando::ontile::Session;
using pando::ontile::SessionOptions;

// What a tile sends changes from round to round; what it must receive is made beforehand.
const char* const kPrepare = R"(
def sent(tile, kind): return (tile * 7919 + kind * 104729) % 100003 - 50000
wanted = [[sent(t, kind) for t in range(__ntiles)] for kind in range(4)]
def rounds(first, count):
    for r in range(first, first + count):
        got = alltoall(sent(__tileid, r & 3))
        if got != wanted[r & 3]:
            raise ValueError('round %d: %r' % (r, [(t, v) for t, v in enumerate(got) if v != wanted[r & 3][t]][:5]))
)";

// In KiB: of this process, without what it shares with files.
long held_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("RssAnon:", 0) == 0) return std::stol(line.substr(8));
  return 0;
}

bool run(Session& session, const std::string& code) {
  const auto reply = session.run(code, Session::Input::script);
  if (reply.texts.size() == 1 && reply.texts.front().empty()) return true;
  std::cout << "tiles say: " << reply.texts.front() << reply.texts.back() << "\n";
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  SessionOptions options;
  unsigned rounds = 100;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string option = argv[i];
    if (option == "--tiles")
      options.tiles = static_cast<unsigned>(std::stoul(argv[i + 1]));
    else if (option == "--rounds")
      rounds = static_cast<unsigned>(std::stoul(argv[i + 1]));
  }
  Session session(options);
  if (!run(session, kPrepare)) return 1;
  constexpr unsigned kParts = 10;
  constexpr long kNoise = 4096;  // KiB
  long after_half = 0;
  for (unsigned part = 0; part < kParts; ++part) {
    const unsigned first = rounds / kParts * part, count = part + 1 < kParts ? rounds / kParts : rounds - first;
    const auto began = std::chrono::steady_clock::now();
    if (!run(session, fmt::format("rounds({}, {})", first, count))) return 1;
    const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
    std::cout << fmt::format("{} tiles, {} rounds: {:.2f} ms a round, {} KiB held\n", session.tiles(), first + count, ms / count,
                             held_memory())
              << std::flush;
    if (part + 1 == kParts / 2) after_half = held_memory();
  }
  if (held_memory() <= after_half + kNoise) return 0;
  std::cout << fmt::format("the second half of the rounds needed {} KiB\n", held_memory() - after_half);
  return 1;
}
