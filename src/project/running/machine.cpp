#include "project/running/machine.h"

namespace pando::project {

std::string describe(const ProjectedProgram& p, const std::vector<Waiting>& waiting) {
  std::string text;
  for (const Waiting& w : waiting) {
    const Stream& s = p.streams[w.stream];
    const std::int32_t other = w.sends ? s.to : s.from;
    text += fmt::format("{}device {}, trip {}, waits to {} on stream '{}' for device {}, which ", text.empty() ? "" : "; ", w.device,
                        w.trip, w.sends ? "send" : "receive", s.name, other);
    const Waiting* its = nullptr;
    for (const Waiting& x : waiting) {
      if (x.device == other) its = &x;
    }
    text += its ? fmt::format("waits to {} on '{}'", its->sends ? "send" : "receive", p.streams[its->stream].name) : "has ended";
  }
  return text;
}

}  // namespace pando::project
