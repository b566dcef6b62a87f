// Traces as browsers (about:tracing) and Perfetto read them: a JSON list of events, or an object that holds the list.
//
//     std::ostringstream out;
//     {
//       ChromeTrace trace(out);
//       trace.name_process(0, "device 0");
//       trace.slice({.name = "matmul", .process = 0, .thread = 1}, 2.5, 30.0);  // begins at 2.5 us, takes 30 us
//     }                                                                         // the end is written
#pragma once

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <concepts>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

namespace pando {

class ChromeTrace {
 public:
  // `members`: of an object around the list, as JSON without braces ("\"displayTimeUnit\": \"ns\""); empty: the list alone.
  explicit ChromeTrace(std::ostream& out, std::string_view members = {});
  ~ChromeTrace();
  ChromeTrace(const ChromeTrace&) = delete;
  ChromeTrace& operator=(const ChromeTrace&) = delete;

  void name_process(std::int64_t process, std::string_view name);
  void name_thread(std::int64_t process, std::int64_t thread, std::string_view name);

  struct Slice {
    std::string_view name;
    std::int64_t process = 0, thread = 0;
    // Empty: none is written.
    std::string_view category = {};
  };
  // Microseconds; whole ones as whole numbers, others to a picosecond.
  template <class Number>
  void slice(const Slice& s, Number begin, Number duration) {
    begin_slice(s);
    if constexpr (std::integral<Number>)
      out_ << fmt::format("\"ts\": {}, \"dur\": {}}}", begin, duration);
    else
      out_ << fmt::format("\"ts\": {:.6f}, \"dur\": {:.6f}}}", begin, duration);
  }
  // Any other event.
  void event(const nlohmann::ordered_json& event);

 private:
  void begin_slice(const Slice& s);
  void name(std::string_view what, const std::string& of, std::string_view name);
  std::ostream& next();

  std::ostream& out_;
  std::string_view separator_ = "\n";
  bool is_object_ = false;
};

}  // namespace pando
