#include "search/fit/fit.h"

#include "base/error.h"
#include "search/shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace pando::search {

namespace {

constexpr double kLeastPace = 0.05, kMostPace = 3, kMostOpSeconds = 1e-3;
constexpr int kSteps = 25;
// Machines are measured or assumed at what well-made software reaches: what is more than this beyond it is said.
constexpr double kQuickestPace = 1.25;

// The constants that are looked for.
struct Constants {
  double log_pace = 0, op_seconds = 0;
  bool waits = false;
};

class Fitter {
 public:
  Fitter(const std::vector<TimedStep>& rows, const simulate::Cluster& machine, const Stack& from)
      : rows_(rows), machine_(machine), from_(from) {}

  Stack stack(const Constants& k) const {
    Stack s = from_;
    s.pace = std::exp(k.log_pace);
    std::erase_if(s.op_seconds, [&](const auto& o) { return o.first == machine_.name; });
    s.op_seconds.emplace_back(machine_.name, k.op_seconds);
    s.waits = k.waits;
    return s;
  }

  // What a row takes under a stack.
  std::vector<double> seconds(const Stack& s) const {
    const simulate::Cluster c = with_stack(machine_, s);
    const MeasuredShapes* shapes = measured_shapes_of(c);
    std::vector<double> all;
    for (const TimedStep& r : rows_) all.push_back(estimate({r.model, c, r.batch, nullptr, shapes}, r.strategy).seconds);
    return all;
  }

  // Of all rows but `without` (their number: of all).
  Constants best(std::size_t without, const Constants& begin, bool pace_alone) const {
    Constants hides = descend(without, {begin.log_pace, begin.op_seconds, false}, pace_alone);
    if (!any_data_parallel()) return hides;
    const Constants waits = descend(without, {begin.log_pace, begin.op_seconds, true}, pace_alone);
    return sum(errors(waits), without) < 0.98 * sum(errors(hides), without) ? waits : hides;
  }

  Constants start() const {
    double op = machine_.launch;
    for (const auto& [name, seconds] : from_.op_seconds) op = name == machine_.name ? std::max(op, seconds) : op;
    return {std::log(from_.pace), op, from_.waits};
  }

 private:
  bool any_data_parallel() const {
    return std::ranges::any_of(rows_, [](const TimedStep& r) { return replicas_of(r.strategy) > 1; });
  }

  // log(predicted / measured) by row.
  std::vector<double> errors(const Constants& k) const {
    std::vector<double> e = seconds(stack(k));
    for (std::size_t i = 0; i < e.size(); ++i) e[i] = std::log(e[i] / rows_[i].seconds);
    return e;
  }

  static double sum(const std::vector<double>& e, std::size_t without) {
    double s = 0;
    for (std::size_t i = 0; i < e.size(); ++i) s += i == without ? 0 : e[i] * e[i];
    return s;
  }

  // Levenberg-Marquardt with differences.
  Constants descend(std::size_t without, Constants k, bool pace_alone) const {
    constexpr double kPaceStep = 0.01, kOpStep = 1e-6;
    double damping = 1e-3;
    std::vector<double> e = errors(k);
    for (int step = 0; step < kSteps; ++step) {
      Constants p = k, o = k;
      p.log_pace += kPaceStep, o.op_seconds += kOpStep;
      const std::vector<double> by_pace = errors(p), by_op = pace_alone ? e : errors(o);
      double a = 0, b = 0, c = 0, u = 0, v = 0;
      for (std::size_t i = 0; i < e.size(); ++i) {
        if (i == without) continue;
        const double x = (by_pace[i] - e[i]) / kPaceStep, y = (by_op[i] - e[i]) / kOpStep;
        a += x * x, b += x * y, c += y * y, u += x * e[i], v += y * e[i];
      }
      bool moved = false;
      for (int tries = 0; tries < 6 && !moved; ++tries, damping *= 10) {
        const double A = a * (1 + damping) + 1e-12, C = c * (1 + damping) + 1e-6, det = A * C - b * b;
        if (det <= 0) continue;
        Constants next = k;
        next.log_pace = std::clamp(k.log_pace - (C * u - b * v) / det, std::log(kLeastPace), std::log(kMostPace));
        if (!pace_alone) next.op_seconds = std::clamp(k.op_seconds - (A * v - b * u) / det, machine_.launch, kMostOpSeconds);
        const std::vector<double> tried = errors(next);
        if (sum(tried, without) >= sum(e, without)) continue;
        moved = sum(e, without) - sum(tried, without) > 1e-9;
        k = next, e = tried;
        damping *= 1e-2;
        break;
      }
      if (!moved) break;
    }
    return k;
  }

