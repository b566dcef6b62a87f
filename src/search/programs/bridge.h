// From a point of the search over a transformer's sizes to a program.
#pragma once

#include "search/strategy.h"
#include "transform/distribute/parallelise.h"

#include <string_view>

namespace pando::search {

// Rejects (poplar_error) a transformer of which no program can be built.
void check_has_program(const Transformer& model);
// The step of training that the sizes describe: a GPT with `batch` samples. Rejects (poplar_error) sizes that the builder has no words for.
transform::Program program_of(const Transformer& model, std::int64_t batch, ir::DType dtype = ir::DType::float16);
// The transforms' strategy of a point. Rejects (poplar_error) what no transform does: a space with `runnable` has no such points.
Strategy transforms_of(const StrategyFacts& facts, const Strategy& s);

// Rejects (poplar_error, id program-size) a program of all devices whose writing takes more memory than is free for this process
// (program_size.h). `target`: what is written, as --emit has it.
void check_can_be_written(const transform::Program& whole, const Strategy& s, std::string_view target);

}  // namespace pando::search
