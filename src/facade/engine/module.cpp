#include "poplar/Module.hpp"

#include "facade/engine/compile_graph.h"
#include "facade/state/state.h"
#include "poplar/Engine.hpp"

namespace pando::facade {

poplar::Module Access::module(std::unique_ptr<poplar::core::ExecutableState> state) {
  poplar::Module m;
  m.state_ = std::move(state);
  return m;
}

}  // namespace pando::facade

namespace poplar {

using pando::ErrorKind;
using pando::fail;

namespace {

[[noreturn]] void no_image(const core::ExecutableState* state, const char* what) {
  if (!state) fail(ErrorKind::poplar_error, "no-module", "Module::{}: this module is default-constructed, or was moved from", what);
  fail(ErrorKind::poplar_error, "module-image", "Module::{}: codelets are code of the host: there is no image of a tile's memory of an IPU",
       what);
}

}  // namespace

Module::Module() = default;
Module::~Module() = default;
Module::Module(Module&&) noexcept = default;
Module& Module::operator=(Module&&) noexcept = default;

void Module::serialize(std::ostream&) const { no_image(state_.get(), "serialize"); }
void Module::forEachSegment(std::function<void(std::size_t, std::size_t, std::size_t, std::size_t, const char*)>) const {
  no_image(state_.get(), "forEachSegment");
}
void Module::forEachLoadableSegment(std::function<void(std::size_t, std::size_t, std::size_t, const char*)>) const {
  no_image(state_.get(), "forEachLoadableSegment");
}

Module compileModule(const Graph& graph, program::Program program, const OptionFlags& options, ProgressFunc progressCallBack,
                     const DebugContext&) {
  auto compiled = pando::facade::compile_executable(graph, {program}, pando::facade::parse_engine_options(options, true), progressCallBack);
  const pando::tile::Program& p = *compiled->program;
  if (!p.fifos.empty())
    fail(ErrorKind::poplar_error, "module-streams", "compileModule: a module has no data streams; the program has '{}'", p.fifos[0].handle);
  return pando::facade::Access::module(std::move(compiled));
}

}  // namespace poplar
