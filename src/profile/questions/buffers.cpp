#include <algorithm>
#include <nlohmann/json.hpp>

#include "profile/facts.h"
#include "profile/question.h"

namespace pando::profile {

namespace {

Json answer_buffers(const Report& report, const Query& query) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < std::min(report.buffers.size(), query.top); ++i) {
    const BufferCause& b = report.buffers[i];
    rows.push_back({{"bytes", b.bytes},
                    {"remote_bytes", b.remote_bytes},
                    {"tiles", b.tiles},
                    {"buffers", b.buffers},
                    {"pieces", b.pieces},
                    {"bytes_of_a_piece", b.pieces == 0 ? 0 : b.bytes / b.pieces},
                    {"field", b.codelet + "." + b.field},
                    {"variable", b.variable},
                    {"compute_set", report.compute_sets[b.compute_set].name}});
  }
  return cut_rows({{"rows", std::move(rows)}}, report.buffers.size());
}

}  // namespace

extern const QuestionRow question_buffers;
constinit const QuestionRow question_buffers = {"buffers", "", "why exchange buffers are there: codelet, field, variable, pieces",
                                                answer_buffers};

}  // namespace pando::profile
