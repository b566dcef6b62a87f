#include "cli/shared/transformer.h"

#include "base/command/arguments.h"
#include "base/command/files.h"
#include "base/text/counted.h"
#include "cli/command_row.h"
#include "cli/shared/words.h"

#include <fmt/format.h>

#include <algorithm>

namespace pando::cli {

search::Transformer transformer_of(const std::string& name_or_file, std::int64_t seq) {
  const auto has_the_name = [&](const search::Transformer& t) { return t.name == name_or_file; };
  if (!std::ranges::any_of(search::transformers(), has_the_name)) reject_folder(name_or_file);
  return search::transformer_named(name_or_file, seq);
}

search::ReadSettings strategy_of(std::string_view command, const char* option, const std::string& text, const search::StrategyFacts& facts,
                                 std::int64_t devices, std::int64_t batch) {
  search::ReadSettings r = search::settings_of(text, facts, devices, batch);
  for (const std::string& note : r.notes) complain_of(command, "note: " + note);
  if (batch > 0 && r.batch != batch) throw CLI::ValidationError(option, fmt::format("it has a batch of {}, --batch is {}", r.batch, batch));
  if (r.seq > 0 && r.seq != facts.model.seq)
    throw CLI::ValidationError(option, fmt::format("it has samples of {}, the model has {}; --seq-length says which are meant",
                                                   counted(r.seq, "token"), counted(facts.model.seq, "token")));
  return r;
}

void check_devices(const search::Strategy& s, std::int64_t devices) {
  if (devices == 0 || s.devices() == devices) return;
  throw CLI::ValidationError("--devices", fmt::format("the strategy takes {}, {} asked for", counted(s.devices(), "device"),
                                                      devices == 1 ? "1 was" : fmt::format("{} were", devices)));
}

double device_memory_of(const std::string& text) {
  // Nobody means so few bytes who leaves the unit out.
  constexpr double kLeastBytes = 1e6;
  const double bytes = memory_of(text);
  if (bytes < kLeastBytes && text.find_first_not_of("0123456789.") == std::string::npos)
    throw CLI::ValidationError("--memory",
                               fmt::format("'{}' is bytes; {}GB, {}GiB or {}B say which unit is meant", text, text, text, text));
  return bytes;
}

CLI::Option* add_batch(CLI::App& command, std::int64_t& batch, const std::string& what) {
  return command.add_option("--batch", batch, what + (what.empty() ? "Samples" : "samples") + " of a step")
      ->check(at_least_one<std::int32_t>());
}

CLI::Option* add_seq_length(CLI::App& command, std::int64_t& seq, const std::string& what) {
  return command
      .add_option("--seq-length", seq,
                  what + (what.empty() ? "Tokens" : "tokens") + " of a sample; otherwise what the name or the file says")
      ->check(at_least_one<std::int32_t>());
}

}  // namespace pando::cli
