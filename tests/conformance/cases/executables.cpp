// Executables: compiled here, run there.
#include <sys/wait.h>
#include <unistd.h>

#include <poplar/Executable.hpp>
#include <poplar/exceptions.hpp>

#include "world.h"

namespace conformance {
namespace {

using poplar::Tensor;
using namespace poplar::program;

std::string compiled(World& w) {
  w.add_codelets("fields.cpp");
  const Tensor v = w.counting({6}, "v");
  const poplar::ComputeSet set = w.graph.addComputeSet("cs");
  const poplar::VertexRef vertex = w.vertex(set, "PlusOne");
  w.graph.connect(vertex["x"], v);
  w.graph.connect(vertex["y"], v);
  w.readable("v", v);
  const poplar::Executable executable = poplar::compileGraph(w.graph, {Execute(set), Copy(v.reverse(0), v)});
  std::ostringstream out;
  executable.serialize(out);
  return out.str();
}

// In this process: loads the bytes, runs, and returns what `v` holds.
std::vector<float> loaded_and_run(const std::string& bytes, const poplar::Device& device) {
  std::istringstream in(bytes);
  poplar::Engine engine(poplar::Executable::deserialize(in));
  engine.load(device);
  engine.run(0);
  engine.run(1);
  std::vector<float> v(6);
  engine.readTensor("v", v.data(), v.data() + v.size());
  return v;
}

void another_process_runs_it(World& w) {
  const std::string bytes = compiled(w);
  int ends[2];
  w.expect(pipe(ends) == 0, "a pipe");
  const pid_t child = fork();
  if (child == 0) {
    int code = 1;
    try {
      const std::vector<float> v = loaded_and_run(bytes, w.device);
      code = ::write(ends[1], v.data(), 24) == 24 ? 0 : 2;
    } catch (const std::exception& e) { code = 3; }
    _exit(code);
  }
  std::vector<float> v(6);
  close(ends[1]);
  const bool read_all = ::read(ends[0], v.data(), 24) == 24;
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  w.expect(read_all && WIFEXITED(status) && WEXITSTATUS(status) == 0, "the other process fails");
  w.expect(v, {6, 5, 4, 3, 2, 1}, "in the other process");
  w.expect(loaded_and_run(bytes, w.device), {6, 5, 4, 3, 2, 1}, "in this process");
}

void corrupt_executables_are_rejected(World& w) {
  const std::string bytes = compiled(w);
  const auto deserialize = [](const std::string& text) {
    std::istringstream in(text);
    poplar::Executable::deserialize(in);
  };
  for (std::size_t length : {std::size_t{0}, std::size_t{7}, bytes.size() / 2, bytes.size() - 1})
    w.expect_throws<poplar::poplar_error>([&] { deserialize(bytes.substr(0, length)); }, "",
                                          "an executable cut at " + std::to_string(length));
  w.expect_throws<poplar::poplar_error>(
      [&] {
        deserialize(
            "\x7f"
            "ELF" +
            bytes);
      },
      "", "another kind of file");
}

void compiling_is_deterministic(World& w) {
  const std::string one = compiled(w);
  World again = World(w.machine(), 1);
  w.expect(one == compiled(again), "the same program compiles to the same bytes");
}

}  // namespace

std::vector<Case> executable_cases() {
  return {{"another_process_runs_it", another_process_runs_it},
          {"corrupt_executables_are_rejected", corrupt_executables_are_rejected},
          {"compiling_is_deterministic", compiling_is_deterministic}};
}

}  // namespace conformance
