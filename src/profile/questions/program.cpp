#include <algorithm>
#include <nlohmann/json.hpp>

#include "profile/facts.h"
#include "profile/question.h"

namespace pando::profile {

namespace {

Json answer_program(const Report& report, const Query& query) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < std::min(report.program.size(), query.top); ++i) {
    const ProgramStep s = report.program[i];  // others are looked at meanwhile
    std::size_t depth = 0;
    for (std::uint32_t at = s.inside; at > 0; at = report.program[at - 1].inside) ++depth;
    rows.push_back({{"order", s.order},
                    {"kind", s.kind},
                    {"name", std::string(2 * depth, ' ') + s.name},
                    {"calls", s.calls > 0 ? report.program[s.calls - 1].name : ""},
                    {"source", sources_text(report, sources_of(s))}});
  }
  return cut_rows({{"steps", report.program.size()}, {"rows", std::move(rows)}}, report.program.size());
}

}  // namespace

extern const QuestionRow question_program;
constinit const QuestionRow question_program = {
    "program", "", "the lowered program in order: steps, loops, branches, functions and their calls", answer_program};

}  // namespace pando::profile
