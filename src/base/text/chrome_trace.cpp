#include "base/text/chrome_trace.h"

namespace pando {

namespace {

// Of bytes that are not UTF-8, marks.
std::string quoted(std::string_view text) {
  return nlohmann::json(std::string(text)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

ChromeTrace::ChromeTrace(std::ostream& out, std::string_view members) : out_(out), is_object_(!members.empty()) {
  if (is_object_) out_ << '{' << members << ", \"traceEvents\": ";
  out_ << '[';
}

ChromeTrace::~ChromeTrace() { out_ << (is_object_ ? "\n]}\n" : "\n]\n"); }

std::ostream& ChromeTrace::next() {
  out_ << separator_;
  separator_ = ",\n";
  return out_;
}

void ChromeTrace::name(std::string_view what, const std::string& of, std::string_view name) {
  next() << fmt::format(R"({{"name": "{}", "ph": "M", {}, "args": {{"name": {}}}}})", what, of, quoted(name));
}

void ChromeTrace::name_process(std::int64_t process, std::string_view process_name) {
  name("process_name", fmt::format("\"pid\": {}", process), process_name);
}

void ChromeTrace::name_thread(std::int64_t process, std::int64_t thread, std::string_view thread_name) {
  name("thread_name", fmt::format("\"pid\": {}, \"tid\": {}", process, thread), thread_name);
}

void ChromeTrace::begin_slice(const Slice& s) {
  next() << fmt::format(R"({{"name": {}, "ph": "X", "pid": {}, "tid": {}, )", quoted(s.name), s.process, s.thread);
  if (!s.category.empty()) out_ << "\"cat\": " << quoted(s.category) << ", ";
}

void ChromeTrace::event(const nlohmann::ordered_json& event) {
  next() << event.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace pando
