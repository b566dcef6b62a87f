#include "poplar/Target.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>
#include <limits>

#include "base/archive.h"
#include "base/element_type.h"
#include "facade/state/state.h"
#include "facade/state/target_state.h"
#include "machine/units.h"
#include "poplar/TypeConversion.hpp"

namespace pando::facade {

using poplar::core::TargetState;

namespace {

constexpr std::uint64_t kMagic = 0x5447524154504f50;  // "POPTARGT"

struct FlatRegions {
  std::vector<std::string> names;
  std::vector<std::uint64_t> numbers;
};

FlatRegions flatten(const std::vector<MemoryRegion>& regions) {
  FlatRegions flat;
  for (const MemoryRegion& r : regions) {
    flat.names.push_back(r.name);
    flat.numbers.insert(flat.numbers.end(), {r.begin, r.end, r.executable, r.interleaved});
  }
  return flat;
}

std::vector<MemoryRegion> regions_of(const FlatRegions& flat) {
  std::vector<MemoryRegion> regions;
  for (std::size_t i = 0; i < flat.names.size() && i * 4 + 3 < flat.numbers.size(); ++i) {
    const std::uint64_t* n = &flat.numbers[i * 4];
    regions.push_back({flat.names[i], n[0], n[1], n[2] != 0, n[3] != 0});
  }
  return regions;
}

// One list of members for both directions.
template <class A, class S>
void members(A& a, S& s) {
  auto& m = s.machine;
  a(s.type, s.system, s.min_sync_delay, s.max_sync_delay, s.global_sync_cycles, s.interleaved_element, s.fp8_conv_units,
    s.fp8_pipeline_depth, s.fp8_load_elems);
  a(m.name, m.arch, m.doc, m.ipus, m.tiles_per_ipu, m.workers, m.bounded_memory, m.memory_element_bytes, m.clock_hz,
    m.exchange_bytes_per_cycle, m.memcpy_bytes_per_cycle, m.tiles_per_shared_exchange_bus, m.exchange_bus_sharing, m.data_path_bits,
    m.float_vector_width, m.half_vector_width, m.rpt_count_max, m.stride_bits, m.atomic_store_bytes);
  a(m.f16_in_f16_out_conv_units, m.f16_in_f32_out_conv_units, m.f32_in_f32_out_conv_units, m.conv_unit_pipeline_depth,
    m.conv_unit_coeff_load_bytes_per_cycle, m.conv_unit_input_load_elems_f16, m.conv_unit_input_load_elems_f32);
  a(m.sync_cycles_internal, m.launch_cycles, m.local_copy_call_cycles, m.link_bytes_per_second, m.links.in_card, m.links.across, m.links.up,
    m.links.down, m.fabric_columns, m.fabric_rows, m.fabric_lanes, m.exchange_landing_cycles, m.sync_seconds_per_hop,
    m.host_bytes_per_second, m.host_latency_seconds, m.streaming_bytes_per_second, m.streaming_latency_seconds);
}

std::string to_bytes(const TargetState& s) {
  ArchiveWriter w;
  w(kMagic);
  members(w, s);
  const FlatRegions regions = flatten(s.machine.regions);
  w(regions.names, regions.numbers);
  std::vector<std::pair<std::string, std::string>> options(s.options.begin(), s.options.end());
  w(options);
  std::vector<double> bandwidths;
  std::vector<std::vector<std::uint64_t>> flows;
  for (const poplar::GlobalExchangeConstraint& c : s.constraints) {
    bandwidths.push_back(c.bandwidth);
    flows.emplace_back();
    for (const poplar::GlobalExchangeFlow& f : c.flows) flows.back().insert(flows.back().end(), {f.src, f.dst});
  }
  w(bandwidths, flows);
  return w.bytes();
}

}  // namespace

static TargetState from_bytes(std::string_view bytes) {
  ArchiveReader r(bytes);
  TargetState s;
  std::uint64_t magic = 0;
  FlatRegions regions;
  std::vector<std::pair<std::string, std::string>> options;
  std::vector<double> bandwidths;
  std::vector<std::vector<std::uint64_t>> flows;
  r(magic);
  if (magic != kMagic) fail(ErrorKind::parse_error, "target-data", "these bytes are no serialised target");
  members(r, s);
  r(regions.names, regions.numbers, options, bandwidths, flows);
  if (!r.ok() || flows.size() != bandwidths.size())
    fail(ErrorKind::parse_error, "target-data", "the serialised target is damaged or of another version ({} bytes)", bytes.size());
  s.machine.regions = regions_of(regions);
  for (const auto& [key, value] : options) s.options.set(key, value);
  for (std::size_t i = 0; i < bandwidths.size(); ++i) {
    s.constraints.emplace_back(bandwidths[i], std::vector<poplar::GlobalExchangeFlow>());
    for (std::size_t k = 0; k + 1 < flows[i].size(); k += 2)
      s.constraints.back().flows.emplace_back(static_cast<unsigned>(flows[i][k]), static_cast<unsigned>(flows[i][k + 1]));
  }
  return s;
}

static unsigned element_of(std::uint64_t offset, std::uint64_t bytes) { return bytes == 0 ? 0 : static_cast<unsigned>(offset / bytes); }

TargetState target_state(poplar::TargetType type, const Machine& machine) {
  TargetState s;
  s.type = type;
  s.machine = machine;
  s.system = machine.name;
  for (const MemoryRegion& r : machine.regions)
    if (r.interleaved) s.interleaved_element = element_of(r.begin, machine.memory_element_bytes);
  s.fp8_conv_units = machine.f16_in_f16_out_conv_units;
  s.fp8_pipeline_depth = machine.conv_unit_pipeline_depth;
  s.fp8_load_elems = 2 * machine.conv_unit_input_load_elems_f16;
  const double hops = machine.ipus > 1 ? machine.ipus / 2.0 : 0;
  s.max_sync_delay = static_cast<unsigned>(hops * machine.sync_seconds_per_hop * machine.clock_hz);
  s.global_sync_cycles = s.max_sync_delay;
  return s;
}

poplar::Target make_target(TargetState s) {
  s.element_offsets.clear();
  const std::uint64_t element = s.machine.memory_element_bytes;
  if (s.machine.bounded_memory && element > 0)
    for (std::uint64_t o = 0; o < s.machine.bytes_per_tile(); o += element) s.element_offsets.push_back(static_cast<unsigned>(o));
  s.key = to_bytes(s);
  return Access::target(std::make_shared<const TargetState>(std::move(s)));
}

const Machine& machine_named(std::string_view name) {
  if (const Machine* m = find_machine(name)) return *m;
  std::string known;
  for (const Machine& m : all_machines()) known += (known.empty() ? "" : ", ") + m.name;
  fail(ErrorKind::invalid_machine_model, "unknown-machine", "there is no machine '{}'; known ones: {}", name, known);
}

// Products are named by their number of IPUs, in several spellings: "IPU-POD16", "IPU-M2000", "Bow-Pod64", "BOW-2000".
const Machine* find_machine_of_system(const std::string& name) {
  if (const Machine* m = find_machine(name)) return m;
  std::string lower;
  for (const char c : name)
    if (c != '-' && c != '_' && c != ' ') lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (lower.rfind("bow", 0) == 0) return find_machine("bow");
  if (lower.rfind("ipupod", 0) == 0 || lower.rfind("ipum2000", 0) == 0 || lower.rfind("pod", 0) == 0) return find_machine("ipu2");
  if (lower.rfind("c600", 0) == 0) return find_machine("ipu21");
  return nullptr;
}

const Machine& machine_of_system(const std::string& name) {
  const Machine* m = find_machine_of_system(name);
  return m ? *m : machine_named(name);
}

poplar::Target with_tiles(const poplar::Target& target, unsigned ipus, unsigned tiles_per_ipu) {
  TargetState s = Access::state(target);
  s.machine.ipus = ipus;
  s.machine.tiles_per_ipu = tiles_per_ipu;
  return make_target(std::move(s));
}

poplar::Target Access::target(std::shared_ptr<const TargetState> state) { return poplar::Target(std::move(state)); }

}  // namespace pando::facade

