// A machine for tests, without tiles or Python. It understands
//   tile         its number      parity   its number modulo 2     all WORD   WORD on every tile
//   raise        a traceback     raise N  one on tile N alone     exit N     SystemExit with status N
//   die N        tile N's interpreter ends                        loop       runs until interrupted
//   fail         the machine throws                               ask        "? ", then the line that it gets or EOF
// one of these a line; what it answers is text, as a tile's would be. Every run is written down.
#pragma once

#include <atomic>
#include <chrono>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "ontile/repl/shell/machine.h"

namespace pando::ontile {

class FakeMachine final : public Machine {
 public:
  explicit FakeMachine(unsigned tiles, unsigned ipus = 1) : ipus_(ipus), states_(tiles) { select_all(); }

  unsigned ipus() const override { return ipus_; }
  unsigned tiles() const override { return static_cast<unsigned>(states_.size()); }

  Reply run(std::string_view source, Session::Input input, std::string_view name) override {
    static const char* const kInputs[] = {"line", "script", "cell"};
    runs.push_back(std::string(kInputs[static_cast<int>(input)]) + " " + std::string(name) + ": " + std::string(source));
    running = true;
    Reply reply;
    for (const unsigned tile : selected_) {
      Answer answer{tile, Ending::done, 0, 0};
      std::string text = states_[tile].ended ? "" : answer_of(tile, std::string(source), answer);
      if (states_[tile].ended && answer.ending == Ending::done) answer.ending = Ending::skipped;
      add(reply, answer, text);
    }
    interrupted_ = running = false;
    return reply;
  }

  Reply key(char key) override {
    keys += key;
    Reply reply;
    for (const unsigned tile : selected_) {
      const std::string text = key == 0x15 ? ">>> " : key == '\r' ? "\r\n" + std::to_string(tile % 2) + "\r\n>>> " : std::string(1, key);
      add(reply, {tile, key == 4 ? Ending::exited : Ending::done, 0, 0}, text);
    }
    return reply;
  }

  bool is_complete(std::string_view source) override {
    return !(source.starts_with("for") && !source.ends_with('\n')) && source.find("(((") == source.npos;
  }
  Completion complete(std::string_view line) override {
    if (line == "par") return {"ity", ""};
    if (line == "t") return {"", "tile            tally           "};
    return {};
  }
  void interrupt() noexcept override { interrupted_ = running.load(); }
  void select(const std::vector<unsigned>& tiles) override { selected_ = tiles; }
  void select_all() override {
    selected_.clear();
    for (unsigned tile = 0; tile < tiles(); ++tile) selected_.push_back(tile);
  }
  const std::vector<unsigned>& selected() const override { return selected_; }
  void reset(const std::vector<unsigned>& tiles) override {
    for (const unsigned tile : tiles) states_[tile] = {};
  }
  TileState state(unsigned tile) const override { return states_[tile]; }
  void set_input(Input input) override { input_ = std::move(input); }

  std::vector<std::string> runs;
  std::string keys;
  std::atomic<bool> running = false;

 private:
  static void add(Reply& reply, Answer answer, const std::string& text) {
    const auto at = std::find(reply.texts.begin(), reply.texts.end(), text);
    answer.text = static_cast<std::uint32_t>(at - reply.texts.begin());
    if (at == reply.texts.end()) reply.texts.push_back(text);
    reply.answers.push_back(answer);
  }

  static std::string traceback(const std::string& what) {
    return "Traceback (most recent call last):\n  File \"<stdin>\", line 1, in <module>\n" + what + "\n";
  }

  std::string answer_of(unsigned tile, const std::string& source, Answer& answer) {
    std::istringstream lines(source);
    std::string text;
    for (std::string line; answer.ending == Ending::done && std::getline(lines, line);) {
      std::istringstream words(line);
      std::string verb, word;
      words >> verb >> word;
      const bool mine = word.empty() || word == std::to_string(tile);
      if (verb == "tile")
        text += std::to_string(tile) + "\n";
      else if (verb == "parity")
        text += std::to_string(tile % 2) + "\n";
      else if (verb == "all")
        text += word + "\n";
      else if (verb == "raise" && mine)
        answer.ending = Ending::raised, text += traceback("ValueError: no");
      else if (verb == "exit")
        answer.ending = Ending::exited, answer.status = std::stoi(word);
      else if (verb == "die" && mine)
        answer.ending = Ending::ended, states_[tile] = {true, "stack overflow"}, text += "stack overflow\n";
      else if (verb == "ask")
        text += line_of_input(tile) + "\n";
      else if (verb == "fail")
        throw std::runtime_error("the machine stopped [fake]");
      else if (verb == "loop")
        wait_for_interrupt(), answer.ending = Ending::raised, text += traceback("KeyboardInterrupt: ");
    }
    return text;
  }

  // The first tile reads for all.
  std::string line_of_input(unsigned tile) {
    if (tile != selected_.front()) return line_;
    Reply said;
    for (const unsigned each : selected_) add(said, {each, Ending::done, 0, 0}, "? ");
    line_.clear();
    if (!input_ || !input_(said, line_)) line_ = "EOF";
    return line_;
  }

  void wait_for_interrupt() {
    while (!interrupted_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  unsigned ipus_;
  std::vector<TileState> states_;
  std::vector<unsigned> selected_;
  Input input_;
  std::string line_;
  std::atomic<bool> interrupted_ = false;
};

}  // namespace pando::ontile
