// Every rule, tripped by an edit of a right program's text.
#include "project/testing/testing.h"

namespace pando::project::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string edited(std::string text, const std::vector<std::pair<std::string, std::string>>& edits) {
  for (const auto& [from, to] : edits) {
    const std::size_t first = text.find(from);
    EXPECT_NE(first, std::string::npos) << "no '" << from << "' in the text";
    for (std::size_t at = first; at != std::string::npos; at = text.find(from, at + to.size())) text.replace(at, from.size(), to);
  }
  return text;
}

std::vector<std::string> broken(const std::string& text) {
  std::vector<std::string> all;
  for (const Violation& v : verify(parse(text))) all.push_back(to_string(v));
  return all;
}
std::vector<std::string> broken(const std::string& golden, const std::vector<std::pair<std::string, std::string>>& edits) {
  return broken(edited(read_golden(golden), edits));
}

const std::pair<std::string, std::string> kOneA{"buffer a: Tensor[(3, 3), float32, 0] x 2", "buffer a: Tensor[(3, 3), float32, 0]"};

TEST(Check, ADoubleBufferThatIsMissing) {
  EXPECT_THAT(
      broken("note_delay", {kOneA, {"a[t % 2]", "a"}, {"a[(t - 1) % 2]", "a"}}),
      ElementsAre(
          "C2-overwritten: device 0, trip 1: f = call(WA, e, a) @F reads 'a' of sample 0 and finds sample 1: it has 1 copy, 2 are needed"));
}

TEST(Check, AnIndexThatIsWrong) {
  EXPECT_THAT(broken("note_delay", {{"a[(t - 1) % 2]", "a[t % 2]"}}),
              ElementsAre("C2-overwritten: device 0, trip 1: f = call(WA, e, a[t % 2]) @F reads 'a' of sample 0 and finds sample 1: it has "
                          "2 copies, 2 are needed"));
}

// The loop as the note has it: one buffer each for a and b, no drain.
TEST(Check, TheSketchOfTheNote) {
  const auto found = broken("note_delay", {kOneA,
                                           {"buffer b: Tensor[(3, 3), float32, 0] x 2", "buffer b: Tensor[(3, 3), float32, 0]"},
                                           {"a[t % 2]", "a"},
                                           {"a[(t - 1) % 2]", "a"},
                                           {"b[t % 2]", "b"},
                                           {"b[(t - 1) % 2]", "b"},
                                           {"trips N + 1", "trips N"}});
  EXPECT_THAT(
      found,
      ::testing::Contains(
          "C2-overwritten: device 0, trip 1: f = call(WA, e, a) @F reads 'a' of sample 0 and finds sample 1: it has 1 copy, 2 are needed"));
  EXPECT_THAT(found, ::testing::Contains("C2-overwritten: device 0, trip 1: e = call(WB, d.0, b) @E reads 'b' of sample 0 and finds sample "
                                         "1: it has 1 copy, 2 are needed"));
  EXPECT_THAT(found,
              ::testing::Contains(
                  "C7-drain: device 0: WA = call(f, WA) @wup runs for N - 1 samples: sample N - 1 is never drained, trip N is missing"));
  EXPECT_THAT(found,
              ::testing::Contains(
                  "C7-drain: device 1: WC = call(d, WC) @wup runs for N - 1 samples: sample N - 1 is never drained, trip N is missing"));
}

TEST(Check, ADrainThatIsMissing) {
  const auto found = broken("note_delay", {{"trips N + 1", "trips N"}});
  ASSERT_EQ(found.size(), 10u);
  for (const std::string& v : found) EXPECT_THAT(v, HasSubstr("N - 1 samples: sample N - 1 is never drained, trip N is missing"));
}

