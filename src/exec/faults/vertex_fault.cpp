#include "exec/faults/vertex_fault.h"

#include <unistd.h>

#include <algorithm>
#include <exception>
#include <fstream>

#include "base/error.h"
#include "base/files/temporary.h"
#include "codelet/code_ranges.h"
#include "codelet/popc/popc_process.h"

namespace pando::exec {

namespace {

std::string what_happened(const Guard& g) {
  switch (g.signal) {
    case SIGSEGV:
    case SIGBUS: return fmt::format("used the address {}, where there is no memory for it", g.address);
    case SIGFPE: return "divided by zero, or a quotient did not fit";
    case SIGILL: return "came to an illegal instruction";
    case SIGTRAP: return "came to a trap";
    case SIGABRT: return g.words[0] == '\0' ? std::string("called abort()") : fmt::format("called abort(): {}", g.words.data());
    case kStopSignal: return "did not end when the program was stopped, and was left where it was";
    default: return fmt::format("got signal {}", g.signal);
  }
}

}  // namespace

const tile::VertexInstance& VertexPlaces::vertex(std::uint32_t group, std::uint64_t index) const {
  const tile::VertexGroup& vertices = program_.computes[step_].groups[group];
  return program_.vertices[vertices.first + std::min<std::uint64_t>(index, vertices.count - 1)];
}

std::string VertexPlaces::place(const Guard& guard, std::uint32_t group, std::uint64_t first) const {
  const tile::ComputeStep& step = program_.computes[step_];
  const tile::VertexInstance& v = vertex(group, first + guard.at);
  return fmt::format("vertex {} ({}) on tile {}, in compute set '{}' (step c{})", v.vertex.value, library_[step.groups[group].codelet].name,
                     v.tile.value, program_.names[step.name.index()], step_);
}

// A tile's vertices go to its workers one after the other. All workers share a multi-vertex, which has one tag.
std::string VertexPlaces::tag(const Guard& guard, std::uint32_t group, std::uint64_t first, std::uint32_t replica) const {
  const tile::ComputeStep& step = program_.computes[step_];
  const tile::VertexInstance& v = vertex(group, first + guard.at);
  const auto is_worker = [&](const tile::VertexGroup& g) { return library_[g.codelet].kind == VertexKind::worker; };
  std::uint64_t before = 0;
  for (const tile::VertexGroup& g : step.groups) {
    if (!is_worker(g)) continue;
    const auto* begin = program_.vertices.data() + g.first;
    const auto [from, to] = std::equal_range(begin, begin + g.count, v, [](const auto& a, const auto& b) { return a.tile < b.tile; });
    before += static_cast<std::uint64_t>((&v >= from && &v < to ? &v : to) - from);
    if (&v >= from && &v < to) break;
  }
  const std::string worker = is_worker(step.groups[group]) ? fmt::format(", worker {}", before % program_.machine.workers) : std::string();
  return fmt::format("[{}tile {}{}, vertex {} ({}), compute set '{}' (step c{})] ",
                     program_.replication > 1 ? fmt::format("replica {}, ", replica) : std::string(), v.tile.value, worker, v.vertex.value,
                     library_[step.groups[group].codelet].name, program_.names[step.name.index()], step_);
}

void VertexPlaces::stop(const BreakAt& at, std::uint32_t group, std::uint64_t index) const {
  const tile::VertexInstance& v = vertex(group, index);
  const std::string& codelet = library_[program_.computes[step_].groups[group].codelet].name;
  if (at.is_vertex(v.tile.value, v.vertex.value, codelet))
    pando_break(v.tile.value, v.vertex.value, static_cast<unsigned>(step_), codelet.c_str());
}

bool VertexPlaces::has_stops(const BreakAt& at) const {
  if (!at.is_step(step_)) return false;
  for (const tile::VertexGroup& g : program_.computes[step_].groups)
    for (std::uint32_t i = 0; i < g.count; ++i) {
      const tile::VertexInstance& v = program_.vertices[g.first + i];
      if (at.is_vertex(v.tile.value, v.vertex.value, library_[g.codelet].name)) return true;
    }
  return false;
}

// popc reads the debug information, where the module has some.
std::string VertexPlaces::source_line(const Guard& guard, std::uint32_t group) const {
  const Module& module = library_.module(library_[program_.computes[step_].groups[group].codelet].module);
  const std::string& gp = module.gp_bytes.get();
  if (guard.code == 0 || !module.handle || gp.find(".debug_line") == std::string::npos) return {};
  try {
    const std::string file = temporary_file(".gp");
    std::ofstream(file, std::ios::binary) << gp;
    std::string answer = run_popc({fmt::format("--source-of={:#x}", guard.code - load_address(module.handle)), file}, "").messages;
    ::unlink(file.c_str());
    if (const std::size_t end = answer.find('\n'); end != answer.npos) answer.resize(end);
    return answer.empty() || answer.front() == '?' || answer.find(':') == answer.npos ? std::string() : ", at " + answer;
  } catch (const std::exception&) {
    return {};  // there is no popc
  }
}

void VertexPlaces::throw_fault(const Guard& guard, std::uint32_t group, std::uint64_t first) const {
  fail(ErrorKind::application_runtime_error, guard.signal == kStopSignal ? "vertex-stopped" : "vertex-fault",
       "{} {}{}; load the engine again", place(guard, group, first), what_happened(guard), source_line(guard, group));
}

void VertexPlaces::throw_exception(const Guard& guard, std::uint32_t group, std::uint64_t first) const {
  std::string what = "an exception of another language";
  try {
    throw;
  } catch (const std::exception& e) { what = e.what(); } catch (...) {
    what = "an exception that is no std::exception";
  }
  fail(ErrorKind::application_runtime_error, "vertex-exception", "{} (left {})", what, place(guard, group, first));
}

}  // namespace pando::exec
