#include "modules/corpus.h"

#include "ir/text/print.h"
#include "model/generate.h"
#include "models/gpt.h"
#include "models/mlp.h"
#include "random.h"
#include "transform/distribute/parallelise.h"

namespace pando::fuzz {
namespace {

transform::Program some_model(Random& random) {
  if (random.chance(30)) {
    models::Gpt gpt;
    gpt.layers = static_cast<std::int64_t>(random.between(1, 2));
    return models::build_gpt(gpt);
  }
  models::Mlp mlp;
  mlp.layers = static_cast<std::int64_t>(random.between(1, 4));
  mlp.learning_rate = random.chance(80) ? 0.5 : 0;
  return models::build_mlp(mlp);
}

}  // namespace

std::string corpus_text(std::uint64_t n) {
  Random random(n);
  if (random.chance(60)) {
    ModelLimits limits = limits_of(n);
    limits.ops = 12;
    limits.most_elements = 40;
    return ir::print(generate_model(n, limits).builder->module());
  }
  const transform::Program program = some_model(random);
  if (random.chance(50)) return ir::print(program.module);
  transform::Strategy s;
  s.data = random.chance(40) ? 2 : 1;
  s.tensor = random.chance(30) ? 2 : 1;
  s.microbatches = random.chance(40) ? 2 : 1;
  try {
    return ir::print(transform::parallelise(program, s).module);
  } catch (const std::exception&) {  // a step that cannot be cut so
    return ir::print(program.module);
  }
}

}  // namespace pando::fuzz
