#include "ontile/repl/json_front.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <poplar/exceptions.hpp>
#include <thread>

#include "base/json_depth.h"
#include "ontile/reject.h"
#include "ontile/repl/shell/tile_set.h"
#include "ontile/repl/terminal/indent.h"

namespace pando::ontile {
namespace {

using Json = nlohmann::ordered_json;

const char* name_of(Ending ending) {
  switch (ending) {
    case Ending::done: return "done";
    case Ending::raised: return "raised";
    case Ending::exited: return "exited";
    case Ending::ended: return "ended";
    case Ending::skipped: return "skipped";
  }
  return "";
}

Session::Input input_of(const std::string& kind) {
  if (kind == "line") return Session::Input::line;
  if (kind == "script") return Session::Input::script;
  if (kind == "cell") return Session::Input::cell;
  reject<poplar::invalid_option>("kind", "kind '{}'; expected line, script or cell", kind);
}

Json to_json(const Outcome& outcome, const Style& style) {
  Json reply;
  if (outcome.ran) {
    reply["plain"] = render(outcome.groups, style);
    reply["groups"] = Json::array();
    for (const Group& group : outcome.groups)
      reply["groups"].push_back({{"count", group.tiles.size()},
                                 {"tiles", print_tiles(group.tiles)},
                                 {"text", group.text},
                                 {"ending", name_of(group.ending)},
                                 {"status", group.status}});
  }
  if (!outcome.message.empty()) reply["message"] = outcome.message;
  if (outcome.wrong) reply["wrong"] = true;
  if (outcome.next == Outcome::Next::keys) {
    reply["message"] = "%keys needs a terminal\n";
    reply["wrong"] = true;
  }
  if (outcome.next == Outcome::Next::quit) reply["quit"] = true;
  return reply;
}

// Lines are read by a thread of its own, so that an interrupt is seen while a command runs.
class JsonFront {
 public:
  JsonFront(Shell& shell, int in, std::FILE* out) : shell_(shell), in_(in), out_(out) {}

  void serve();

 private:
  void read_requests();
  void watch_reader();
  void take(const std::string& line);
  std::optional<std::string> next();
  void answer(const std::string& line);
  Json carry_out(const Json& request);
  Json run(const Json& request);
  bool ask_for_line(const Reply& said, std::string& line);
  void reply(const Json& id, const Json& body);

