#include "ir/shared/remote_rows.h"

namespace pando::ir {

Type remote_row_type(const Inference& in) {
  const RemoteBuffer& b = in.module().buffer(buffer_of(in.attributes()));
  Type t = tensor_type(b.dtype, b.shape);
  t.meta_shape = b.meta_shape;
  return t;
}

void check_remote_offset(const Inference& in, std::size_t operand) {
  if (elements_of(in.shape(operand)) != 1)
    in.reject("remote-offset", "the offset has shape {}; it is one number", to_string(in.shape(operand)));
}

void check_remote_row(const Inference& in, std::size_t operand) {
  const Type row = remote_row_type(in), &t = in.operand(operand);
  if (t.dtype == row.dtype && t.shape == row.shape) return;
  in.reject("remote-row-type", "rows of remote buffer {} are {} of shape {}", in.module().buffer(buffer_of(in.attributes())).number,
            name_of(row.dtype), to_string(row.shape));
}

}  // namespace pando::ir
