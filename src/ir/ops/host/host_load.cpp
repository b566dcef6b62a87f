#include "ir/rows/define.h"

namespace pando::ir {

extern const OpRow op_host_load;
constexpr OpRow op_host_load = checked({
    .name = "host_load",
    .doc = "The next slice of a stream from the host. Loads of one stream take successive slices, each replica its own.",
    .signature = "host_load(h2d_stream: HostToDeviceStream, name: Optional[str]=None) -> Tensor",
    .attributes = {{{"stream", AttributeKind::stream}}},
    .infer = [](Inference& in) {
      const HostStream& s = in.module().stream(std::get<HostStreamId>(*in.attributes().find("stream")));
      if (s.direction != HostStream::Direction::host_to_device)
        in.reject("stream-direction", "stream '{}' goes from the device to the host", s.name);
      in.result(s.dtype, s.shape);
    },
    .reference = [](Evaluation& e) { e.result(e.host().load(std::get<HostStreamId>(*e.attributes().find("stream")))); },
    .in_program_only = true,
    .effects = Effects::stream,
    .popart_type = "HostLoad",
    .whole = "each device loads its part from a stream of its own",
});

}  // namespace pando::ir
