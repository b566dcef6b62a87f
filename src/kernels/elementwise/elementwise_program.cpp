#include "kernels/elementwise/elementwise_program.h"

#include <algorithm>
#include <cstring>

using namespace pando::kernels;

namespace {

// Registers, constants and expanded operands together should leave room in a first-level cache of 32 KiB for what is streamed. Short
// blocks read all operands nearly at the same time, which is what prefetchers like: measured, docs/notes/fused_expressions.md.
constexpr std::size_t kBlockBytes = 20 << 10, kMostElements = 256, kFewestElements = 64;
constexpr std::size_t kScratchBytes = kFewestElements * 8 * (kMostPlaces + 6);
alignas(64) thread_local unsigned char scratch[kScratchBytes];

struct Operand {
  std::uint32_t size_class, first_row, repeat, period, offset;
};
struct Output {
  std::uint32_t size_class, first_row;
};
struct Constant {
  std::uint32_t place, low, high;
};
struct Instruction {
  std::uint8_t kind, op, type, to, result, a, b, c;
};
static_assert(sizeof(Operand) == 4 * kOperandWords && sizeof(Output) == 4 * kOutputWords && sizeof(Constant) == 4 * kConstantWords &&
              sizeof(Instruction) == 4 * kInstructionWords);

struct Program {
  unsigned operands, outputs, registers, width, constants, instructions;
  const Operand* operand;
  const Output* output;
  const Constant* constant;
  const std::uint32_t* instruction;  // the first of them
};

Program parse(const std::uint32_t* code) {
  Program p;
  p.operands = code[0] & 255;
  p.outputs = code[0] >> 8 & 255;
  p.registers = code[0] >> 16 & 255;
  p.width = code[0] >> 24;
  p.constants = code[1] & 0xffff;
  p.instructions = code[1] >> 16;
  const std::uint32_t* at = code + kHeaderWords;
  p.operand = reinterpret_cast<const Operand*>(at);
  at += p.operands * kOperandWords;
  p.output = reinterpret_cast<const Output*>(at);
  at += p.outputs * kOutputWords;
  p.constant = reinterpret_cast<const Constant*>(at);
  at += p.constants * kConstantWords;
  p.instruction = at;
  return p;
}

// Fewer copies of an element than pay for a call each.
constexpr std::uint32_t kFewCopies = 16;

// Each element so many times, the first one `skip` times less.
template <class T>
void repeat_each(const unsigned char* data, std::size_t repeat, std::size_t skip, unsigned char* out, std::size_t n) {
  const T* from = reinterpret_cast<const T*>(data);
  T* const to = reinterpret_cast<T*>(out);
  for (std::size_t done = 0; done < n; ++from, skip = 0)
    for (const std::size_t end = std::min(n, done + repeat - skip); done < end; ++done) to[done] = *from;
}
void repeat_each(std::size_t bytes, const unsigned char* data, std::size_t repeat, std::size_t skip, unsigned char* to, std::size_t n) {
  switch (bytes) {
    case 1: return repeat_each<std::uint8_t>(data, repeat, skip, to, n);
    case 2: return repeat_each<std::uint16_t>(data, repeat, skip, to, n);
    case 4: return repeat_each<std::uint32_t>(data, repeat, skip, to, n);
    default: return repeat_each<std::uint64_t>(data, repeat, skip, to, n);
  }
}

// Elements [begin, begin + n) of a broadcast operand.
void expand(const Operand& o, const unsigned char* data, std::size_t begin, unsigned char* to, std::size_t n) {
  const std::size_t bytes = std::size_t{1} << o.size_class, cycle = std::size_t{o.repeat} * o.period;
  std::size_t at = (begin + o.offset) % cycle, done = 0;
  // One cycle element by element of the operand; what follows repeats it.
  for (const std::size_t end = std::min(n, cycle); done < end;) {
    if (o.repeat == 1) {
      const std::size_t m = std::min<std::size_t>(end - done, o.period - at);
      std::memcpy(to + done * bytes, data + at * bytes, m * bytes);
      done += m;
      at = 0;
    } else if (o.repeat <= kFewCopies) {
      const std::size_t m = std::min<std::size_t>(end - done, cycle - at);
      repeat_each(bytes, data + at / o.repeat * bytes, o.repeat, at % o.repeat, to + done * bytes, m);
      done += m;
      at = 0;
    } else {
      const std::size_t element = at / o.repeat, m = std::min<std::size_t>(end - done, o.repeat - at % o.repeat);
      pando_splat(bytes, data + element * bytes, to + done * bytes, m);
      done += m;
      at = (at + m) % cycle;
    }
  }
  while (done < n) {
    const std::size_t m = std::min(n - done, done);
    std::memcpy(to + done * bytes, to, m * bytes);
    done += m;
  }
}

void run_chain(const std::uint32_t* word, unsigned char* const* place, std::size_t n) {
  Link links[kMostLinks];
  const unsigned count = word[0] >> 8 & 255;
  for (unsigned k = 0; k < count; ++k) {
    const std::uint32_t link = word[kInstructionWords + k];
    float* const operand = reinterpret_cast<float*>(place[link >> 8 & 255]);
    links[k] = {operand, static_cast<LinkOp>(link & 255), (link >> 16 & 1) != 0, false, reinterpret_cast<float*>(place[link >> 24]),
                operand};
  }
  pando_chain(reinterpret_cast<const float*>(place[word[1] >> 8 & 255]), links, count, reinterpret_cast<float*>(place[word[1] & 255]), n);
}

void run(const std::uint32_t* word, unsigned char* const* place, std::size_t n) {
  const Instruction& i = *reinterpret_cast<const Instruction*>(word);
  unsigned char *const out = place[i.result], *const a = place[i.a], *const b = place[i.b], *const c = place[i.c];
  const Type type = static_cast<Type>(i.type);
  switch (static_cast<Kind>(i.kind)) {
    case Kind::unary: return pando_unary(static_cast<Unary>(i.op), type, a, out, n);
    case Kind::binary: return pando_binary(static_cast<Binary>(i.op), type, a, b, out, n);
    case Kind::clamp: return pando_clamp(type, a, b, c, out, n);
    case Kind::select: return pando_select(size_of(type), a, b, c, out, n);
    case Kind::convert: return pando_convert(type, static_cast<Type>(i.to), a, out, n);
    case Kind::chain: return run_chain(word, place, n);
  }
}

// What of a row is ready before its first block, and how long blocks are.
struct Blocks {
  std::size_t elements;
  std::array<bool, 256> fixed;  // the operand's expansion is the same in all blocks
};

Blocks blocks_of(const Program& p) {
  Blocks b;
  unsigned buffers = p.registers;
  for (unsigned k = 0; k < p.operands; ++k) buffers += p.operand[k].period != 0 ? 1 : 0;
  const std::size_t fit = buffers == 0 ? kMostElements : kBlockBytes / (buffers * p.width);
  b.elements = std::clamp(fit / kFewestElements * kFewestElements, kFewestElements, kMostElements);
  for (unsigned k = 0; k < p.operands; ++k) {
    const std::size_t cycle = std::size_t{p.operand[k].repeat} * p.operand[k].period;
    if (p.operand[k].period > 1 && cycle <= b.elements) b.elements -= b.elements % cycle;
  }
  for (unsigned k = 0; k < p.operands; ++k) {
    const std::size_t cycle = std::size_t{p.operand[k].repeat} * p.operand[k].period;
    b.fixed[k] = p.operand[k].period == 1 || (p.operand[k].period != 0 && b.elements % cycle == 0);
  }
  return b;
}

// Rows of each output: outputs of one size share a list.
std::size_t rows_of(const Program& p, const Rows out[4]) {
  const std::uint32_t size_class = p.output[0].size_class;
  std::size_t sharing = 0;
  for (unsigned o = 0; o < p.outputs; ++o) sharing += p.output[o].size_class == size_class ? 1 : 0;
  return out[size_class].count / sharing;
}

// One chain over float operands that are rows, scalars or one row for all (a bias) goes over whole rows: it needs no registers.
class RowChain {
 public:
  // The chain begins again at each end of a row for all: that pays if it is so long, or if the others are not longer.
  static constexpr std::uint32_t kLeastPeriod = 256;

