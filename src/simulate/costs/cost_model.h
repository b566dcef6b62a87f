// What an op of a placed module costs. Each model gives seconds for one op on each of its devices; what a program makes of that is the
// clock's.
#pragma once

#include "ir/module.h"
#include "simulate/cluster.h"
#include "simulate/costs/reference_costs.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace pando::simulate {

// What the ops of one module cost, each where it stands.
class ModuleCosts {
 public:
  virtual ~ModuleCosts() = default;
  virtual double seconds(ir::OpId op) const = 0;
};

class CostModel {
 public:
  virtual ~CostModel() = default;
  // Of an op that carries no graph. Depends on the op's kind, attributes and operand types alone: flattening asks once for equal ones.
  virtual double seconds(const ir::Module& module, ir::OpId op) const = 0;
  // For models by which an op's neighbours count, too: flattening asks this one then, for every op. The module must outlive it. Null: none
  // do.
  virtual std::unique_ptr<ModuleCosts> of_module(const ir::Module& module) const {
    (void)module;
    return nullptr;
  }
  // Of a transfer, where its devices are in the network counts, and of other ops, on which device they run counts for nothing.
  virtual bool looks_at_the_network_alone() const { return false; }
  // Transfers run beside computing. False: a device does one after the other, in the order of the program.
  virtual bool overlaps() const { return true; }
  // No device takes less for an equal part of the op, of `parts`; 0: nothing is known.
  virtual double least_seconds(const ir::Module& module, ir::OpId op, double parts) const {
    (void)module, (void)op, (void)parts;
    return 0;
  }
  // What the op is called in tables and traces.
  virtual std::string label(const ir::Module& module, ir::OpId op) const;
  // Views lie in their operands' memory and take no time.
  virtual bool views_are_free() const { return true; }
  // The main graph's results stay in memory though somebody reads them.
  virtual bool keeps_outputs() const { return true; }
  // Where the prices come from, in lines; empty: nothing that the model's name does not say.
  virtual std::string report() const { return {}; }
  // The network, for what transfers cross.
  virtual const Cluster* cluster() const { return nullptr; }
};

// DistIR's, with its faults.
class ReferenceCostModel : public CostModel {
 public:
  explicit ReferenceCostModel(ReferenceMachine machine = {}) : costs_{std::move(machine)} {}
  double seconds(const ir::Module& module, ir::OpId op) const override;
  std::string label(const ir::Module& module, ir::OpId op) const override;
  bool views_are_free() const override { return false; }
  bool keeps_outputs() const override { return false; }

 private:
  ReferenceCosts costs_;
};

// Operations and bytes of the op's row on a cluster: a launch, then the longer of computing and reading and writing memory. Collectives:
// the quickest algorithm of the network.
class ClusterCostModel : public CostModel {
 public:
  explicit ClusterCostModel(Cluster cluster) : cluster_(std::move(cluster)) {}
  double seconds(const ir::Module& module, ir::OpId op) const override;
  double least_seconds(const ir::Module& module, ir::OpId op, double parts) const override;
  const Cluster* cluster() const override { return &cluster_; }
  bool looks_at_the_network_alone() const override { return true; }

 private:
  struct Work {
    double operations = 0, bytes = 0, peak = 1;
    bool product = false;
  };
  Work work_of(const ir::Module& module, ir::OpId op) const;
  double compute_seconds(const ir::Module& module, ir::OpId op) const;
  Cluster cluster_;
};

// Measured ops first, another model for the rest. One line for an op: `signature,seconds`; the signature is what `signature` gives.
class TableCostModel : public CostModel {
 public:
  // Rejects (poplar_error) lines that cannot be read.
  TableCostModel(const CostModel& otherwise, std::string_view csv, const std::string& file);
  double seconds(const ir::Module& module, ir::OpId op) const override;
  bool looks_at_the_network_alone() const override { return otherwise_.looks_at_the_network_alone(); }
  bool views_are_free() const override { return otherwise_.views_are_free(); }
  bool keeps_outputs() const override { return otherwise_.keeps_outputs(); }
  bool overlaps() const override { return otherwise_.overlaps(); }
  std::string report() const override { return otherwise_.report(); }
  const Cluster* cluster() const override { return otherwise_.cluster(); }
  std::unique_ptr<ModuleCosts> of_module(const ir::Module& module) const override;
  // `matmul float32(64, 32) float32(32, 8)`: name, then the operands without their places.
  static std::string signature(const ir::Module& module, ir::OpId op);
  std::optional<double> find(const ir::Module& module, ir::OpId op) const;
  std::size_t size() const { return seconds_.size(); }

 private:
  const CostModel& otherwise_;
  std::unordered_map<std::string, double> seconds_;
};

// Views lie where their operand lies: flattening makes no step of them.
bool is_free_view(const ir::OpRow& row);
// What takes nothing and does nothing beside its result: it is there when the program begins.
bool is_there(const ir::Module& module, ir::OpId op);
// Between a device and what lies off it.
bool is_far(const ir::OpRow& row);
// Which collective a row is, where it is one.
std::optional<Collective> collective_of(const ir::OpRow& row);
// All tensors of an op's operands, or results, with tuples taken apart.
std::vector<ir::TypeId> tensors_of(const ir::Module& module, std::span<const ir::ValueId> values);

}  // namespace pando::simulate
