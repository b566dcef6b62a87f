#include "ir/shared/remote_rows.h"

namespace pando::ir {

extern const OpRow op_remote_load;
constexpr OpRow op_remote_load = checked({
    .name = "remote_load",
    .doc = "A row of a remote buffer. `offset`: which row, an integer scalar. A row outside the buffer is an error.",
    .signature = "remote_load(remote_buffer: RemoteBuffer, offset: Union[int, Tensor], name: Optional[str]=None) -> Tensor",
    .operands = {{{"offset", any_integer}}},
    .attributes = {{{"buffer", AttributeKind::buffer}}},
    .infer = [](Inference& in) {
      check_remote_offset(in, 0);
      in.result(remote_row_type(in));
    },
    .reference = [](Evaluation& e) { e.result(e.host().load_row(buffer_of(e.attributes()), e.operand(0).integer(0))); },
    .in_program_only = true,
    .effects = Effects::remote,
    .popart_type = "RemoteLoad",
    .whole = "rows of remote buffers are whole",
});

}  // namespace pando::ir
