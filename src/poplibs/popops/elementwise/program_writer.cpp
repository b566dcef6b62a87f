#include "program_writer.h"

#include <algorithm>
#include <cstring>

#include "kernels/elementwise/elementwise_program.h"

namespace popops::internal {

using namespace pando::kernels;

std::size_t Program::operand_at(std::size_t i) const { return kHeaderWords + i * kOperandWords; }
std::size_t Program::output_at(std::size_t o) const { return kHeaderWords + operands.size() * kOperandWords + o * kOutputWords; }

namespace {

// A value while the program is written: an operand as it lies in memory, a constant, or what an instruction makes.
struct Value {
  pando::kernels::Type type;
  int last_use = -1;  // the last instruction that reads it
  int place = -1;
  bool fixed = false;  // the place is its own for the whole program
  std::uint64_t constant = 0;
  bool is_constant = false;
};

// What a chain does with the value of the step before.
struct StepLink {
  LinkOp op;
  int operand;  // -1: it has none; the output that a value is kept in
  bool reversed;
  int second = -1;  // of a product
};

struct Step {
  Kind kind;
  std::uint8_t op = 0;
  pando::kernels::Type type;
  pando::kernels::Type to = pando::kernels::Type::f32;
  int result = -1;
  std::array<int, 3> arguments = {-1, -1, -1};
  std::vector<StepLink> links = {};  // of a chain, which begins with the first argument

  // The values it reads, some perhaps more than once.
  std::vector<int> reads() const {
    std::vector<int> out;
    for (const int a : arguments)
      if (a >= 0) out.push_back(a);
    for (const StepLink& l : links) {
      if (l.operand >= 0 && l.op != LinkOp::keep) out.push_back(l.operand);
      if (l.second >= 0) out.push_back(l.second);
    }
    return out;
  }
  bool does_read(int v) const {
    const std::vector<int> values = reads();
    return std::find(values.begin(), values.end(), v) != values.end();
  }
  bool does_write(int v) const {
    return result == v ||
           std::any_of(links.begin(), links.end(), [v](const StepLink& l) { return l.op == LinkOp::keep && l.operand == v; });
  }
};

class Writer {
 public:
  Writer(const Dag& dag, const std::vector<ProgramOperand>& operands) : dag_(dag), operands_(operands), needed_(dag.needed()) {
    direct_half_ = is_single_half();
    in_place_ = std::any_of(operands.begin(), operands.end(), [](const ProgramOperand& o) { return o.in_place >= 0; });
  }

  std::optional<Program> write() {
    list_operands();
    for (std::size_t r = 0; r < dag_.results.size(); ++r) outputs_.push_back(new_value(kernel_type(result(r).type)));
    for (std::size_t o = 0; o < outputs_.size(); ++o)
      at(outputs_[o]).place = static_cast<int>(program_.operands.size() + o), at(outputs_[o]).fixed = true;
    values_of_node_.assign(dag_.nodes.size(), -1);
    for (std::size_t i = 0; i < dag_.nodes.size(); ++i)
      if (needed_[i]) values_of_node_[i] = value_of(i);
    keep_swapped_results();
    for (std::size_t r = 0; r < outputs_.size(); ++r) store(r);
    join_chains();
    if (outputs_.size() > 1) store_directly();
    find_last_uses();
    if (!place_values()) return {};
    emit();
    return std::move(program_);
  }

 private:
  using KernelType = pando::kernels::Type;

  Value& at(int v) { return values_[static_cast<std::size_t>(v)]; }
  const Node& node(int n) const { return dag_.nodes[static_cast<std::size_t>(n)]; }
  const Node& result(std::size_t r) const { return node(dag_.results[r]); }
  int new_value(KernelType type) {
    values_.push_back({type});
    return static_cast<int>(values_.size()) - 1;
  }

  // One function of half operands needs no conversions: the kernel does them. Constants have to be exact in half.
  bool is_single_half() const {
    if (dag_.results.size() != 1) return false;
    unsigned functions = 0;
    for (std::size_t i = 0; i < dag_.nodes.size(); ++i) {
      const Node& n = dag_.nodes[i];
      if (!needed_[i] || n.kind == NodeKind::operand) continue;
      if (n.kind == NodeKind::cast) return false;
      if (n.kind == NodeKind::constant) {
        float f;
        std::memcpy(&f, &n.value, 4);
        if (n.type == poplar::HALF && f == f && static_cast<float>(static_cast<_Float16>(f)) != f) return false;
      } else {
        ++functions;
      }
    }
    return functions <= 1;
  }
  KernelType computed_in(const poplar::Type& type) const { return direct_half_ ? kernel_type(type) : register_type(type); }

