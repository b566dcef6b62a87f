#include "ir/rows/define.h"

namespace pando::ir {

extern const OpRow op_constant;
constexpr OpRow op_constant = checked({
    .name = "constant",
    .doc = "Data that the program begins with and never changes.",
    .attributes = {{{"data", AttributeKind::blob}}},
    .infer = [](Inference& in) {
      const HostTensor& data = in.module().blob(std::get<BlobId>(*in.attributes().find("data")));
      in.result(data.dtype(), data.shape());
    },
    .reference = [](Evaluation& e) { e.result(e.module().blob(std::get<BlobId>(*e.attributes().find("data")))); },
    .in_program_only = true,
    .whole = "it has no operands to cut",
    .constant = true,
});

}  // namespace pando::ir
