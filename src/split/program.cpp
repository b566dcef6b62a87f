#include "split/program.h"

#include "base/archive.h"
#include "ir/text/print.h"

#include <fmt/format.h>

namespace pando::split {

using namespace ir;

namespace {
constexpr std::string_view kSlots = "slots of ";
}

std::uint64_t hash_of(const Program& p) {
  std::string text;
  for (const exec::Channel& c : p.channels) text += fmt::format("\n{} {} {} {} {}", c.name, c.from, c.to, c.bytes, c.capacity);
  for (const Part& part : p.parts) {
    text += fmt::format("\ndevice {}\n", part.device) + print(part.module, {.elide_data = true});
    for (std::size_t b = 0; b < part.module.blob_count(); ++b) {
      const HostTensor& data = part.module.blob(BlobId(static_cast<BlobId::rep>(b)));
      text += std::to_string(checksum({reinterpret_cast<const char*>(data.data()), data.size_bytes()})) + ' ';
    }
  }
  return checksum(text);
}

std::string slots_name(const std::string& channel) { return std::string(kSlots) + channel; }
bool is_slots(const std::string& variable) { return variable.starts_with(kSlots); }

std::set<std::string> names_of(const Program& program) {
  std::set<std::string> names;
  for (const Part& part : program.parts) {
    for (std::size_t i = 0; i < part.module.state_count(); ++i) {
      const std::string& name = part.module.state(ir::StateId(static_cast<ir::StateId::rep>(i))).name;
      if (!is_slots(name)) names.insert(name);
    }
    for (const HostEnd& end : part.host)
      if (end.to_device) names.insert(end.name);
  }
  return names;
}

}  // namespace pando::split
