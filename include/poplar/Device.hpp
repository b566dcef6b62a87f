#ifndef poplar_Device_hpp
#define poplar_Device_hpp

#include <poplar/Export.hpp>
#include <poplar/IPUAttributes.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplar/Target.hpp>

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace poplar {

namespace core {
struct DeviceState;
}

/// Something that programs can be loaded onto. Can be moved, not copied.
class POPLAR_EXPORT Device {
 public:
  Device();
  ~Device();
  Device(Device&&) noexcept;
  Device& operator=(Device&&) noexcept;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  /// The host's processor (Target::createCPUTarget).
  static Device createCPUDevice(unsigned numIPUs = 1);
  /// There is no cycle-accurate simulator: throws invalid_machine_model. IPUModel has a cycle model.
  static Device createSimulatorDevice(const Target& target, const OptionFlags& options = {});
  /// The same device with fewer tiles on each IPU.
  Device createVirtualDevice(unsigned tilesPerIPU);

  unsigned getId() const;
  const Target& getTarget() const;
  /// Takes the device for this process: false if someone else has it. Models and the CPU are never taken.
  bool attach() const;
  bool isAttached() const;
  void detach() const;
  void reset() const;
  void getDriverVersion(unsigned& major, unsigned& minor, unsigned& point) const;
  bool supportsRemoteBuffers() const;
  bool hasGateway() const;
  std::map<std::string, std::string> getAttributes() const;
  std::string getAttribute(IPUAttributes::AttributeId id) const;
  std::vector<int> getNumaTopology() const;
  std::vector<int> getNumaNodesUsedForIPUs() const;
  std::vector<unsigned> getDriverIDs() const;

 private:
  friend struct pando::facade::Access;
  std::unique_ptr<core::DeviceState> state_;
};

}  // namespace poplar

#endif
