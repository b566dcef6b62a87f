// Predictions beside runs, for many programs and strategies.
#pragma once

#include "simulate/cluster.h"
#include "simulate/costs/cost_model.h"
#include "transform/distribute/parallelise.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace pando::measure {

struct Pair {
  // "gpt 2 x 64, tensor=2"
  std::string what;
  std::int32_t devices = 1;
  double predicted = 0, measured = 0;
  // Why it could not be measured; empty: it was.
  std::string left_out;
};

// One network under one strategy.
struct Configuration {
  std::string what;
  transform::Program program;
  transform::Strategy strategy;
  std::int32_t devices() const { return strategy.data * strategy.tensor * strategy.pipeline * strategy.context * strategy.expert; }
};

// Steps of training of MLPs and small GPTs on 2 to 16 IPUs (29 of them), and on one and two ranks of a host (34).
std::vector<Configuration> ipu_configurations();
std::vector<Configuration> host_configurations();

struct Grid {
  // Measured; and those that were not.
  std::vector<Pair> pairs, left_out;
  // Of ranks, over all pairs (Spearman's).
  double rank_correlation() const;
  // Mean of |predicted / measured - 1|.
  double mean_error() const;
};

// Each is predicted on the cluster, then run. `costs`: of ops there; null: the cluster's own. What the IPUs' memory does not hold is left
// out, the others go on. `shown`: after each.
Grid compare_on_ipus(const std::vector<Configuration>& all, const simulate::Cluster& cluster, const std::string& machine,
                     std::int64_t tiles, const std::function<void(const Pair&)>& shown = {}, const simulate::CostModel* costs = nullptr);
// How this host runs a configuration.
enum class HostRun : std::uint8_t {
  sessions,  // one session, a thread for each device
  ranks,     // pando run, an MPI rank for each device; a single device is a process of its own
};
// `budget`: seconds for each.
Grid compare_on_host(const std::vector<Configuration>& all, const simulate::Cluster& host, double budget,
                     const std::function<void(const Pair&)>& shown = {}, HostRun how = HostRun::sessions,
                     const simulate::CostModel* costs = nullptr);

// This host: products, memory, messages (simulate/costs/calibrate.h), and, by small steps that are run, what an op and a message take
// beside their work; between ranks, the bytes of messages, too.
simulate::Cluster calibrate_runs(double seconds, HostRun how = HostRun::sessions);

std::string to_text(const Pair& p);
// How many were measured, how well they agree, how many were left out.
std::string summary(const Grid& grid);
// Predicted against measured, both logarithmic; a mark for each number of devices.
std::string scatter_svg(const Grid& grid, const std::string& title);

}  // namespace pando::measure
