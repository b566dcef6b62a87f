#include "ontile/repl/shell/shell.h"

#include <gmock/gmock.h>

#include <cstdio>
#include <fstream>

#include "ontile/repl/shell/fake_machine.h"
#include "ontile/repl/shell/tile_set.h"

namespace pando::ontile {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

class ShellTest : public testing::Test {
 protected:
  // What is seen of it, part after part.
  std::string say(std::string_view source, Session::Input input = Session::Input::line) {
    std::string text;
    parts = 0;
    shell.execute(source, input, [&](const Outcome& outcome) {
      text += render(outcome.groups, shell.style()) + outcome.message;
      outcome_ = outcome;
      ++parts;
    });
    return text;
  }

  FakeMachine machine{8, 2};
  Shell shell{machine, Style{false, true, 3, 4, 2}};
  Outcome outcome_;
  int parts = 0;
};

TEST_F(ShellTest, PythonGoesToTheTiles) {
  EXPECT_EQ(say("all hello"), "hello\n");
  EXPECT_THAT(machine.runs, ElementsAre("line <stdin>: all hello"));
  EXPECT_EQ(say("parity"), "---------- [4x] ---------- tiles 0,2,4,6\n0\n---------- [4x] ---------- tiles 1,3,5,7\n1\n");
  EXPECT_EQ(say("  \n"), "");
  EXPECT_THAT(machine.runs, SizeIs(2));
}

TEST_F(ShellTest, Select) {
  EXPECT_EQ(say("%select 0-2,5"), "Commands go to 4 tiles of 8: 0-2,5\n");
  EXPECT_THAT(say("tile"), HasSubstr("and 1 more group\n"));
  EXPECT_EQ(say("%select ipu 1"), "Commands go to 4 tiles of 8: 4-7\n");
  EXPECT_EQ(say("%select"), "Commands go to 4 tiles of 8: 4-7\n");
  EXPECT_EQ(say("%select all"), "Commands go to all 8 tiles\n");
  EXPECT_THAT(say("%select 8"), HasSubstr("there are 8 tiles, 0 to 7"));
  EXPECT_TRUE(outcome_.wrong);
}

TEST_F(ShellTest, WhoSaidWhat) {
  EXPECT_THAT(say("%who"), HasSubstr("have not said anything yet"));
  say("parity\nall x", Session::Input::cell);
  EXPECT_EQ(say("%who"), "  1 [4x] 0 ...\n    tiles 0,2,4,6\n  2 [4x] 1 ...\n    tiles 1,3,5,7\n");
  EXPECT_EQ(say("%who 2"), "  2 [4x] 1 ...\n    tiles 1,3,5,7\n");
  EXPECT_THAT(say("%who x"), HasSubstr("tiles 1,3,5,7"));
  EXPECT_EQ(say("%who y"), "no tile said y\n");
  EXPECT_THAT(say("%who 3"), HasSubstr("group 3: the last answer has 2 groups, 1 to 2"));
  say("raise 3");
  EXPECT_THAT(say("%who 1"), HasSubstr("[7x] (nothing)"));
}

TEST_F(ShellTest, GroupsUnfold) {
  say("tile");
  EXPECT_THAT(say("%groups"), HasSubstr("tile 7\n7\n"));
  EXPECT_EQ(say("%groups 3"), "2\n");
  EXPECT_THAT(say("%groups x"), HasSubstr("expected the number of a group"));
  EXPECT_THAT(say("%groups 9"), HasSubstr("1 to 8"));
}

TEST_F(ShellTest, TilesThatEnd) {
  EXPECT_THAT(say("die 5"), HasSubstr("The interpreter of tile 5 has ended: %reset 5 gives it a new one.\n"));
  EXPECT_EQ(say("all x"), "---------- [7x] ---------- tiles 0-4,6-7\nx\nTile 5 has no interpreter any more: see %tiles and %reset.\n");
  EXPECT_EQ(say("%tiles"), "8 interpreters on 2 IPUs; 7 alive\nCommands go to all 8 tiles\nended [1x] tile 5: stack overflow\n");
  EXPECT_EQ(say("%reset 5"), "1 new interpreter\n");
  EXPECT_EQ(say("all x"), "x\n");
  EXPECT_THAT(say("die"), HasSubstr("The interpreters of 8 tiles have ended: %reset 0-7 gives them new ones.\n"));
  EXPECT_EQ(say("%reset"), "8 new interpreters\n");
}

TEST_F(ShellTest, TimeSaysHowLong) {
  EXPECT_THAT(say("%time all x"), testing::MatchesRegex("x\nWall time: [0-9.]+ [mu]?s\n"));
  EXPECT_THAT(say("%time %select 0"), HasSubstr("Wall time"));
  EXPECT_THAT(say("%%time\nall x\nall y", Session::Input::cell), testing::StartsWith("x\ny\nWall time"));
}

TEST_F(ShellTest, RunsFiles) {
  const std::string path = testing::TempDir() + "shell_test_run.py";
  std::ofstream(path) << "all from\nall file\n";
  EXPECT_EQ(say("%run " + path), "from\nfile\n");
  EXPECT_THAT(machine.runs.back(), HasSubstr("script " + path + ": all from"));
  std::remove(path.c_str());
  EXPECT_THAT(say("%run " + path), HasSubstr("cannot read"));
  EXPECT_THAT(say("%run"), HasSubstr("which file?"));
}

TEST_F(ShellTest, UnknownCommands) {
  EXPECT_EQ(say("%fly"), "%fly: no such command; %help lists them [no-such-command]\n");
  EXPECT_THAT(say("%"), HasSubstr("no such command"));
  EXPECT_THAT(say("%tiles 4"), HasSubstr("%tiles takes no argument; found 4"));
  EXPECT_THAT(say("%%select 1"), HasSubstr("only %%time takes a cell"));
  EXPECT_THAT(say("%time"), HasSubstr("which line?"));
  EXPECT_THAT(machine.runs, SizeIs(0));
}

TEST_F(ShellTest, HelpNamesEveryCommand) {
  const std::string text = say("%help");
  for (const char* name : {"%groups", "%help", "%history", "%keys", "%quit", "%reset", "%run", "%select", "%tiles", "%time", "%who"})
    EXPECT_THAT(text, HasSubstr(name));
}

TEST_F(ShellTest, HistoryOfTheSession) {
  say("all a");
  say("%select 0");
  EXPECT_EQ(say("%history"), "all a\n%select 0\n");
}

TEST_F(ShellTest, CellsHoldCommandsAndPython) {
  EXPECT_EQ(say("all a\n%select 0\nall b\n", Session::Input::cell), "a\nCommands go to 1 tile of 8: 0\nb\n");
  EXPECT_EQ(parts, 3);
  EXPECT_EQ(machine.runs.back(), "cell <stdin>: \n\nall b\n");  // at its line
}

TEST_F(ShellTest, PercentInsideAStatementIsPython) {
  say("all (((\n%select 0\n", Session::Input::cell);
  EXPECT_EQ(parts, 1);
  EXPECT_THAT(machine.selected(), SizeIs(8));
}

TEST_F(ShellTest, StopsWhereSomethingWentWrong) {
  EXPECT_THAT(say("raise\n%select 0\n", Session::Input::cell), HasSubstr("ValueError"));
  EXPECT_EQ(parts, 1);
  say("%fly\nall x", Session::Input::cell);
  EXPECT_EQ(parts, 1);
}

TEST_F(ShellTest, Leaving) {
  for (const char* text : {"exit", "quit()", "%quit", "exit 3"}) {
    say(text);
    EXPECT_EQ(outcome_.next, Outcome::Next::quit) << text;
  }
  EXPECT_EQ(outcome_.groups.at(0).status, 3);
  say("%keys");
  EXPECT_EQ(outcome_.next, Outcome::Next::keys);
  say("all exit");
  EXPECT_EQ(outcome_.next, Outcome::Next::go_on);
}

TEST_F(ShellTest, QuestionMarks) {
  say("sys.path?");
  EXPECT_EQ(machine.runs.back(), "line <stdin>: help(sys.path)");
  say("x == 'what?'");
  EXPECT_EQ(machine.runs.back(), "line <stdin>: x == 'what?'");
  say("?");
  EXPECT_EQ(machine.runs.back(), "line <stdin>: ?");
}

// The tiles' own help says nothing that is true of them.
TEST_F(ShellTest, HelpIsOfThisMachine) {
  for (const char* name : {"alltoall", "allgather", "broadcast", "reduce", "allreduce", "barrier", "send", "recv"}) {
    EXPECT_THAT(say(std::string(name) + "?"), testing::StartsWith(std::string(name) + "("));
    EXPECT_THAT(say("help()"), HasSubstr(std::string("  ") + name + "("));
  }
  EXPECT_EQ(say("tile.recv?\n"), say("recv?"));
  EXPECT_EQ(say("help"), say("help()\n"));
  EXPECT_THAT(machine.runs, SizeIs(0));
  say("allreduces?");
  EXPECT_EQ(machine.runs.back(), "line <stdin>: help(allreduces)");
}

TEST_F(ShellTest, WhatIsWhole) {
  EXPECT_TRUE(shell.is_complete("all x"));
  EXPECT_FALSE(shell.is_complete("for x:"));
  EXPECT_TRUE(shell.is_complete("%time for x:"));
  EXPECT_FALSE(shell.is_complete("%%time\nall x"));
  EXPECT_TRUE(shell.is_complete("%%time\nall x\n"));
}

TEST_F(ShellTest, AMachineThatFailsIsNotTheEnd) {
  EXPECT_EQ(say("fail"), "the machine stopped [fake]\n");
  EXPECT_TRUE(outcome_.wrong);
  EXPECT_EQ(say("all x"), "x\n");
}

TEST_F(ShellTest, Completion) {
  EXPECT_EQ(shell.complete("par").insert, "ity");
  EXPECT_EQ(shell.complete("%se").insert, "lect");
  EXPECT_EQ(shell.complete("%select").insert, "");
  EXPECT_EQ(shell.complete("x = pri").insert, "nt");  // no name of the program: of the language
  EXPECT_THAT(shell.complete("wh").insert, "ile");
  EXPECT_THAT(shell.complete("s").candidates, HasSubstr("set             setattr         slice           sorted"));
  EXPECT_EQ(shell.complete("x.pri").insert, "");
  EXPECT_EQ(shell.complete("x = ").candidates, "");
  EXPECT_EQ(shell.complete("%t").insert, "i");
  EXPECT_THAT(shell.complete("%ti").candidates, HasSubstr("%tiles"));
  EXPECT_EQ(shell.complete("%x").candidates, "");
  EXPECT_EQ(shell.complete("%x").insert, "");
}

}  // namespace
}  // namespace pando::ontile
