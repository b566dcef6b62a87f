// The graph's generator: four words, a key and a counter. Both vertices run once, on one tile.
#ifdef __POPC__
#include "poplibs/poprand/random_rows.h"

namespace poprand {

// The key of the next call, and the generator moved on by one.
class NextKey : public poplar::Vertex {
 public:
  NextKey();
  poplar::InOut<poplar::Vector<unsigned>> generator;
  poplar::Output<poplar::Vector<unsigned>> key;

  bool compute() {
    const PandoRandomStream s = {{generator[0], generator[1]}, 0x6b657973u};
    const unsigned long long count = generator[2] | static_cast<unsigned long long>(generator[3]) << 32;
    unsigned words[2];
    pando_random_bits(s, 2 * count, 2, words);
    key[0] = words[0], key[1] = words[1];
    generator[2] = static_cast<unsigned>(count + 1), generator[3] = static_cast<unsigned>((count + 1) >> 32);
    return true;
  }
};

// The generator at its start for a seed and a modifier.
class StartGenerator : public poplar::Vertex {
 public:
  StartGenerator();
  poplar::Input<poplar::Vector<unsigned>> seed;
  poplar::Output<poplar::Vector<unsigned>> generator;
  const unsigned modifier;

  bool compute() {
    const PandoRandomStream s = {{seed[0], seed[1]}, 0x73656564u};
    unsigned words[2];
    pando_random_bits(s, 4ull * modifier, 2, words);
    generator[0] = words[0], generator[1] = words[1], generator[2] = 0, generator[3] = 0;
    return true;
  }
};

}  // namespace poprand
#else
#include "poplibs/codelet_file.h"

namespace poprand {

using namespace pando::poplibs;

// One block of the generator in integer arithmetic.
Estimates estimates_seed() {
  const auto cost = [](const VertexIntrospector&, const Target&) { return VertexPerfEstimate(120); };
  return {{"poprand::NextKey", cost}, {"poprand::StartGenerator", cost}};
}

}  // namespace poprand
#endif