  void list_operands() {
    memory_.assign(operands_.size(), -1);
    for (std::size_t i = 0; i < dag_.nodes.size(); ++i) {
      const Node& n = dag_.nodes[i];
      if (!needed_[i] || n.kind != NodeKind::operand || memory_[n.operand] >= 0 || operands_[n.operand].in_place >= 0) continue;
      const int v = memory_[n.operand] = new_value(kernel_type(n.type));
      at(v).place = static_cast<int>(program_.operands.size());
      at(v).fixed = true;
      program_.operands.push_back(static_cast<int>(n.operand));
    }
  }

  void step(Kind kind, std::uint8_t op, KernelType type, KernelType to, int result, std::array<int, 3> arguments) {
    steps_.push_back({kind, op, type, to, result, arguments});
  }
  int converted(int v, KernelType to) {
    if (at(v).type == to) return v;
    const int out = new_value(to);
    step(Kind::convert, 0, at(v).type, to, out, {v, -1, -1});
    return out;
  }

  int value_of(std::size_t i) {
    const Node& n = dag_.nodes[i];
    const KernelType type = computed_in(n.type);
    if (n.kind == NodeKind::operand) {
      const int shared = operands_[n.operand].in_place;
      return converted(shared >= 0 ? outputs_[static_cast<std::size_t>(shared)] : memory_[n.operand], type);
    }
    if (n.kind == NodeKind::constant) return constant(n, type);
    std::array<int, 3> arguments = {-1, -1, -1};
    for (unsigned k = 0; k < 3; ++k)
      if (n.arguments[k] >= 0) arguments[k] = values_of_node_[static_cast<std::size_t>(n.arguments[k])];
    const KernelType from = computed_in(node(n.arguments[0]).type);
    if (n.kind == NodeKind::cast) return cast(n, arguments[0], type);
    const int out = new_value(type);
    switch (n.kind) {
      case NodeKind::unary:
        // A product can be a part of a chain.
        if (from == KernelType::f32 && static_cast<Unary>(n.op) == Unary::square)
          step(Kind::binary, static_cast<std::uint8_t>(Binary::multiply), from, type, out, {arguments[0], arguments[0], -1});
        else
          step(Kind::unary, n.op, from, type, out, arguments);
        break;
      case NodeKind::binary: step(Kind::binary, n.op, from, type, out, arguments); break;
      case NodeKind::clamp: step(Kind::clamp, 0, from, type, out, arguments); break;
      default: step(Kind::select, 0, type, type, out, arguments);
    }
    return out;
  }

  // A cast to half rounds what is then computed with in float.
  int cast(const Node& n, int argument, KernelType type) {
    return n.type == poplar::HALF ? converted(converted(argument, KernelType::f16), type) : converted(argument, type);
  }

  int constant(const Node& n, KernelType type) {
    const int v = new_value(type);
    at(v).is_constant = true;
    at(v).constant = n.value;
    if (n.type == poplar::HALF && type == KernelType::f16) {
      float f;
      std::memcpy(&f, &n.value, 4);
      const _Float16 h = static_cast<_Float16>(f);
      at(v).constant = 0;
      std::memcpy(&at(v).constant, &h, 2);
    }
    return v;
  }

  // A result that is another output's operand is moved out of the way before that output is written.
  void keep_swapped_results() {
    for (std::size_t r = 0; r < outputs_.size(); ++r) {
      int v = values_of_node_[static_cast<std::size_t>(dag_.results[r])];
      if (outputs_.size() > 1 && v != outputs_[r] && std::find(outputs_.begin(), outputs_.end(), v) != outputs_.end()) {
        const int copy = new_value(at(v).type);
        step(Kind::convert, 0, at(v).type, at(v).type, copy, {v, -1, -1});
        v = copy;
      }
      kept_.push_back(v);
    }
  }

  // The last instruction of a result writes the output itself, unless others still need what is there or the value has other uses.
  void store(std::size_t r) {
    const int v = kept_[r], out = outputs_[r];
    if (v == out) return;
    const bool alone = dag_.results.size() == 1;
    if (alone && !steps_.empty() && steps_.back().result == v && at(v).type == at(out).type)
      steps_.back().result = out;
    else
      step(Kind::convert, 0, at(v).type, at(out).type, out, {v, -1, -1});
  }

