#include "project/checks/check.h"

#include "ir/error.h"
#include "project/text/print.h"

namespace pando::project {

namespace {

constexpr std::int64_t floor_divide(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0); }
constexpr std::int64_t modulo(std::int64_t a, std::int64_t b) { return a - floor_divide(a, b) * b; }

enum class Section : std::uint8_t { none, before, loop, update };

// An action that writes a buffer.
struct Writer {
  Section section = Section::none;
  // The buffer's, beside what is compared with them.
  BufferKind kind = BufferKind::value;
  std::int32_t copies = 1;
  std::size_t place = 0;
  const Action* action = nullptr;
  Slot slot;
};

// "i - 1", "i".
std::string relative(char base, std::int64_t n) {
  return n == 0 ? std::string(1, base) : fmt::format("{} {} {}", base, n < 0 ? '-' : '+', n < 0 ? -n : n);
}

// The values of one device.
class Device {
 public:
  Device(const ProjectedProgram& p, const DeviceProgram& d, std::vector<Violation>& found)
      : p_(p), d_(d), found_(found), writers_(d.buffers.size()), stashed_(d.buffers.size(), kNotSaid) {}

  void run() {
    for (Section s : {Section::before, Section::loop, Section::update}) {
      for (std::size_t i = 0; i < list(s).size(); ++i) write(s, i);
    }
    for (const Action& a : d_.loop) trips(a);
    for (Section s : {Section::before, Section::loop, Section::update}) {
      for (std::size_t i = 0; i < list(s).size(); ++i) {
        const Action& a = list(s)[i];
        for (const Slot& slot : d_.operands(a)) read(s, i, a, slot);
      }
    }
  }

 private:
  static constexpr std::int32_t kNotSaid = 1 << 30;
  const std::vector<Action>& list(Section s) const { return s == Section::before ? d_.before : s == Section::loop ? d_.loop : d_.update; }
  std::int32_t end(const Action& a) const { return static_cast<std::int32_t>(std::min<std::int64_t>(a.guard.end, p_.drain)); }
  bool in_windows() const { return p_.policy.kind == PolicyKind::double_buffered; }

  template <class... Args>
  void violate(const char* rule, std::int64_t trip, const std::string& value, fmt::format_string<Args...> format, Args&&... args) {
    found_.push_back({rule, d_.device, trip, value, fmt::format(format, std::forward<Args>(args)...)});
  }

  void write(Section s, std::size_t place) {
    const Action& a = list(s)[place];
    for (const Slot& slot : d_.results(a)) {
      const Buffer& b = d_.buffers[slot.buffer];
      Writer& w = writers_[slot.buffer];
      if (w.section != Section::none)
        violate("C2-overwritten", a.guard.first, b.name, "two actions write '{}'; the second is {}", b.name, print_action(p_, d_, a));
      if (b.kind == BufferKind::sum && b.copies != 1)
        violate("C2-overwritten", a.guard.first, b.name, "the sum '{}' has {} copies", b.name, b.copies);
      if (s == Section::before && b.copies != 1)
        violate("C2-overwritten", -1, b.name, "'{}' has {} copies, and is written once", b.name, b.copies);
      if (a.guard.every != 1 && b.kind == BufferKind::value && b.copies != 1) {
        violate("C2-overwritten", a.guard.first, b.name, "'{}' has {} copies, and is written in one of {} trips", b.name, b.copies,
                a.guard.every);
      }
      if (s == Section::update && b.copies != 1)
        violate("C4-version", -1, b.name, "'{}' has {} copies; between windows there is one", b.name, b.copies);
      if (s == Section::before && b.kind != BufferKind::value) violate("C4-version", -1, b.name, "'{}' is changed before the loop", b.name);
      w = {s, b.kind, static_cast<std::int32_t>(b.copies), place, &a, slot};
    }
  }

  // C7, and how often an update runs.
  void trips(const Action& a) {
    bool windowed = false;
    for (const Slot& s : d_.results(a)) windowed |= in_windows() && d_.buffers[s.buffer].kind == BufferKind::state;
    const std::int32_t every = a.guard.every;
    if (every == 1 && !windowed && a.guard.first == end(a)) return;
    const std::string& name = name_of(d_, a);
    const bool every_sample =
        a.kind != ActionKind::compute || (a.result_count && d_.buffers[d_.results(a)[0].buffer].kind == BufferKind::sum);
    if (every != 1 && (every_sample || !in_windows() || every != p_.policy.window))
      violate("C7-drain", a.guard.first, name, "'{}' runs in one of {} trips; the policy is '{}'", name, every, to_string(p_.policy));
    if (windowed && every != p_.policy.window)
      violate("C4-version", a.guard.first, name, "'{}' is updated in every trip; the policy is '{}'", name, to_string(p_.policy));
    const std::int32_t missing = a.guard.first - end(a);
    if (missing == 0) return;
    violate("C7-drain", missing > 0 ? -1 : end(a), name, "{} runs for {} samples: {}", print_action(p_, d_, a), relative('N', -missing),
            missing > 0 ? fmt::format("sample {} is never drained, trip {} is missing", relative('N', -missing), relative('N', end(a)))
                        : fmt::format("there is no sample {}", relative('N', 0)));
  }

