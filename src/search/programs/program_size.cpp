#include "search/programs/program_size.h"

#include "base/host_memory.h"
#include "ir/text/print.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <variant>

namespace pando::search {

namespace {

using ir::Module;

// A node of a hash table, with its share of the buckets.
constexpr double kNode = 4 * sizeof(void*);

double bytes_of_text(const std::string& text) {
  return static_cast<double>(sizeof(std::string) + (text.size() < 16 ? 0 : text.size() + 1 + sizeof(void*)));
}

double bytes_of_attributes(const ir::Attributes& attributes) {
  double bytes = sizeof(ir::Attributes) + kNode;
  for (const auto& [name, value] : attributes.items()) {
    bytes += bytes_of_text(name) + static_cast<double>(sizeof(ir::AttributeValue));
    if (const auto* ints = std::get_if<ir::Ints>(&value)) bytes += static_cast<double>(sizeof(std::int64_t) * ints->size());
  }
  return bytes;
}

// Of the ops of a module's main graph. What is of all devices anyhow, as collectives are, counts by its share.
class SizeCounter {
 public:
  explicit SizeCounter(const Module& m) : m_(m) {}

  ProgramSize count() {
    const std::vector<ir::OpId>& ops = m_.graph(m_.main_graph()).ops;
    const std::string text = ir::print_graph(m_, m_.main_graph(), {.elide_data = true});
    std::size_t line = 0, begin = 0;
    while (begin < text.size()) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      // The first line is the graph's, those behind the ops its results.
      const bool is_op = line > 0 && line <= ops.size();
      size_.text += static_cast<double>(end + 1 - begin) * (is_op ? share_of(ops[line - 1]) : 1);
      begin = end + 1, ++line;
    }
    for (const ir::OpId o : ops) add(o);
    return size_;
  }

 private:
  // A collective's result is a tuple of all its devices.
  double share_of(ir::OpId o) const {
    const std::size_t members = m_.results(o).empty() ? 0 : m_.type_of(m_.result(o)).elements.size();
    return 1 / static_cast<double>(std::max<std::size_t>(1, members));
  }

  // Each is said twice: by number and by text.
  double name(ir::NameId n) { return names_.insert(n).second ? 2 * bytes_of_text(m_.text(n)) + 2 * kNode : 0; }

  void add(ir::OpId o) {
    double bytes = sizeof(ir::Op) + sizeof(ir::OpId);
    bytes += static_cast<double>(sizeof(ir::ValueId) * (m_.operands(o).size() + m_.results(o).size()));
    bytes += static_cast<double>(sizeof(ir::Value) * m_.results(o).size());
    bytes += name(m_.op(o).name);
    for (const ir::ValueId v : m_.results(o)) bytes += name(m_.value(v).name);
    if (attributes_.insert(m_.op(o).attributes).second) bytes += bytes_of_attributes(m_.attributes(o));
    size_.ops += share_of(o), size_.module += bytes * share_of(o);
    for (const auto& [name, value] : m_.attributes(o).items()) {
      if (const auto* blob = std::get_if<ir::BlobId>(&value)) add(m_.blob(*blob));
    }
  }

  // Two letters of text for a byte.
  void add(const ir::HostTensor& data) {
    const auto bytes = static_cast<double>(data.size_bytes());
    size_.text += 2 * bytes;
    if (data_.insert(data.data()).second) size_.data += bytes;
  }

  const Module& m_;
  ProgramSize size_;
  std::set<ir::NameId> names_;
  std::set<ir::AttributesId> attributes_;
  std::set<const std::byte*> data_;
};

std::uint64_t resident_memory() {
  std::ifstream in("/proc/self/statm");
  std::uint64_t pages = 0, resident = 0;
  return in >> pages >> resident ? resident * static_cast<std::uint64_t>(std::max(1L, ::sysconf(_SC_PAGESIZE))) : 0;
}

}  // namespace

ProgramSize size_of_program(const transform::Program& whole, const transform::Strategy& s) {
  transform::Strategy strategy = s;
  strategy.verify = false;
  const auto count = [&](std::int32_t microbatches) {
    const transform::Distributed d = transform::parallelise_some(whole, strategy, {.microbatches = microbatches, .first_rank = true});
    return SizeCounter(d.module).count();
  };
  const double ranks = static_cast<double>(s.devices()) / s.pipeline;
  const std::int32_t few = 2 * s.pipeline, more = 4 * s.pipeline;
  ProgramSize all = count(std::min(s.microbatches, more));
  if (s.microbatches > more) {
    const ProgramSize of_few = count(few);
    const double rest = static_cast<double>(s.microbatches - more) / (more - few);
    for (double ProgramSize::* part : {&ProgramSize::ops, &ProgramSize::module, &ProgramSize::text, &ProgramSize::data})
      all.*part += rest * (all.*part - of_few.*part);
  }
  for (double ProgramSize::* part : {&ProgramSize::ops, &ProgramSize::module, &ProgramSize::text}) all.*part *= ranks;
  return all;
}

double bytes_to_write(const ProgramSize& size, bool as_torch) {
  // What grows by doubling has up to as much room again: modules, and texts when they move. For PyTorch the module is copied, its calls are
  // listed for each device, with a key of each list, and files are put together, in which data lie twice.
  const double module = 2 * size.module;
  return as_torch ? 5 * module + 2 * size.data : module + size.data + 2 * size.text;
}

std::uint64_t free_memory(std::string_view meminfo) {
  const std::uint64_t limit = host_memory(), taken = std::min(limit, resident_memory());
  std::uint64_t free = limit - taken;
  static constexpr std::string_view kWord = "MemAvailable:";
  if (const std::size_t at = meminfo.find(kWord); at != std::string_view::npos) {
    const std::size_t digits = std::min(meminfo.find_first_of("0123456789", at + kWord.size()), meminfo.size());
    std::uint64_t kibibytes = 0;
    const auto [end, error] = std::from_chars(meminfo.data() + digits, meminfo.data() + meminfo.size(), kibibytes);
    if (error == std::errc()) free = std::min(free, kibibytes * 1024);
  }
  return free;
}

std::uint64_t free_memory() {
  std::ifstream in("/proc/meminfo");
  return free_memory(std::string(std::istreambuf_iterator<char>(in), {}));
}

}  // namespace pando::search
