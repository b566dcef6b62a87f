// One conformance case, on one machine: what a case builds its program with.
//
// A case is a function of a World: it adds variables and vertices without saying where they are (the world maps them by its
// policy), runs programs, and compares. Every case runs on every machine that it does not decline, with one thread and with
// two; whatever it reads is kept, and must be the same bytes in both.
#pragma once

#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <poplar/CycleCount.hpp>
#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplar/IPUModel.hpp>
#include <poplar/Program.hpp>

namespace conformance {

struct Machine {
  std::string name;
  std::function<poplar::Device()> device;
  bool uneven = false;  // variables are scattered in pieces of random length
};

// A check of a case did not hold.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class World {
 public:
  World(const Machine& machine, unsigned replicas);

  const Machine& machine() const { return machine_; }

  poplar::Device device;
  poplar::Graph graph;
  poplar::program::Sequence program;

  // The next tile by the policy; mapping of a tensor's elements by the policy.
  unsigned tile();
  void map(const poplar::Tensor& tensor);
  poplar::Tensor variable(const poplar::Type& type, std::vector<std::size_t> shape, const std::string& name);
  // A variable with initial values.
  template <class T>
  poplar::Tensor variable(const poplar::Type& type, std::vector<std::size_t> shape, const std::vector<T>& values, const std::string& name) {
    poplar::Tensor t = variable(type, std::move(shape), name);
    graph.setInitialValue(t, poplar::ArrayRef<T>(values));
    return t;
  }
  // 0, 1, 2 ...
  poplar::Tensor counting(std::vector<std::size_t> shape, const std::string& name, float first = 0);
  // Adds a vertex on the next tile.
  poplar::VertexRef vertex(poplar::ComputeSet set, const std::string& type);
  // The codelets of this folder.
  void add_codelets(const std::string& file);

  // Makes an engine of `programs` (of `program`, if there are none) and loads it.
  poplar::Engine& engine(std::vector<poplar::program::Program> programs = {});
  void run(unsigned index = 0) { engine_->run(index); }

  // Reads a tensor that has a host read of that name.
  template <class T>
  std::vector<T> read(const std::string& name, std::size_t elements) {
    std::vector<T> out(elements * graph_replicas_);
    engine_->readTensor(name, out.data(), out.data() + out.size());
    keep(out.data(), out.size() * sizeof(T));
    return out;
  }
  // Makes it readable, to be called before engine().
  void readable(const std::string& name, const poplar::Tensor& tensor) { graph.createHostRead(name, tensor); }

  template <class T>
  void expect(const std::vector<T>& have, const std::vector<T>& want, const std::string& what) {
    if (have != want) fail(what + ": found " + text(have) + ", expected " + text(want));
  }
  void expect(bool condition, const std::string& what) {
    if (!condition) fail(what);
  }
  template <class Error>
  void expect_throws(const std::function<void()>& action, const std::string& part, const std::string& what) {
    try {
      action();
    } catch (const Error& e) {
      if (std::string(e.what()).find(part) == std::string::npos) fail(what + ": the message lacks '" + part + "': " + e.what());
      return;
    } catch (const std::exception& e) { fail(what + ": another class of exception: " + e.what()); }
    fail(what + ": nothing was thrown");
  }

  // What this run has seen, for the comparison of thread counts.
  void keep(const void* data, std::size_t bytes) { seen_.append(static_cast<const char*>(data), bytes); }
  const std::string& seen() const { return seen_; }
  // Ends the case: it says nothing about this machine.
  [[noreturn]] void decline() { throw Declined{}; }
  struct Declined {};

 private:
  [[noreturn]] void fail(const std::string& what) { throw Failure(what); }
  template <class T>
  static std::string text(const std::vector<T>& values) {
    std::ostringstream out;
    out << "[";
    for (std::size_t i = 0; i < values.size() && i < 40; ++i) out << (i == 0 ? "" : " ") << +values[i];
    out << "]";
    return out.str();
  }

  const Machine& machine_;
  unsigned graph_replicas_;
  unsigned tiles_used_ = 0;
  std::unique_ptr<poplar::Engine> engine_;
  std::string seen_;
};

struct Case {
  const char* name;
  void (*run)(World&);
  unsigned replicas = 1;
};

// The table: one list per file.
std::vector<Case> view_cases();
std::vector<Case> field_cases();
std::vector<Case> program_cases();
std::vector<Case> host_cases();
std::vector<Case> replica_cases();
std::vector<Case> executable_cases();

}  // namespace conformance
