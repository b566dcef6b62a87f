#include "lower/parts/op_lowering.h"
#include "lower/parts/parts.h"

namespace pando::lower {

extern const Row lower_remote_code_load;
constexpr Row lower_remote_code_load = {
    .name = "remote_code_load",
    .lower =
        [](OpLowering& o) {
          Functions::Function& f = o.parts().functions.function(o.module().graphs(o.op())[0]);
          if (!f.has_buffer) {
            f.buffer = o.parts().places.top().addFunctionBuffer(f.function, poplar::FunctionBufferMappingType::REMOTE);
            f.has_buffer = true;
          }
          o.program().add(poplar::program::Copy(f.buffer, f.function, {o.name()}));
        },
};

}  // namespace pando::lower
