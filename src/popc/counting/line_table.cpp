#include "popc/counting/line_table.h"

#include <llvm/IR/DebugInfoMetadata.h>

#include <algorithm>
#include <tuple>

#include "popc/counting/source_text.h"

namespace pando::popc {

namespace {

using namespace llvm;

using FileLine = std::pair<std::string, unsigned>;

// A line of the source, and the function that it is in.
struct SlotPlace {
  const DISubprogram* function = nullptr;
  unsigned line = 0;  // 0: none
};

SlotPlace slot_place(const DILocation* at) {
  for (; at; at = at->getInlinedAt())
    if (at->getLine() > 0 && (!at->getInlinedAt() || !is_foreign(path_of(*at->getFile()))))
      return {at->getScope()->getSubprogram(), at->getLine()};
  return {};
}

class LineCollector {
 public:
  void add_block(const SelectedBlock& block, const Segment& segment, const SlotPlace& function) {
    SlotPlace other = function;
    for (const DILocation* at : segment.places)
      if (const SlotPlace place = slot_place(at); place.line > 0) {
        other = place;
        break;
      }
    std::map<FileLine, unsigned> slots;
    const auto half = [&](std::uint32_t i) { return i < segment.places.size() ? slot_place(segment.places[i]) : SlotPlace{}; };
    for (const Bundle& b : segment.bundles) {
      const SlotPlace main = half(b.main), aux = half(b.aux);
      const bool is_aux =
          b.main == Bundle::kNone || (b.aux != Bundle::kNone && segment.issues[b.aux].what->slots > segment.issues[b.main].what->slots);
      SlotPlace place = is_aux ? aux : main;
      if (place.line == 0) place = is_aux ? main : aux;
      if (place.line == 0) place = other;
      slots[note(place)] += b.slots;
    }
    static_cast<void>(block);
    blocks.push_back(std::move(slots));
  }

  FileLine note(const SlotPlace& place) {
    const std::string path = place.function && place.function->getFile() ? path_of(*place.function->getFile()) : "";
    const FileLine at{path, place.line};
    lines.emplace(at, true);
    if (place.function && !path.empty()) {
      auto [range, added] = ranges.try_emplace({path, place.function->getLine()}, place.line);
      range->second = std::max(range->second, place.line);
    }
    return at;
  }

  std::map<FileLine, bool> lines;
  std::map<FileLine, unsigned> ranges;  // of functions: the first line -> the last one that has slots
  std::vector<std::map<FileLine, unsigned>> blocks;
};

}  // namespace

LineTable::LineTable(const Module& module) : sources_(kept_sources(module)) {}

CodeLines LineTable::of(const SelectedFunctions& functions, unsigned stub_slots) const {
  LineCollector all;
  const auto begin_of = [](const Function& f) {
    return SlotPlace{f.getSubprogram(), f.getSubprogram() ? f.getSubprogram()->getLine() : 0};
  };
  const SlotPlace compute = begin_of(*functions.front().first);
  all.blocks.push_back({{all.note(compute), stub_slots}});
  for (const auto& [f, selected] : functions) {
    const SlotPlace begin = f->getSubprogram() ? begin_of(*f) : compute;
    for (const SelectedBlock& b : selected->blocks)
      for (const Segment& s : b.segments)
        if (slots_of(s.bundles) > 0) all.add_block(b, s, begin);
  }
  const auto known = [&](const FileLine& at) -> const std::string* {
    const auto source = sources_.find(at.first);
    return source != sources_.end() && at.second > 0 && at.second <= source->second.size() ? &source->second[at.second - 1] : nullptr;
  };
  for (const auto& [from, last] : all.ranges)
    for (unsigned line = from.second; line <= last && known({from.first, line}); ++line)
      all.lines.emplace(FileLine{from.first, line}, false);

  CodeLines out;
  std::map<FileLine, std::uint32_t> numbers;
  for (const auto& [at, has_slots] : all.lines) {
    if (out.files.empty() || out.files.back() != at.first) out.files.push_back(at.first);
    numbers[at] = static_cast<std::uint32_t>(out.lines.size());
    const std::string* const text = known(at);
    out.lines.push_back({static_cast<std::uint32_t>(out.files.size() - 1), at.second, text ? *text : ""});
  }
  for (const auto& block : all.blocks) {
    out.blocks.emplace_back();
    for (const auto& [at, slots] : block) out.blocks.back().push_back({numbers[at], slots});
  }
  return out;
}

}  // namespace pando::popc
