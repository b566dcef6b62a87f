#ifndef poplar_DeviceManager_hpp
#define poplar_DeviceManager_hpp

#include <poplar/Device.hpp>
#include <poplar/Export.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplar/TargetType.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace poplar {

/// Lists the IPUs of this host. There are none, unless the environment variable PANDO_EMULATED_IPUS=n asks for n emulated ones
/// (TargetType::IPU; "ipu2", or the machine or product that PANDO_EMULATED_MACHINE names, such as "bow"): then there is a device for each
/// of them, and one for each aligned group of 2, 4, 8 ... and for all n.
class POPLAR_EXPORT DeviceManager {
 public:
  DeviceManager();
  static DeviceManager createDeviceManager();

  std::size_t getNumDevices() const;
  /// All devices, in the order of their ids.
  std::vector<Device> getDevices() const;
  /// Those of that type with that many IPUs. CPU and IPU_MODEL devices are made on the spot.
  std::vector<Device> getDevices(TargetType type, unsigned numIPUs, const OptionFlags& options = {}) const;
  /// Throws index_error if there is no such device.
  Device getDevice(unsigned id, const OptionFlags& options = {}) const;
  /// The first device with that many IPUs that can be attached, attached. Throws poplar_error if there is none.
  Device acquireAvailableDevice(unsigned numIPUs = 1, const OptionFlags& options = {}) const;
  /// The ids of the devices of `numChildren` IPUs (0: one) that device `id` is made of.
  std::vector<unsigned> getChildDeviceIds(unsigned id, unsigned numChildren = 0) const;

 private:
  unsigned ipus_;
};

}  // namespace poplar

#endif
