#include "profile/plan/plan.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <map>
#include <sstream>
#include <vector>

#include "poplar/exceptions.hpp"
#include "profile/export.h"
#include "profile/question.h"
#include "profile/report.h"

namespace pando::profile {

namespace {

DevicePlan example() {
  DevicePlan p{.title = "net on 2 devices of h100", .machine = "h100", .text = "certificate: all\n", .why_not = "d=2:\n  slower\n"};
  p.seconds = 0.5, p.memory_limit = 80e9;
  p.points = {{"p=2", 0.5, 3e9, true}, {"d=2", 0.75, 2e9, true}, {"t=2", 0.9, 4e9, false}};
  p.kinds = {"weights", "activations"};
  p.devices = {{"rank 0", 0.4, 0.1, 0.5, {1e9, 2e9}}, {"rank 1", 0.3, 0.0, 0.4, {1e9, 1e9}}};
  p.names = {"F0", "send"};
  p.events = {{0, 0, false, 0, 0.2}, {0, 1, true, 0.2, 0.1}, {1, 0, false, 0.3, 0.1}};
  return p;
}

// A run: what the host's clock says, messages, memory in use, where values lie.
DevicePlan run_example() {
  DevicePlan p = example();
  p.points.clear();
  p.event_kinds = {"forward", "send"};
  for (PlanEvent& e : p.events)
    e.kind = e.transfer ? 1 : 0, e.bytes = 1e6 + e.device, e.host_begin = 2 * e.begin, e.host_seconds = 2 * e.seconds;
  p.messages = {{0, 1, 1, 64, 0.2, 0.4, 0.4, 0.8}, {0, 1, 1, 64, 0.3, 0.5, 0.6, 1.0}};
  p.values = {{"w", "variable", "float32(4, 4)", 64, {0, 1}}, {"x", "variable", "float32(2)", 8, {1}}};
  return p;
}

Report report_of(const DevicePlan& plan) {
  Report r;
  r.target.name = plan.machine;
  r.plan = plan;
  std::ostringstream out;
  write_report(r, out);
  return read_report(out.str());
}

void expect_damaged(const std::string& text, const std::string& what) {
  try {
    plan_of_json(text);
    ADD_FAILURE() << what << " is not noticed";
  } catch (const poplar::parse_error& e) { EXPECT_NE(std::string(e.what()).find(what), std::string::npos) << e.what(); }
}

TEST(Plan, IsReadAsItWasWritten) {
  const DevicePlan plan = report_of(example()).plan;
  EXPECT_EQ(plan_json(plan), plan_json(example()));
  EXPECT_EQ(plan.events.size(), 3u);
  EXPECT_EQ(plan.events[1].name, 1u);
  EXPECT_TRUE(plan.events[1].transfer);
}

TEST(Plan, ARunIsReadAsItWasWritten) {
  const DevicePlan plan = report_of(run_example()).plan;
  EXPECT_EQ(plan_json(plan), plan_json(run_example()));
  EXPECT_EQ(plan.messages[1].host_received, 1.0);
  EXPECT_EQ(plan.events[1].kind, 1u);
  EXPECT_EQ(plan.values[0].devices.size(), 2u);
}

TEST(Plan, ARunAnswersBySchedulesMessagesAndPlaces) {
  const Report r = report_of(run_example());
  Json answer = ask(r, "schedule", 10);
  EXPECT_EQ(answer["rows"][1]["device"], "rank 1");
  EXPECT_NEAR(answer["rows"][1]["bubbles"].get<double>(), 0.4, 1e-12);
  EXPECT_NEAR(answer["bubbles"].get<double>(), 0.3, 1e-12);
  EXPECT_NEAR(answer["rows"][1]["host_end_us"].get<double>(), 8e5, 1e-6);
  answer = ask(r, "messages", 10);
  EXPECT_EQ(answer["bytes"], 128);
  EXPECT_EQ(answer["rows"][0]["messages"], 2);
  EXPECT_NEAR(answer["rows"][0]["us_each"].get<double>(), 2e5, 1e-6);
  answer = ask(r, "placement", 10);
  EXPECT_EQ(answer["rows"][0]["devices"], Json::array({"rank 0", "rank 1"}));
}

TEST(Plan, IsATraceByBothClocks) {
  std::ostringstream out;
  export_report(report_of(run_example()), "perfetto", {}, out);
  std::map<std::string, int> phases;
  std::vector<Json> arrows;
  const Json trace = Json::parse(out.str());
  for (const Json& e : trace["traceEvents"]) {
    ++phases[e["ph"]];
    if (e["ph"] == "s" || e["ph"] == "f") arrows.push_back(e);
  }
  // Two clocks of two devices and three events; memory by the machine's clock alone; two messages by each.
  EXPECT_EQ(phases, (std::map<std::string, int>{{"M", 12}, {"X", 6}, {"C", 3}, {"s", 4}, {"f", 4}}));
  EXPECT_EQ(arrows[0]["ts"], 0.2e6);
  EXPECT_EQ(arrows[1]["pid"], 1);
  EXPECT_EQ(arrows[0]["id"], arrows[1]["id"]);
  EXPECT_NE(arrows[0]["id"], arrows[4]["id"]);
  std::ostringstream plan;
  export_report(report_of(example()), "perfetto", {}, plan);
  EXPECT_EQ(Json::parse(plan.str())["traceEvents"].size(), 6u + 3u);
}

TEST(Plan, OtherReportsHaveNone) {
  Report r;
  std::ostringstream out;
  write_report(r, out);
  EXPECT_TRUE(read_report(out.str()).plan.title.empty());
}

TEST(Plan, AnswersByPointsOrDevices) {
  Report r = report_of(example());
  Json answer = ask(r, "plan", 2);
  EXPECT_EQ(answer["rows"].size(), 2u);
  EXPECT_EQ(answer["rows"][1]["strategy"], "d=2");
  r.plan.points.clear();
  answer = ask(r, "plan", 10);
  EXPECT_EQ(answer["rows"].size(), 2u);
  EXPECT_EQ(answer["rows"][0]["peak_bytes"], 3e9);
}

TEST(Plan, TheSummaryIsOfDevices) {
  std::ostringstream out;
  print_summary(report_of(example()), {}, out);
  EXPECT_EQ(out.str(),
            "Plan: net on 2 devices of h100\n"
            "certificate: all\n"
            "why not d=2:\n  slower\n"
            "device          computes, s   transfers, s        ends, s         peak\n"
            "rank 0                  0.4            0.1            0.5      2.8 GiB\n"
            "rank 1                  0.3              0            0.4      1.9 GiB\n");
}

TEST(Plan, EventsThatHaveNoRoomAreCounted) {
  DevicePlan p;
  for (std::size_t i = 0; i < kMostPlanEvents + 7; ++i) add_event(p, {});
  EXPECT_EQ(p.events.size(), kMostPlanEvents);
  EXPECT_EQ(p.events_lost, 7u);
}

TEST(Plan, DamageIsNamed) {
  expect_damaged("[]", "not a JSON object");
  const Json whole = Json::parse(plan_json(example()));
  for (const auto& [name, value] : whole.items()) {
    Json without = whole;
    without.erase(name);
    expect_damaged(without.dump(), "'" + name + "' is missing");
  }
  Json j = whole;
  j["events"]["device"][0] = 2;
  expect_damaged(j.dump(), "2 is named, there are 2");
  j = whole;
  j["events"]["begin"].push_back(1);
  expect_damaged(j.dump(), "lists of 3 and 4 rows");
  j = whole;
  j["devices"][1]["memory"] = {1};
  expect_damaged(j.dump(), "1 numbers, there are 2 kinds");
  j = whole;
  j["points"][0]["seconds"] = "soon";
  expect_damaged(j.dump(), "plan.points.seconds");
}

TEST(Plan, DamageOfARunIsNamed) {
  const Json whole = Json::parse(plan_json(run_example()));
  const auto changed = [&](auto change, const char* what) {
    Json j = whole;
    change(j);
    expect_damaged(j.dump(), what);
  };
  changed([](Json& j) { j["events"]["kind"][0] = 2; }, "2 is named, there are 2");
  changed([](Json& j) { j["events"]["bytes"].push_back(1); }, "lists of 3 and 4 rows");
  changed([](Json& j) { j["messages"]["to"][1] = 9; }, "plan.messages.to");
  changed([](Json& j) { j["messages"].erase("sent"); }, "'sent' is missing");
  changed([](Json& j) { j["messages"]["host_sent"][0] = "late"; }, "plan.messages.host_sent");
  changed([](Json& j) { j["values"][0]["devices"] = {5}; }, "plan.values.devices");
  changed([](Json& j) { j["values"][1].erase("bytes"); }, "'bytes' is missing");
  changed([](Json& j) { j.erase("messages_lost"); }, "'messages_lost' is missing");
}

}  // namespace

}  // namespace pando::profile
