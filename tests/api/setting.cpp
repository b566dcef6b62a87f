#include "setting.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace api {

poplar::Device ipus(unsigned n, unsigned tiles_per_ipu) {
  poplar::IPUModel model("ipu2");
  model.numIPUs = n;
  model.tilesPerIPU = tiles_per_ipu;
  return model.createDevice();
}

poplar::Tensor Setting::variable(const poplar::Type& type, std::vector<std::size_t> shape, const std::string& name, unsigned tile) {
  poplar::Tensor t = graph.addVariable(type, shape, name);
  graph.setTileMapping(t, tile);
  return t;
}

poplar::VertexRef Setting::scale(const poplar::Tensor& x, const poplar::Tensor& y, float factor, unsigned tile) {
  const poplar::VertexRef v = graph.addVertex(set, "Scale", {{"x", x}, {"y", y}, {"factor", factor}});
  graph.setTileMapping(v, tile);
  return v;
}

poplar::Engine Setting::loaded() {
  poplar::Engine engine(graph, program);
  engine.load(device);
  return engine;
}

Environment::Environment(const char* name, const std::string& value) : name_(name), had_(std::getenv(name)) {
  if (had_) before_ = std::getenv(name);
  setenv(name, value.c_str(), 1);
}
Environment::~Environment() {
  if (had_)
    setenv(name_.c_str(), before_.c_str(), 1);
  else
    unsetenv(name_.c_str());
}

Directory::Directory() : path_((std::filesystem::temp_directory_path() / "pando-api-XXXXXX").string()) {
  if (!mkdtemp(path_.data())) std::abort();
}
Directory::~Directory() { std::filesystem::remove_all(path_); }
std::string Directory::file(const std::string& name, const std::string& text) const {
  std::ofstream(*this / name) << text;
  return *this / name;
}

}  // namespace api
