// The few constants of a stack, fitted to steps that a user timed.
#pragma once

#include "search/fit/timed_steps.h"
#include "search/stack.h"

#include <string>
#include <vector>

namespace pando::search {

struct FittedRow {
  std::string what;
  // Seconds: measured; by the stack as it was; as fitted; fitted to all rows but this one (0: there is no other).
  double measured = 0, before = 0, fitted = 0, left_out = 0;
};

struct Fit {
  // What products and memory reach, seconds of an op beside its work, and whether transfers of data parallelism hide: the rest is the
  // stack's that it began with.
  Stack stack;
  std::vector<FittedRow> rows;
  // Two rows or fewer say nothing of two constants: then the pace alone is fitted.
  bool pace_alone = false;
  // Means of the sizes of errors.
  double before() const;
  double fitted() const;
  double left_out() const;
};

// Least squares of the logarithms of predicted over measured seconds; `machine` is without a stack. Rejects (poplar_error, id fit-rows) no
// rows.
Fit fit_stack(const std::vector<TimedStep>& rows, const simulate::Cluster& machine, const Stack& from);

// A table of the rows, and the constants.
std::string to_text(const Fit& fit, const simulate::Cluster& machine);

}  // namespace pando::search
