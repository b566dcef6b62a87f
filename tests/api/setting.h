// A small machine with mapped variables and the codelets of this folder, for programs of a few lines.
#pragma once

#include "base/testing/places.h"

#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplar/IPUModel.hpp>
#include <poplar/Program.hpp>

#include <string>
#include <vector>

namespace api {

// Of the folder `codelets`: "scale.cpp".
inline std::string codelet_file(const std::string& name) { return pando::source_path("tests/api/codelets/" + name); }

poplar::Device ipus(unsigned n = 1, unsigned tiles_per_ipu = 4);

struct Setting {
  explicit Setting(unsigned n_ipus = 1, unsigned replicas = 1)
      : device(ipus(n_ipus)), graph(device, poplar::replication_factor(replicas)), set(graph.addComputeSet("work")) {}

  poplar::Device device;
  poplar::Graph graph;
  poplar::ComputeSet set;
  poplar::program::Sequence program;

  void add_codelets() { graph.addCodelets(codelet_file("scale.cpp")); }
  poplar::Tensor variable(const poplar::Type& type, std::vector<std::size_t> shape, const std::string& name, unsigned tile = 0);
  // y[i] = x[i] * factor, on a tile.
  poplar::VertexRef scale(const poplar::Tensor& x, const poplar::Tensor& y, float factor = 2, unsigned tile = 0);
  poplar::Engine loaded();
};

// Sets an environment variable while it lives.
class Environment {
 public:
  Environment(const char* name, const std::string& value);
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  std::string name_, before_;
  bool had_;
};

// A fresh directory that goes away.
class Directory {
 public:
  Directory();
  ~Directory();
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  // Writes a file and returns its path.
  std::string file(const std::string& name, const std::string& text) const;

 private:
  std::string path_;
};

}  // namespace api
