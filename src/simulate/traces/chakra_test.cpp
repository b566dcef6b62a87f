// Chakra traces, read again field by field: protobuf messages of et_def.proto.
#include "simulate/traces/chakra.h"

#include "ir/text/parse.h"
#include "simulate/costs/flatten.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <map>

namespace pando::simulate {
namespace {

using testing::ElementsAre;

// Rows meet in (0, 1) and (2, 3), a column in (0, 2); in each trip of a loop a message goes from device 0 to device 2 and one back.
constexpr const char* kMesh = R"(module
graph main(a: Tensor[(8), float32, 0], b: Tensor[(8), float32, 1], c: Tensor[(8), float32, 2], d: Tensor[(8), float32, 3]):
    row: Tuple[Tensor[(8), float32, 0], Tensor[(8), float32, 1]] = make_tuple(a, b)
    rows: Tuple[Tensor[(8), float32, 0], Tensor[(8), float32, 1]] = all_reduce_across(row, op="add")
    other: Tuple[Tensor[(8), float32, 2], Tensor[(8), float32, 3]] = make_tuple(c, d)
    others: Tuple[Tensor[(16), float32, 2], Tensor[(16), float32, 3]] = all_gather_across(other, dim=0)
    a1: Tensor[(8), float32, 0] = get_element(rows, index=0)
    a2: Tensor[(8), float32, 0] = relu(a1)
    column: Tuple[Tensor[(8), float32, 0], Tensor[(8), float32, 2]] = make_tuple(a2, c)
    columns: Tuple[Tensor[(4), float32, 0], Tensor[(4), float32, 2]] = reduce_scatter_across(column, dim=0, op="add")
    e: Tensor[(8), float32, 0] = repeat(a2, count=2) @round
    rows2: Tuple[Tensor[(8), float32, 0], Tensor[(8), float32, 1]] = all_reduce_across(rows, op="add")
    f: Tensor[(8), float32, 2] = send(e, device=2)
    return f

graph round(x: Tensor[(8), float32, 0]):
    there: Tensor[(8), float32, 2] = send(x, device=2)
    y: Tensor[(8), float32, 2] = tanh(there)
    back: Tensor[(8), float32, 0] = send(y, device=0)
    return back
)";

enum Type : std::uint64_t { kComp = 4, kSend = 5, kRecv = 6, kColl = 7 };

struct Node {
  std::uint64_t id = 0, type = 0, microseconds = 0;
  std::string name;
  std::vector<std::uint64_t> needs;
  std::map<std::string, std::uint64_t> numbers;
  std::map<std::string, std::string> texts;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}
  bool done() const { return left_.empty(); }
  std::uint64_t varint() {
    std::uint64_t v = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<std::uint8_t>(left_.at(0));
      left_.remove_prefix(1);
      v |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return v;
    }
  }
  std::string_view bytes() {
    const std::uint64_t n = varint();
    if (n > left_.size()) throw std::out_of_range("a message that is cut short");
    const std::string_view all = left_.substr(0, n);
    left_.remove_prefix(n);
    return all;
  }

 private:
  std::string_view left_;
};

void read_attribute(std::string_view bytes, Node& n) {
  Reader r(bytes);
  std::string name;
  while (!r.done()) {
    const std::uint64_t key = r.varint();
    switch (key) {
      case 1 << 3 | 2: name = r.bytes(); break;
      case 9 << 3:
      case 27 << 3: n.numbers[name] = r.varint(); break;
      case 29 << 3 | 2: n.texts[name] = r.bytes(); break;
      default: ADD_FAILURE() << "an attribute's key " << key;
    }
  }
}

std::vector<Node> read(const std::string& trace) {
  Reader all(trace);
  EXPECT_EQ(all.bytes(),
            "\x0a\x05"
            "0.0.4");
  std::vector<Node> nodes;
  while (!all.done()) {
    Node n;
    for (Reader r(all.bytes()); !r.done();) {
      const std::uint64_t key = r.varint();
      switch (key) {
        case 1 << 3: n.id = r.varint(); break;
        case 2 << 3 | 2: n.name = r.bytes(); break;
        case 3 << 3: n.type = r.varint(); break;
        case 5 << 3 | 2:
          for (Reader needs(r.bytes()); !needs.done();) n.needs.push_back(needs.varint());
          break;
        case 7 << 3: n.microseconds = r.varint(); break;
        case 10 << 3 | 2: read_attribute(r.bytes(), n); break;
        default: ADD_FAILURE() << "a node's key " << key; return nodes;
      }
    }
    nodes.push_back(n);
  }
  return nodes;
}

