#include "ontile/repl/shell/script.h"

#include <gmock/gmock.h>

#include "ontile/repl/shell/fake_machine.h"

namespace pando::ontile {
namespace {

class ScriptTest : public testing::Test {
 protected:
  int run(std::string_view source) {
    char* texts[2] = {};
    std::size_t sizes[2] = {};
    std::FILE* const out_file = open_memstream(&texts[0], &sizes[0]);
    std::FILE* const err_file = open_memstream(&texts[1], &sizes[1]);
    const int status = run_script(shell, interrupts, source, Session::Input::script, "x.py", out_file, err_file);
    std::fclose(out_file);
    std::fclose(err_file);
    out = texts[0];
    err = texts[1];
    std::free(texts[0]);
    std::free(texts[1]);
    return status;
  }

  FakeMachine machine{8};
  Interrupts interrupts{machine};
  Shell shell{machine, Style{}};
  std::string out, err;
};

TEST_F(ScriptTest, AllIsWell) {
  EXPECT_EQ(run("all hello"), 0);
  EXPECT_EQ(out, "hello\n");
  EXPECT_EQ(err, "");
  EXPECT_EQ(machine.runs.at(0), "script x.py: all hello");
}

TEST_F(ScriptTest, WhatWasPrintedAndWhatWentWrongArePartedAndGroupedEach) {
  EXPECT_EQ(run("all hello\nraise 3"), 1);
  EXPECT_EQ(out, "hello\n");
  EXPECT_EQ(
      err,
      "---------- [1x] ---------- tile 3\nTraceback (most recent call last):\n  File \"<stdin>\", line 1, in <module>\nValueError: no\n");
}

TEST_F(ScriptTest, Statuses) {
  EXPECT_EQ(run("raise"), 1);
  EXPECT_EQ(run("exit 0"), 0);
  EXPECT_EQ(run("exit 7"), 7);
  EXPECT_EQ(run("die 2"), 1);
  EXPECT_THAT(err, testing::HasSubstr("stack overflow\nThe interpreter of tile 2 has ended"));
  EXPECT_EQ(run("all x"), 1) << "a tile is missing";
  EXPECT_EQ(run("%reset\nall x"), 0);
  EXPECT_EQ(run("%fly\nall x"), 1);
  EXPECT_EQ(out, "");
}

TEST_F(ScriptTest, CtrlCEndsIt) {
  std::thread user([&] {
    while (!machine.running) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    raise(SIGINT);
  });
  EXPECT_EQ(run("loop\n%select 0"), kInterruptedStatus);
  user.join();
  EXPECT_THAT(err, testing::HasSubstr("KeyboardInterrupt"));
  EXPECT_THAT(machine.selected(), testing::SizeIs(8));
}

}  // namespace
}  // namespace pando::ontile
