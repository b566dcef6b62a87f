#include "cli/shared/transformer.h"

#include "base/command/arguments.h"
#include "base/command/files.h"

#include <algorithm>

namespace pando::cli {

search::Transformer transformer_of(const std::string& name_or_file, std::int64_t seq) {
  const auto has_the_name = [&](const search::Transformer& t) { return t.name == name_or_file; };
  if (!std::ranges::any_of(search::transformers(), has_the_name)) reject_folder(name_or_file);
  return search::transformer_named(name_or_file, seq);
}

CLI::Option* add_seq_length(CLI::App& command, std::int64_t& seq, const std::string& what) {
  return command
      .add_option("--seq-length", seq,
                  what + (what.empty() ? "Tokens" : "tokens") + " of a sample; otherwise what the name or the file says")
      ->check(at_least_one<std::int64_t>());
}

}  // namespace pando::cli