  // A float operation whose only reader is another one becomes a part of it.
  void join_chains() {
    std::vector<unsigned> uses(values_.size());
    std::vector<int> maker(values_.size(), -1);     // of what a chain may begin with
    std::vector<int> is_above(values_.size(), -1);  // the step that says whether a value is more than 0
    for (const Step& s : steps_)
      for (const int a : s.reads()) ++uses[static_cast<std::size_t>(a)];
    std::vector<bool> gone(steps_.size());
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      Step& s = steps_[i];
      if (s.kind == Kind::binary && s.type == KernelType::f32 && static_cast<Binary>(s.op) == Binary::greater &&
          is_zero(s.arguments[1], true))
        is_above[static_cast<std::size_t>(s.result)] = static_cast<int>(i);
      if (s.kind == Kind::select && s.type == KernelType::f32) {
        const std::size_t condition = static_cast<std::size_t>(s.arguments[2]);
        if (is_above[condition] < 0 || uses[condition] != 1 || !is_zero(s.arguments[1], false)) continue;
        gone[static_cast<std::size_t>(is_above[condition])] = true;
        const Step& compare = steps_[static_cast<std::size_t>(is_above[condition])];
        s.kind = Kind::chain;
        s.links = {{LinkOp::gate, compare.arguments[0], false}};
        s.arguments = {s.arguments[0], -1, -1};
      } else if (!is_link(s)) {
        continue;
      }
      if (!at(s.result).fixed) maker[static_cast<std::size_t>(s.result)] = static_cast<int>(i);
      const auto only_maker = [&](int v) {
        return v < 0 || maker[static_cast<std::size_t>(v)] < 0 || uses[static_cast<std::size_t>(v)] != 1
                   ? -1
                   : maker[static_cast<std::size_t>(v)];
      };
      if (const int first = only_maker(s.arguments[0]), second = only_maker(s.arguments[1]); first >= 0 && second >= 0 && first != second) {
        const auto step_at = [&](int k) -> Step& { return steps_[static_cast<std::size_t>(k)]; };
        const bool of_second = is_single(step_at(second), Binary::multiply);
        Step& before = step_at(of_second ? first : second);
        if (is_single(s, Binary::add) && (of_second || is_single(step_at(first), Binary::multiply)) &&
            before.links.size() + 1 < kMostLinks) {
          const int product = of_second ? second : first;
          s.links = {{LinkOp::product, step_at(product).arguments[0], false, step_at(product).arguments[1]}};
          gone[static_cast<std::size_t>(product)] = gone[static_cast<std::size_t>(of_second ? first : second)] = true;
          extend(before, s, false);
          continue;
        }
      }
      for (unsigned k = 0; k < 2; ++k) {
        const int v = s.arguments[k];
        if (v < 0 || maker[static_cast<std::size_t>(v)] < 0 || uses[static_cast<std::size_t>(v)] != 1) continue;
        Step& before = steps_[static_cast<std::size_t>(maker[static_cast<std::size_t>(v)])];
        if (before.links.size() + std::max<std::size_t>(1, s.links.size()) > kMostLinks) continue;
        gone[static_cast<std::size_t>(maker[static_cast<std::size_t>(v)])] = true;
        extend(before, s, k == 1);
        break;
      }
    }
    drop(gone);
  }

  void drop(const std::vector<bool>& gone) {
    std::vector<Step> left;
    for (std::size_t i = 0; i < steps_.size(); ++i)
      if (!gone[i]) left.push_back(std::move(steps_[i]));
    steps_ = std::move(left);
  }

  // Of several results: a float that a step makes goes to its output at once, not by a copy at the end, where nobody reads what was there
  // before any more. Where a chain goes on with it, it is kept on that chain's way.
  void store_directly() {
    std::vector<bool> gone(steps_.size());
    for (std::size_t end = 0; end < steps_.size(); ++end) {
      const Step store = steps_[end];
      const int v = store.arguments[0], out = store.result;
      if (store.kind != Kind::convert || store.type != KernelType::f32 || store.to != KernelType::f32 || !is_output(out) || at(v).fixed)
        continue;
      std::size_t makes = 0;
      while (makes < end && (gone[makes] || steps_[makes].result != v)) ++makes;
      if (makes == end || !(is_link(steps_[makes]) || steps_[makes].kind == Kind::chain)) continue;
      if (reads_between(gone, makes + 1, end, out) || reads_between(gone, end + 1, steps_.size(), out)) continue;
      gone[end] = true;
      if (go_on(gone, makes, v, out)) continue;
      steps_[makes].result = out;
      for (std::size_t i = makes + 1; i < steps_.size(); ++i) replace(steps_[i], v, out);
    }
    drop(gone);
  }

