// pando calibrate: the host as a machine that programs can be simulated on; or a script that measures other devices.
#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "base/command/arguments.h"
#include "base/command/files.h"
#include "cli/calibrate/gpu_scripts.h"
#include "cli/calibrate/torch_script.h"
#include "cli/command_row.h"
#include "kernels/gemm/gemm.h"
#include "simulate/cluster_json.h"
#include "simulate/costs/calibrate.h"

namespace pando::cli {
namespace {

// The product of the library of kernels that stands beside this program; it is no part of every installation.
decltype(&pando_gemm_packed) packed_product() {
  const auto beside = std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / "lib/libpando_kernels.so";
  void* const library = dlopen(beside.c_str(), RTLD_NOW);
  return library == nullptr ? nullptr : reinterpret_cast<decltype(&pando_gemm_packed)>(dlsym(library, "pando_gemm_packed"));
}

int run(const std::string& output, double seconds) {
  const auto product = packed_product();
  if (product == nullptr) {
    complain_of("calibrate", "libpando_kernels.so is not installed beside this program");
    return kWrong;
  }
  simulate::HostKernels kernels;
  kernels.product = [product](std::int64_t m, std::int64_t k, std::int64_t n, const float* a, const float* b, float* c) {
    product(static_cast<unsigned>(m), static_cast<unsigned>(n), static_cast<unsigned>(k), {a, static_cast<std::size_t>(k), 1, false},
            {b, static_cast<std::size_t>(n), 1, false}, c, static_cast<std::size_t>(n), 1, false, nullptr);
  };
  const simulate::Cluster host = simulate::calibrate_host(kernels, seconds);
  write_file(output, simulate::to_json(host));
  fmt::print(stderr, "products {:.1f} GFLOP/s, memory {:.1f} GB/s, messages {:.2f} us and {:.1f} GB/s\n", host.single_operations / 1e9,
             host.memory_bytes_per_second / 1e9, host.levels[0].latency * 1e6, host.levels[0].bytes_per_second / 1e9);
  return 0;
}

void describe(CLI::App* command, Invocation& invocation) {
  const auto output = std::make_shared<std::string>("-");
  const auto seconds = std::make_shared<double>(2);
  command->add_option("-o,--output", *output, "JSON file, with --torch and --steps the script; - is standard output")
      ->capture_default_str();
  command->add_option("--seconds", *seconds, "For how long")->check(check_positive)->check(CLI::Range(0.1, 600.0))->capture_default_str();
  const auto script = std::make_shared<bool>(false);
  CLI::Option* const torch = command->add_flag(
      "--torch", *script,
      "Write a Python script that measures the GPUs of a node with PyTorch (alone or under torchrun) and writes such a file");
  const auto like = std::make_shared<std::string>();
  const auto models = std::make_shared<std::vector<std::string>>();
  command->add_option("--like", *like, "With --torch: a machine whose numbers stand in for those that are not measured, as of its network")
      ->needs(torch);
  command->add_option("--model", *models, "With --torch: transformers whose products are measured, by name or file; some common ones")
      ->needs(torch)
      ->delimiter(',');
  const auto steps = std::make_shared<bool>(false);
  command
      ->add_flag("--steps", *steps,
                 "Write a Python script that times whole training steps on one GPU with PyTorch and writes a table for pando fit")
      ->excludes(torch);
  command->callback([output, seconds, script, steps, like, models, command, &invocation] {
    const bool writes_script = *steps || *script;
    if (writes_script && command->get_option("--seconds")->count() > 0)
      throw CLI::ValidationError("--seconds",
                                 *steps ? "the script of --steps has its own numbers of steps" : "the script has --quick instead");
    if (*steps) {
      write_file(*output, std::string(kStepsGpu));
      invocation.status = 0;
      return;
    }
    if (!*script) {
      invocation.status = run(*output, *seconds);
      return;
    }
    write_file(*output, torch_script(*like, *models));
    invocation.status = 0;
  });
}

}  // namespace

CommandRow command_calibrate() {
  return {
      .name = "calibrate",
      .group = CommandGroup::predict,
      .summary = "Measure this host, or with --torch any node; write it as a machine for simulate and search",
      .describe = describe,
      .examples = {{"pando calibrate -o host.json", "measure for two seconds"},
                   {"pando simulate step.pando --machine host.json", "use what was measured"},
                   {"pando calibrate --torch -o calibrate_gpu.py", "a script that measures the GPUs of a node"},
                   {"pando calibrate --steps -o steps_gpu.py", "a script that times training steps on a GPU, for pando fit"}},
      .statuses = {{"0", "measured"}, {"2", "the input or the command line is wrong"}},
  };
}

}  // namespace pando::cli