  // A value of the loop that is what it should be: nearly all reads.
  static bool is_right(std::size_t place, const Action& a, const Slot& slot, const Writer& w) {
    if (w.section != Section::loop || w.kind != BufferKind::value || a.guard.every != w.action->guard.every || slot.every != 1 ||
        slot.offset != 0)
      return false;
    const std::int64_t last = newest(place, a, w);
    if (w.copies == 1) return last == 0;
    return w.slot.every == 1 && w.slot.offset == 0 && last >= 0 && found_sample(last, a, slot, w) == 0;
  }
  static std::int64_t found_sample(std::int64_t last, const Action& a, const Slot& slot, const Writer& w) {
    const std::int64_t index = (a.guard.first - slot.shift) - (w.action->guard.first - w.slot.shift);
    return last - modulo(last - index, w.copies);
  }

  void read(Section s, std::size_t place, const Action& a, const Slot& slot) {
    if (s == Section::loop && is_right(place, a, slot, writers_[slot.buffer])) return;
    const Buffer& b = d_.buffers[slot.buffer];
    const Writer& w = writers_[slot.buffer];
    if (b.kind == BufferKind::state) declared(s, a, slot, w);
    if (w.section == Section::none) {
      if (b.kind == BufferKind::value)
        violate("C1-order", s == Section::loop ? a.guard.first : -1, b.name, "{} reads '{}', which nothing writes: a dummy",
                print_action(p_, d_, a), b.name);
      return;
    }
    if (s == Section::loop && w.section == Section::loop) {
      if (b.kind == BufferKind::state) {
        version(place, a, slot, w);
      } else if (w.action != &a || b.kind == BufferKind::value) {
        value(place, a, slot, w);
      }
    } else if (b.kind == BufferKind::value || s == Section::before) {
      const bool there = w.section == Section::before ? s != Section::before || w.place < place
                                                      : s == Section::update && w.section == Section::update && w.place < place;
      if (!there)
        violate("C1-order", s == Section::loop ? a.guard.first : -1, b.name, "{} reads '{}' before it is there: a dummy",
                print_action(p_, d_, a), b.name);
    } else if (s == Section::update && w.section == Section::update && b.kind == BufferKind::state) {
      const bool updated = w.place < place;
      if (updated != (slot.delay == -1))
        violate("C4-version", -1, b.name, "{} reads '{}' {} its update", print_action(p_, d_, a), b.name, updated ? "behind" : "ahead of");
    }
  }

  // With i the sample: the newest sample that is written when the action reads, less i.
  static std::int64_t newest(std::size_t place, const Action& a, const Writer& w) {
    return a.guard.first - w.action->guard.first - (w.place < place ? 0 : 1);
  }

  void value(std::size_t place, const Action& a, const Slot& slot, const Writer& w) {
    const Buffer& b = d_.buffers[slot.buffer];
    if (a.guard.every != w.action->guard.every && b.kind == BufferKind::value) {
      violate("C1-order", a.guard.first, b.name, "{} reads '{}', which is written in one of {} trips only", print_action(p_, d_, a), b.name,
              w.action->guard.every);
      return;
    }
    const std::int64_t last = newest(place, a, w);
    if (last < 0) {
      violate("C1-order", a.guard.first, b.name, "{} reads '{}' of sample 0, which comes {}: it would read a dummy",
              print_action(p_, d_, a), b.name,
              w.action->guard.first == a.guard.first ? "later in the trip" : fmt::format("in trip {}", w.action->guard.first));
      return;
    }
    const std::int64_t found = found_sample(last, a, slot, w);
    if (found == 0 && slot.every == 1 && slot.offset == 0 && w.slot.every == 1 && w.slot.offset == 0) return;
    const std::int64_t sample = std::max<std::int64_t>(0, -found);
    violate("C2-overwritten", sample + a.guard.first, b.name, "{} reads '{}' of sample {} and finds sample {}: it has {} {}, {} are needed",
            print_action(p_, d_, a), b.name, sample, sample + found, b.copies, b.copies == 1 ? "copy" : "copies", last + 1);
  }

