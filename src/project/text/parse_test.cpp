#include "project/text/parse.h"

#include "project/testing/testing.h"

namespace pando::project::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string rejection(const std::string& text) {
  try {
    parse(text, "f");
  } catch (const ModelError& e) { return e.what(); }
  return "none";
}
std::string edited(const std::string& from, const std::string& to) {
  std::string text = read_golden("note_delay");
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return rejection(text.replace(at, from.size(), to));
}

TEST(Parse, SaysWhereAndWhat) {
  EXPECT_THAT(rejection(""), HasSubstr("f:1:1: expected 'project', found the end"));
  EXPECT_THAT(rejection("project fast\n"), AllOf(HasSubstr("f:1:9: 'fast' is not a policy of state"), HasSubstr("are [state-policy]"),
                                                 Not(HasSubstr("[state-policy] ["))));
  EXPECT_THAT(rejection("project strict\nstream"), HasSubstr("f:2:1: expected 'trips', found 'stream'"));
  EXPECT_THAT(rejection("project strict\ntrips N\nplane x"), HasSubstr("f:3:1: expected 'stream', 'device' or 'graph', found 'plane x'"));
  EXPECT_THAT(edited("36 bytes", "35 bytes"), HasSubstr("f:4:1: a message of 'x' is 36 bytes, not 35 [bytes]"));
  EXPECT_THAT(edited("capacity 1", "capacity -2"), HasSubstr("a capacity of -2"));
  EXPECT_THAT(edited("device 1:", "device 0:"), HasSubstr("ascending order"));
  EXPECT_THAT(edited("x = receive(x)", "y = receive(x)"), HasSubstr("f:20:14: device 0 has no state, sum or buffer 'y' [undefined]"));
  EXPECT_THAT(edited("x = receive(x)", "x = receive(q)"), HasSubstr("there is no stream 'q'"));
  EXPECT_THAT(edited("a[t % 2] =", "a ="), HasSubstr("'a' has 2 copies; say which"));
  EXPECT_THAT(edited("a[t % 2] =", "a[t % 3] ="), HasSubstr("'a' has 2 copies; the index is taken modulo 3"));
  EXPECT_THAT(edited("a[t % 2] =", "a[u % 2] ="), HasSubstr("expected '('"));
  EXPECT_THAT(edited("@A reading WA of i - 1", "@A reading WC of i - 1"), HasSubstr("no operand reads the state 'WC'"));
  EXPECT_THAT(edited("@A reading WA of i - 1", "@A reading WA of w - 1"), HasSubstr("expected 'i'"));
  EXPECT_THAT(edited("@A reading", "@Q reading"), HasSubstr("f:21:"));
  EXPECT_THAT(edited("call(WA, x) @A", "call(WA) @A"), HasSubstr("graph 'A' has 2 inputs, 1 tensors were given"));
  EXPECT_THAT(edited("call(WA, x) @A", "tonh(WA) @A"), HasSubstr("there is no op named 'tonh'"));
  EXPECT_THAT(edited("    state WB: Tensor[(3, 3), float32, 0] = [0.25, ", "    state WB: Tensor[(3, 3), float32, 0] = ["),
              HasSubstr("f:11:"));
  EXPECT_THAT(edited("buffer x: Tensor[(3, 3)", "buffer x: Tensor[(3, -3)"),
              AllOf(HasSubstr("f:12:"), HasSubstr(": a shape has the dimension -3: (3, -3) [negative-dimension]")));
  EXPECT_THAT(edited("    buffer b:", "    buffer a:"), HasSubstr("'a' is declared twice"));
  EXPECT_THAT(edited("if t < N:", "if t > N:"), HasSubstr("expected '<'"));
  EXPECT_THAT(edited("x = receive(x)", "x = receive(x) now"), HasSubstr("expected the end of the line, found 'now'"));
  EXPECT_THAT(edited("buffer x: Tensor[(3, 3), float32, 0]", "buffer x: Tensor[(3, 3), float32, 1]"),
              HasSubstr("f:12:1: 'x' lies on device 1, not on device 0 [place]"));
}

// The graphs that ops carry are verified as any module's.
TEST(Parse, GraphsThatBreakRulesAreRejected) {
  EXPECT_THAT(edited("z: Tensor[(3, 3), float32] = tanh(y)", "z: Tensor[(3, 3), float32] = call(W, x) @A"),
              AllOf(HasSubstr("f:50:5: "), HasSubstr("it carries graph 'A', which leads back to it [graph-cycle]")));
  EXPECT_THAT(edited("y: Tensor[(3, 3), float32] = matmul(b, W)", "y: Tensor[(3, 3), float32] = sum(b, axis=[7])"),
              AllOf(HasSubstr("f:59:5: "), HasSubstr("axis 7 is out of range for rank 2 [axis-range]")));
}

TEST(Parse, KeepsWhatIsUnusual) {
  const std::string text = R"(project stash at most 2
trips N + 2

stream "a b": host "the \"x\"" slice 1 of 2 -> 0, float32, 4 bytes, capacity unbounded

device 0:
    state "w w": float32[0] x 3 = [0.5]
    state n: int32[0] = [3]
    buffer "a b": float32[0] x 2
    buffer low: float32[0]
    buffer high: float32[0]
    before:
        high = constant(data=float32()[2.0])
    loop t:
        if t < N:
            "a b"[t % 2] = receive("a b")
        if t >= 1 and t < N + 1:
            low = add_("w w"[(t - 2) % 3], "w w"[(t + 1) % 3]) reading "w w" of i - 1, "w w" of i
        low = scaled_add(low, "a b"[(t + 2) % 2], a=0.5, b=-1.0)
)";
  EXPECT_EQ(print(parse(text)), text);
  EXPECT_EQ(print(parse("# a remark\n\n" + text)), text);
}

}  // namespace
}  // namespace pando::project::testing
