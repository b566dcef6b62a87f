#include "base/text/chrome_trace.h"

#include <gtest/gtest.h>

#include <sstream>

namespace pando {
namespace {

TEST(ChromeTrace, is_a_list_of_events_or_an_object_with_one) {
  std::ostringstream list, object, none;
  { ChromeTrace trace(none); }
  EXPECT_EQ(none.str(), "[\n]\n");
  {
    ChromeTrace trace(list);
    trace.name_process(3, "device \"3\"");
    trace.name_thread(3, 1, "transfers");
    trace.slice({.name = "send", .process = 3, .thread = 1}, 2.5, 30.25);
    trace.event({{"ph", "C"}, {"name", "bytes"}});
  }
  EXPECT_EQ(list.str(), R"([
{"name": "process_name", "ph": "M", "pid": 3, "args": {"name": "device \"3\""}},
{"name": "thread_name", "ph": "M", "pid": 3, "tid": 1, "args": {"name": "transfers"}},
{"name": "send", "ph": "X", "pid": 3, "tid": 1, "ts": 2.500000, "dur": 30.250000},
{"ph":"C","name":"bytes"}
]
)");
  {
    ChromeTrace trace(object, "\"displayTimeUnit\": \"ns\"");
    trace.slice({.name = "not UTF-8: \xff", .category = "compute"}, std::uint64_t{7}, std::uint64_t{2});
  }
  const auto j = nlohmann::json::parse(object.str());
  EXPECT_EQ(j["displayTimeUnit"], "ns");
  EXPECT_EQ(j["traceEvents"][0]["ts"], 7);
  EXPECT_EQ(j["traceEvents"][0]["cat"], "compute");
  EXPECT_EQ(j["traceEvents"][0]["name"], "not UTF-8: \xef\xbf\xbd");
}

}  // namespace
}  // namespace pando
