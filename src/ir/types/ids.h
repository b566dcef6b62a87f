// What the model level counts. All dense from zero within one module.
#pragma once

#include "base/ids.h"

namespace pando::ir {

using GraphId = Id<struct IrGraphTag>;
using OpId = Id<struct IrOpTag>;
using ValueId = Id<struct IrValueTag>;
using TypeId = Id<struct IrTypeTag>;
using AttributesId = Id<struct IrAttributesTag>;
// A place in the user's program: file, line, function.
using LocationId = Id<struct IrLocationTag>;
using NameId = Id<struct IrNameTag>;
// Data of the host that constants and variables begin with.
using BlobId = Id<struct IrBlobTag>;
using HostStreamId = Id<struct IrHostStreamTag>;
using BufferId = Id<struct IrRemoteBufferTag>;
using StateId = Id<struct IrStateTag>;
// A row of the op table.
using OpKind = Id<struct IrOpKindTag, std::uint16_t>;
// What a user holds: a name for storage whose contents change. See builder.h.
using TensorId = Id<struct IrTensorTag>;

}  // namespace pando::ir
