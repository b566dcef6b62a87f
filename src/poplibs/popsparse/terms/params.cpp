#include <popsparse/FullyConnectedParams.hpp>
#include <popsparse/MatMulParams.hpp>
#include <popsparse/PlanningCache.hpp>
#include <popsparse/SparsityParams.hpp>

#include <cmath>
#include <initializer_list>
#include <memory>
#include <tuple>

#include "poplibs/popsparse/terms/blocks.h"
#include "poplibs/poputil/reject.h"

namespace popsparse {
namespace {

using poputil::reject;

void check_sizes(const char* function, std::initializer_list<std::size_t> sizes) {
  for (const std::size_t size : sizes)
    if (size == 0) reject("popsparse-size", "{}: a size is 0; sizes are at least 1", function);
}

double checked_ratio(const char* function, double ratio) {
  if (!(ratio > 0 && ratio <= 1))
    reject("popsparse-ratio", "{}: the ratio of stored elements is {}; it is above 0 and at most 1", function, ratio);
  return ratio;
}

double ratio_of(const char* function, const dynamic::SparsityParams& sparsity, std::size_t elements, std::size_t rows,
                std::size_t columns) {
  const std::size_t area = sparsity.blockDimensions[0] * sparsity.blockDimensions[1];
  if (area == 0 || elements % area != 0)
    reject("popsparse-elements", "{}: {} elements are no whole number of blocks of {}", function, elements, area);
  return checked_ratio(function, static_cast<double>(elements) / (static_cast<double>(rows) * static_cast<double>(columns)));
}

// Whole blocks; a ratio that came from a number of elements gives that number.
std::size_t elements_of(double ratio, const dynamic::SparsityParams& sparsity, std::size_t rows, std::size_t columns) {
  const std::size_t area = sparsity.blockDimensions[0] * sparsity.blockDimensions[1];
  const double blocks = ratio * static_cast<double>(rows) * static_cast<double>(columns) / static_cast<double>(area);
  return static_cast<std::size_t>(std::ceil(blocks * (1 - 1e-12))) * area;
}

}  // namespace

namespace dynamic {

std::ostream& operator<<(std::ostream& os, const SparsityType& type) { return os << (type == SparsityType::Element ? "Element" : "Block"); }
std::ostream& operator<<(std::ostream& os, const SparsityStructure&) { return os << "Unstructured"; }
bool operator<(const SparsityParams& a, const SparsityParams& b) {
  return std::tie(a.type, a.structure, a.blockDimensions) < std::tie(b.type, b.structure, b.blockDimensions);
}
bool operator==(const SparsityParams& a, const SparsityParams& b) {
  return std::tie(a.type, a.structure, a.blockDimensions) == std::tie(b.type, b.structure, b.blockDimensions);
}
bool operator!=(const SparsityParams& a, const SparsityParams& b) { return !(a == b); }
std::ostream& operator<<(std::ostream& os, const SparsityParams& p) {
  return os << "{" << p.type << ", " << p.structure << ", " << p.blockDimensions[0] << "x" << p.blockDimensions[1] << "}";
}

MatMulParams::MatMulParams(const SparsityParams& sparsity, double ratio, std::size_t groups_, std::size_t m_, std::size_t k_,
                           std::size_t n_)
    : sparsityParams(sparsity), nzRatio(ratio), groups(groups_), m(m_), k(k_), n(n_) {}
MatMulParams MatMulParams::createWithNzRatio(const SparsityParams& sparsity, double ratio, std::size_t groups, std::size_t m, std::size_t k,
                                             std::size_t n) {
  constexpr auto kName = "popsparse::dynamic::MatMulParams::createWithNzRatio";
  check_sizes(kName, {groups, m, k, n});
  check_blocks(kName, {m, k, sparsity.blockDimensions});
  return {sparsity, checked_ratio(kName, ratio), groups, m, k, n};
}
MatMulParams MatMulParams::createWithNumNonZeroValues(const SparsityParams& sparsity, std::size_t elements, std::size_t groups,
                                                      std::size_t m, std::size_t k, std::size_t n) {
  constexpr auto kName = "popsparse::dynamic::MatMulParams::createWithNumNonZeroValues";
  check_sizes(kName, {groups, m, k, n});
  check_blocks(kName, {m, k, sparsity.blockDimensions});
  return {sparsity, ratio_of(kName, sparsity, elements, m, k), groups, m, k, n};
}
double MatMulParams::getNzRatio() const { return nzRatio; }
std::size_t MatMulParams::getNumNonZeroValues() const { return elements_of(nzRatio, sparsityParams, m, k); }
static auto members(const MatMulParams& p) {
  return std::make_tuple(p.getSparsityParams(), p.getNzRatio(), p.getNumGroups(), p.getM(), p.getK(), p.getN());
}
bool operator<(const MatMulParams& a, const MatMulParams& b) { return members(a) < members(b); }
bool operator==(const MatMulParams& a, const MatMulParams& b) { return members(a) == members(b); }
bool operator!=(const MatMulParams& a, const MatMulParams& b) { return !(a == b); }
std::ostream& operator<<(std::ostream& os, const MatMulParams& p) {
  return os << "{" << p.getSparsityParams() << ", ratio " << p.getNzRatio() << ", groups " << p.getNumGroups() << ", " << p.getM() << "x"
            << p.getK() << "x" << p.getN() << "}";
}

FullyConnectedParams::FullyConnectedParams(const SparsityParams& sparsity, double ratio, std::size_t batch, std::size_t groups,
                                           std::size_t inputs, std::size_t outputs)
    : sparsityParams(sparsity),
      nzRatio(ratio),
      batchSize(batch),
      numGroups(groups),
      inputChannelsPerGroup(inputs / groups),
      outputChannelsPerGroup(outputs / groups) {}

static void check_layer(const char* function, const SparsityParams& sparsity, std::size_t batch, std::size_t groups, std::size_t inputs,
                        std::size_t outputs) {
  check_sizes(function, {batch, groups, inputs, outputs});
  if (inputs % groups != 0 || outputs % groups != 0)
    reject("popsparse-groups", "{}: {} groups do not divide {} input and {} output channels", function, groups, inputs, outputs);
  check_blocks(function, {outputs / groups, inputs / groups, sparsity.blockDimensions});
}
FullyConnectedParams FullyConnectedParams::createWithNzRatio(const SparsityParams& sparsity, double ratio, std::size_t batch,
                                                             std::size_t groups, std::size_t inputs, std::size_t outputs) {
  constexpr auto kName = "popsparse::dynamic::FullyConnectedParams::createWithNzRatio";
  check_layer(kName, sparsity, batch, groups, inputs, outputs);
  return {sparsity, checked_ratio(kName, ratio), batch, groups, inputs, outputs};
}
FullyConnectedParams FullyConnectedParams::createWithNumNonZeroValues(const SparsityParams& sparsity, std::size_t elements,
                                                                      std::size_t batch, std::size_t groups, std::size_t inputs,
                                                                      std::size_t outputs) {
  constexpr auto kName = "popsparse::dynamic::FullyConnectedParams::createWithNumNonZeroValues";
  check_layer(kName, sparsity, batch, groups, inputs, outputs);
  return {sparsity, ratio_of(kName, sparsity, elements, outputs / groups, inputs / groups), batch, groups, inputs, outputs};
}
double FullyConnectedParams::getNzRatio() const { return nzRatio; }
std::size_t FullyConnectedParams::getNumNonZeroValues() const {
  return elements_of(nzRatio, sparsityParams, outputChannelsPerGroup, inputChannelsPerGroup);
}
static auto members(const FullyConnectedParams& p) {
  return std::make_tuple(p.getSparsityParams(), p.getNzRatio(), p.getBatchSize(), p.getNumGroups(), p.getInputChannels(),
                         p.getOutputChannels());
}
bool operator<(const FullyConnectedParams& a, const FullyConnectedParams& b) { return members(a) < members(b); }
bool operator==(const FullyConnectedParams& a, const FullyConnectedParams& b) { return members(a) == members(b); }
bool operator!=(const FullyConnectedParams& a, const FullyConnectedParams& b) { return !(a == b); }
std::ostream& operator<<(std::ostream& os, const FullyConnectedParams& p) {
  return os << "{" << p.getSparsityParams() << ", ratio " << p.getNzRatio() << ", batch " << p.getBatchSize() << ", groups "
            << p.getNumGroups() << ", " << p.getInputChannels() << " -> " << p.getOutputChannels() << "}";
}

class PlanningCacheImpl {};
PlanningCache::PlanningCache() : impl(std::make_unique<PlanningCacheImpl>()) {}
PlanningCache::PlanningCache(poplin::PlanningCache*) : PlanningCache() {}
PlanningCache::~PlanningCache() = default;

}  // namespace dynamic

namespace static_ {

MatMulParams::MatMulParams(std::size_t groups_, std::size_t m_, std::size_t k_, std::size_t n_, bool transposed_)
    : groups(groups_), m(m_), k(k_), n(n_), transposed(transposed_) {}
MatMulParams MatMulParams::createForSparseDense(std::size_t groups, std::size_t m, std::size_t k, std::size_t n) {
  check_sizes("popsparse::static_::MatMulParams::createForSparseDense", {groups, m, k, n});
  return {groups, m, k, n, false};
}
MatMulParams MatMulParams::createForDenseSparse(std::size_t groups, std::size_t n, std::size_t k, std::size_t m) {
  check_sizes("popsparse::static_::MatMulParams::createForDenseSparse", {groups, m, k, n});
  return {groups, m, k, n, true};
}
static auto members(const MatMulParams& p) { return std::make_tuple(p.getNumGroups(), p.getM(), p.getK(), p.getN(), p.isTransposed()); }
bool operator<(const MatMulParams& a, const MatMulParams& b) { return members(a) < members(b); }
bool operator==(const MatMulParams& a, const MatMulParams& b) { return members(a) == members(b); }
bool operator!=(const MatMulParams& a, const MatMulParams& b) { return !(a == b); }
std::ostream& operator<<(std::ostream& os, const MatMulParams& p) {
  return os << "{groups " << p.getNumGroups() << ", " << p.getM() << "x" << p.getK() << "x" << p.getN()
            << (p.isTransposed() ? ", dense x sparse}" : ", sparse x dense}");
}

class PlanningCacheImpl {};
PlanningCache::PlanningCache() : impl(std::make_unique<PlanningCacheImpl>()) {}
PlanningCache::PlanningCache(poplin::PlanningCache*) : PlanningCache() {}
PlanningCache::~PlanningCache() = default;

}  // namespace static_
}  // namespace popsparse