std::vector<std::string> names(const std::vector<Node>& nodes) {
  std::vector<std::string> all;
  for (const Node& n : nodes) all.push_back(n.name);
  return all;
}

class Chakra : public testing::Test {
 protected:
  Chakra() : program_(flatten(ir::parse(kMesh), ClusterCostModel(cluster_named("bow-pod")))), groups_(chakra_groups(program_)) {}
  std::vector<Node> of(std::int32_t device) const { return read(chakra_trace(program_, groups_, device)); }
  Program program_;
  ChakraGroups groups_;
};

TEST_F(Chakra, GroupsAreThoseThatMeet) {
  EXPECT_THAT(groups_, ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3), ElementsAre(0, 2)));
  const auto json = nlohmann::json::parse(to_json(groups_));
  EXPECT_EQ(json.size(), 3u);
  EXPECT_EQ(json["3"], (std::vector<std::int32_t>{0, 2}));
  EXPECT_EQ(nlohmann::json::parse(to_json({})).size(), 0u);
}

TEST_F(Chakra, EachDeviceHasItsSteps) {
  EXPECT_THAT(names(of(1)), ElementsAre("all_reduce_across", "all_reduce_across"));
  EXPECT_THAT(names(of(3)), ElementsAre("all_gather_across"));
  EXPECT_THAT(names(of(0)), ElementsAre("all_reduce_across", "relu", "reduce_scatter_across", "send", "send", "send", "send",
                                        "all_reduce_across", "send"));
  EXPECT_THAT(names(of(2)),
              ElementsAre("all_gather_across", "reduce_scatter_across", "send", "tanh", "send", "send", "tanh", "send", "send"));
  EXPECT_THAT(of(4), ElementsAre());
  for (std::int32_t d = 0; d < 4; ++d) {
    std::uint64_t next = 0;
    for (const Node& n : of(d)) {
      EXPECT_EQ(n.id, next++);
      EXPECT_EQ(n.numbers.at("is_cpu_op"), 0u);
      for (std::uint64_t needed : n.needs) EXPECT_LT(needed, n.id) << n.name;
    }
  }
}

TEST_F(Chakra, CollectivesNameTheirKindBytesAndGroup) {
  const auto first = of(0), third = of(2);
  const auto is = [&](const Node& n, std::uint64_t kind, std::uint64_t size, const char* group) {
    EXPECT_EQ(n.type, kColl) << n.name;
    EXPECT_EQ(n.numbers.at("comm_type"), kind) << n.name;
    EXPECT_EQ(n.numbers.at("comm_size"), size) << n.name;
    EXPECT_EQ(n.texts.at("pg_name"), group) << n.name;
  };
  is(first[0], 0, 32, "1");
  is(first[2], 7, 32, "3");
  is(first[7], 0, 32, "1");
  is(third[0], 2, 32, "2");
  is(third[1], 7, 32, "3");
  EXPECT_THAT(first[1].needs, ElementsAre(0));  // relu of what was added up
  EXPECT_THAT(first[2].needs, ElementsAre(1));
  EXPECT_EQ(first[1].type, kComp);
}

// Both ends of a message have the same partner, size and tag.
TEST_F(Chakra, MessagesHaveTwoEnds) {
  using Message = std::array<std::uint64_t, 4>;
  std::vector<Message> sent, received;
  for (std::int32_t d = 0; d < 4; ++d) {
    for (const Node& n : of(d)) {
      if (n.type != kSend && n.type != kRecv) continue;
      const Message m{n.numbers.at("comm_src"), n.numbers.at("comm_dst"), n.numbers.at("comm_tag"), n.numbers.at("comm_size")};
      EXPECT_EQ(m[n.type == kSend ? 0 : 1], static_cast<std::uint64_t>(d));
      (n.type == kSend ? sent : received).push_back(m);
    }
  }
  std::sort(sent.begin(), sent.end());
  std::sort(received.begin(), received.end());
  EXPECT_EQ(sent, received);
  EXPECT_EQ(sent, (std::vector<Message>{{0, 2, 0, 32}, {0, 2, 1, 32}, {0, 2, 2, 32}, {2, 0, 0, 32}, {2, 0, 1, 32}}));
  // A trip begins with what the one before has brought.
  const auto nodes = of(0);
  EXPECT_EQ(nodes[4].type, kRecv);
  EXPECT_EQ(nodes[5].type, kSend);
  EXPECT_THAT(nodes[5].needs, ElementsAre(4));
}

}  // namespace
}  // namespace pando::simulate