  bool is_output(int v) const { return std::find(outputs_.begin(), outputs_.end(), v) != outputs_.end(); }

  bool reads_between(const std::vector<bool>& gone, std::size_t begin, std::size_t end, int v) const {
    for (std::size_t i = begin; i < end; ++i)
      if (!gone[i] && steps_[i].does_read(v)) return true;
    return false;
  }

  // The one step that reads the value begins with it: then it does what `makes` does, too, and keeps it. False, with nothing done, where it
  // does not.
  bool go_on(std::vector<bool>& gone, std::size_t makes, int v, int out) {
    std::size_t reader = steps_.size();
    for (std::size_t i = makes + 1; i < steps_.size(); ++i) {
      if (gone[i] || !steps_[i].does_read(v)) continue;
      if (reader != steps_.size()) return false;
      reader = i;
    }
    if (reader == steps_.size()) return false;
    Step &before = steps_[makes], &after = steps_[reader];
    const std::vector<int> reads = after.reads();
    if (std::count(reads.begin(), reads.end(), v) != 1 || after.arguments[0] != v || !(is_link(after) || after.kind == Kind::chain))
      return false;
    if (before.links.size() + after.links.size() + 3 > kMostLinks) return false;
    for (const int operand : before.reads())
      for (std::size_t i = makes + 1; i < reader; ++i)
        if (!gone[i] && steps_[i].does_write(operand)) return false;
    if (before.links.empty()) before.links.push_back(link(before, false));
    before.links.push_back({LinkOp::keep, out, false});
    extend(before, after, false);
    gone[makes] = true;
    return true;
  }

  static void replace(Step& s, int v, int by) {
    for (int& a : s.arguments)
      if (a == v) a = by;
    for (StepLink& l : s.links) {
      if (l.operand == v) l.operand = by;
      if (l.second == v) l.second = by;
    }
  }

  static bool is_single(const Step& s, Binary op) {
    return s.kind == Kind::binary && s.type == KernelType::f32 && static_cast<Binary>(s.op) == op;
  }

  bool is_zero(int v, bool of_any_sign) {
    const Value& value = at(v);
    return value.is_constant && value.type == KernelType::f32 && (value.constant & (of_any_sign ? 0x7fffffff : 0xffffffff)) == 0;
  }

  static bool is_link(const Step& s) {
    if (s.type != KernelType::f32) return false;
    const bool alone = s.kind == Kind::unary && (static_cast<Unary>(s.op) == Unary::relu || static_cast<Unary>(s.op) == Unary::sqrt);
    return alone || (s.kind == Kind::binary && can_chain(static_cast<Binary>(s.op)));
  }

  // A single operation as a link behind its argument, or behind the other one if `reversed`.
  static StepLink link(const Step& s, bool reversed) {
    if (s.kind == Kind::unary) return {static_cast<Unary>(s.op) == Unary::relu ? LinkOp::relu : LinkOp::sqrt, -1, false};
    return {link_op(static_cast<Binary>(s.op)), s.arguments[reversed ? 0 : 1], reversed};
  }

  // Makes `s` the chain of `before` and itself, each a chain or a single operation.
  static void extend(Step& before, Step& s, bool reversed) {
    std::vector<StepLink> links = std::move(before.links);
    if (links.empty()) links.push_back(link(before, false));
    if (s.links.empty()) s.links.push_back(link(s, reversed));
    links.insert(links.end(), s.links.begin(), s.links.end());
    s.links = std::move(links);
    s.kind = Kind::chain;
    s.arguments = {before.arguments[0], -1, -1};
  }

  void find_last_uses() {
    for (std::size_t i = 0; i < steps_.size(); ++i)
      for (const int a : steps_[i].reads()) at(a).last_use = static_cast<int>(i);
  }

