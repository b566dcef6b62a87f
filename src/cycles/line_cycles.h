// Cycles by line of the codelets' sources, of modules that were compiled with lines (docs/cycles.md).
#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "codelet/code_lines.h"
#include "profile/report.h"
#include "tile/counts.h"
#include "tile/program.h"

namespace pando::cycles {

class LineCycles {
 public:
  // Keeps a reference to the program.
  LineCycles(const tile::Program& program, const Library& library) : program_(program), library_(library), counts_(program, library) {}

  // A compute step that ran `times`: its vertices that are counted by sizes.
  void add(const tile::ComputeStep& step, std::uint64_t times);
  // ... and those that were counted as they ran: how often their blocks ran all together (tile::StepEvent::counted_blocks).
  void add_as_run(const tile::ComputeStep& step, std::span<const std::uint64_t> blocks);
  // In the unit of the codelet's cycles, by file and line. Empty: its module has no lines, or none of its vertices was counted.
  std::vector<profile::LineCycles> of(CodeletId codelet) const;

 private:
  struct Known {
    std::shared_ptr<const CodeLines> lines;
    std::vector<std::uint64_t> blocks;  // how often each ran
  };
  Known& known(CodeletId codelet);

  const tile::Program& program_;
  const Library library_;
  tile::VertexCounts counts_;
  std::map<std::uint32_t, Known> known_;  // by codelet
};

}  // namespace pando::cycles
