#include <popnn/CTCLoss.hpp>
#include <poputil/OptionParsing.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

#include "base/json_depth.h"
#include "poplibs/popnn/ctc/ctc_plan.h"
#include "poplibs/poputil/reject.h"

namespace popnn::ctc {

using namespace poplar;

namespace {

constexpr std::size_t kStatesOfAPart = 8;
// Floats of a state at one time: the class's probability, the sums from the beginning and from the end.
constexpr std::size_t kBytesOfAState = 3 * sizeof(float);

void check_type(const Type& type, const char* name) {
  if (type != FLOAT && type != HALF)
    poputil::reject("ctc-type", "popnn::ctc::plan: {} is {}, expected float or half", name, type.toString());
}

using Json = nlohmann::json;

// {"parallel": {"batch": 4, "time": 10, "label": 3}}
void read_constraints(const std::string& text, PlanLimits& limits) {
  if (text.empty()) return;
  try {
    if (pando::json_nests_too_deep(text)) poputil::reject_option("constraints-depth", "planConstraints: JSON that nests too deep");
    const Json json = Json::parse(text);
    for (const auto& [level, values] : json.items()) {
      if (level != "parallel") poputil::reject("ctc-constraint", "planConstraints: '{}'; expected 'parallel'", level);
      for (const auto& [name, value] : values.items()) {
        if (name == "lastBlankOnSeparateTile") continue;  // of the original's parts: here the last blank is no other state
        std::optional<std::size_t>* const to = name == "batch"   ? &limits.batch
                                               : name == "time"  ? &limits.pieces
                                               : name == "label" ? &limits.parts
                                                                 : nullptr;
        if (!to) poputil::reject("ctc-constraint", "planConstraints: '{}' in 'parallel'; expected 'batch', 'time' or 'label'", name);
        *to = value.get<std::size_t>();
      }
    }
  } catch (const Json::exception& e) { poputil::reject_option("constraints", "planConstraints: {}", e.what()); }
}

PlanLimits parse(const OptionFlags& flags) {
  PlanLimits limits;
  Type partials = FLOAT;
  std::string constraints;
  const poplibs::OptionSpec spec{{"availableMemoryProportion", poplibs::OptionHandler::createWithDouble(limits.memory, 0.0)},
                                 {"partialsType", poplibs::OptionHandler::createWithEnum(partials, {{"float", FLOAT}, {"half", HALF}})},
                                 {"planConstraints", poplibs::OptionHandler::createWithString(constraints)}};
  for (const auto& entry : flags) spec.parse(entry.first, entry.second);
  read_constraints(constraints, limits);
  return limits;
}

// The constraint, if there is one, or else what is usual; between 1 and `most`.
std::size_t chosen(const std::optional<std::size_t>& constraint, std::size_t usual, std::size_t most, const char* what) {
  if (!constraint) return std::clamp<std::size_t>(usual, 1, most);
  if (*constraint == 0 || *constraint > most)
    poputil::reject("ctc-constraint", "popnn::ctc::plan: {} {}; there can be 1 to {}", *constraint, what, most);
  return *constraint;
}

}  // namespace

Plan::Impl::Impl(const Graph& graph, const Type& in_type, const Type& out_type, unsigned batch_size, unsigned most_time,
                 unsigned most_labels, unsigned n_classes, const PlanLimits& limits)
    : in(in_type), out(out_type), batch(batch_size), time(most_time), labels(most_labels), classes(n_classes) {
  const Target& target = graph.getTarget();
  const std::size_t tiles = target.getNumTiles();
  at_once_ = chosen(limits.batch, batch, std::min(batch, tiles), "sequences side by side");
  tiles_each_ = tiles / at_once_;
  // A state needs its two neighbours on either side: parts have two states at least.
  const std::size_t most_parts = std::clamp<std::size_t>(states() / 2, 1, kWorkers * tiles_each_);
  const double bytes = static_cast<double>(kBytesOfAState * time * states() * ((batch + at_once_ - 1) / at_once_)),
               of_worker = limits.memory * static_cast<double>(target.getBytesPerTile()) / kWorkers;
  if (bytes > of_worker * static_cast<double>(most_parts))
    poputil::reject("ctc-memory",
                    "popnn::ctc::plan: {} bytes of sums do not fit into {} of the memory of {} tiles for each of {} sequences", bytes,
                    limits.memory, tiles_each_, at_once_);
  const auto by_memory = static_cast<std::size_t>(std::ceil(bytes / of_worker));
  parts_ = chosen(limits.parts, std::max((states() + kStatesOfAPart - 1) / kStatesOfAPart, by_memory), most_parts, "parts of labels");
  pieces_ = chosen(limits.pieces, kWorkers * tiles_each_, std::min(time, kWorkers * tiles_each_), "pieces of time");
}

Plan::Impl::Impl(const Graph& graph, const Type& in_type, unsigned batch_size, unsigned most_time, unsigned n_classes, unsigned n_beams)
    : in(in_type), out(in_type), batch(batch_size), time(most_time), labels(0), classes(n_classes), beams(n_beams), parts_(1), pieces_(1) {
  at_once_ = std::min<std::size_t>(batch, graph.getTarget().getNumTiles());
  tiles_each_ = graph.getTarget().getNumTiles() / at_once_;
}

const Plan::Impl& loss_plan(const Plan& plan) {
  const Plan::Impl& p = plan.getImpl();
  if (p.beams != 0) poputil::reject("ctc-plan-kind", "popnn::ctc: this plan is one of a decoder (popnn::ctc_infer)");
  return p;
}
const Plan::Impl& decoder_plan(const Plan& plan) {
  const Plan::Impl& p = plan.getImpl();
  if (p.beams == 0) poputil::reject("ctc-plan-kind", "popnn::ctc_infer: this plan is one of a loss (popnn::ctc)");
  return p;
}

Plan::Plan() = default;
Plan::~Plan() = default;
Plan::Plan(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Plan::Plan(const Plan& other) : impl_(other.impl_ ? std::make_unique<Impl>(*other.impl_) : nullptr) {}
Plan::Plan(Plan&&) = default;
Plan& Plan::operator=(const Plan& other) {
  impl_ = other.impl_ ? std::make_unique<Impl>(*other.impl_) : nullptr;
  return *this;
}
Plan& Plan::operator=(Plan&&) = default;

Plan::Impl& Plan::getImpl() const {
  if (!impl_) poputil::reject("ctc-no-plan", "popnn::ctc: this plan is default-constructed");
  return *impl_;
}

bool operator==(const Plan& a, const Plan& b) noexcept {
  return a.impl_ && b.impl_ ? a.impl_->key() == b.impl_->key() : !a.impl_ && !b.impl_;
}
bool operator!=(const Plan& a, const Plan& b) noexcept { return !(a == b); }
bool operator<(const Plan& a, const Plan& b) noexcept { return a.impl_ && b.impl_ ? a.impl_->key() < b.impl_->key() : !a.impl_ && b.impl_; }

std::ostream& operator<<(std::ostream& out, const Plan& plan) {
  if (!plan.impl_) return out << "no plan";
  const Plan::Impl& p = *plan.impl_;
  if (p.beams != 0)
    return out << "CTC decoder of " << p.batch << " sequences of up to " << p.time << " steps of " << p.classes << " classes: " << p.beams
               << " beams";
  return out << "CTC of " << p.batch << " sequences of up to " << p.time << " steps and " << p.labels << " labels of " << p.classes
             << " classes: " << p.pieces() << " pieces of time, " << p.parts() << " parts of " << p.states() << " states";
}

Plan plan(const Graph& graph, const Type& inType, const Type& outType, unsigned batchSize, unsigned maxTime, unsigned maxLabelLength,
          unsigned numClasses, const OptionFlags& options) {
  check_type(inType, "inType");
  check_type(outType, "outType");
  if (batchSize == 0 || maxTime == 0 || numClasses == 0)
    poputil::reject("ctc-size", "popnn::ctc::plan: batchSize {}, maxTime {}, numClasses {}: expected at least 1 of each", batchSize,
                    maxTime, numClasses);
  return Plan(std::make_unique<Plan::Impl>(graph, inType, outType, batchSize, maxTime, maxLabelLength, numClasses, parse(options)));
}

}  // namespace popnn::ctc

namespace poputil {

template <>
poplar::ProfileValue toProfileValue(const popnn::ctc::Plan& p) {
  std::ostringstream text;
  text << p;
  return poplar::ProfileValue(text.str());
}

}  // namespace poputil
