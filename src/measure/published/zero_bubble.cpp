// Zero Bubble Pipeline Parallelism: published times of passes, measured throughput. The schedules are replayed as tables.
#include "base/error.h"
#include "measure/published/sets.h"
#include "schedule/generate.h"
#include "search/stack.h"
#include "simulate/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <map>

namespace pando::measure {

using namespace search;

namespace {

// What mixed-precision Adam with a clipped norm reads and writes for each parameter, at four fifths of an A100's bandwidth.
constexpr double kOptimizerSecondsPerParameter = 42 / (0.8 * 2.039e12);

// Of a microbatch, beside its passes.
double microbatch_seconds() { return with_stack(simulate::cluster_named("a100-80"), stack_named("megatron-2023")).microbatch_seconds; }

struct Passes {
  double forward = 0, input = 0, weight = 0, transfer = 0;
  std::int64_t ranks = 1, microbatches = 1, layers = 1;
};

// The table by its published name. A rank has layers / ranks layers, where embedding and head count as one each.
schedule::Table table_of(const std::string& name, const Passes& p, int& chunks) {
  const auto ranks = static_cast<std::int32_t>(p.ranks), m = static_cast<std::int32_t>(p.microbatches);
  chunks = 1;
  if (name == "1F1B") return schedule::generate("1F1B", {ranks, m, 1});
  if (name == "1F1B-I") {
    // Chunks of one layer.
    chunks = static_cast<int>((p.layers + 2) / p.ranks);
    return schedule::generate("Interleaved1F1B", {ranks, m, chunks});
  }
  if (name == "ZB-1p" || name == "ZB-H1") return schedule::generate("ZB-H1", {ranks, m, 1});
  if (name == "ZB-2p" || name == "ZB-2p*" || name == "ZB-H2") return schedule::generate("ZB-H2", {ranks, m, 1});
  if (name == "ZB-V" || name == "ZBV") {
    chunks = 2;
    return schedule::generate("ZBV", {ranks, m, 2});
  }
  fail(ErrorKind::poplar_error, "unknown-schedule", "no schedule '{}' in the tables of zero bubble", name);
}

// What a step takes beside its passes.
double beside_seconds(const Passes& p, double parameters) {
  return static_cast<double>(p.microbatches) * microbatch_seconds() +
         parameters / static_cast<double>(p.ranks) * kOptimizerSecondsPerParameter;
}

// Of a schedule that is known by its bubble rate alone.
double published_seconds(const Passes& p, double bubble) {
  return static_cast<double>(p.microbatches) * ((p.forward + p.input + p.weight) / (1 - bubble) + 2 * p.transfer);
}

// What the same schedule takes until all ranks have ended: the last one begins behind the forward passes and messages of the others, and
// has its own work to do.
double published_seconds_of_all(const Passes& p, double bubble) {
  const double begins = static_cast<double>(p.ranks - 1) * (p.forward + p.transfer);
  return std::max(published_seconds(p, bubble), begins + published_seconds(p, 0));
}

// `bubble`: the rate of the authors' schedule, where it is not one of ours (ZB-2p is found by their integer programme); 0: replay ours.
double step_seconds(const std::string& name, const Passes& p, double parameters, double bubble) {
  int chunks = 1;
  const double beside = beside_seconds(p, parameters);
  if (bubble > 0) return published_seconds(p, bubble) + beside;
  const schedule::Table table = table_of(name, p, chunks);
  schedule::Costs costs;
  // A rank waits for its own transfers: each pass of each chunk ends with one.
  costs.forward = {p.forward / chunks + p.transfer};
  costs.input_gradient = {p.input / chunks + p.transfer};
  costs.weight_gradient = {p.weight / chunks};
  const schedule::Timing t = schedule::replay(table, costs);
  return t.span + beside;
}

double parameters_of(const simulate::Csv& csv, std::size_t row) {
  const double h = csv.number(row, "hidden");
  return 12 * csv.number(row, "layers") * h * h + 51200 * h;
}

void rank_pairs(PublishedSet& set, const std::map<std::string, std::vector<std::size_t>>& by_configuration) {
  int right = 0;
  for (const auto& [name, rows] : by_configuration) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (std::size_t j = i + 1; j < rows.size(); ++j) {
        const PublishedRow &a = set.rows[rows[i]], &b = set.rows[rows[j]];
        if (a.measured == b.measured) continue;
        ++set.pairs;
        right += (a.measured < b.measured) == (a.predicted < b.predicted);
      }
    }
  }
  if (set.pairs > 0) set.pairs_right = static_cast<double>(right) / set.pairs;
}

Passes passes_of(const simulate::Csv& csv, std::size_t i, bool half_chunks) {
  const std::string half = half_chunks ? "_half_ms" : "_ms";
  const double b = csv.number(i, "microbatch_size");
  // The times of a row of half chunks are those of two samples.
  const double scale = half_chunks ? b / 2 * 2 * 1e-3 : 1e-3;
  return {csv.number(i, "T_F" + half) * scale,
          csv.number(i, "T_B" + half) * scale,
          csv.number(i, "T_W" + half) * scale,
          csv.number(i, "T_comm_ms") * 1e-3 * (half_chunks ? b / 2 : 1),
          csv.count(i, "p"),
          csv.count(i, "m"),
          csv.count(i, "layers")};
}

// The first row of the published times that has what another table's row has.
std::size_t row_of_times(const simulate::Csv& times, const simulate::Csv& csv, std::size_t row,
                         std::initializer_list<const char*> columns) {
  for (std::size_t i = 0; i < times.rows(); ++i) {
    const auto equal = [&](const char* column) { return times.text(i, column) == csv.text(row, column); };
    if (std::all_of(columns.begin(), columns.end(), equal)) return i;
  }
  fail(ErrorKind::poplar_error, "validation-row", "row {} of a table of zero bubble has no published times of passes", row + 1);
}