  static bool fits(const Program& p, const Rows out[4]) {
    if (p.outputs != 1 || p.instructions != 1 || static_cast<Kind>(p.instruction[0] & 255) != Kind::chain) return false;
    const std::uint32_t* const links = p.instruction + kInstructionWords;
    if (std::any_of(links, p.instruction + words_of(*p.instruction),
                    [](std::uint32_t l) { return needs_blocks(static_cast<LinkOp>(l & 255)); }))
      return false;
    const unsigned first = p.instruction[1] >> 8 & 255;
    const std::size_t length = out[kFloat].count == 0 ? 0 : out[kFloat].rows[p.output[0].first_row].size;
    return first < p.operands + p.outputs && (first >= p.operands || p.operand[first].period == 0) &&
           std::all_of(
               p.operand, p.operand + p.operands,
               [length](const Operand& o) {
                 return o.period <= 1 || (is_row(o) && (o.period >= kLeastPeriod || o.offset + length <= o.period));
               });
  }

  RowChain(const Program& p, const Rows in[4], const Rows out[4])
      : p_(p), in_(in[kFloat]), out_(out[kFloat]), count_(p.instruction[0] >> 8 & 255), first_(rows_at(p.instruction[1] >> 8 & 255)) {
    for (unsigned k = 0; k < count_; ++k) {
      const std::uint32_t link = p.instruction[kInstructionWords + k], place = link >> 8 & 255;
      rows_[k] = rows_at(place);
      row_[k] = place < p_.operands && is_row(p_.operand[place]) ? &p_.operand[place] : nullptr;
      const bool constant = rows_[k] == nullptr && row_[k] == nullptr;
      links_[k] = {constants_[k], static_cast<LinkOp>(link & 255), (link >> 16 & 1) != 0, constant};
      if (constant) std::fill(constants_[k], constants_[k] + kConstantElements, constant_at(place));
    }
  }

