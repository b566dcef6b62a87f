#include "facade/engine/step_times.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/files/output_file.h"
#include "tile/step.h"

namespace pando::facade {

StepTimes::StepTimes(const tile::Program& program, const Library& library)
    : program_(program), library_(library), last_(program.replication * program.streams.size()) {
  for (unsigned r = 0; r < program.replication; ++r)
    for (const tile::Stream& s : program.streams) sums_.emplace_back(s.code.size());
}

void StepTimes::on_begin(unsigned program) {
  if (next_) next_->on_begin(program);
  begun_ = Clock::now();
  std::fill(last_.begin(), last_.end(), begun_);
}

void StepTimes::on_step(const tile::StepEvent& e) {
  const std::size_t stream = e.replica.index() * program_.streams.size() + e.stream.index();
  Sum& sum = sums_[stream][e.instruction];
  ++sum.times;
  sum.ns += nanoseconds(Clock::now() - last_[stream]);
  if (next_) next_->on_step(e);
  last_[stream] = Clock::now();
}

void StepTimes::on_end() {
  ++runs_;
  run_ns_ += nanoseconds(Clock::now() - begun_);
  if (next_) next_->on_end();
}

std::string StepTimes::text() const {
  using Json = nlohmann::ordered_json;
  Json steps = Json::array();
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    const tile::Stream& stream = program_.streams[i % program_.streams.size()];
    for (std::size_t k = 0; k < sums_[i].size(); ++k) {
      const Sum& sum = sums_[i][k];
      if (sum.times == 0) continue;
      const tile::Instruction& in = stream.code[k];
      const tile::StepRow& row = tile::row_of(in.op);
      std::set<std::string> codelets;
      if (row.work == tile::Work::compute)
        for (const tile::VertexGroup& g : program_.computes[in.a].groups) codelets.insert(library_[g.codelet].name);
      steps.push_back({{"replica", i / program_.streams.size()},
                       {"stream", stream.name},
                       {"order", in.order},
                       {"name", in.name.valid() ? program_.names[in.name.index()] : ""},
                       {"kind", row.kind},
                       {"codelets", codelets},
                       {"times", sum.times},
                       {"ns", sum.ns}});
    }
  }
  return Json{{"runs", runs_}, {"run_ns", run_ns_}, {"steps", std::move(steps)}}.dump(1) + "\n";
}

void StepTimes::write(const std::string& file) const {
  if (const std::string why = write_output_file(file, text()); !why.empty())
    fail(ErrorKind::file_load_error, "step-times-file", "cannot write the times of steps (pando.stepTimes) to '{}': {}", file, why);
}

}  // namespace pando::facade
