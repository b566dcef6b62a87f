#include "simulate/traces/chakra.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace pando::simulate {

namespace {

// Numbers of Chakra's schema (et_def.proto, release 0.0.4).
enum : std::uint64_t { kComputing = 4, kSend = 5, kReceive = 6, kCollective = 7 };
enum : std::uint64_t { kNodeId = 1, kNodeName = 2, kNodeType = 3, kNodeData = 5, kNodeDuration = 7, kNodeAttribute = 10 };
enum : std::uint64_t { kAttributeName = 1, kAttributeInt64 = 9, kAttributeBool = 27, kAttributeString = 29 };
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

using Devices = std::vector<std::int32_t>;

// Of the main graph's body.
Devices devices_of_main(const Program& p) {
  Devices map;
  for (const BodyDevice& d : p.bodies.front().devices) map.push_back(d.number);
  return map;
}

// Of a step, where the devices of its body are those of `map`.
Devices devices_of(const Body& b, const Step& s, const Devices& map) {
  Devices all;
  for (std::uint32_t d : b.devices_of(s)) all.push_back(map[d]);
  return all;
}

Devices group_of(const Body& b, const Step& s, const Devices& map) {
  Devices all = devices_of(b, s, map);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

// One tensor from one device to another; all else is a collective.
bool is_pair(const Body& b, const Step& s) {
  return s.kind == StepKind::transfer && b.operands_of(s).size() == 1 && b.results_of(s).size() == 1;
}

class GroupFinder {
 public:
  explicit GroupFinder(const Program& p) : p_(p) {}

  ChakraGroups run() {
    if (!p_.bodies.empty()) body(p_.bodies.front(), devices_of_main(p_));
    return std::move(found_);
  }

 private:
  void body(const Body& b, const Devices& map) {
    for (const Step& s : b.steps) {
      if (s.kind == StepKind::call) {
        if (s.trips > 0) body(p_.bodies[s.body], devices_of(b, s, map));
      } else if (s.kind == StepKind::transfer && !is_pair(b, s)) {
        Devices group = group_of(b, s, map);
        if (seen_.insert(group).second) found_.push_back(std::move(group));
      }
    }
  }

  const Program& p_;
  std::set<Devices> seen_;
  ChakraGroups found_;
};

class ChakraWriter {
 public:
  ChakraWriter(const Program& program, const ChakraGroups& groups, std::int32_t device) : p_(program), device_(device) {
    for (std::size_t i = 0; i < groups.size(); ++i) groups_[groups[i]] = i + 1;
  }

  std::string run() {
    std::string head;
    bytes(head, 1, "0.0.4");
    message(head);
    if (p_.bodies.empty()) return out_;
    std::vector<std::int64_t> made(p_.bodies.front().slots.size(), -1);
    body(p_.bodies.front(), devices_of_main(p_), made);
    return out_;
  }

 private:
  void message(const std::string& m) {
    varint(out_, m.size());
    out_ += m;
  }

  // `made`: the node of this device that made each slot, or -1.
  void body(const Body& b, const Devices& map, std::vector<std::int64_t>& made) {
    for (const Step& s : b.steps) {
      const auto devices = b.devices_of(s);
      if (std::none_of(devices.begin(), devices.end(), [&](std::uint32_t d) { return map[d] == device_; })) continue;
      if (s.kind == StepKind::call)
        call(b, s, map, made);
      else
        node(b, s, map, made);
    }
  }

  void call(const Body& b, const Step& s, const Devices& map, std::vector<std::int64_t>& made) {
    const Body& callee = p_.bodies[s.body];
    const Devices inner = devices_of(b, s, map);
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
  void attribute(std::string& node, const char* name, const std::string& value) {
    std::string a;
    bytes(a, kAttributeName, name);
    bytes(a, kAttributeString, value);
    bytes(node, kNodeAttribute, a);
  }

  void node(const Body& b, const Step& s, const Devices& map, std::vector<std::int64_t>& made) {
    std::string n;
    const std::uint64_t id = next_++;
    if (id > 0) number(n, kNodeId, id);
    bytes(n, kNodeName, p_.label(s.label));
    const auto operands = b.operands_of(s), results = b.results_of(s);
    const bool pair = is_pair(b, s);
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
    if (s.kind == StepKind::transfer) transfer(n, b, s, map);
    for (SlotId r : results) made[r] = static_cast<std::int64_t>(id);
    message(n);
  }

  void transfer(std::string& n, const Body& b, const Step& s, const Devices& map) {
    const auto operands = b.operands_of(s), results = b.results_of(s);
    std::int64_t size = 0;
    for (SlotId o : operands) size = std::max(size, b.slots[o].bytes);
    attribute(n, "comm_size", kAttributeInt64, static_cast<std::uint64_t>(size));
    if (!is_pair(b, s)) {
      attribute(n, "comm_type", kAttributeInt64, collective_type(p_.label(s.label)));
      attribute(n, "pg_name", std::to_string(groups_.at(group_of(b, s, map))));
      return;
    }
    const std::int32_t from = map[b.slots[operands[0]].device], to = map[b.slots[results[0]].device];
    attribute(n, "comm_src", kAttributeInt64, static_cast<std::uint64_t>(from));
    attribute(n, "comm_dst", kAttributeInt64, static_cast<std::uint64_t>(to));
    attribute(n, "comm_tag", kAttributeInt64, messages_[{from, to}]++);
  }

  const Program& p_;
  std::int32_t device_;
  std::map<Devices, std::uint64_t> groups_;
  // Both ends count them in the program's order.
  std::map<std::pair<std::int32_t, std::int32_t>, std::uint64_t> messages_;
  std::string out_;
  std::uint64_t next_ = 0;
};

}  // namespace

ChakraGroups chakra_groups(const Program& program) { return GroupFinder(program).run(); }

std::string to_json(const ChakraGroups& groups) {
  std::string text = "{";
  for (std::size_t i = 0; i < groups.size(); ++i) {
    text += fmt::format("{}\n  \"{}\": [{}]", i > 0 ? "," : "", i + 1, fmt::join(groups[i], ", "));
  }
  return text + "\n}\n";
}

std::string chakra_trace(const Program& program, const ChakraGroups& groups, std::int32_t device) {
  return ChakraWriter(program, groups, device).run();
}

}  // namespace pando::simulate
