#include "cli/machine_checks.h"

#include <fmt/format.h>

#include "cycles/validation.h"

namespace pando::cli {
namespace {

std::string line_of_check(const cycles::Validation& v) {
  const std::string measured = v.measured_low == v.measured_high ? fmt::format("{:.1f}", v.measured_low)
                                                                 : fmt::format("{:.0f} to {:.0f}", v.measured_low, v.measured_high);
  return fmt::format("{:<52} {:>12} {:>10.1f} {:>7.2f} % {:>8.0f} %{}\n", v.check, measured, v.predicted, 100 * v.error(),
                     100 * v.tolerance, v.is_met() ? "" : "  not met");
}

}  // namespace

MachineChecks check_machines() {
  MachineChecks out;
  const std::vector<cycles::Validation> all = cycles::all_validations();
  for (const bool fitted : {false, true}) {
    out.text +=
        fmt::format("{:<52} {:>12} {:>10} {:>9} {:>10}\n", fitted ? "fitted: constants were read from these" : "predicted, in cycles",
                    "published", "model", "off", "tolerance");
    for (const cycles::Validation& v : all) {
      if (v.fitted != fitted) continue;
      out.text += line_of_check(v);
      out.all_met = out.all_met && v.is_met();
    }
  }
  out.text += fmt::format("no published measurement checks: {}\n", cycles::kNotValidated);
  return out;
}

}  // namespace pando::cli
