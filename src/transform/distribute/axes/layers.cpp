#include "transform/distribute/axis.h"

namespace pando::transform {

AxisRow axis_layers() {
  return {.word = "layers",
          .position = 100,
          .doc = "Layers of the pipeline's stages, one number for each",
          .option = "layers-per-stage",
          .numbers = &Strategy::layers_per_stage};
}

}  // namespace pando::transform
