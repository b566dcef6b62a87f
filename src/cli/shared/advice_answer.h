// What `pando report` says of advice: whole, with its evidence.
#pragma once

#include <cstddef>
#include <string>

#include "profile/question.h"

namespace pando::cli {

// The findings as the document `advice` of a report file has them, the first `top` of them: {"question", "rows", "more"}.
profile::Json advice_answer(const profile::Report& report, std::size_t top);
// The same for people: of each finding a line, below it what to do and the evidence.
std::string advice_text(const profile::Json& answer);

}  // namespace pando::cli
