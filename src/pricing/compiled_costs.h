// What ops cost by what they are compiled to: each distinct stretch of a program (windows.h) is compiled once for the machine and run, on
// the cycle model or on this host by its clock, and its steps say what each op takes. Ops that no window can hold are priced by another
// model.
#pragma once

#include "base/files/store.h"
#include "pricing/windows.h"
#include "simulate/costs/cost_model.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace pando::pricing {

// Compiles and runs a window.
class WindowRunner {
 public:
  virtual ~WindowRunner() = default;
  // The machine and the build: what makes equal texts equal prices. One line.
  virtual std::string key() const = 0;
  // Of each op of the window, in ticks. Throws what compiling throws.
  virtual std::vector<std::uint64_t> run(Window window) = 0;
  virtual double ticks_per_second() const = 0;
};

// By the cycle model: IPUs of so many tiles (0: the machine's). Or by this host's clock.
std::unique_ptr<WindowRunner> ipu_runner(const std::string& machine, std::int64_t tiles_per_ipu);
std::unique_ptr<WindowRunner> host_runner();
// Of the first where `machine` names IPUs ("ipu2", "ipu2:64"), of the second where `cluster` is this host, as calibrate_host() makes it.
// Rejects (poplar_error) others.
std::unique_ptr<WindowRunner> runner_of(const std::string& machine, const simulate::Cluster* cluster);

class CompiledCostModel : public simulate::CostModel {
 public:
  // `otherwise` must outlive it. Prices are kept in `store`.
  CompiledCostModel(const simulate::CostModel& otherwise, std::unique_ptr<WindowRunner> runner,
                    Store store = Store::of_user("prices", "prices of ops are"));
  ~CompiledCostModel() override;
  // Of an op that nothing is around: the other model's.
  double seconds(const ir::Module& module, ir::OpId op) const override { return otherwise_.seconds(module, op); }
  // Compiles what is not known.
  std::unique_ptr<simulate::ModuleCosts> of_module(const ir::Module& module) const override;
  std::string label(const ir::Module& module, ir::OpId op) const override { return otherwise_.label(module, op); }
  // Each device has one stream of instructions.
  bool overlaps() const override { return false; }
  const simulate::Cluster* cluster() const override { return otherwise_.cluster(); }

  // How many ops were priced by what was compiled, of how many distinct pieces (and how many of these were known from earlier runs); and
  // how many by formula, for each reason.
  std::string report() const override;

 private:
  struct Prices;
  const simulate::CostModel& otherwise_;
  std::unique_ptr<Prices> prices_;
};

}  // namespace pando::pricing
