#include "lower/parts/parts.h"

#include <pando/cpu_device.hpp>
#include <pando/placing.hpp>

namespace pando::lower {

Parts::Parts(const ir::Module& m, poplar::Graph& graph, const Options& options)
    : module(m),
      analysis(m, options.settings.flag("fuse")),
      decisions(options.decisions),
      places(m, graph, options.settings.number("num_io_tiles")),
      libraries(graph, options.settings),
      channels(m, graph),
      storages(m, places, analysis, cursor, decisions, loads),
      layouts(m, places, libraries, analysis, storages, decisions),
      memory(m, places, libraries, layouts, storages, loads),
      destinations(m, analysis, storages, layouts, decisions, options.settings.flag("fuse") && pando::reads_in_place(graph.getTarget())),
      telling(m, graph, storages, decisions),
      fusion(*this, options.settings.flag("fuse"), options.settings.flag("epilogues")),
      functions(*this) {
  // What these two ask of the parts after them.
  storages.make_constants_by([this](ir::ValueId v) { layouts.make_constant(v); });
  layouts.find_function_inputs_by([this](ir::GraphId g) -> const std::vector<poplar::Tensor>& { return functions.function(g).inputs; });
  pando::rotate_placements(graph, options.settings.flag("rotate"));
  // What the libraries make may be looked at and left.
  pando::count_created(graph, false);
}

}  // namespace pando::lower
