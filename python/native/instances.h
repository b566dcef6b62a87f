// What Python holds of the processes that run one program together.
#pragma once

#include "native/native.h"

#include "session/instances.h"

namespace pando::python {

struct HeldInstances {
  std::shared_ptr<session::Instances> instances;
};

}  // namespace pando::python
