// C3 and C6: the two ends of each stream.
#include "project/checks/check.h"
#include "project/text/print.h"

#include <fmt/format.h>

namespace pando::project {

namespace {

enum class StreamSection : std::uint8_t { before, loop, update };

struct End {
  const DeviceProgram* device = nullptr;
  const Action* action = nullptr;
  StreamSection section = StreamSection::before;
};

class Ends {
 public:
  Ends(const ProjectedProgram& p, std::vector<Violation>& found)
      : p_(p), found_(found), senders_(p.streams.size()), receivers_(p.streams.size()) {}

  void run() {
    for (const DeviceProgram& d : p_.devices) {
      add(d, d.before, StreamSection::before);
      add(d, d.loop, StreamSection::loop);
      add(d, d.update, StreamSection::update);
    }
    for (std::size_t s = 0; s < p_.streams.size(); ++s) stream(p_.streams[s], senders_[s], receivers_[s]);
  }

 private:
  void add(const DeviceProgram& d, const std::vector<Action>& actions, StreamSection section) {
    for (const Action& a : actions) {
      if (a.kind == ActionKind::send) senders_[a.stream].push_back({&d, &a, section});
      if (a.kind == ActionKind::receive) receivers_[a.stream].push_back({&d, &a, section});
    }
  }

  void violate(const char* rule, std::int32_t device, std::int64_t trip, const Stream& s, std::string message) {
    found_.push_back({rule, device, trip, s.name, std::move(message)});
  }

  void end(const Stream& s, const std::vector<End>& ends, std::int32_t device, const char* does) {
    if (device == kHost && ends.empty()) return;
    if (ends.size() != 1 || device == kHost) {
      violate("C6-ends", device, -1, s,
              fmt::format("{} actions {} on stream '{}', there must be {}", ends.size(), does, s.name, device == kHost ? 0 : 1));
      return;
    }
    const End& e = ends[0];
    if (e.device->device != device) {
      violate("C6-ends", e.device->device, e.action->guard.first, s,
              fmt::format("{}: {} is to {} on stream '{}'", print_action(p_, *e.device, *e.action), device_name(device), does, s.name));
    }
    const Slot& slot = e.action->kind == ActionKind::send ? e.device->operands(*e.action)[0] : e.device->results(*e.action)[0];
    const ir::Type &have = p_.module->type(e.device->buffers[slot.buffer].type), &want = p_.module->type(s.type);
    if (have.dtype == want.dtype && have.shape == want.shape) return;
    violate("C3-message", device, e.action->guard.first, s,
            fmt::format("{}: stream '{}' carries {}", print_action(p_, *e.device, *e.action), s.name, p_.module->types().to_string(want)));
  }

  std::int64_t missing(const End& e) const { return e.action->guard.first - std::min<std::int64_t>(e.action->guard.end, p_.drain); }

  void stream(const Stream& s, const std::vector<End>& senders, const std::vector<End>& receivers) {
    const std::size_t before = found_.size();
    if (s.from == s.to) violate("C6-ends", s.from, -1, s, fmt::format("stream '{}' leads from {} to itself", s.name, device_name(s.from)));
    end(s, senders, s.from, "send");
    end(s, receivers, s.to, "receive");
    if (found_.size() != before || s.from == kHost || s.to == kHost) return;
    const End &from = senders[0], &to = receivers[0];
    if (from.section != to.section) {
      violate(
          "C3-message", s.to, -1, s,
          fmt::format("stream '{}' is sent {} the loop and received {} it", s.name,
                      from.section == StreamSection::loop ? "in" : "outside of", to.section == StreamSection::loop ? "in" : "outside of"));
    } else if (missing(from) != missing(to) || from.action->guard.every != to.action->guard.every) {
      const std::int64_t sent = missing(from), received = missing(to);
      const auto count = [](std::int64_t n) {
        return n == 0 ? std::string("N") : fmt::format("N {} {}", n > 0 ? '-' : '+', n > 0 ? n : -n);
      };
      violate("C3-message", s.to, to.action->guard.first, s,
              fmt::format("stream '{}' brings {} messages, {} are received", s.name, count(sent), count(received)));
    }
  }

  const ProjectedProgram& p_;
  std::vector<Violation>& found_;
  std::vector<std::vector<End>> senders_, receivers_;
};

}  // namespace

void verify_streams(const ProjectedProgram& program, std::vector<Violation>& found) { Ends(program, found).run(); }

}  // namespace pando::project
