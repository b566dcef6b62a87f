// Four-rank pipelined training beside the same work in one process: what passing messages between processes costs. Both run `pando run`, in
// turns.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <regex>

#include "base/files/temporary.h"
#include "bench.h"
#include "ir/text/print.h"
#include "models/mlp.h"
#include "transform/distribute/parallelise.h"

namespace pando::bench {
namespace {

constexpr unsigned kStages = 4;
constexpr int kRounds = 3;

struct Times {
  double seconds = 0, compute = 0, waiting = 0, messages = 0, bytes = 0;
};

Times run(const std::string& arguments) {
  const std::string command = PANDO_BIN_FOLDER "/pando run " + arguments + " --seed 1 --steps 24 --quiet --times 2>&1";
  FILE* const pipe = popen(command.c_str(), "r");
  std::string text;
  char buffer[4096];
  while (const std::size_t n = fread(buffer, 1, sizeof buffer, pipe)) text.append(buffer, n);
  if (pclose(pipe) != 0) {
    fmt::print("{}\n{}", command, text);
    std::exit(1);
  }
  Times t;
  std::smatch m;
  if (!std::regex_search(text, m, std::regex("ranks, ([0-9.]+) s"))) std::exit(1);
  t.seconds = std::stod(m[1]);
  const std::regex device("compute ([0-9.]+) s, waiting ([0-9.]+) s, ([0-9]+) messages of ([0-9]+)");
  for (auto it = std::sregex_iterator(text.begin(), text.end(), device); it != std::sregex_iterator(); ++it) {
    t.compute += std::stod((*it)[1]);
    t.waiting += std::stod((*it)[2]);
    t.messages += std::stod((*it)[3]);
    t.bytes = std::max(t.bytes, std::stod((*it)[4]));
  }
  return t;
}

void show(const char* what, const Times& t) {
  fmt::print("{:24} {:8.3f} s; of all devices: compute {:.3f} s, waiting {:.3f} s; {} messages of {:.0f} KiB, {:.2f} ms of compute each\n",
             what, t.seconds, t.compute, t.waiting, t.messages, t.bytes / 1024, 1e3 * t.compute / t.messages);
}

int run_all() {
  if (std::system("mpirun --version >/dev/null 2>&1") != 0) {
    fmt::print("no mpirun: nothing is measured\n");
    return 0;
  }
  if (getuid() == 0) {
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  }
  models::Mlp mlp;
  mlp.layers = 2 * kStages;
  mlp.width = 768;
  mlp.batch = 1024;
  mlp.learning_rate = 0.001;
  transform::Strategy strategy;
  strategy.pipeline = kStages;
  strategy.microbatches = 4;
  const std::string file = temporary_file(".txt");
  std::ofstream(file) << ir::print(transform::parallelise(models::build_mlp(mlp), strategy).module);
  Times threads, ranks;
  threads.seconds = ranks.seconds = 1e30;
  for (int i = 0; i < kRounds; ++i) {
    for (const bool as_ranks : {false, true}) {
      const Times t = run((as_ranks ? "--ranks 4 " : "--ranks 1 ") + file);
      Times& best = as_ranks ? ranks : threads;
      if (t.seconds < best.seconds) best = t;
    }
  }
  std::filesystem::remove(file);
  show("threads of one process", threads);
  show("4 ranks", ranks);
  Figure f{"ranks: four-stage pipelined training, 4 MPI ranks", "s", ranks.seconds};
  f.peer = threads.seconds;
  f.peer_name = "one process";
  f.at_most = 1.10;
  print_figure(f);
  print_figure({"ranks: compute for each message", "ms", 1e3 * ranks.compute / ranks.messages, 0, "", 0, 5});
  print_figure({"ranks: waiting, of a device's time", "%", 100 * ranks.waiting / (ranks.waiting + ranks.compute)});
  return 0;
}

}  // namespace
}  // namespace pando::bench

int main() { return pando::bench::run_all(); }
