// Questions that a report answers: for people, scripts and agents. One file of questions/ each; the build finds it, the command line, the
// docs and the tests loop over them.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "profile/report.h"

namespace pando::profile {

using Json = nlohmann::ordered_json;

struct Query {
  std::string argument;  // what follows "=", empty if nothing does
  std::size_t top = 10;  // most rows of a list
};

struct QuestionRow {
  std::string_view name;      // "worst_tiles"
  std::string_view argument;  // what may follow "=": "TILE", or empty
  std::string_view help;
  // An object: single facts, and "rows", a list of objects with the same members; with "more" if there are more (cut_rows).
  Json (*answer)(const Report& report, const Query& query);
};

std::span<const QuestionRow* const> questions();
// `answer` with "more", how many of `all` rows it leaves out; without it if it has them all.
Json cut_rows(Json answer, std::size_t all, const std::string& rows = "rows");
// "name" or "name=argument". Throws invalid_option for a question that there is not, and for an argument that means nothing.
Json ask(const Report& report, const std::string& query, std::size_t top);
// The answer as text, with what is left out below each table: facts, then the rows as a table of at most 140 columns.
std::string answer_text(const Json& answer);

// For questions: the argument as a number below `limit`, of which the report has so many. Throws invalid_option.
std::uint64_t argument_number(const Query& query, std::string_view what, std::uint64_t limit);

}  // namespace pando::profile
