#include "tile/step.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/check.h"
#include "tile/text.h"

namespace pando::tile {

namespace {

constexpr const StepRow* kRows[] = {
#define X(step) &step_##step,
#include "step_manifest.inc"
#undef X
};
static_assert(std::size(kRows) == kSteps);

// What stands before the number of such a thing.
char letter_of(Names names) {
  switch (names) {
    case Names::compute: return 'c';
    case Names::exchange: return 'x';
    case Names::replica_map: return 'r';
    case Names::function:
    case Names::loaded_function: return 'f';
    case Names::tile: return 't';
    case Names::channel: return 'k';
    case Names::send_place:
    case Names::receive_place: return 'p';
    case Names::fifo_or_remote:
    case Names::print:
    case Names::error:
    case Names::host_inputs:
    case Names::host_outputs: return 'h';
    case Names::nothing:
    case Names::location:
    case Names::flag:
    case Names::locations_begin:
    case Names::locations_end: break;
  }
  PANDO_CHECK(!"no such operand is written as a letter and a number");
  return 0;
}

std::string text_of_operand(const Program& program, Names names, std::uint32_t value) {
  if (names == Names::location) return text_of(program.locations[value]);
  return fmt::format("{}{}", letter_of(names), value);
}

std::string text_of_placeholder(const Program& program, const StepRow& row, const Instruction& i, char placeholder) {
  switch (placeholder) {
    case 'a': return text_of_operand(program, row.a, i.a);
    case 'b': return text_of_operand(program, row.b, i.b);
    case 't': return fmt::format("{}", i.target);
    case 'n': return fmt::format("{}", i.count);
    case 'i': return fmt::format("{}", static_cast<std::int32_t>(i.count));
    case 'r': return text_of(program.locations[i.b - 1]);
    case 'l': {
      std::string text;
      for (std::uint32_t k = i.a; k + 1 < i.b; ++k) text += " " + text_of(program.locations[k]);
      return text;
    }
    default: PANDO_CHECK(!"a text with an unknown placeholder");
  }
  return "";
}

// Reads one instruction by one pattern.
class PatternReader {
 public:
  PatternReader(const Program& program, const StepRow& row, std::string_view text) : program_(program), row_(row), text_(text) {}

  bool read(std::string_view pattern, Instruction& out) {
    for (std::size_t i = 0; i < pattern.size(); ++i) {
      if (pattern[i] != '$') {
        if (!take(pattern[i])) return false;
      } else if (!placeholder(pattern[++i], out)) {
        return false;
      }
    }
    return text_.empty();
  }

 private:
  bool take(char c) {
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }

  template <class T>
  bool number(T& out) {
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), out);
    if (error != std::errc()) return false;
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    return true;
  }

  std::string_view word() {
    const std::string_view word = text_.substr(0, text_.find(' '));
    text_.remove_prefix(word.size());
    return word;
  }

  bool location(std::uint32_t& out) {
    const std::string_view wanted = word();
    for (out = 0; out < program_.locations.size(); ++out)
      if (text_of(program_.locations[out]) == wanted) return true;
    return false;
  }

  bool operand(Names names, std::uint32_t& out) {
    if (names == Names::location) return location(out);
    return take(letter_of(names)) && number(out);
  }

  // The result was read, the others follow: the range of locations that has these texts, the result last.
  bool range(Instruction& out) {
    std::vector<std::string> wanted;
    while (!text_.empty()) {
      if (!take(' ')) return false;
      wanted.emplace_back(word());
    }
    wanted.emplace_back(result_);
    for (std::uint32_t first = 0; first + wanted.size() <= program_.locations.size(); ++first) {
      std::size_t same = 0;
      while (same < wanted.size() && text_of(program_.locations[first + same]) == wanted[same]) ++same;
      if (same < wanted.size()) continue;
      out.a = first;
      out.b = first + static_cast<std::uint32_t>(wanted.size());
      return true;
    }
    return false;
  }

  bool placeholder(char which, Instruction& out) {
    switch (which) {
      case 'a': return operand(row_.a, out.a);
      case 'b': return operand(row_.b, out.b);
      case 't': return number(out.target);
      case 'n': return number(out.count);
      case 'i': {
        std::int32_t value = 0;
        if (!number(value)) return false;
        out.count = static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
        return true;
      }
      case 'r': result_ = word(); return true;
      case 'l': return range(out);
      default: return false;
    }
  }