TEST(Check, SendAndReceiveSwapped) {
  const std::string receive = "        if t < N:\n            b.1 = receive(b01)\n",
                    send = "        if t >= 1:\n            send(d, d10)\n";
  const std::vector<std::pair<std::string, std::string>> swap = {{receive + send, send + receive}};
  const std::string right = read_golden("note_delay");
  const std::string text = edited(right, swap);
  EXPECT_THAT(broken(text), ElementsAre());
  const std::string rendezvous = edited(text, {{"capacity 1", "capacity 0"}});
  EXPECT_THAT(broken(edited(right, {{"capacity 1", "capacity 0"}})), ElementsAre());
  EXPECT_THAT(broken(rendezvous), ElementsAre("C5-deadlock: device 0, trip 1: device 0, trip 1, waits to send on stream 'b01' for device "
                                              "1, which waits to send on 'd10'; device 1, "
                                              "trip 1, waits to send on stream 'd10' for device 0, which waits to send on 'b01'"));
  MachineOptions options{4, std::nullopt};
  EXPECT_EQ(run(parse(text), note_inputs(4), options), run(parse(right), note_inputs(4), options));
  try {
    run(parse(rendezvous), note_inputs(4), options);
    FAIL() << "it should wait for ever";
  } catch (const ModelError& e) {
    EXPECT_EQ(e.id(), "C5-deadlock");
    EXPECT_THAT(e.what(), HasSubstr("device 1, trip 1, waits to send on stream 'd10' for device 0, which waits to send on 'b01'"));
  }
}

// Devices of a group come to its collectives in one order. Here one of them comes to the second first.
TEST(Check, CollectivesInAnotherOrder) {
  const ir::Module loop = ir::parse(read_golden("collectives"), "collectives.txt");
  const auto text_of = [&](std::int64_t capacity) { return print(projected(loop, "strict", {.capacity = capacity}).program); };
  const std::string first = "        a.1 = receive(a01)\n        send(b, b10)\n",
                    second = "        c.1 = receive(c01)\n        send(d, d10)\n";
  const std::vector<std::pair<std::string, std::string>> swap = {{first + second, second + first}};
  EXPECT_THAT(broken(text_of(0)), ElementsAre());
  EXPECT_THAT(
      broken(edited(text_of(0), swap)),
      ElementsAre("C5-deadlock: device 0, trip 0: device 0, trip 0, waits to send on stream 'a01' for device 1, which waits to "
                  "receive on 'c01'; device 1, trip 0, waits to receive on stream 'c01' for device 0, which waits to send on 'a01'"));
  // A place for messages to wait in does not help: device 0 wants the answer of the first before it begins with the second.
  const std::string waits = "device 0, trip 0, waits to receive on stream 'b10' for device 1, which waits to receive on 'c01'";
  EXPECT_THAT(broken(edited(text_of(1), swap)), ElementsAre(HasSubstr("C5-deadlock: device 0, trip 0: " + waits)));
  const HostInputs inputs{{"x", slices(4, {2}, 1)}, {"y", slices(4, {2}, 2)}};
  try {
    run(parse(edited(text_of(1), swap)), inputs, {4, std::nullopt});
    FAIL() << "it should wait for ever";
  } catch (const ModelError& e) { EXPECT_THAT(e.what(), HasSubstr(waits)); }
  // A collective that one device leaves out: what comes for it stays.
  EXPECT_THAT(
      broken(edited(
          text_of(1),
          {{second, ""}, {"        r0__t2, r1 = all_reduce(c.1, d, op=\"mul\")\n        w = sub(s1, r1)\n", "        w = sub(s1, s1)\n"}})),
      ::testing::Contains(HasSubstr("stream 'c01'")));
}

TEST(Check, AStaleVersion) {
  EXPECT_THAT(
      broken("note_delay", {{"@A reading WA of i - 1", "@A"}}),
      ElementsAre("C4-version: device 0, trip 1: a[t % 2] = call(WA, x) @A reads version 1 of 'WA', declared is i; it finds i - 1"));
  EXPECT_THAT(broken("note_delay", {{"project delay", "project strict"}}),
              ::testing::Contains(HasSubstr("under 'strict' it is the version of the sequential loop")));
  EXPECT_THAT(broken("note_delay", {{"project delay", "project delay at most 0"}}),
              ::testing::Contains(HasSubstr("under 'delay at most 0' it is not that old")));
  EXPECT_THAT(broken("note_stash", {{"@F reading WA of i - 1", "@F"}}),
              ::testing::Contains(HasSubstr("under 'stash' it is one version for all reads of a sample: i - 1")));
  EXPECT_THAT(broken("note_stash", {{"WA[(t - 2) % 2]", "WA[(t - 1) % 2]"}}),
              ElementsAre("C4-version: device 0, trip 2: f = call(WA[(t - 1) % 2], e, a[(t - 1) % 2]) @F reading WA of i - 1 reads version "
                          "0 of 'WA', declared is i - 1; it finds i"));
}

