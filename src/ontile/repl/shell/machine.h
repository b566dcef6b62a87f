// What the prompt, scripts and front ends ask of the tiles: a Session, or in their tests a stand-in that answers at once.
#pragma once

#include <functional>

#include "ontile/session.h"

namespace pando::ontile {

class Machine {
 public:
  virtual ~Machine() = default;
  virtual unsigned ipus() const = 0;
  virtual unsigned tiles() const = 0;
  virtual Reply run(std::string_view source, Session::Input input, std::string_view name) = 0;
  virtual Reply key(char key) = 0;
  virtual bool is_complete(std::string_view source) = 0;
  virtual Completion complete(std::string_view line) = 0;
  virtual void interrupt() noexcept = 0;
  virtual void select(const std::vector<unsigned>& tiles) = 0;
  virtual void select_all() = 0;
  virtual const std::vector<unsigned>& selected() const = 0;
  virtual void reset(const std::vector<unsigned>& tiles) = 0;
  virtual TileState state(unsigned tile) const = 0;

  // Who is asked for a line when tiles read one: SessionOptions::input.
  using Input = std::function<bool(const Reply& said, std::string& line)>;
  virtual void set_input(Input input) = 0;
  // Who is given what tiles say while a command runs, or nobody: SessionOptions::output.
  using Output = std::function<void(const Reply& said)>;
  virtual void set_output(Output) {}
};

}  // namespace pando::ontile
