#include <popnn/CTCLoss.hpp>
#include <poputil/OptionParsing.hpp>

#include <algorithm>

#include "poplibs/popnn/ctc/ctc_plan.h"
#include "poplibs/poputil/refuse.h"

namespace popnn::ctc {

using namespace poplar;

namespace {

constexpr std::size_t kStatesOfAPart = 8;
// Floats of a state at one time: the class's probability, the sums from the beginning and from the end.
constexpr std::size_t kBytesOfAState = 3 * sizeof(float);

void check_type(const Type& type, const char* name) {
  if (type != FLOAT && type != HALF)
    poputil::refuse("ctc-type", "popnn::ctc::plan: {} is {}, expected float or half", name, type.toString());
}

struct PlanOptions {
  double memory = 0.6;
  Type partials = FLOAT;
  std::string constraints;
};

PlanOptions parse(const OptionFlags& flags) {
  PlanOptions o;
  const poplibs::OptionSpec spec{{"availableMemoryProportion", poplibs::OptionHandler::createWithDouble(o.memory)},
                                 {"partialsType", poplibs::OptionHandler::createWithEnum(o.partials, {{"float", FLOAT}, {"half", HALF}})},
                                 {"planConstraints", poplibs::OptionHandler::createWithString(o.constraints)}};
  for (const auto& entry : flags) spec.parse(entry.first, entry.second);
  return o;
}

}  // namespace

Plan::Impl::Impl(const Graph& graph, const Type& in_type, const Type& out_type, unsigned batch_size, unsigned most_time,
                 unsigned most_labels, unsigned n_classes, double memory)
    : in(in_type), out(out_type), batch(batch_size), time(most_time), labels(most_labels), classes(n_classes) {
  const Target& target = graph.getTarget();
  tiles_ = target.getNumTiles();
  tiles_each_ = std::max<std::size_t>(1, tiles_ / batch);
  // A state needs its two neighbours on either side: parts have two states at least.
  const std::size_t most_parts = std::clamp<std::size_t>(states() / 2, 1, kWorkers * tiles_each_);
  const double of_tile = std::max(1.0, memory * static_cast<double>(target.getBytesPerTile()));
  const double bytes = static_cast<double>(kBytesOfAState * time * states());
  const std::size_t by_memory = static_cast<std::size_t>(bytes * kWorkers / of_tile) + 1;
  parts_ = std::min(most_parts, std::max((states() + kStatesOfAPart - 1) / kStatesOfAPart, by_memory));
  pieces_ = std::min(time, kWorkers * tiles_each_);
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
  if (!impl_) poputil::refuse("ctc-no-plan", "popnn::ctc: this plan is default-constructed");
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
  return out << "CTC of " << p.batch << " sequences of up to " << p.time << " steps and " << p.labels << " labels of " << p.classes
             << " classes: " << p.pieces() << " pieces of time, " << p.parts() << " parts of " << p.states() << " states";
}

Plan plan(const Graph& graph, const Type& inType, const Type& outType, unsigned batchSize, unsigned maxTime, unsigned maxLabelLength,
          unsigned numClasses, const OptionFlags& options) {
  check_type(inType, "inType");
  check_type(outType, "outType");
  if (batchSize == 0 || maxTime == 0 || numClasses == 0)
    poputil::refuse("ctc-size", "popnn::ctc::plan: batchSize {}, maxTime {}, numClasses {}: expected at least 1 of each", batchSize,
                    maxTime, numClasses);
  return Plan(std::make_unique<Plan::Impl>(graph, inType, outType, batchSize, maxTime, maxLabelLength, numClasses, parse(options).memory));
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
