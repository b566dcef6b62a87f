#include "ir/rows/define.h"

namespace pando::ir {

extern const OpRow op_host_store;
constexpr OpRow op_host_store = checked({
    .name = "host_store",
    .doc = "Appends a tensor to a stream to the host. The tensor has the stream's shape and element type.",
    .signature = "host_store(d2h_stream: DeviceToHostStream, t: Tensor) -> None",
    .operands = {{{"t"}}},
    .attributes = {{{"stream", AttributeKind::stream}}},
    .infer = [](Inference& in) {
      const HostStream& s = in.module().stream(std::get<HostStreamId>(*in.attributes().find("stream")));
      if (s.direction != HostStream::Direction::device_to_host)
        in.reject("stream-direction", "stream '{}' goes from the host to the device", s.name);
      if (in.dtype(0) != s.dtype || in.shape(0) != s.shape) {
        in.reject("stream-type", "stream '{}' takes {} of shape {}", s.name, name_of(s.dtype), to_string(s.shape));
      }
    },
    .reference = [](Evaluation& e) { e.host().store(std::get<HostStreamId>(*e.attributes().find("stream")), e.operand(0)); },
    .in_program_only = true,
    .effects = Effects::stream,
    .popart_type = "HostStore",
    .whole = "the host gets the whole tensor",
});

}  // namespace pando::ir