  Shell& shell_;
  const int in_;
  std::FILE* const out_;
  std::mutex lock_;
  std::condition_variable changed_;
  std::deque<std::string> requests_;
  std::deque<Json> lines_;  // for tiles that read
  bool interrupted_ = false;
  bool ended_ = false;  // the input
  Json running_;        // whose code runs
  std::mutex out_lock_;
  std::atomic<bool> unheard_ = false;  // nobody reads the replies
  int stop_[2] = {-1, -1};             // a pipe that ends the reading thread
};

void JsonFront::reply(const Json& id, const Json& body) {
  Json whole = {{"id", id}};
  whole.update(body);
  // Bytes that are no UTF-8 must not stop the others.
  const std::string text = whole.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
  const std::lock_guard guard(out_lock_);
  std::fwrite(text.data(), 1, text.size(), out_);
  std::fflush(out_);
}

void JsonFront::take(const std::string& line) {
  if (json_nests_too_deep(line)) return reply(nullptr, {{"error", "the request nests too deep [request]"}});
  const Json request = Json::parse(line, nullptr, false);
  if (request.is_object() && request.contains("interrupt")) {
    shell_.machine().interrupt();
    {
      const std::lock_guard guard(lock_);
      interrupted_ = true;
      changed_.notify_one();
    }
    if (request.contains("id")) reply(request["id"], {{"interrupted", true}});
    return;
  }
  const std::lock_guard guard(lock_);
  if (request.is_object() && request.contains("input"))
    lines_.push_back(request["input"]);
  else
    requests_.push_back(line);
  changed_.notify_one();
}

void JsonFront::read_requests() {
  std::string text;
  for (char bytes[4096];;) {
    pollfd ready[] = {{in_, POLLIN, 0}, {stop_[0], POLLIN, 0}};
    if (poll(ready, 2, -1) < 0) continue;
    if (ready[1].revents != 0) return;
    const ssize_t n = read(in_, bytes, sizeof bytes);
    if (n <= 0) break;
    text.append(bytes, static_cast<std::size_t>(n));
    for (std::size_t end; (end = text.find('\n')) != text.npos; text.erase(0, end + 1))
      if (text.find_first_not_of(" \t\r\n") < end) take(text.substr(0, end));
  }
  if (text.find_first_not_of(" \t\r\n") != text.npos) take(text);
  {
    const std::lock_guard guard(lock_);
    ended_ = true;
    changed_.notify_one();
  }
  watch_reader();
}

// After the last request: who asked may be gone while the answer is still computed.
void JsonFront::watch_reader() {
  pollfd ready[] = {{fileno(out_), 0, 0}, {stop_[0], POLLIN, 0}};
  while (poll(ready, 2, -1) < 0) continue;
  if (ready[1].revents == 0) {
    unheard_ = true;
    while (poll(ready + 1, 1, 10) == 0) shell_.machine().interrupt();
  }
}

std::optional<std::string> JsonFront::next() {
  std::unique_lock guard(lock_);
  changed_.wait(guard, [&] { return ended_ || !requests_.empty(); });
  if (requests_.empty()) return std::nullopt;
  std::string line = std::move(requests_.front());
  requests_.pop_front();
  return line;
}

// Tiles read: whoever runs this is told, and sends a line or null. After an interrupt there is none.
bool JsonFront::ask_for_line(const Reply& said, std::string& line) {
  const std::vector<Group> groups = group(said);
  reply(running_, {{"wants_input", true}, {"plain", groups.size() == 1 ? groups[0].text : render(groups, shell_.style())}, {"more", true}});
  std::unique_lock guard(lock_);
  changed_.wait(guard, [&] { return ended_ || interrupted_ || !lines_.empty(); });
  if (interrupted_ || lines_.empty()) return false;
  const Json given = lines_.front();
  lines_.pop_front();
  if (given.is_string()) line = given.get<std::string>();
  return given.is_string();
}

// A reply for every part of the code; all but the last say that there is more.
Json JsonFront::run(const Json& request) {
  std::optional<Json> held;
  shell_.show_with([this](const Reply& said) {
    Json body = to_json({true, group(said), "", false, Outcome::Next::go_on}, shell_.style());
    body["more"] = true;
    reply(running_, body);
  });
  running_ = request.value("id", Json());
  {
    const std::lock_guard guard(lock_);
    interrupted_ = false;
    lines_.clear();
  }
  shell_.execute(
      request.at("run").get<std::string>(), input_of(request.value("kind", "cell")),
      [&](const Outcome& outcome) {
        if (held) {
          (*held)["more"] = true;
          reply(running_, *held);
        }
        held = to_json(outcome, shell_.style());
      },
      request.value("name", "<stdin>"));
  return held.value_or(Json{{"plain", ""}, {"groups", Json::array()}});
}

Json JsonFront::carry_out(const Json& request) {
  Machine& machine = shell_.machine();
  const Tiles all = {machine.ipus(), machine.tiles()};
  if (request.contains("run")) return run(request);
  if (request.contains("complete")) {
    const Completion found = shell_.complete(request["complete"].get<std::string>());
    return {{"insert", found.insert}, {"candidates", found.candidates}};
  }
  if (request.contains("is_complete")) {
    const auto source = request["is_complete"].get<std::string>();
    const std::size_t last = source.find_last_not_of('\n');
    const std::string line = last == source.npos ? "" : source.substr(source.rfind('\n', last) + 1, last - source.rfind('\n', last));
    const bool whole = shell_.is_complete(source);
    return {{"is_complete", whole}, {"indent", whole ? "" : next_indent(line)}};
  }
  if (request.contains("select")) {
    machine.select(parse_tiles(request["select"].get<std::string>(), all));
    return {{"selected", print_tiles(machine.selected())}, {"count", machine.selected().size()}};
  }
  if (request.contains("reset")) {
    const auto tiles = parse_tiles(request["reset"].get<std::string>(), all);
    machine.reset(tiles);
    return {{"reset", print_tiles(tiles)}, {"count", tiles.size()}};
  }
  if (request.contains("tiles")) {
    std::map<std::string, std::vector<unsigned>> ended;
    for (unsigned tile = 0; tile < all.count; ++tile)
      if (const TileState state = machine.state(tile); state.ended) ended[state.why].push_back(tile);
    Json list = Json::array();
    for (const auto& [why, tiles] : ended) list.push_back({{"count", tiles.size()}, {"tiles", print_tiles(tiles)}, {"why", why}});
    return {{"ipus", all.ipus}, {"tiles", all.count}, {"selected", print_tiles(machine.selected())}, {"ended", list}};
  }
  reject<poplar::invalid_option>("request", "a request needs one of run, input, complete, is_complete, interrupt, select, reset, tiles");
}

void JsonFront::answer(const std::string& line) {
  Json id;
  try {
    const Json request = Json::parse(line);
    if (!request.is_object()) reject<poplar::invalid_option>("request", "a request is an object: {{\"id\": 1, \"run\": \"...\"}}");
    id = request.value("id", Json());
    reply(id, carry_out(request));
  } catch (const std::exception& error) { reply(id, {{"error", error.what()}}); }
}

void JsonFront::serve() {
  if (pipe(stop_) != 0) reject<poplar::poplar_error>("pipe", "no pipe for the thread that reads requests");
  shell_.machine().set_input([this](const Reply& said, std::string& line) { return ask_for_line(said, line); });
  reply(nullptr, {{"ready", true}, {"ipus", shell_.machine().ipus()}, {"tiles", shell_.machine().tiles()}});
  std::thread reader(&JsonFront::read_requests, this);
  while (!unheard_) {
    const auto line = next();
    if (!line) break;
    answer(*line);
  }
  close(stop_[1]);
  reader.join();
  close(stop_[0]);
}

}  // namespace

void run_json(Shell& shell, int in, std::FILE* out) { JsonFront(shell, in, out).serve(); }

}  // namespace pando::ontile
