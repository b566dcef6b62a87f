// What the tests of this module share.
#pragma once

#include "base/testing/golden.h"
#include "ir/text/parse.h"
#include "project/checks/check.h"
#include "project/running/run.h"
#include "project/text/parse.h"
#include "project/text/print.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace pando::project::testing {

inline std::string read_golden(const std::string& name) { return pando::read_golden("project/" + name + ".txt"); }
inline void expect_golden(const std::string& name, const std::string& text) { pando::expect_golden("project/" + name + ".txt", text); }

// The loop of the note on pipelining, placed on two devices.
inline ir::Module note() { return ir::parse(read_golden("note"), "note.txt"); }

// (slices, shape), numbers between -1 and 1.
inline ir::HostTensor slices(std::int64_t n, const ir::Shape& shape, unsigned seed, ir::DType dtype = ir::DType::float32) {
  ir::Shape all{n};
  all.insert(all.end(), shape.begin(), shape.end());
  ir::HostTensor t(dtype, all);
  std::uint32_t state = seed * 2654435761u + 1;
  for (std::int64_t i = 0; i < t.elements(); ++i) {
    state = state * 1664525u + 1013904223u;
    t.set(i, static_cast<double>(state >> 8) / (1 << 23) - 1);
  }
  return t;
}

inline HostInputs note_inputs(std::int64_t samples) { return {{"x", slices(samples, {3, 3}, 1)}, {"l", slices(samples, {3, 3}, 2)}}; }

struct Projected {
  LoopProgram loop;
  Lags lags;
  ProjectedProgram program;
};

inline Projected projected(ir::Module module, const std::string& policy, const ProjectOptions& options = {}) {
  Projected p;
  p.loop = make_loop(std::move(module), parse_policy(policy));
  p.lags = solve_lags(p.loop);
  p.program = project(p.loop, p.lags, options);
  return p;
}

}  // namespace pando::project::testing
