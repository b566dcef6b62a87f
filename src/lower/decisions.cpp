#include "lower/decisions.h"

#include <utility>

namespace pando::lower {

void Decisions::begin(std::string title) {
  open_.push_back(parts_.size());
  parts_.push_back({std::move(title), {}, {}});
}

void Decisions::end() { open_.pop_back(); }

void Decisions::line(const std::string& text) {
  Part& part = parts_[open_.back()];
  part.lines += "  " + text + "\n";
  for (const std::string& note : part.notes) part.lines += "    " + note + "\n";
  part.notes.clear();
}

void Decisions::note(std::string text) { parts_[open_.back()].notes.push_back(std::move(text)); }

void Decisions::finish() {
  for (const Part& part : parts_) {
    if (!part.lines.empty()) *out_ += part.title + "\n" + part.lines;
  }
}

void Decisions::give_reason(ir::ValueId v, std::string why) { why_[v] = std::move(why); }

std::string Decisions::reason(ir::ValueId v) const {
  const auto why = why_.find(v);
  return why == why_.end() ? "" : ", " + why->second;
}

}  // namespace pando::lower