  // What the policy allows a read to declare.
  void declared(Section s, const Action& a, const Slot& slot, const Writer& w) {
    const Buffer& b = d_.buffers[slot.buffer];
    const bool its_update = w.action == &a;
    const std::int32_t delay = slot.delay;
    const auto reject = [&](const std::string& allowed) {
      violate("C4-version", s == Section::loop ? a.guard.first : -1, b.name, "{} reads '{}' of {}; under '{}' it is {}",
              print_action(p_, d_, a), b.name, relative(p_.policy.windowed() ? 'w' : 'i', -delay), to_string(p_.policy), allowed);
    };
    if (w.section == Section::none) {
      if (delay != 0) reject("never changed");
      return;
    }
    if (delay == -1 && !its_update) return;
    if (delay < -1 || (its_update && delay != 0)) return reject(its_update ? "the newest, for its update" : "at the most the sample's own");
    const Policy& p = p_.policy;
    if ((p.kind == PolicyKind::strict || p.kind == PolicyKind::flush) && delay != 0) reject("the version of the sequential loop");
    if (p.at_most >= 0 && delay > p.at_most) reject("not that old");
    if (p.kind == PolicyKind::double_buffered && delay != (a.guard.every == 1 ? 1 : 0)) reject(a.guard.every == 1 ? "w - 1" : "w");
    if (p.kind != PolicyKind::stash || its_update) return;
    if (stashed_[slot.buffer] == kNotSaid) stashed_[slot.buffer] = delay;
    if (stashed_[slot.buffer] != delay) reject("one version for all reads of a sample: " + relative('i', -stashed_[slot.buffer]));
  }

  void version(std::size_t place, const Action& a, const Slot& slot, const Writer& w) {
    if (in_windows()) return window(place, a, slot, w);
    // Version i + 1 is what the update of sample i makes.
    const std::int64_t last = newest(place, a, w) + 1;
    const std::int64_t index = (a.guard.first - slot.shift) - (w.action->guard.first - w.slot.shift - 1);
    const std::int64_t found = last - modulo(last - index, d_.buffers[slot.buffer].copies);
    if (found != -slot.delay) wrong_version(a, slot, found, 1);
  }

  // Of 2BW: with w the window, at its first and at its last sample. Between them nothing else can be found.
  void window(std::size_t place, const Action& a, const Slot& slot, const Writer& w) {
    const std::int64_t m = p_.policy.window, copies = d_.buffers[slot.buffer].copies;
    const auto index_of = [&](const Slot& s, const Guard& g) { return floor_divide(g.first - s.shift, m) + s.offset; };
    const bool counts_windows = copies == 1 || (slot.every == m && w.slot.every == m && modulo(slot.shift - a.guard.first, m) == 0 &&
                                                modulo(w.slot.shift - w.action->guard.first, m) == 0);
    if (!counts_windows) {
      violate("C4-version", a.guard.first, d_.buffers[slot.buffer].name, "{}: copies of '{}' are not counted by windows of {}",
              print_action(p_, d_, a), d_.buffers[slot.buffer].name, m);
      return;
    }
    for (const std::int64_t sample : {a.guard.every == 1 ? 0 : m - 1, m - 1}) {
      const std::int64_t last = floor_divide(sample + 1 + newest(place, a, w), m);
      const std::int64_t index = copies == 1 ? last : index_of(slot, a.guard) - (index_of(w.slot, w.action->guard) - 1);
      const std::int64_t found = last - modulo(last - index, copies);
      if (found == -slot.delay) continue;
      wrong_version(a, slot, found, m);
      return;
    }
  }

  void wrong_version(const Action& a, const Slot& slot, std::int64_t found, std::int64_t window) {
    const Buffer& b = d_.buffers[slot.buffer];
    // Versions before the first update are one: the first sample that sees a difference.
    const std::int64_t sample = std::max<std::int64_t>(0, 1 - std::max<std::int64_t>(found, -slot.delay));
    const char base = window > 1 || p_.policy.windowed() ? 'w' : 'i';
    violate("C4-version", sample * window + a.guard.first, b.name, "{} reads version {} of '{}', declared is {}; it finds {}",
            print_action(p_, d_, a), std::max<std::int64_t>(0, sample - slot.delay), b.name, relative(base, -slot.delay),
            relative(base, found));
  }

  const ProjectedProgram& p_;
  const DeviceProgram& d_;
  std::vector<Violation>& found_;
  // By buffer.
  std::vector<Writer> writers_;
  std::vector<std::int32_t> stashed_;
};

}  // namespace

void verify_values(const ProjectedProgram& program, std::vector<Violation>& found) {
  for (const DeviceProgram& d : program.devices) Device(program, d, found).run();
}

std::vector<Violation> verify(const ProjectedProgram& program) {
  std::vector<Violation> found;
  verify_streams(program, found);
  verify_values(program, found);
  // Who waits for whom is a question for streams that have both ends.
  if (found.empty()) verify_waits(program, found);
  return found;
}

std::string to_string(const Violation& v) {
  const std::string trip = v.trip < 0 ? "" : fmt::format(", trip {}", v.trip);
  return fmt::format("{}: {}{}: {}", v.rule, device_name(v.device), trip, v.message);
}

std::string to_string(const std::vector<Violation>& violations) {
  std::string text;
  for (const Violation& v : violations) text += (text.empty() ? "" : "\n") + to_string(v);
  return text;
}

void check(const ProjectedProgram& program) {
  const std::vector<Violation> found = verify(program);
  if (!found.empty()) ir::throw_model_error(ir::ErrorClass::popart, found[0].rule, to_string(found));
}

}  // namespace pando::project
