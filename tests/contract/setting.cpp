#include "setting.h"
#include "base/testing/places.h"

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "codelet/hand_made.h"

namespace pando::contract {
namespace {

struct AddObject {
  VectorEdge x, y;
};

bool add_kernel(char* first, std::uint64_t stride, std::uint64_t count, std::uint64_t*) {
  trace().arrive();
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto* o = reinterpret_cast<const AddObject*>(first + i * stride);
    for (std::uint64_t k = 0; k < o->y.size; ++k) static_cast<float*>(o->y.data)[k] = static_cast<const float*>(o->x.data)[k] + 1;
  }
  return true;
}

Codelet add_codelet() {
  Codelet c =
      hand_made_codelet<AddObject>("Add", {hand_made_field("x", FieldKind::input), hand_made_field("y", FieldKind::output)}, add_kernel);
  c.code_bytes = 128;
  c.stack_bytes = 64;
  return c;
}

}  // namespace

Trace& trace() {
  static Trace t;
  return t;
}

void Trace::expect(std::size_t at_least) {
  const std::lock_guard lock(mutex_);
  threads_.clear();
  expected_ = at_least;
}

void Trace::arrive() {
  std::unique_lock lock(mutex_);
  if (threads_.insert(std::this_thread::get_id()).second) changed_.notify_all();
  // After a timeout nobody waits again: the test fails, it does not hang.
  if (!changed_.wait_for(lock, std::chrono::seconds(20), [&] { return threads_.size() >= expected_; })) expected_ = 0;
}

std::size_t Trace::threads() {
  const std::lock_guard lock(mutex_);
  return threads_.size();
}

Setting::Setting(Machine machine, unsigned replicas) : graph(std::move(machine), replicas) {
  graph.library().add_builtin("contract", {add_codelet()});
}

View Setting::variable(const std::string& name, std::size_t elements, std::vector<std::uint32_t> on, ElementType type) {
  const View v = graph.view(graph.add_variable(type, {elements}, name));
  const std::size_t block = elements / on.size();
  for (std::size_t i = 0; i < on.size(); ++i)
    graph.set_tile_mapping(v.slice(i * block, i + 1 == on.size() ? elements : (i + 1) * block, 0), TileId(on[i]));
  return v;
}

View Setting::variable(const std::string& name, const std::vector<float>& values, std::vector<std::uint32_t> on) {
  const View v = variable(name, values.size(), std::move(on));
  graph.set_initial_value(v, std::string(reinterpret_cast<const char*>(values.data()), values.size() * 4));
  return v;
}

void Setting::add_vertex(ComputeSetId set, const View& x, const View& y, std::uint32_t tile) {
  user_vertex(set, "Add", tile, {{"x", x}, {"y", y}});
}

ProgramPtr Setting::add(const View& x, const View& y, std::uint32_t tile, const std::string& name) {
  const ComputeSetId set = graph.add_compute_set(name);
  add_vertex(set, x, y, tile);
  return graph::make_program(graph::Execute{set, {}}, name);
}

void Setting::add_user_codelets() {
  CodeletSource source;
  source.files = {source_path("tests/contract/codelets/slice.cpp")};
  std::ostringstream diagnostics;
  // Code sizes are in the golden texts: code for every host of this instruction set, not for this one.
#if defined(__x86_64__)
  constexpr const char* kLeast = "-O2 -march=x86-64-v2";
#else
  constexpr const char* kLeast = "-O2 -march=armv8-a";
#endif
  graph.library().compile(source, kLeast, &diagnostics);
  ASSERT_EQ(diagnostics.str(), "");
}

VertexId Setting::user_vertex(ComputeSetId set, const std::string& codelet, std::uint32_t tile,
                              const std::vector<std::pair<std::string, View>>& operands) {
  const VertexId v = graph.add_vertex(set, codelet);
  graph.set_tile_mapping(v, TileId(tile));
  for (const auto& [field, view] : operands) graph.connect({v, field, {}}, view);
  return v;
}

std::shared_ptr<const tile::Program> Setting::compile(const std::vector<ProgramPtr>& programs, compile::Options options) {
  options.validate = true;
  options.bounded_memory = graph.machine().bounded_memory;
  graph::verify(graph, programs);
  compile::Result result = compile::compile(graph, programs, options);
  EXPECT_EQ(result.out_of_memory, nullptr);
  EXPECT_THAT(tile::verify(*result.program, graph.library()), testing::IsEmpty());
  return result.program;
}

std::unique_ptr<exec::Runner> Setting::load(std::shared_ptr<const tile::Program> program, unsigned threads, bool prefetch_tiles) {
  exec::Options options;
  options.threads = threads;
  options.prefetch_tiles = prefetch_tiles;
  options.poison_undefined = true;
  graph.library().link("");
  return std::make_unique<exec::Runner>(std::move(program), graph.library(), options);
}

std::vector<tile::Allocation> allocations(const tile::Program& program, const std::string& part) {
  std::vector<tile::Allocation> list;
  for (const tile::Allocation& a : program.allocations)
    if (a.name.valid() && program.names[a.name.index()].find(part) != std::string::npos) list.push_back(a);
  return list;
}

std::vector<tile::Allocation> allocations(const tile::Program& program, tile::Category category) {
  std::vector<tile::Allocation> list;
  for (const tile::Allocation& a : program.allocations)
    if (a.category == category) list.push_back(a);
  return list;
}

}  // namespace pando::contract