TEST(Check, LabelsThatComeATripLate) {
  const std::vector<std::pair<std::string, std::string>> late = {
      {"            l = receive(l)\n", ""},
      {"            WC = call(d, WC) @wup\n",
       "            WC = call(d, WC) @wup\n        if t >= 2:\n            l = receive(l)\n        if t >= 1:\n"}};
  EXPECT_THAT(
      broken("note_delay", late),
      ElementsAre("C7-drain: device 1: l = receive(l) runs for N - 1 samples: sample N - 1 is never drained, trip N + 1 is missing",
                  "C1-order: device 1, trip 1: d = call(c, l) @D reads 'l' of sample 0, which comes in trip 2: it would read a dummy"));
}

TEST(Check, ADummyThatReachesAnUpdate) {
  EXPECT_THAT(
      broken("note_delay", {{"            WC = call(d, WC) @wup\n", "        WC = call(d, WC) @wup\n        if t >= 1:\n"}}),
      ElementsAre("C7-drain: device 1, trip 1: WC = call(d, WC) @wup runs for N + 1 samples: there is no sample N",
                  "C4-version: device 1, trip 1: c = call(WC, b.1) @C reads version 0 of 'WC', declared is i; it finds i + 1",
                  "C1-order: device 1, trip 0: WC = call(d, WC) @wup reads 'd' of sample 0, which comes in trip 1: it would read a dummy"));
}

TEST(Check, EndsOfStreams) {
  EXPECT_THAT(broken("note_delay", {{"            send(d, d10)\n", ""}}),
              ElementsAre("C6-ends: device 1: 0 actions send on stream 'd10', there must be 1"));
  EXPECT_THAT(broken("note_delay", {{"stream b01: 0 -> 1", "stream b01: 1 -> 0"}}),
              ::testing::Contains(HasSubstr("C6-ends: device 0, trip 0: send(b[t % 2], b01): device 1 is to send on stream 'b01'")));
  EXPECT_THAT(
      broken("note_delay", {{"stream d10: 1 -> 0, Tensor[(3, 3), float32], 36", "stream d10: 1 -> 0, Tensor[(3, 2), float32], 24"}}),
      ::testing::Contains("C3-message: device 1, trip 1: send(d, d10): stream 'd10' carries Tensor[(3, 2), float32]"));
  EXPECT_THAT(
      broken("note_delay", {{"            b.1 = receive(b01)\n", "            if\n"},
                            {"        if t < N:\n            if\n", "        if t < N + 0 and t >= 1:\n            b.1 = receive(b01)\n"}}),
      ::testing::Contains("C3-message: device 1, trip 1: stream 'b01' brings N messages, N - 1 are received"));
}

TEST(Check, WindowsOfTwoVersions) {
  EXPECT_THAT(broken("note_2BW", {{"@A reading WA of w - 1", "@A"}}), ::testing::Contains(HasSubstr("under '2BW 4' it is w - 1")));
  EXPECT_THAT(broken("note_2BW", {{" and last of 4", ""}}),
              ::testing::Contains(HasSubstr("'WA' is updated in every trip; the policy is '2BW 4'")));
  EXPECT_THAT(broken("note_2BW", {{"WA[(t / 4 - 1) % 2]", "WA[(t / 4 + 0) % 2]"}}),
              ::testing::Contains(HasSubstr("trip 8: a[t % 2] = call(WA[(t / 4) % 2], x) @A reading WA of w - 1 reads version 1 of 'WA', "
                                            "declared is w - 1; it finds w - 2")));
}

TEST(Check, RejectsWithAllOfIt) {
  try {
    check(parse(edited(read_golden("note_delay"), {{"trips N + 1", "trips N"}})));
    FAIL() << "it should be rejected";
  } catch (const ModelError& e) {
    EXPECT_EQ(e.id(), "C7-drain");
    EXPECT_THAT(e.what(), HasSubstr("device 1: WC = call(d, WC) @wup runs for N - 1 samples"));
  }
}

}  // namespace
}  // namespace pando::project::testing
