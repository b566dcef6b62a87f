// The options of a session, one file each: src/lower/options (how a module is lowered) and src/session/options (what the session does).
// The build finds the files. Checks of values, the options of popart that set them, text ("pando.fuse" among an engine's options) and
// docs/level/session-options.md loop over the rows.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace pando::ir {
class Module;
}

namespace pando::lower {

using OptionValue = std::variant<bool, std::int64_t, std::string>;

// What a value may depend on.
struct OptionContext {
  const ir::Module& module;
  // Of an IPU.
  std::int64_t tiles = 0;
};

struct OptionRow {
  // "num_io_tiles"; in texts "pando.numIoTiles".
  std::string_view name;
  // The member of popart.SessionOptions that sets it; empty: none.
  std::string_view popart;
  // One sentence: what the value says.
  std::string_view effect;
  // The value that is not given; values have its type.
  OptionValue otherwise;
  // Of a text, the values that are possible besides an empty one.
  std::vector<std::string_view> choices;
  // On the device "cpu" it has no meaning, and is as if it was not given.
  bool ipus_only = false;
  // Whether a text can set it; what says how much data a run takes is said by whoever gives the data.
  bool from_text = true;
  // Throws for a value that is not possible there.
  void (*check)(const OptionValue&, const OptionContext&) = nullptr;
};

// "num_io_tiles" as "pando.numIoTiles".
std::string text_name(const OptionRow& row);

// Of src/lower/options, by name.
const std::vector<OptionRow>& option_rows();

// A value for each row of a table.
class Settings {
 public:
  // The values that are not given. The table must outlive the settings.
  explicit Settings(const std::vector<OptionRow>& rows);

  // The names must be those of rows, and the types the rows'.
  bool flag(std::string_view name) const;
  std::int64_t number(std::string_view name) const;
  const std::string& text(std::string_view name) const;
  // Throws ModelError: (key) there is no such option, (type) its values have another type, (value) a text that is not one of its choices.
  void set(std::string_view name, OptionValue value);
  // By the name that a text has. False: no option has that name. Throws invalid_option for a value of the wrong kind.
  bool read(std::string_view text_name, const std::string& value);
  // For a device without IPUs.
  void drop_those_of_ipus();
  void check(const OptionContext& context) const;

 private:
  const OptionValue& value_of(std::string_view name) const;
  const std::vector<OptionRow>* rows_;
  std::map<std::string, OptionValue, std::less<>> values_;
};

// A table in Markdown.
std::string describe(const std::vector<OptionRow>& rows);

}  // namespace pando::lower