// Of row `i` of a table, whose step is predicted to take `step` seconds.
PublishedRow row_of(const PublishedSet& set, const simulate::Csv& csv, std::size_t i, const Passes& p, double samples, double step,
                    const char* measured = "samples_per_gpu_per_s_measured", const char* more = "") {
  PublishedRow r;
  r.set = set.name;
  r.what = fmt::format("{} p={} b={:g} m={} {}{}", csv.text(i, "model"), p.ranks, samples, p.microbatches, csv.text(i, "schedule"), more);
  r.unit = "samples/s";
  r.measured = csv.number(i, measured);
  r.predicted = static_cast<double>(p.microbatches) * samples / static_cast<double>(p.ranks) / step;
  return r;
}

}  // namespace

PublishedSet optimizer_sync_set(const simulate::Csv& csv, const simulate::Csv& times) {
  PublishedSet set;
  set.name = "zb_optimizer_sync";
  set.note =
      "samples a second and device, of a step whose updates wait for the norm of all gradients, and of one that is validated behind (rows "
      "that zb_iclr24 has, too). A rank that waits does so until the last one has ended, which began behind the forward passes of the "
      "others; and for an all-reduce of one number. No constant was chosen with the rows that wait.";
  std::map<std::string, std::vector<std::size_t>> by_configuration;
  for (std::size_t row = 0; row < csv.rows(); ++row) {
    const std::size_t i = row_of_times(times, csv, row, {"model", "p", "m", "schedule"});
    const Passes p = passes_of(times, i, false);
    const double b = times.number(i, "microbatch_size"), bubble = times.number(i, "bubble_rate_computed");
    const simulate::Cluster& cluster = simulate::cluster_named("selene");
    const simulate::Group ranks = simulate::group_of(cluster, 0, p.ranks, 1);
    const double norm = simulate::transfer_time(cluster, simulate::Collective::all_reduce, 4, ranks).seconds;
    for (const bool waits : {false, true}) {
      const double step =
          (waits ? published_seconds_of_all(p, bubble) + norm : published_seconds(p, bubble)) + beside_seconds(p, parameters_of(times, i));
      PublishedRow r =
          row_of(set, csv, row, p, b, step, waits ? "samples_per_gpu_per_s_allreduce_sync" : "samples_per_gpu_per_s_post_validation",
                 waits ? ", waits for the norm" : ", validated behind");
      r.calibrates = !waits;
      by_configuration[csv.text(row, "model")].push_back(set.rows.size());
      set.rows.push_back(std::move(r));
    }
  }
  rank_pairs(set, by_configuration);
  return set;
}

PublishedSet small_steps_set(const simulate::Csv& csv, const simulate::Csv& times) {
  PublishedSet set;
  set.name = "zb_small_m";
  set.note =
      "samples a second and device, of steps with no more microbatches than ranks. Replayed as zb_iclr24 is, with the passes' times of "
      "more "
      "microbatches (none are published for so few); ZB-2p by our schedule under its memory. No constant was chosen with these rows.";
  std::map<std::string, std::vector<std::size_t>> by_configuration;
  for (std::size_t row = 0; row < csv.rows(); ++row) {
    const std::size_t i = row_of_times(times, csv, row, {"model", "p", "microbatch_size"});
    Passes p = passes_of(times, i, false);
    p.microbatches = csv.count(row, "m");
    const double b = csv.number(row, "microbatch_size"), step = step_seconds(csv.text(row, "schedule"), p, parameters_of(times, i), 0);
    by_configuration[fmt::format("{} {}", csv.text(row, "model"), p.microbatches)].push_back(set.rows.size());
    set.rows.push_back(row_of(set, csv, row, p, b, step));
  }
  rank_pairs(set, by_configuration);
  return set;
}

PublishedSet zero_bubble_set(const std::string& name, const simulate::Csv& csv, bool half_chunks) {
  PublishedSet set;
  set.name = name;
  set.note =
      "samples a second and device. Replayed schedules; ZB-2p, whose table only its authors' solver has, by its published bubble "
      "rate. A rank waits for its own "
      "transfers; 2.4 ms for each microbatch (chosen with the rows of zb_iclr24, zbv_arxiv's in sight); an optimizer step by its "
      "bytes. No factor for any schedule.";
  std::map<std::string, std::vector<std::size_t>> by_configuration;
  for (std::size_t i = 0; i < csv.rows(); ++i) {
    if (csv.empty(i, "samples_per_gpu_per_s_measured")) {
      set.left_out.push_back(fmt::format("{} p={} {}: not measured", csv.text(i, "model"), csv.text(i, "p"), csv.text(i, "schedule")));
      continue;
    }
    const double b = csv.number(i, "microbatch_size");
    const Passes p = passes_of(csv, i, half_chunks);
    const std::string& schedule = csv.text(i, "schedule");
    const bool published = schedule == "ZB-2p" && !csv.empty(i, "bubble_rate_computed");
    const double step = step_seconds(schedule, p, parameters_of(csv, i), published ? csv.number(i, "bubble_rate_computed") : 0);
    PublishedRow r = row_of(set, csv, i, p, b, step);
    r.calibrates = !half_chunks && (csv.text(i, "model") == "1.5B" || csv.text(i, "model") == "14.6B");
    // ZB-2p* halves the microbatch: the same samples.
    by_configuration[fmt::format("{} {} {:g}", csv.text(i, "model"), p.ranks, static_cast<double>(p.microbatches) * b)].push_back(
        set.rows.size());
    set.rows.push_back(std::move(r));
  }
  rank_pairs(set, by_configuration);
  return set;
}

}  // namespace pando::measure
