#include "ontile/repl/json_front.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "ontile/repl/shell/fake_machine.h"

namespace pando::ontile {
namespace {

using nlohmann::json;

class JsonTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(pipe(requests_), 0);
    ASSERT_EQ(pipe(replies_), 0);
    out_ = fdopen(replies_[1], "w");
    in_ = fdopen(replies_[0], "r");
    server_ = std::thread([this] { run_json(shell, requests_[0], out_); });
    EXPECT_EQ(receive(), json::parse(R"({"id": null, "ready": true, "ipus": 1, "tiles": 8})"));
  }
  void TearDown() override {
    hang_up();
    server_.join();
    std::fclose(out_);
    if (in_ != nullptr) std::fclose(in_);
    close(requests_[0]);
  }

  void send(const std::string& line) {
    const std::string whole = line + '\n';
    ASSERT_EQ(write(requests_[1], whole.data(), whole.size()), static_cast<ssize_t>(whole.size()));
  }
  json receive() {
    std::string line;
    for (int c; (c = std::fgetc(in_)) != EOF && c != '\n';) line += static_cast<char>(c);
    return json::parse(line, nullptr, false);
  }
  json ask(const std::string& line) {
    send(line);
    return receive();
  }
  void hang_up() {
    if (requests_[1] >= 0) close(requests_[1]);
    requests_[1] = -1;
  }
  void read_no_more() {
    std::fclose(in_);
    in_ = nullptr;
  }
  void wait_for_run() {
    while (!machine.running) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  FakeMachine machine{8};
  Shell shell{machine, Style{}};

 private:
  int requests_[2], replies_[2];
  std::FILE *out_ = nullptr, *in_ = nullptr;
  std::thread server_;
};

TEST_F(JsonTest, Run) {
  EXPECT_EQ(ask(R"({"id": 1, "run": "parity", "kind": "line"})"), json::parse(R"({"id": 1,
      "plain": "---------- [4x] ---------- tiles 0,2,4,6\n0\n---------- [4x] ---------- tiles 1,3,5,7\n1\n", "groups": [
      {"count": 4, "tiles": "0,2,4,6", "text": "0\n", "ending": "done", "status": 0},
      {"count": 4, "tiles": "1,3,5,7", "text": "1\n", "ending": "done", "status": 0}]})"));
  EXPECT_EQ(machine.runs.back(), "line <stdin>: parity");
  ask(R"({"id": "x", "run": "all a", "name": "cell 1"})");
  EXPECT_EQ(machine.runs.back(), "cell cell 1: all a");
  EXPECT_EQ(ask(R"({"id": 2, "run": " "})"), json::parse(R"({"id": 2, "plain": "", "groups": []})"));
}

TEST_F(JsonTest, PartsOfACell) {
  EXPECT_EQ(ask(R"({"id": 1, "run": "%select 0\nall a"})"),
            json::parse(R"({"id": 1, "message": "Commands go to 1 tile of 8: 0\n", "more": true})"));
  EXPECT_EQ(receive()["groups"][0]["text"], "a\n");
}

TEST_F(JsonTest, OtherRequests) {
  EXPECT_EQ(ask(R"({"id": 1, "complete": "par"})"), json::parse(R"({"id": 1, "insert": "ity", "candidates": ""})"));
  EXPECT_EQ(ask(R"({"id": 1, "is_complete": "for x:"})"), json::parse(R"({"id": 1, "is_complete": false, "indent": "    "})"));
  EXPECT_EQ(ask(R"({"id": 1, "is_complete": "all"})"), json::parse(R"({"id": 1, "is_complete": true, "indent": ""})"));
  EXPECT_EQ(ask(R"({"id": 1, "select": "even"})"), json::parse(R"({"id": 1, "selected": "0,2,4,6", "count": 4})"));
  EXPECT_EQ(ask(R"({"id": 1, "run": "die 4"})")["groups"][1]["ending"], "ended");
  EXPECT_EQ(ask(R"({"id": 1, "tiles": true})"), json::parse(R"({"id": 1, "ipus": 1, "tiles": 8, "selected": "0,2,4,6",
      "ended": [{"count": 1, "tiles": "4", "why": "stack overflow"}]})"));
  EXPECT_EQ(ask(R"({"id": 1, "reset": "4-5"})"), json::parse(R"({"id": 1, "reset": "4-5", "count": 2})"));
}

TEST_F(JsonTest, WrongRequests) {
  EXPECT_THAT(ask("{\"id\": 1,")["error"], testing::HasSubstr("parse error"));
  EXPECT_THAT(ask("[1]")["error"], testing::HasSubstr("a request is an object"));
  EXPECT_THAT(ask(R"({"id": 5, "fly": 1})"), json::parse(R"({"id": 5, "error":
      "a request needs one of run, input, complete, is_complete, interrupt, select, reset, tiles [request]"})"));
  EXPECT_THAT(ask(R"({"id": 5, "run": 3})")["error"], testing::HasSubstr("string"));
  EXPECT_THAT(ask(R"({"id": 5, "run": "x", "kind": "novel"})")["error"], testing::HasSubstr("kind 'novel'; expected line, script or cell"));
  EXPECT_THAT(ask(R"({"id": 5, "select": "9"})")["error"], testing::HasSubstr("there are 8 tiles"));
  EXPECT_EQ(ask(R"({"id": 5, "run": "%keys"})")["wrong"], true);
  EXPECT_EQ(ask(R"({"id": 5, "run": "all ok"})")["groups"][0]["count"], 8);
}

TEST_F(JsonTest, InterruptsAreReadWhileACommandRuns) {
  send(R"({"id": 1, "run": "loop"})");
  wait_for_run();
  EXPECT_EQ(ask(R"({"id": 2, "interrupt": true})"), json::parse(R"({"id": 2, "interrupted": true})"));
  EXPECT_EQ(receive()["groups"][0]["ending"], "raised");
}

TEST_F(JsonTest, TilesReadLines) {
  EXPECT_EQ(ask(R"({"id": 1, "run": "ask"})"), json::parse(R"({"id": 1, "wants_input": true, "plain": "? ", "more": true})"));
  EXPECT_EQ(ask(R"({"input": "a line"})")["plain"], "a line\n");
  ask(R"({"id": 2, "run": "ask"})");
  EXPECT_EQ(ask(R"({"input": null})")["plain"], "EOF\n");
  ask(R"({"id": 3, "run": "ask"})");
  EXPECT_EQ(ask(R"({"interrupt": true})")["plain"], "EOF\n");
  ask(R"({"id": 4, "run": "ask"})");
  hang_up();
  EXPECT_EQ(receive()["plain"], "EOF\n");
}

TEST_F(JsonTest, AnswersAllBeforeItEnds) {
  send(R"({"id": 1, "run": "all a"})");
  send(R"({"id": 2, "run": "exit 3"})");
  send(R"({"id": 3, "run": "%quit"})");
  hang_up();
  EXPECT_EQ(receive()["id"], 1);
  const json left = receive();
  EXPECT_EQ(left["quit"], true);
  EXPECT_EQ(left["groups"][0]["status"], 3);
  EXPECT_EQ(receive(), json::parse(R"({"id": 3, "quit": true})"));
}

TEST_F(JsonTest, WhenNobodyListensWhatRunsIsInterrupted) {
  signal(SIGPIPE, SIG_IGN);
  send(R"({"id": 1, "run": "loop"})");
  wait_for_run();
  hang_up();
  read_no_more();
}

}  // namespace
}  // namespace pando::ontile