  const Program& program_;
  const StepRow& row_;
  std::string_view text_, result_;
};

}  // namespace

const StepRow& row_of(Op op) {
  PANDO_CHECK(static_cast<std::size_t>(op) < kSteps);
  return *kRows[static_cast<std::size_t>(op)];
}

bool falls_through(Flow flow) {
  switch (flow) {
    case Flow::next:
    case Flow::repeat:
    case Flow::repeat_end:
    case Flow::loop_begin:
    case Flow::loop_end:
    case Flow::branch:
    case Flow::call: return true;
    case Flow::loop_next:
    case Flow::jump:
    case Flow::give_back:
    case Flow::end: return false;
  }
  return true;
}

bool may_jump(Flow flow) {
  switch (flow) {
    case Flow::repeat:
    case Flow::repeat_end:
    case Flow::loop_next:
    case Flow::branch:
    case Flow::jump:
    case Flow::call: return true;
    case Flow::next:
    case Flow::loop_begin:
    case Flow::loop_end:
    case Flow::give_back:
    case Flow::end: return false;
  }
  return false;
}

std::size_t count_of(const Program& program, Names names) {
  switch (names) {
    case Names::nothing: return 0;
    case Names::compute: return program.computes.size();
    case Names::exchange: return program.exchanges.size();
    case Names::replica_map: return program.replica_maps.size();
    case Names::function:
    case Names::loaded_function: return program.functions.size();
    case Names::tile: return program.machine.tiles();
    case Names::channel: return program.channels.size();
    // Of the channel with most; the check of the instruction asks its own.
    case Names::send_place:
    case Names::receive_place: {
      std::size_t most = 0;
      for (const Channel& c : program.channels) most = std::max<std::size_t>(most, names == Names::send_place ? c.sends : c.receives);
      return most;
    }
    case Names::location: return program.locations.size();
    case Names::flag: return 2;
    case Names::locations_begin: return program.locations.size();
    case Names::locations_end: return program.locations.size() + 1;
    case Names::fifo_or_remote:
    case Names::print:
    case Names::error:
    case Names::host_inputs:
    case Names::host_outputs: return program.transfers.size();
  }
  return 0;
}

const char* word_of(Names names) {
  switch (names) {
    case Names::nothing: return "nothing";
    case Names::compute: return "compute step";
    case Names::exchange: return "exchange";
    case Names::replica_map: return "replica map";
    case Names::function:
    case Names::loaded_function: return "function";
    case Names::tile: return "tile";
    case Names::location: return "location";
    case Names::channel: return "channel";
    case Names::send_place:
    case Names::receive_place: return "place";
    case Names::flag: return "flag";
    case Names::locations_begin:
    case Names::locations_end: return "range of locations";
    case Names::fifo_or_remote:
    case Names::print:
    case Names::error:
    case Names::host_inputs:
    case Names::host_outputs: return "transfer";
  }
  return "nothing";
}

std::string name_of(Op op) {
  const std::string_view text = row_of(op).text, words = text.substr(0, text.find(" $"));
  return std::string(words.substr(0, words.ends_with(" to") ? words.size() - 3 : words.size()));
}

std::string text_of(const Program& program, const Instruction& instruction) {
  const StepRow& row = row_of(instruction.op);
  const std::string_view pattern = instruction.b != 0 && !row.text_if_b.empty() ? row.text_if_b : row.text;
  std::string text;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '$')
      text += text_of_placeholder(program, row, instruction, pattern[++i]);
    else
      text += pattern[i];
  }
  return text;
}

std::optional<Instruction> parse_instruction(const Program& program, std::string_view text) {
  for (std::size_t op = 0; op < kSteps; ++op)
    for (const bool if_b : {false, true}) {
      const StepRow& row = *kRows[op];
      const std::string_view pattern = if_b ? row.text_if_b : row.text;
      Instruction out;
      out.op = static_cast<Op>(op);
      out.b = if_b ? 1 : 0;
      if (!pattern.empty() && PatternReader(program, row, text).read(pattern, out)) return out;
    }
  return std::nullopt;
}

}  // namespace pando::tile
