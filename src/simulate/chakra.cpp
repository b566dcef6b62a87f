#include "simulate/chakra.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

namespace pando::simulate {

namespace {

// Numbers of Chakra's schema (et_def.proto, release 0.0.4).
enum : std::uint64_t { kComputing = 4, kSend = 5, kReceive = 6, kCollective = 7 };
enum : std::uint64_t { kNodeId = 1, kNodeName = 2, kNodeType = 3, kNodeData = 5, kNodeDuration = 7, kNodeAttribute = 10 };
enum : std::uint64_t { kAttributeName = 1, kAttributeInt64 = 9, kAttributeBool = 27 };
enum : std::uint64_t {
  kAllReduce = 0,
  kReduce = 1,
  kAllGather = 2,
  kGather = 3,
  kScatter = 4,
  kBroadcast = 5,
  kAllToAll = 6,
  kReduceScatter = 7
};

void varint(std::string& out, std::uint64_t v) {
  for (; v >= 0x80; v >>= 7) out += static_cast<char>(v | 0x80);
  out += static_cast<char>(v);
}
void number(std::string& out, std::uint64_t field, std::uint64_t v) {
  varint(out, field << 3);
  varint(out, v);
}
void bytes(std::string& out, std::uint64_t field, const std::string& v) {
  varint(out, field << 3 | 2);
  varint(out, v.size());
  out += v;
}

class ChakraWriter {
 public:
  ChakraWriter(const Program& program, std::int32_t device) : p_(program), device_(device) {}

  std::string run() {
    std::string head;
    bytes(head, 1, "0.0.4");
    message(head);
    if (p_.bodies.empty()) return out_;
    std::vector<std::int32_t> map;
    for (const BodyDevice& d : p_.bodies.front().devices) map.push_back(d.number);
    std::vector<std::int64_t> made(p_.bodies.front().slots.size(), -1);
    body(p_.bodies.front(), map, made);
    return out_;
  }

 private:
  void message(const std::string& m) {
    varint(out_, m.size());
    out_ += m;
  }

  // `made`: the node of this device that made each slot, or -1.
  void body(const Body& b, const std::vector<std::int32_t>& map, std::vector<std::int64_t>& made) {
    for (const Step& s : b.steps) {
      const auto devices = b.devices_of(s);
      if (std::none_of(devices.begin(), devices.end(), [&](std::uint32_t d) { return map[d] == device_; })) continue;
      if (s.kind == StepKind::call)
        call(b, s, map, made);
      else
        node(b, s, map, made);
    }
  }

  void call(const Body& b, const Step& s, const std::vector<std::int32_t>& map, std::vector<std::int64_t>& made) {
    const Body& callee = p_.bodies[s.body];
    std::vector<std::int32_t> inner;
    for (std::uint32_t d : b.devices_of(s)) inner.push_back(map[d]);
    std::vector<std::int64_t> inputs;
    for (SlotId o : b.operands_of(s)) inputs.push_back(made[o]);
    std::vector<std::int64_t> there;
    for (std::int64_t t = 0; t < s.trips; ++t) {
      there.assign(callee.slots.size(), -1);
      for (std::size_t i = 0; i < inputs.size(); ++i) there[callee.inputs[i]] = inputs[i];
      body(callee, inner, there);
      for (std::size_t i = 0; i < callee.outputs.size(); ++i) {
        if (callee.carried[i] >= 0) inputs[static_cast<std::size_t>(callee.carried[i])] = there[callee.outputs[i]];
      }
    }
    const auto results = b.results_of(s);
    for (std::size_t i = 0; i < results.size() && s.trips > 0; ++i) made[results[i]] = there[callee.outputs[i]];
  }

  static std::uint64_t collective_type(const std::string& label) {
    static constexpr std::pair<std::string_view, std::uint64_t> known[] = {
        {"all_gather", kAllGather}, {"gather", kGather},       {"reduce_scatter", kReduceScatter}, {"scatter", kScatter},
        {"broadcast", kBroadcast},  {"all_to_all", kAllToAll}, {"all_reduce", kAllReduce},         {"reduce", kReduce}};
    for (const auto& [name, type] : known) {
      if (label.starts_with(name)) return type;
    }
    return kAllReduce;
  }

  void attribute(std::string& node, const char* name, std::uint64_t field, std::uint64_t value) {
    std::string a;
    bytes(a, kAttributeName, name);
    number(a, field, value);
    bytes(node, kNodeAttribute, a);
  }

  void node(const Body& b, const Step& s, const std::vector<std::int32_t>& map, std::vector<std::int64_t>& made) {
    std::string n;
    const std::uint64_t id = next_++;
    if (id > 0) number(n, kNodeId, id);
    bytes(n, kNodeName, p_.label(s.label));
    const auto operands = b.operands_of(s), results = b.results_of(s);
    const bool pair = s.kind == StepKind::transfer && operands.size() == 1 && results.size() == 1;
    const bool sends = pair && map[b.slots[operands[0]].device] == device_;
    number(n, kNodeType, s.kind == StepKind::compute ? kComputing : !pair ? kCollective : sends ? kSend : kReceive);
    std::vector<std::int64_t> needs;
    for (SlotId o : operands) {
      if (made[o] >= 0) needs.push_back(made[o]);
    }
    std::sort(needs.begin(), needs.end());
    needs.erase(std::unique(needs.begin(), needs.end()), needs.end());
    if (!needs.empty()) {
      std::string packed;
      for (std::int64_t d : needs) varint(packed, static_cast<std::uint64_t>(d));
      bytes(n, kNodeData, packed);
    }
    number(n, kNodeDuration, static_cast<std::uint64_t>(std::llround(s.seconds * 1e6)));
    attribute(n, "is_cpu_op", kAttributeBool, 0);
    if (s.kind == StepKind::transfer) {
      std::int64_t size = 0;
      for (SlotId o : operands) size = std::max(size, b.slots[o].bytes);
      attribute(n, "comm_size", kAttributeInt64, static_cast<std::uint64_t>(size));
      if (pair) {
        attribute(n, "comm_src", kAttributeInt64, static_cast<std::uint64_t>(map[b.slots[operands[0]].device]));
        attribute(n, "comm_dst", kAttributeInt64, static_cast<std::uint64_t>(map[b.slots[results[0]].device]));
      } else {
        attribute(n, "comm_type", kAttributeInt64, collective_type(p_.label(s.label)));
      }
    }
    for (SlotId r : results) made[r] = static_cast<std::int64_t>(id);
    message(n);
  }

  const Program& p_;
  std::int32_t device_;
  std::string out_;
  std::uint64_t next_ = 0;
};

}  // namespace

std::string chakra_trace(const Program& program, std::int32_t device) { return ChakraWriter(program, device).run(); }

}  // namespace pando::simulate
