#include "poplar/Device.hpp"

#include <bit>
#include <cstdlib>
#include <mutex>
#include <set>

#include "exec/runner.h"
#include "facade/state/state.h"
#include "facade/state/target_state.h"
#include "poplar/DeviceManager.hpp"
#include "poplar/IPUModel.hpp"

namespace pando::facade {

poplar::Device Access::device(poplar::core::DeviceState state) {
  poplar::Device d;
  d.state_ = std::make_unique<poplar::core::DeviceState>(std::move(state));
  d.state_->workers = exec::make_workers();
  d.state_->watches = exec::make_vertex_watches();
  return d;
}

poplar::core::DeviceState& Access::state(const poplar::Device& d) {
  if (!d.state_) fail(ErrorKind::poplar_error, "no-device", "this device is default-constructed, or was moved from");
  return *d.state_;
}

}  // namespace pando::facade

namespace poplar {

using core::DeviceState;
using pando::ErrorKind;
using pando::fail;
using pando::facade::Access;

namespace {

// Which emulated IPUs this process has attached. The hardware's driver keeps this for the host; here it is the process's.
struct AttachedIpus {
  std::mutex mutex;
  std::set<unsigned> ipus;
  static AttachedIpus& get() {
    static AttachedIpus attached;
    return attached;
  }
};

void give_back(DeviceState& s) {
  if (!s.attached) return;
  AttachedIpus& attached = AttachedIpus::get();
  const std::lock_guard lock(attached.mutex);
  for (const unsigned ipu : s.ipus) attached.ipus.erase(ipu);
  s.attached = false;
}

}  // namespace

Device::Device() = default;
Device::~Device() {
  if (state_) give_back(*state_);
}
Device::Device(Device&&) noexcept = default;
Device& Device::operator=(Device&& o) noexcept {
  if (state_ && state_ != o.state_) give_back(*state_);
  state_ = std::move(o.state_);
  return *this;
}

Device Device::createCPUDevice(unsigned numIPUs) {
  DeviceState s;
  s.target = Target::createCPUTarget(true, numIPUs);
  return Access::device(std::move(s));
}

Device Device::createSimulatorDevice(const Target&, const OptionFlags&) {
  fail(ErrorKind::invalid_machine_model, "no-simulator",
       "there is no cycle-accurate simulator; use IPUModel, whose cycle model estimates cycles");
}

Device Device::createVirtualDevice(unsigned tilesPerIPU) {
  const Target& target = getTarget();
  if (tilesPerIPU == 0 || tilesPerIPU > target.getTilesPerIPU())
    fail(ErrorKind::invalid_machine_model, "virtual-device-tiles", "a virtual device of {} tiles per IPU; the device has {}", tilesPerIPU,
         target.getTilesPerIPU());
  DeviceState s;
  s.id = getId();
  s.target = pando::facade::with_tiles(target, target.getNumIPUs(), tilesPerIPU);
  return Access::device(std::move(s));
}

unsigned Device::getId() const { return Access::state(*this).id; }
const Target& Device::getTarget() const { return Access::state(*this).target; }

bool Device::attach() const {
  DeviceState& s = Access::state(*this);
  if (s.attached) return true;
  AttachedIpus& attached = AttachedIpus::get();
  const std::lock_guard lock(attached.mutex);
  for (const unsigned ipu : s.ipus)
    if (attached.ipus.count(ipu)) return false;
  attached.ipus.insert(s.ipus.begin(), s.ipus.end());
  s.attached = !s.ipus.empty();
  s.detached = std::make_shared<std::atomic<bool>>(false);
  return true;
}

bool Device::isAttached() const { return Access::state(*this).attached || Access::state(*this).ipus.empty(); }

void Device::detach() const {
  DeviceState& s = Access::state(*this);
  if (s.attached) *s.detached = true;
  give_back(s);
}

void Device::reset() const { static_cast<void>(Access::state(*this)); }

void Device::getDriverVersion(unsigned& major, unsigned& minor, unsigned& point) const { major = minor = point = 0; }
bool Device::supportsRemoteBuffers() const { return true; }
bool Device::hasGateway() const { return false; }

std::string Device::getAttribute(IPUAttributes::AttributeId id) const {
  using Id = IPUAttributes::AttributeId;
  const Target& t = getTarget();
  switch (id) {
    case Id::BoardVariant: return "emulated";
    case Id::IpuArchitecture: return t.getTargetArchString();
    case Id::NumberOfTiles: return std::to_string(t.getNumTiles());
    case Id::TileMemoryBytes: return std::to_string(t.getBytesPerTile());
    case Id::TileClockFrequency: return std::to_string(static_cast<unsigned long long>(t.getTileClockFrequency()));
    case Id::NumberOfIpus: return std::to_string(t.getNumIPUs());
  }
  fail(ErrorKind::index_error, "device-attribute", "device attribute {} does not exist", static_cast<int>(id));
}

std::map<std::string, std::string> Device::getAttributes() const {
  using Id = IPUAttributes::AttributeId;
  return {{"board variant", getAttribute(Id::BoardVariant)},
          {"ipu architecture", getAttribute(Id::IpuArchitecture)},
          {"number of ipus", getAttribute(Id::NumberOfIpus)},
          {"number of tiles", getAttribute(Id::NumberOfTiles)},
          {"tile clock frequency", getAttribute(Id::TileClockFrequency)},
          {"tile memory bytes", getAttribute(Id::TileMemoryBytes)}};
}

std::vector<int> Device::getNumaTopology() const { return std::vector<int>(getTarget().getNumIPUs(), 0); }
std::vector<int> Device::getNumaNodesUsedForIPUs() const { return {0}; }
std::vector<unsigned> Device::getDriverIDs() const { return Access::state(*this).ipus; }

namespace {

void check_id(unsigned id, std::size_t devices) {
  if (id < devices) return;
  fail(ErrorKind::index_error, "device-id",
       "there is no device {}; there are {} devices (the environment variable PANDO_EMULATED_IPUS sets how many IPUs are emulated)", id,
       devices);
}

// The aligned groups of IPUs that devices are made of, in the order of device ids: singles first, all of them last.
std::vector<std::pair<unsigned, unsigned>> groups_of(unsigned ipus) {
  std::vector<std::pair<unsigned, unsigned>> groups;
  for (unsigned n = 1; n <= ipus; n *= 2)
    for (unsigned first = 0; first + n <= ipus; first += n) groups.emplace_back(first, n);
  if (ipus > 1 && !std::has_single_bit(ipus)) groups.emplace_back(0, ipus);
  return groups;
}

// What each of them is: a machine's name, or a product's.
std::string emulated_machine() {
  const char* text = std::getenv("PANDO_EMULATED_MACHINE");
  if (!text || !*text) return "ipu2";
  if (!pando::facade::find_machine_of_system(text))
    fail(ErrorKind::invalid_option, "emulated-machine",
         "PANDO_EMULATED_MACHINE is '{}'; expected a machine (ipu1, ipu2, bow, ipu21) or a product such as Bow-Pod16 or IPU-POD4", text);
  return text;
}

Device emulated_device(unsigned id, std::pair<unsigned, unsigned> group, const OptionFlags& options) {
  DeviceState s;
  s.id = id;
  s.target = Target::createIPUTarget(group.second, emulated_machine(), options);
  for (unsigned i = 0; i < group.second; ++i) s.ipus.push_back(group.first + i);
  return Access::device(std::move(s));
}

unsigned emulated_ipus() {
  const char* text = std::getenv("PANDO_EMULATED_IPUS");
  if (!text || !*text) return 0;
  char* end = nullptr;
  const unsigned long n = std::strtoul(text, &end, 10);
  if (*end || n > 4096)
    fail(ErrorKind::invalid_option, "emulated-ipus", "PANDO_EMULATED_IPUS is '{}'; expected a number from 0 to 4096", text);
  return static_cast<unsigned>(n);
}

}  // namespace

DeviceManager::DeviceManager() : ipus_(emulated_ipus()) {}
DeviceManager DeviceManager::createDeviceManager() { return DeviceManager(); }
std::size_t DeviceManager::getNumDevices() const { return groups_of(ipus_).size(); }

std::vector<Device> DeviceManager::getDevices() const {
  std::vector<Device> devices;
  for (const auto& group : groups_of(ipus_)) devices.push_back(emulated_device(static_cast<unsigned>(devices.size()), group, {}));
  return devices;
}

std::vector<Device> DeviceManager::getDevices(TargetType type, unsigned numIPUs, const OptionFlags& options) const {
  std::vector<Device> devices;
  if (type == TargetType::CPU) devices.push_back(Device::createCPUDevice(numIPUs));
  if (type == TargetType::IPU_MODEL) {
    IPUModel model;
    model.numIPUs = numIPUs;
    devices.push_back(model.createDevice(options));
  }
  if (type != TargetType::IPU) return devices;
  const auto groups = groups_of(ipus_);
  for (unsigned id = 0; id < groups.size(); ++id)
    if (groups[id].second == numIPUs) devices.push_back(emulated_device(id, groups[id], options));
  return devices;
}

Device DeviceManager::getDevice(unsigned id, const OptionFlags& options) const {
  const auto groups = groups_of(ipus_);
  check_id(id, groups.size());
  return emulated_device(id, groups[id], options);
}

Device DeviceManager::acquireAvailableDevice(unsigned numIPUs, const OptionFlags& options) const {
  for (Device& d : getDevices(TargetType::IPU, numIPUs, options))
    if (d.attach()) return std::move(d);
  fail(ErrorKind::poplar_error, "no-available-device",
       "no device of {} IPUs can be attached ({} emulated IPUs; the environment variable PANDO_EMULATED_IPUS sets how many)", numIPUs,
       ipus_);
}

std::vector<unsigned> DeviceManager::getChildDeviceIds(unsigned id, unsigned numChildren) const {
  const auto groups = groups_of(ipus_);
  check_id(id, groups.size());
  const auto [first, n] = groups[id];
  const unsigned size = std::max(numChildren, 1u);
  std::vector<unsigned> children;
  for (unsigned i = 0; i < groups.size(); ++i)
    if (groups[i].second == size && groups[i].first >= first && groups[i].first + size <= first + n) children.push_back(i);
  return children;
}

}  // namespace poplar
