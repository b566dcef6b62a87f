// A Session as a Machine.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "base/messages.h"
#include "ontile/repl/shell/machine.h"
#include "ontile/repl/shell/running_notice.h"

namespace pando::ontile {

class SessionMachine final : public Machine {
 public:
  // Of what takes long a person is told; a program is not.
  SessionMachine(const SessionOptions& options, bool for_person) : for_person_(for_person), session_(with_input(options)) {}

  unsigned ipus() const override { return session_.ipus(); }
  unsigned tiles() const override { return session_.tiles(); }
  // If a write to the disk image was cut off, standard error says so, and scripts see kCutOff instead of 0.
  static constexpr int kCutOff = 3;
  void say_what_was_cut_off(const char* tool) const {
    if (!session_.disk_notice().empty()) complain(fmt::format("{}: warning: {}", tool, session_.disk_notice()));
  }
  int exit_status(int status) const { return status == 0 && !session_.disk_notice().empty() ? kCutOff : status; }
  Reply run(std::string_view source, Session::Input input, std::string_view name) override {
    if (for_person_) notice_.emplace(static_cast<unsigned>(selected().size()));
    const HideNotice at_end{notice_};
    return session_.run(source, input, name);
  }
  Reply key(char key) override { return session_.key(key); }
  bool is_complete(std::string_view source) override { return session_.is_complete(source); }
  Completion complete(std::string_view line) override { return session_.complete(line); }
  void interrupt() noexcept override { session_.interrupt(); }
  void select(const std::vector<unsigned>& tiles) override { session_.select(tiles); }
  void select_all() override { session_.select_all(); }
  const std::vector<unsigned>& selected() const override { return session_.selected(); }
  void reset(const std::vector<unsigned>& tiles) override { session_.reset(tiles); }
  TileState state(unsigned tile) const override { return session_.state(tile); }
  void set_input(Input input) override { input_ = std::move(input); }
  void set_output(Output output) override {
    if (!output) return session_.set_output(nullptr);
    session_.set_output([this, output = std::move(output)](const Reply& said) {
      notice_.reset();
      output(said);
      if (for_person_) notice_.emplace(static_cast<unsigned>(selected().size()));
    });
  }

 private:
  SessionOptions with_input(SessionOptions options) {
    options.input = [this](const Reply& said, std::string& line) {
      if (!input_) return false;
      notice_.reset();
      const bool is_there = input_(said, line);
      if (for_person_) notice_.emplace(static_cast<unsigned>(selected().size()));
      return is_there;
    };
    return options;
  }

  struct HideNotice {
    std::optional<RunningNotice>& notice;
    ~HideNotice() { notice.reset(); }
  };

  Input input_;
  const bool for_person_;
  std::optional<RunningNotice> notice_;
  Session session_;
};

}  // namespace pando::ontile
