#include "ir/shared/remote_rows.h"

namespace pando::ir {

extern const OpRow op_remote_load_into;
constexpr OpRow op_remote_load_into = checked({
    .name = "remote_load_into",
    .doc = "Overwrites `t` with a row of a remote buffer; the result is t's new contents.",
    .signature = "remote_load_(remote_buffer: RemoteBuffer, offset: Union[int, Tensor], t: Tensor) -> Tensor",
    .module = "remote_load",
    .operands = {{{"t"}, {"offset", any_integer}}},
    .attributes = {{{"buffer", AttributeKind::buffer}}},
    .infer = [](Inference& in) {
      check_remote_offset(in, 1);
      check_remote_row(in, 0);
      in.result(in.operand(0));
    },
    .reference = [](Evaluation& e) { e.result(e.host().load_row(buffer_of(e.attributes()), e.operand(1).integer(0))); },
    .in_program_only = true,
    .modifies = {{{0, 0}}},
    .effects = Effects::remote,
    .popart_type = "RemoteLoadInplace",
    .whole = "rows of remote buffers are whole",
});

}  // namespace pando::ir
