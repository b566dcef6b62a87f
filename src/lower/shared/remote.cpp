#include "lower/shared/remote.h"

#include <popops/Cast.hpp>

namespace pando::lower {

poplar::Tensor remote_offset(OpLowering& o, std::size_t i) {
  const poplar::Tensor t = o.operand(i).reshape({1});
  if (t.elementType() == poplar::UNSIGNED_INT) return t;
  if (t.elementType() == poplar::INT) return t.reinterpret(poplar::UNSIGNED_INT);
  o.need(Library::popops);
  return popops::cast(o.graph(), t, poplar::UNSIGNED_INT, o.program(), o.name() + "/offset");
}

poplar::RemoteBuffer remote_buffer(OpLowering& o) { return o.channels().buffer(std::get<ir::BufferId>(*o.attributes().find("buffer"))); }

}  // namespace pando::lower