  const std::vector<TimedStep>& rows_;
  const simulate::Cluster& machine_;
  const Stack& from_;
};

double mean(const std::vector<FittedRow>& rows, double FittedRow::* predicted) {
  double sum = 0;
  for (const FittedRow& r : rows) sum += std::abs(r.*predicted / r.measured - 1);
  return rows.empty() ? 0 : sum / static_cast<double>(rows.size());
}

}  // namespace

double Fit::before() const { return mean(rows, &FittedRow::before); }
double Fit::fitted() const { return mean(rows, &FittedRow::fitted); }
double Fit::left_out() const { return mean(rows, &FittedRow::left_out); }

Fit fit_stack(const std::vector<TimedStep>& rows, const simulate::Cluster& machine, const Stack& from) {
  if (rows.empty()) fail(ErrorKind::poplar_error, "fit-rows", "there is no row to fit to");
  const Fitter fitter(rows, machine, from);
  Fit fit;
  fit.pace_alone = rows.size() < 3;
  const Constants all = fitter.best(rows.size(), fitter.start(), fit.pace_alone);
  fit.stack = fitter.stack(all);
  const std::vector<double> before = fitter.seconds(from), fitted = fitter.seconds(fit.stack);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    FittedRow r{rows[i].what, rows[i].seconds, before[i], fitted[i], 0};
    if (rows.size() > 1) r.left_out = fitter.seconds(fitter.stack(fitter.best(i, all, rows.size() < 4)))[i];
    fit.rows.push_back(std::move(r));
  }
  fit.stack.source = fmt::format("{} fitted to {} timed steps on {}; as {} otherwise",
                                 fit.pace_alone ? "pace" : "pace, seconds of an op and waiting", rows.size(), machine.name, from.name);
  return fit;
}

std::string to_text(const Fit& f, const simulate::Cluster& machine) {
  const bool alone = f.rows.size() == 1;
  std::string text = fmt::format("{:>12} {:>9} {:>9} {:>9}  row\n", "measured (s)", "before", "fitted", "left out");
  for (const FittedRow& r : f.rows) {
    const auto percent = [&](double predicted) { return fmt::format("{:+.1f} %", 100 * (predicted / r.measured - 1)); };
    text += fmt::format("{:12.6g} {:>9} {:>9} {:>9}  {}\n", r.measured, percent(r.before), percent(r.fitted),
                        alone ? "" : percent(r.left_out), r.what);
  }
  text += fmt::format("mean error: {:.2f} % before, {:.2f} % fitted{}\n", 100 * f.before(), 100 * f.fitted(),
                      alone ? "" : fmt::format(", {:.2f} % of rows that were left out in turn", 100 * f.left_out()));
  double op = machine.launch;
  for (const auto& [name, seconds] : f.stack.op_seconds) op = name == machine.name ? seconds : op;
  text +=
      fmt::format("pace {:.4g} (products and memory, of what the machine reaches), {:.3g} us an op{}, transfers of data parallelism {}\n",
                  f.stack.pace, 1e6 * op, f.pace_alone ? " (not fitted: it needs three rows)" : "", f.stack.waits ? "wait" : "hide");
  if (f.stack.pace > kQuickestPace)
    text += fmt::format("a pace of {:.4g} is more than the machine reaches: are model, samples, devices and seconds of the rows right?\n",
                        f.stack.pace);
  if (!alone && f.left_out() > f.before())
    text += "rows that were left out are further off than before: these rows agree on no constants, so predict without them\n";
  return text;
}

}  // namespace pando::search