  bool place_values() {
    first_register_ = static_cast<int>(program_.operands.size() + outputs_.size());
    for (Value& v : values_)
      if (is_needed_constant(v)) v.place = first_register_ + registers_++, v.fixed = true;
    // A single output is a register itself until its result comes: it will be in the cache anyway.
    const int spare = outputs_.size() == 1 && !in_place_ ? outputs_[0] : -1;
    bool spare_free = spare >= 0;
    std::vector<int> free;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      Step& s = steps_[i];
      Value& to = at(s.result);
      std::vector<int> released, read;
      for (const int a : s.reads()) {
        const bool repeated = std::find(read.begin(), read.end(), a) != read.end();
        read.push_back(a);
        if (repeated || at(a).fixed || at(a).last_use != static_cast<int>(i)) continue;
        // Results may take an operand's place only where their elements are as long.
        (size_of(at(a).type) == size_of(to.type) ? free : released).push_back(at(a).place);
      }
      if (to.place < 0) {
        const auto output = std::find(free.begin(), free.end(), spare >= 0 ? at(spare).place : -1);
        if (spare_free && size_of(to.type) == size_of(at(spare).type))
          to.place = at(spare).place, spare_free = false;
        else if (output != free.end() && size_of(to.type) == size_of(at(spare).type))
          to.place = *output, free.erase(output);
        else if (!take_register(free, to, spare >= 0 ? at(spare).place : -1))
          to.place = first_register_ + registers_++;
      }
      free.insert(free.end(), released.begin(), released.end());
    }
    return first_register_ + registers_ <= static_cast<int>(kMostPlaces) && steps_.size() < 65536;
  }

  // Links with a number of their own need none.
  static bool is_needed_constant(const Value& v) { return v.is_constant && v.last_use >= 0; }

  static bool take_register(std::vector<int>& free, Value& to, int output) {
    const auto found = std::find_if(free.rbegin(), free.rend(), [&](int place) { return place != output; });
    if (found == free.rend()) return false;
    to.place = *found;
    free.erase(std::next(found).base());
    return true;
  }

  void emit() {
    std::size_t width = 1;
    for (const Value& v : values_) width = std::max(width, size_of(v.type));
    std::vector<std::uint32_t>& w = program_.words;
    std::uint32_t constants = 0;
    for (const Value& v : values_) constants += is_needed_constant(v) ? 1 : 0;
    w.push_back(static_cast<std::uint32_t>(program_.operands.size() | outputs_.size() << 8 | static_cast<std::size_t>(registers_) << 16 |
                                           width << 24));
    w.push_back(constants | static_cast<std::uint32_t>(steps_.size()) << 16);
    for (const int o : program_.operands)
      w.insert(w.end(), {size_class_of(size_of(kernel_type(operands_[static_cast<std::size_t>(o)].type))), 0, 0, 0, 0});
    for (const int o : outputs_) w.insert(w.end(), {size_class_of(size_of(at(o).type)), 0});
    for (const Value& v : values_)
      if (is_needed_constant(v))
        w.insert(w.end(), {static_cast<std::uint32_t>(v.place) | size_class_of(size_of(v.type)) << 8,
                           static_cast<std::uint32_t>(v.constant), static_cast<std::uint32_t>(v.constant >> 32)});
    for (const Step& s : steps_) {
      const auto place = [&](int v) { return v < 0 ? 0u : static_cast<std::uint32_t>(at(v).place); };
      const std::uint32_t head = static_cast<std::uint32_t>(s.kind) | static_cast<std::uint32_t>(s.type) << 16;
      if (s.kind == Kind::chain)
        w.insert(w.end(), {head | static_cast<std::uint32_t>(s.links.size()) << 8, place(s.result) | place(s.arguments[0]) << 8});
      else
        w.insert(w.end(), {head | std::uint32_t{s.op} << 8 | static_cast<std::uint32_t>(s.to) << 24,
                           place(s.result) | place(s.arguments[0]) << 8 | place(s.arguments[1]) << 16 | place(s.arguments[2]) << 24});
      for (const StepLink& l : s.links)
        w.push_back(static_cast<std::uint32_t>(l.op) | place(l.operand) << 8 | (l.reversed ? 1u : 0u) << 16 | place(l.second) << 24);
    }
  }

  const Dag& dag_;
  const std::vector<ProgramOperand>& operands_;
  std::vector<bool> needed_;
  bool direct_half_ = false;
  bool in_place_ = false;
  Program program_;
  std::vector<Value> values_;
  std::vector<int> memory_;   // of each operand: the value in memory
  std::vector<int> outputs_;  // of each result: the output as a value
  std::vector<int> kept_;     // of each result: the value to store
  std::vector<int> values_of_node_;
  std::vector<Step> steps_;
  int first_register_ = 0;
  int registers_ = 0;
};

}  // namespace

std::optional<Program> write_program(const Dag& dag, const std::vector<ProgramOperand>& operands) { return Writer(dag, operands).write(); }

}  // namespace popops::internal
