#include "ontile/session.h"

#include <gmock/gmock.h>

#include <string>
#include <thread>

#include <poplar/exceptions.hpp>

namespace pando::ontile {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

SessionOptions tiles(unsigned count) {
  SessionOptions o;
  o.tiles = count;
  return o;
}

std::string said(const Reply& reply, std::size_t i) { return reply.texts[reply.answers[i].text]; }

TEST(Session, EachTileAnswers) {
  Session s(tiles(4));
  const Reply reply = s.run("print(__tileid % 2, __ntiles, __ipuid)", Session::Input::line);
  EXPECT_THAT(reply.texts, ElementsAre("0 4 0\n", "1 4 0\n"));
  ASSERT_EQ(reply.answers.size(), 4u);
  EXPECT_EQ(reply.answers[3].text, 1u);
  EXPECT_EQ(reply.answers[3].tile, 3u);
  EXPECT_EQ(reply.answers[3].ending, Ending::done);
}

TEST(Session, KeepsWhatItKnows) {
  Session s(tiles(3));
  s.run("def f(x): return x * __tileid", Session::Input::line);
  const Reply reply = s.run("f(5)", Session::Input::line);
  EXPECT_EQ(said(reply, 2), "10\n");
}

TEST(Session, ShowsExceptions) {
  Session s(tiles(2));
  const Reply reply = s.run("1 // __tileid", Session::Input::line);
  EXPECT_EQ(reply.answers[0].ending, Ending::raised);
  EXPECT_THAT(said(reply, 0), HasSubstr("ZeroDivisionError"));
  EXPECT_EQ(said(reply, 1), "1\n");
}

TEST(Session, LongOutputComesWhole) {
  Session s(tiles(3));
  const Reply reply = s.run("for i in range(300): print(i, __tileid)", Session::Input::line);
  std::string expected;
  for (int i = 0; i < 300; ++i) expected += std::to_string(i) + " 2\n";
  EXPECT_EQ(said(reply, 2), expected);
}

TEST(Session, LongScripts) {
  Session s(tiles(2));
  std::string script = "x = 0\n";
  for (int i = 0; i < 4000; ++i) script += "x += 1    # a comment that takes some room\n";
  const Reply reply = s.run(script.substr(0, 90000) + "\nprint(x > 0)", Session::Input::script);
  EXPECT_EQ(said(reply, 0), "True\n");
}

TEST(Session, CommandsWithoutRoomAreRejected) {
  Session s(tiles(2));
  const Reply rejected = s.run("x = 5 #" + std::string(300000, '-'), Session::Input::script);
  EXPECT_EQ(rejected.answers.at(1).ending, Ending::raised);
  EXPECT_EQ(said(rejected, 1), "MemoryError: the heap has no room for a command of 300007 bytes\n");
  EXPECT_EQ(said(s.run("x = '" + std::string(40000, '-') + "'; print(len(x))", Session::Input::script), 1), "40000\n");
}

TEST(Session, GarbageStaysLittle) {
  Session s(tiles(2));
  s.run("import gc", Session::Input::line);
  for (int i = 0; i < 40; ++i) s.run("for i in range(100): [i]", Session::Input::line);
  EXPECT_EQ(said(s.run("gc.mem_alloc() < 65536", Session::Input::line), 0), "True\n");
  s.run("gc.disable()", Session::Input::line);
  for (int i = 0; i < 40; ++i) s.run("for i in range(100): [i]", Session::Input::line);
  EXPECT_EQ(said(s.run("gc.mem_alloc() < 65536", Session::Input::line), 1), "False\n");
}

TEST(Session, AllToAll) {
  Session s(tiles(4));
  EXPECT_EQ(said(s.run("alltoall(__tileid * 10)", Session::Input::line), 1), "[0, 10, 20, 30]\n");
  EXPECT_EQ(said(s.run("sorted(range(3), key=lambda i: sum(alltoall(-i)))", Session::Input::line), 3), "[2, 1, 0]\n");
}

TEST(Session, OneBadTileEndsAlone) {
  Session s(tiles(4));
  const Reply reply =
      s.run("import uctypes\nif __tileid == 2: uctypes.bytearray_at(1 << 30, 4)[0]\nprint('alive')", Session::Input::script);
  EXPECT_EQ(reply.answers[2].ending, Ending::ended);
  EXPECT_THAT(said(reply, 2), HasSubstr("outside the tile's memory"));
  EXPECT_EQ(said(reply, 1), "alive\n");
  EXPECT_TRUE(s.state(2).ended);
  EXPECT_EQ(s.run("1", Session::Input::line).answers[2].ending, Ending::skipped);
  s.reset({2});
  EXPECT_EQ(said(s.run("__tileid", Session::Input::line), 2), "2\n");
}

TEST(Session, DisagreementNamesWhoWaits) {
  Session s(tiles(4));
  const Reply reply = s.run("if __tileid < 3: alltoall(1)\nprint('on')", Session::Input::script);
  EXPECT_THAT(said(reply, 0), HasSubstr("tiles 0-2 wait in alltoall(); tile 3 has ended the command"));
  EXPECT_EQ(said(reply, 3), "on\n");
  const Reply said_once = s.run("print(5)\nif __tileid < 3: alltoall(1)", Session::Input::script);
  EXPECT_THAT(said(said_once, 0), StartsWith("5\nTraceback"));
}

TEST(Session, LinesOfInput) {
  SessionOptions options = tiles(3);
  std::vector<std::string> lines{"7", "", std::string(5000, 'x')}, prompts;
  options.input = [&](const Reply& said, std::string& line) {
    prompts.push_back(said.texts[said.answers[1].text]);
    if (lines.empty()) return false;
    line = lines.front();
    lines.erase(lines.begin());
    return true;
  };
  Session s(options);
  const Reply reply =
      s.run("if __tileid: n = int(input('a number for %d: ' % __tileid)) + __tileid\nelse: n = 0\nprint(n)", Session::Input::script);
  EXPECT_EQ(said(reply, 0), "");  // it was said with the prompts
  EXPECT_EQ(said(reply, 2), "9\n");
  EXPECT_THAT(prompts, ElementsAre("a number for 1: "));
  EXPECT_EQ(said(s.run("import sys\nprint(repr(sys.stdin.readline()), len(input()))", Session::Input::script), 1), "'\\n' 5000\n");
  EXPECT_THAT(said(s.run("input()", Session::Input::line), 1), HasSubstr("EOFError"));
  EXPECT_EQ(said(s.run("print(repr(sys.stdin.read()), sys.stdin.buffer.read(1), list(sys.stdin))", Session::Input::script), 1),
            "'' b'' []\n");
}

TEST(Session, TheRestOfALineIsForItsReaders) {
  SessionOptions options = tiles(2);
  int asked = 0;
  std::string said_before;
  options.input = [&](const Reply& reply, std::string& line) {
    said_before += said(reply, 0);
    line = std::string(asked == 0 ? 3000 : 2, 'a' + asked);
    return asked++ < 2;
  };
  Session s(options);
  // Tile 1 comes to read while tile 0 is in the middle of a line.
  const Reply reply =
      s.run("import sys\nif __tileid: recv(0)\nelse:\n  sys.stdin.read(1100)\n  send(1, 1)\nprint(len(input()))", Session::Input::script);
  EXPECT_EQ(said_before, "1900\n");
  EXPECT_EQ(said(reply, 1), "2\n");
}

TEST(Session, WithoutInputItIsAtItsEnd) {
  Session s(tiles(2));
  EXPECT_THAT(said(s.run("input('?')", Session::Input::line), 1), testing::AllOf(StartsWith("?"), HasSubstr("EOFError")));
}

TEST(Session, TellsWhetherAStatementIsWhole) {
  Session s(tiles(2));
  EXPECT_TRUE(s.is_complete("1 + 1"));
  EXPECT_FALSE(s.is_complete("for i in range(3):"));
  EXPECT_TRUE(s.is_complete("x = '" + std::string(400000, 'x') + "'"));  // more than a heap holds
  EXPECT_FALSE(s.is_complete("(1,"));
}

TEST(Session, RejectsWhatTheMachineHasNot) {
  EXPECT_THROW(Session(tiles(1473)), poplar::invalid_option);
  SessionOptions o;
  o.ipus = 3;
  EXPECT_THROW(Session{o}, poplar::invalid_option);
}

}  // namespace
}  // namespace pando::ontile