  void run(std::size_t row) {
    const Row& to = out_.rows[p_.output[0].first_row + row];
    const float* const from = static_cast<const float*>(first_[row].data);
    for (std::size_t begin = 0; begin < to.size;) {
      std::size_t n = to.size - begin;
      for (unsigned k = 0; k < count_; ++k) {
        if (rows_[k] != nullptr) links_[k].operand = static_cast<const float*>(rows_[k][row].data) + begin;
        if (row_[k] == nullptr) continue;
        std::size_t at = begin + row_[k]->offset;
        if (at >= row_[k]->period) at %= row_[k]->period;
        links_[k].operand = static_cast<const float*>(in_.rows[row_[k]->first_row].data) + at;
        n = std::min(n, row_[k]->period - at);
      }
      pando_chain(from + begin, links_, count_, static_cast<float*>(to.data) + begin, n);
      begin += n;
    }
  }

 private:
  static constexpr unsigned kFloat = size_class_of(sizeof(float));

  static bool is_row(const Operand& o) { return o.repeat == 1 && o.period > 1; }

  // The rows of an operand or output; null for what has one value.
  const Row* rows_at(unsigned place) const {
    if (place < p_.operands) return p_.operand[place].period == 0 ? in_.rows + p_.operand[place].first_row : nullptr;
    return place < p_.operands + p_.outputs ? out_.rows + p_.output[place - p_.operands].first_row : nullptr;
  }
  float constant_at(unsigned place) const {
    float value = 0;
    if (place < p_.operands) std::memcpy(&value, in_.rows[p_.operand[place].first_row].data, sizeof value);
    for (unsigned c = 0; c < p_.constants; ++c)
      if ((p_.constant[c].place & 255) == place) std::memcpy(&value, &p_.constant[c].low, sizeof value);
    return value;
  }

  const Program& p_;
  const Rows in_, out_;
  const unsigned count_;
  const Row* const first_;
  std::array<const Row*, kMostLinks> rows_;     // where each row has its own
  std::array<const Operand*, kMostLinks> row_;  // where all have one
  Link links_[kMostLinks];
  alignas(64) float constants_[kMostLinks][kConstantElements];
};

}  // namespace

void pando_program(const std::uint32_t* code, const Rows in[4], const Rows out[4]) {
  const Program p = parse(code);
  if (RowChain::fits(p, out)) {
    RowChain chain(p, in, out);
    for (std::size_t row = 0, rows = rows_of(p, out); row < rows; ++row) chain.run(row);
    return;
  }
  const Blocks blocks = blocks_of(p);
  const std::size_t stride = blocks.elements * p.width;
  std::array<unsigned char*, 256> place, expansion;
  unsigned char* free = scratch;
  for (unsigned r = 0; r < p.registers; ++r, free += stride) place[p.operands + p.outputs + r] = free;
  for (unsigned k = 0; k < p.operands; ++k)
    if (p.operand[k].period != 0) expansion[k] = free, free += stride;
  for (unsigned c = 0; c < p.constants; ++c) {
    const std::uint32_t value[2] = {p.constant[c].low, p.constant[c].high};
    pando_splat(std::size_t{1} << (p.constant[c].place >> 8), value, place[p.constant[c].place & 255], blocks.elements);
  }
  const std::size_t rows = rows_of(p, out);
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t n = out[p.output[0].size_class].rows[p.output[0].first_row + row].size;
    for (std::size_t begin = 0; begin < n; begin += blocks.elements) {
      const std::size_t m = std::min(n - begin, blocks.elements);
      for (unsigned k = 0; k < p.operands; ++k) {
        const Operand& o = p.operand[k];
        const Row& from = in[o.size_class].rows[o.first_row + (o.period != 0 ? 0 : row)];
        unsigned char* data = static_cast<unsigned char*>(from.data);
        if (o.period == 0)
          place[k] = data + (begin << o.size_class);
        else if (const std::size_t at = (begin + o.offset) % o.period; o.repeat == 1 && o.period > 1 && at + m <= o.period)
          place[k] = data + (at << o.size_class);
        else {
          place[k] = expansion[k];
          if (begin == 0 || !blocks.fixed[k]) expand(o, data, begin, place[k], m);
        }
      }
      for (unsigned o = 0; o < p.outputs; ++o) {
        const Output& to = p.output[o];
        place[p.operands + o] = static_cast<unsigned char*>(out[to.size_class].rows[to.first_row + row].data) + (begin << to.size_class);
      }
      const std::uint32_t* word = p.instruction;
      for (unsigned i = 0; i < p.instructions; ++i, word += words_of(*word)) run(word, place.data(), m);
    }
  }
}
