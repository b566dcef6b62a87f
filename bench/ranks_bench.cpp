// Four-rank pipelined training beside the same work in one process: what passing messages between processes costs. Four devices that share
// the samples beside one device with all of them: bytes that collectives move, and processor time. All run `pando run`, in turns.
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <regex>

#include "base/files/temporary.h"
#include "base/testing/places.h"
#include "bench.h"
#include "ir/text/print.h"
#include "models/mlp.h"
#include "transform/distribute/parallelise.h"

namespace pando::bench {
namespace {

constexpr unsigned kStages = 4;
constexpr int kRounds = 3;

struct Times {
  double seconds = 0, compute = 0, waiting = 0, messages = 0, bytes = 0, sent = 0;
  double processor = 0;  // seconds of it, of the command with all that it starts
};

double processor_seconds() {
  rusage u{};
  getrusage(RUSAGE_CHILDREN, &u);
  return static_cast<double>(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + 1e-6 * static_cast<double>(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

Times run(const std::string& arguments, int steps = 24) {
  const std::string command =
      build_path("bin/pando") + " run " + arguments + fmt::format(" --seed 1 --steps {} --quiet --times 2>&1", steps);
  const double before = processor_seconds();
  FILE* const pipe = popen(command.c_str(), "r");
  std::string text;
  char buffer[4096];
  while (const std::size_t n = fread(buffer, 1, sizeof buffer, pipe)) text.append(buffer, n);
  if (pclose(pipe) != 0) {
    fmt::print("{}\n{}", command, text);
    std::exit(1);
  }
  Times t;
  t.processor = processor_seconds() - before;
  std::smatch m;
  if (!std::regex_search(text, m, std::regex("ranks, ([0-9.]+) s"))) std::exit(1);
  t.seconds = std::stod(m[1]);
  const std::regex device("compute ([0-9.]+) s, waiting ([0-9.]+) s, ([0-9]+) messages of ([0-9]+)");
  for (auto it = std::sregex_iterator(text.begin(), text.end(), device); it != std::sregex_iterator(); ++it) {
    t.compute += std::stod((*it)[1]);
    t.waiting += std::stod((*it)[2]);
    t.messages += std::stod((*it)[3]);
    t.bytes = std::max(t.bytes, std::stod((*it)[4]));
    t.sent = std::max(t.sent, std::stod((*it)[3]) * std::stod((*it)[4]) / steps);
  }
  return t;
}

void show(const char* what, const Times& t) {
  fmt::print("{:24} {:8.3f} s; of all devices: compute {:.3f} s, waiting {:.3f} s; {} messages of {:.0f} KiB, {:.2f} ms of compute each\n",
             what, t.seconds, t.compute, t.waiting, t.messages, t.bytes / 1024, 1e3 * t.compute / t.messages);
}

// Four devices that share the samples, whole and in parts, beside one with all samples. What a command costs without steps is left out.
void run_collectives() {
  for (const std::int64_t width : {64, 256}) {
    const int steps = width == 64 ? 400 : 20;
    models::Mlp mlp;
    mlp.layers = 4;
    mlp.width = width;
    mlp.batch = width == 64 ? 64 : 2048;
    mlp.learning_rate = 0.001;
    const transform::Program program = models::build_mlp(mlp);
    transform::Strategy strategy;
    strategy.data = 4;
    const std::string one_file = temporary_file(".txt"), four_file = temporary_file(".txt");
    std::ofstream(one_file) << ir::print(program.module);
    std::ofstream(four_file) << ir::print(transform::parallelise(program, strategy).module);
    Times one, parts, whole;
    one.processor = parts.processor = whole.processor = 1e30;
    for (int i = 0; i < kRounds; ++i) {
      const std::pair<std::string, Times*> cases[] = {
          {one_file, &one}, {four_file, &parts}, {"--part-bytes 1000000000 " + four_file, &whole}};
      for (const auto& [arguments, best] : cases) {
        const Times few = run(arguments, 2);
        Times many = run(arguments, 2 + steps);
        many.processor = std::max((many.processor - few.processor) / steps, 1e-6);
        if (many.processor < best->processor) *best = many;
      }
    }
    const std::string what = fmt::format("ranks: MLP of 4 layers of {}, batch {}, 4 devices that share it", width, mlp.batch);
    print_figure(
        {what + ", sent by a device a step", "KiB", parts.sent / 1024, whole.sent / 1024, "whole tensors", width == 64 ? 0 : 0.55});
    print_figure(
        {what + ", processor time a step", "ms", 1e3 * parts.processor, 1e3 * one.processor, "one device", width == 64 ? 0 : 1.15});
    print_figure({what + ", processor time a step", "ms", 1e3 * parts.processor, 1e3 * whole.processor, "whole tensors"});
    std::filesystem::remove(one_file);
    std::filesystem::remove(four_file);
  }
}

int run_all() {
  run_collectives();
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
