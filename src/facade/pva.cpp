#include "pva/pva.hpp"

#include <algorithm>
#include <fstream>

#include "base/error.h"
#include "poplar/Graph.hpp"
#include "profile/report.h"

namespace pva {

using pando::ErrorKind;
using pando::fail;

std::uint64_t Graph::numVars() const { return report_->graph.variables; }
std::uint64_t Graph::numVertices() const { return report_->graph.vertices; }
std::uint64_t Graph::numComputeSets() const { return report_->graph.compute_sets; }
std::uint64_t Graph::numEdges() const { return report_->graph.edges; }

unsigned Target::numIPUs() const { return report_->target.ipus; }
unsigned Target::tilesPerIpu() const { return report_->target.tiles_per_ipu; }
unsigned Target::numTiles() const { return report_->target.tiles; }
unsigned Target::numReplicas() const { return report_->target.replicas; }
std::uint64_t Target::bytesPerTile() const { return report_->target.bytes_per_tile; }
double Target::clockFrequency() const { return report_->target.clock_hz; }
std::string Target::architecture() const { return report_->target.name; }

std::uint64_t TileMemory::total() const { return report_->tiles[tile_].used; }
std::uint64_t TileMemory::totalIncludingGaps() const { return report_->tiles[tile_].with_gaps; }
std::uint64_t TileMemory::vertices() const { return category("vertex_code") + category("vertex_state"); }
std::uint64_t TileMemory::variables() const { return category("variable") + category("constant"); }
std::uint64_t TileMemory::category(const std::string& name) const {
  const auto& categories = report_->categories;
  const auto it = std::find_if(categories.begin(), categories.end(), [&](const auto& c) { return c.category == name; });
  const auto i = static_cast<std::size_t>(it - categories.begin());
  const auto& bytes = report_->tiles[tile_].by_category;
  return i < bytes.size() ? bytes[i] : 0;
}

std::vector<Tile> Compilation::tiles() const {
  std::vector<Tile> result;
  for (std::size_t i = 0; i < report_->tiles.size(); ++i) result.push_back(Tile(report_, i));
  return result;
}
std::string Compilation::outOfMemory() const { return report_->out_of_memory; }

std::string Step::stream() const { return report_->steps[step_].stream; }
std::string Step::name() const { return report_->steps[step_].name; }
std::string Step::kind() const { return report_->steps[step_].kind; }
std::uint64_t Step::executions() const { return report_->steps[step_].executions; }
std::uint64_t Step::cycles() const { return report_->steps[step_].cycles.total(); }

std::vector<Step> Execution::steps() const {
  std::vector<Step> result;
  for (std::size_t i = 0; i < report_->steps.size(); ++i) result.push_back(Step(report_, i));
  return result;
}
std::string Program::name() const { return report_->blocks[block_].name; }
Program::Type Program::type() const { return report_->blocks[block_].stream_copy ? Type::StreamCopyMid : Type::Unknown; }

std::uint64_t Block::cyclesFrom() const { return report_->blocks[block_].begin; }
std::uint64_t Block::cyclesTo() const { return report_->blocks[block_].end; }
std::shared_ptr<Program> Block::program() const { return std::shared_ptr<Program>(new Program(report_, block_)); }
bool Block::isStreamCopy() const { return report_->blocks[block_].stream_copy; }

namespace {

bool has_tile(const pando::profile::BlockStream& stream, unsigned tile) {
  for (std::size_t i = 0; i + 1 < stream.tiles.size(); i += 2)
    if (tile >= stream.tiles[i] && tile < stream.tiles[i + 1]) return true;
  return false;
}

}  // namespace

std::vector<Block> Execution::blocks(unsigned tile) const {
  const auto& streams = report_->block_streams;
  if (tile >= report_->target.tiles)
    fail(ErrorKind::index_error, "report-tile", "blocks of tile {}: the report has {} tiles", tile, report_->target.tiles);
  const unsigned per_ipu = std::max(1u, report_->target.tiles_per_ipu);
  auto of_tile = std::find_if(streams.begin(), streams.end(), [&](const auto& s) { return has_tile(s, tile); });
  if (of_tile == streams.end())
    of_tile = std::find_if(streams.begin(), streams.end(), [&](const auto& s) { return !s.io && s.ipu == tile / per_ipu; });
  std::vector<Block> result;
  for (std::size_t i = 0; i < report_->blocks.size(); ++i)
    if (of_tile - streams.begin() == static_cast<std::ptrdiff_t>(report_->blocks[i].stream)) result.push_back(Block(report_, i, tile));
  return result;
}

std::uint64_t Execution::totalCycles() const { return report_->total_cycles; }
std::uint64_t Execution::runs() const { return report_->runs; }

std::string Version::string() const { return poplar::versionString().cloneAsString(); }

bool Report::hasExecution() const { return report_->executed; }
Execution Report::execution() const {
  if (!hasExecution())
    fail(ErrorKind::profiling_disabled, "no-execution", "the report has no execution: no program was run, or cycles were not counted");
  return Execution(report_);
}

Report openReport(const std::string& path) {
  std::ifstream in(path);
  if (!in && path.ends_with(".pop")) in.open(path.substr(0, path.size() - 4) + ".json");
  if (!in) fail(ErrorKind::file_load_error, "report-file", "cannot read the report '{}'", path);
  return Report(std::make_shared<const pando::profile::Report>(pando::profile::read_json(in)));
}

}  // namespace pva