namespace poplar {

using pando::ErrorKind;
using pando::fail;
using pando::facade::Access;
using pando::facade::machine_named;
using pando::facade::make_target;
using pando::facade::target_state;

namespace {

// Default-constructed targets are cheap: they share this one.
const Target& cpu_target() {
  static const Target target = make_target(target_state(TargetType::CPU, machine_named("cpu")));
  return target;
}

}  // namespace

Target::Target() : Target(cpu_target()) {}
Target::Target(std::istream& in) {
  const std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  *this = make_target(pando::facade::from_bytes(bytes));
}
Target::Target(std::shared_ptr<const core::TargetState> state) : state_(std::move(state)) {}
Target::~Target() = default;
Target::Target(const Target&) = default;
Target::Target(Target&& o) noexcept : state_(o.state_) {}  // what is moved from stays usable
Target& Target::operator=(const Target&) = default;
Target& Target::operator=(Target&& o) noexcept {
  state_ = o.state_;
  return *this;
}

Target Target::createCPUTarget(bool, unsigned numIPUs) {
  core::TargetState s = Access::state(cpu_target());
  s.machine.ipus = std::max(numIPUs, 1u);
  return make_target(std::move(s));
}

Target Target::createIPUTarget(unsigned numIPUs, StringRef systemOrArch, const OptionFlags& options) {
  const pando::Machine& m = pando::facade::machine_of_system(systemOrArch.cloneAsString());
  return createIPUTarget(numIPUs, m.tiles_per_ipu, systemOrArch, options);
}

Target Target::createIPUTarget(unsigned numIPUs, unsigned tilesPerIPU, StringRef systemOrArch, const OptionFlags& options) {
  if (numIPUs == 0 || tilesPerIPU == 0)
    fail(ErrorKind::invalid_machine_model, "empty-machine", "a target needs IPUs and tiles, not {} IPUs of {} tiles", numIPUs, tilesPerIPU);
  pando::Machine m = pando::facade::machine_of_system(systemOrArch.cloneAsString());
  m.ipus = numIPUs;
  m.tiles_per_ipu = tilesPerIPU;
  core::TargetState s = target_state(TargetType::IPU, m);
  s.options = options;
  return make_target(std::move(s));
}

// A planner asks for the tiles that are left, which may be none: that it learns from the target. Graphs and plans reject it (Graph::Graph).
Target Target::createVirtualTarget(unsigned numIPUs, unsigned tilesPerIPU) const {
  if (numIPUs == 0) fail(ErrorKind::invalid_machine_model, "empty-machine", "a target needs IPUs, not 0 IPUs of {} tiles", tilesPerIPU);
  return pando::facade::with_tiles(*this, numIPUs, tilesPerIPU);
}

void Target::serialize(std::ostream& out) const { out.write(state_->key.data(), static_cast<std::streamsize>(state_->key.size())); }
std::size_t Target::hash() const { return std::hash<std::string>()(state_->key); }
bool operator==(const Target& a, const Target& b) { return a.state_ == b.state_ || a.state_->key == b.state_->key; }
bool operator<(const Target& a, const Target& b) { return a.state_->key < b.state_->key; }

TargetType Target::getTargetType() const { return state_->type; }
std::string Target::getTargetArchString() const { return state_->machine.arch; }
std::string Target::getTargetSystemString() const { return state_->system; }
OptionFlags Target::getTargetOptions() const { return state_->options; }
unsigned Target::getNumIPUs() const { return state_->machine.ipus; }
unsigned Target::getTilesPerIPU() const { return state_->machine.tiles_per_ipu; }
unsigned Target::getNumTiles() const { return state_->machine.tiles(); }
unsigned Target::getNumWorkerContexts() const { return state_->machine.workers; }

unsigned Target::getBytesPerTile() const {
  const std::uint64_t most = std::numeric_limits<unsigned>::max();
  if (!state_->machine.bounded_memory) return static_cast<unsigned>(most);
  return static_cast<unsigned>(std::min(state_->machine.bytes_per_tile(), most));
}

std::size_t Target::getTypeSize(const Type& type) const { return pando::size_of(Access::element_type(type)); }

unsigned Target::getVectorWidth(const Type& type) const { return pando::vector_width(state_->machine, Access::element_type(type)); }
unsigned Target::getFloatVectorWidth() const { return state_->machine.float_vector_width; }
unsigned Target::getHalfVectorWidth() const { return state_->machine.half_vector_width; }
unsigned Target::getQuarterVectorWidth() const { return 2 * state_->machine.half_vector_width; }
unsigned Target::getDataPathWidth() const { return state_->machine.data_path_bits; }
unsigned Target::getRptCountMax() const { return state_->machine.rpt_count_max; }
unsigned Target::getNumStrideBits() const { return state_->machine.stride_bits; }
std::size_t Target::getAtomicStoreGranularity() const { return state_->machine.atomic_store_bytes; }
unsigned Target::getExchangeBytesPerCycle() const { return state_->machine.exchange_bytes_per_cycle; }
unsigned Target::getMemcpyBytesPerCycle() const { return state_->machine.memcpy_bytes_per_cycle; }
unsigned Target::getMinIPUSyncDelay() const { return state_->min_sync_delay; }
unsigned Target::getMaxIPUSyncDelay() const { return std::max(state_->max_sync_delay, state_->min_sync_delay); }
unsigned Target::getGlobalSyncCycles() const { return state_->global_sync_cycles; }
const std::vector<GlobalExchangeConstraint>& Target::getGlobalExchangeConstraints() const { return state_->constraints; }
unsigned Target::getTilesPerSharedExchangeBus() const { return state_->machine.tiles_per_shared_exchange_bus; }
bool Target::supportsExchangeBusSharing() const { return state_->machine.exchange_bus_sharing; }
const std::vector<unsigned>& Target::getMemoryElementOffsets() const { return state_->element_offsets; }
unsigned Target::getInterleavedMemoryElementIndex() const { return state_->interleaved_element; }
double Target::getTileClockFrequency() const { return state_->machine.clock_hz; }

unsigned Target::getNumConvUnits(const Type& input, const Type& partials) const {
  if (input == QUARTER) return getFp8InFp16OutConvUnitsPerTile();
  return pando::amp_unit(state_->machine, Access::element_type(input), Access::element_type(partials)).out;
}
unsigned Target::getWeightsPerConvUnit(bool floatActivations) const { return getWeightsPerConvUnit(floatActivations ? FLOAT : HALF); }
// A unit multiplies, in every step of its pipeline, as many elements as it loads per cycle.
unsigned Target::getWeightsPerConvUnit(const Type& activations) const {
  return state_->machine.conv_unit_pipeline_depth * getConvUnitInputLoadElemsPerCycle(activations);
}
unsigned Target::getConvUnitMaxPipelineDepth(const Type&) const { return state_->machine.conv_unit_pipeline_depth; }
unsigned Target::getConvUnitInputLoadElemsPerCycle(bool floatActivations) const {
  return getConvUnitInputLoadElemsPerCycle(floatActivations ? FLOAT : HALF);
}
unsigned Target::getConvUnitInputLoadElemsPerCycle(const Type& activations) const {
  if (activations == QUARTER) return state_->fp8_load_elems;
  return pando::amp_unit(state_->machine, Access::element_type(activations), pando::ElementType::float_).row_elements;
}
unsigned Target::getConvUnitCoeffLoadBytesPerCycle() const { return state_->machine.conv_unit_coeff_load_bytes_per_cycle; }
unsigned Target::getFp8InFp16OutConvUnitsPerTile() const { return state_->fp8_conv_units; }
unsigned Target::getFp8ConvUnitMaxPipelineDepth() const { return state_->fp8_pipeline_depth; }
unsigned Target::getFp8ConvUnitInputLoadElemsPerCycle() const { return state_->fp8_load_elems; }
unsigned Target::getFp8ConvUnitCoeffLoadBytesPerCycle() const { return state_->machine.conv_unit_coeff_load_bytes_per_cycle; }
unsigned Target::getFp16InFp16OutConvUnitsPerTile() const { return state_->machine.f16_in_f16_out_conv_units; }
unsigned Target::getFp16InFp32OutConvUnitsPerTile() const { return state_->machine.f16_in_f32_out_conv_units; }
unsigned Target::getFp32InFp32OutConvUnitsPerTile() const { return state_->machine.f32_in_f32_out_conv_units; }
unsigned Target::getFp16ConvUnitMaxPipelineDepth() const { return state_->machine.conv_unit_pipeline_depth; }
unsigned Target::getFp32ConvUnitMaxPipelineDepth() const { return state_->machine.conv_unit_pipeline_depth; }
unsigned Target::getFp16ConvUnitInputLoadElemsPerCycle() const { return state_->machine.conv_unit_input_load_elems_f16; }
unsigned Target::getFp32ConvUnitInputLoadElemsPerCycle() const { return state_->machine.conv_unit_input_load_elems_f32; }
unsigned Target::getFp16ConvUnitCoeffLoadBytesPerCycle() const { return state_->machine.conv_unit_coeff_load_bytes_per_cycle; }
unsigned Target::getFp32ConvUnitCoeffLoadBytesPerCycle() const { return state_->machine.conv_unit_coeff_load_bytes_per_cycle; }
bool Target::getGatewayMode() const { return false; }
unsigned Target::getInstanceSize() const { return 1; }
IpuLinkConfiguration Target::getIpuLinkConfiguration() const { return IpuLinkConfiguration::Default; }
IpuLinkTopology Target::getIpuLinkTopology() const { return IpuLinkTopology::Mesh; }
unsigned Target::getIpuLinkDomainSize() const { return state_->machine.ipus; }

long double Target::typeLimit(const Type& type, bool max) const {
  using pando::ElementType;
  switch (Access::element_type(type)) {
    case ElementType::half: return max ? 65504.0L : -65504.0L;
    case ElementType::float_: return max ? std::numeric_limits<float>::max() : std::numeric_limits<float>::lowest();
    case ElementType::double_: return max ? std::numeric_limits<double>::max() : std::numeric_limits<double>::lowest();
    case ElementType::quarter: return max ? 240.0L : -240.0L;
    case ElementType::boolean: return max ? 1.0L : 0.0L;
    default: break;
  }
  const int bits = static_cast<int>(8 * getTypeSize(type));
  if (!pando::is_signed(Access::element_type(type))) return max ? std::ldexp(1.0L, bits) - 1 : 0.0L;
  return max ? std::ldexp(1.0L, bits - 1) - 1 : -std::ldexp(1.0L, bits - 1);
}

void copyFloatToDeviceHalf(const Target&, const float* src, void* dst, std::size_t n) {
  pando_detail::convertElements(FLOAT, src, HALF, dst, n, QuarterMetadata());
}
void copyDeviceHalfToFloat(const Target&, const void* src, float* dst, std::size_t n) {
  pando_detail::convertElements(HALF, src, FLOAT, dst, n, QuarterMetadata());
}
void copyDoubleToDeviceHalf(const Target&, const double* src, void* dst, std::size_t n) {
  pando_detail::convertElements(DOUBLE, src, HALF, dst, n, QuarterMetadata());
}
void copyDeviceHalfToDouble(const Target&, const void* src, double* dst, std::size_t n) {
  pando_detail::convertElements(HALF, src, DOUBLE, dst, n, QuarterMetadata());
}

}  // namespace poplar
