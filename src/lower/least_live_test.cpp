#include "lower/least_live.h"

#include "ir/op_row.h"
#include "ir/text/parse.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace pando::lower {
namespace {

struct Found {
  std::int64_t bytes = 0;
  std::string at, values;
};

Found found(const std::string& graphs, std::int32_t device = 0) {
  const ir::Module m = ir::parse("module\nstream 0 \"out\" to host: Tensor[(8, 8), float32]\n\n" + graphs);
  const auto all = least_live(m);
  const auto it = all.find(device);
  if (it == all.end()) return {};
  Found f{it->second.bytes, std::string(m.row(it->second.at).name) + " " + m.name_of(it->second.at), {}};
  for (ir::ValueId v : it->second.values) f.values += (f.values.empty() ? "" : " ") + m.name_of(v);
  return f;
}

// A graph of float32 matrices of 8 rows and columns: 256 bytes each.
std::string graph(const std::string& head, const std::string& ops) {
  std::string text = "graph " + head + ":\n";
  for (std::size_t at = 0; at < ops.size();) {
    const std::size_t end = std::min(ops.find(';', at), ops.size());
    text += "    " + ops.substr(at, end - at) + "\n";
    at = end + 1;
  }
  const std::string mark = ": M";
  for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1))
    text.replace(at, mark.size(), ": Tensor[(8, 8), float32, 0]");
  return text + "\n";
}

TEST(LeastLive, what_is_read_again_is_there_until_then) {
  const Found f = found(graph("main(x: M)",
                              "a: M = matmul(x, x);b: M = matmul(a, x);c: M = matmul(b, x);d: M = matmul(c, b);e: M = matmul(d, a);"
                              "host_store(e, stream=@stream0);return"));
  EXPECT_EQ(f.bytes, 3 * 256);
  EXPECT_EQ(f.at, "matmul d");
  EXPECT_EQ(f.values, "a b c");
}

TEST(LeastLive, passes_and_views_keep_nothing_of_their_own) {
  // The product is read by a pass alone: the two may be one. The view reads what it views.
  const Found f = found(graph("main(x: M)",
                              "a: M = matmul(x, x);b: M = relu(a);t: M = transpose(b, permutation=[1, 0]);c: M = matmul(x, x);"
                              "d: M = matmul(c, t);host_store(d, stream=@stream0);return"));
  EXPECT_EQ(f.bytes, 2 * 256);
  EXPECT_EQ(f.at, "matmul d");
  EXPECT_EQ(f.values, "b c");
}

// What gives its operand on keeps nothing of its own, what computes does: an element-wise op says so by its expression.
TEST(LeastLive, what_gives_an_operand_on_has_no_memory_of_its_own) {
  const auto with = [](const std::string& op) {
    return found(graph("main(x: M)", "a: M = " + op +
                                         ";b: M = matmul(x, x);c: M = matmul(b, a);d: M = matmul(c, a);"
                                         "host_store(d, stream=@stream0);return"))
        .values;
  };
  for (const char* op : {"relu(x)", "ceil(x)", "maximum(x, x)", "softmax(x, axis=1)"}) EXPECT_EQ(with(op), "a b") << op;
  for (const char* op : {"identity(x)", "detach(x)", "cast(x, data_type=float32)", "maximum(x)", "cumsum(x, dim=0)"})
    EXPECT_EQ(with(op), "b") << op;
}

// Who reads a part may have it elsewhere by then.
TEST(LeastLive, a_view_of_a_part_keeps_nothing) {
  const std::string row = "Tensor[(1, 8), float32, 0]";
  const Found f = found(graph("main(x: M)", "a: M = matmul(x, x);s: " + row + " = slice(a, axis=[0], start=[0], step=[1], stop=[1]);" +
                                                "b: M = matmul(x, x);c: " + row + " = matmul(s, b);d: M = matmul(b, b);e: M = add(d, c);" +
                                                "host_store(e, stream=@stream0);return"));
  EXPECT_EQ(f.bytes, 256);
  EXPECT_EQ(f.values, "b");
}

TEST(LeastLive, what_becomes_a_variable_may_lie_there) {
  const Found f = found(graph("main(x: M)",
                              "a: M = matmul(x, x);b: M = matmul(x, x);v: M = copy_var_update_(x, a);c: M = matmul(a, b);"
                              "host_store(c, stream=@stream0);return;final x = v"));
  EXPECT_EQ(f.bytes, 256);
  EXPECT_EQ(f.values, "b");
}

TEST(LeastLive, nobody_reads_it) { EXPECT_EQ(found(graph("main(x: M)", "a: M = matmul(x, x);b: M = matmul(a, x);return")).bytes, 0); }

TEST(LeastLive, graphs_hold_more_while_they_run) {
  // Two products inside of the second call; the first one's result goes on behind it.
  const std::string called = graph("f(p: M)", "q: M = matmul(p, p);r: M = matmul(q, p);s: M = matmul(q, r);return s");
  const Found f =
      found(graph("main(x: M)", "a: M = call(x) @f;b: M = call(a) @f;c: M = matmul(a, b);host_store(c, stream=@stream0);return") + called);
  EXPECT_EQ(f.bytes, 3 * 256);
  EXPECT_EQ(f.at, "matmul s");
  EXPECT_EQ(f.values, "a q r");
}

TEST(LeastLive, each_device_for_itself) {
  const std::string text = R"(graph main(x: Tensor[(8, 8), float32, 0]):
    y: Tensor[(8, 8), float32, 1] = ipu_copy(x, destination=1, source=0)
    a: Tensor[(8, 8), float32, 0] = matmul(x, x)
    b: Tensor[(8, 8), float32, 1] = matmul(y, y)
    c: Tensor[(8, 8), float32, 1] = matmul(y, y)
    d: Tensor[(8, 8), float32, 1] = matmul(b, c)
    e: Tensor[(8, 8), float32, 0] = matmul(a, x)
    host_store(d, stream=@stream0)
    host_store(e, stream=@stream0)
    return
)";
  EXPECT_EQ(found(text, 0).bytes, 256);
  EXPECT_EQ(found(text, 1).bytes, 2 * 256);
  EXPECT_EQ(found(text, 1).values, "b c");
}

}  // namespace
}  // namespace pando::lower
