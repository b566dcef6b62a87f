"""Devices. All are emulated on the host: attaching to one succeeds, and what distinguishes them is what they are made of."""
import re

from .enums import DeviceConnectionType, DeviceSelectionCriterion, DeviceType, SyncPattern

_KINDS = {DeviceType.Cpu: "cpu", DeviceType.IpuModel: "ipu_model", DeviceType.Ipu: "ipu_hw", DeviceType.OfflineIpu: "ipu_hw", DeviceType.Sim: "ipu_model"}

_SYSTEM = re.compile(r"(?P<version>ipu1|ipu2|ipu21)|(ipu|bow)-(m2000|pod(?P<pod>4|8|16|32|64|128|256|512|1024))")


class DeviceInfo:
    """A device, as a session is given it. What it is: `kind` ('cpu', 'ipu_model' or 'ipu_hw'), `num_ipus`, `tiles_per_ipu` (None: all that such an IPU has),
    `ipu_version`. As a context manager it is detached at the end."""

    def __init__(self, device_type, num_ipus=1, tiles_per_ipu=None, ipu_version="ipu2", connection_type=DeviceConnectionType.OnDemand, device_id=0):
        if num_ipus < 1:
            raise ValueError(f"a device has at least 1 IPU, not {num_ipus}")
        self._type = device_type
        self._connection_type = connection_type
        self._id = device_id
        self._attached = False
        self._timeout = 0
        self.num_ipus = num_ipus
        self.tiles_per_ipu = tiles_per_ipu
        self.ipu_version = ipu_version

    @property
    def kind(self):
        return _KINDS[self._type]

    @property
    def type(self):
        return self._type

    @property
    def id(self):
        return self._id

    @property
    def numIpus(self):
        return self.num_ipus

    @property
    def tilesPerIPU(self):
        return self.tiles_per_ipu

    @property
    def ipuVersion(self):
        return self.ipu_version

    @property
    def connectionType(self):
        return self._connection_type

    @property
    def isAttached(self):
        return self._attached

    def getType(self):
        return self._type

    def getNumIpus(self):
        return self.num_ipus

    def getOnDemandAttachTimeout(self):
        return self._timeout

    def setOnDemandAttachTimeout(self, seconds):
        self._timeout = seconds

    def attach(self, timeout=0):
        self._attached = True
        return True

    def tryAttachUntilTimeout(self):
        return self.attach(self._timeout)

    def detach(self):
        self._attached = False

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.detach()

    def __repr__(self):
        tiles = "all" if self.tiles_per_ipu is None else self.tiles_per_ipu
        return f"DeviceInfo({self._type.name}, {self.num_ipus} IPUs, {tiles} tiles)"


def _from_options(device_type, options):
    """From the dictionary of createIpuModelDevice and its like; numbers may be text."""
    known = {"numIPUs", "tilesPerIPU", "ipuVersion", "compileIPUCode", "dynamic"}
    unknown = sorted(set(options) - known)
    if unknown:
        raise ValueError(f"unknown options of a device: {unknown}; known are {sorted(known)}")
    tiles = options.get("tilesPerIPU")
    return DeviceInfo(device_type, int(options.get("numIPUs", 1)), None if tiles is None else int(tiles), options.get("ipuVersion", "ipu2"))


class DeviceManager:
    """Gives devices. There are as many as one asks for."""

    def __init__(self):
        self._timeout = 0

    def setOnDemandAttachTimeout(self, seconds):
        self._timeout = seconds

    def createCpuDevice(self):
        return DeviceInfo(DeviceType.Cpu)

    def createIpuModelDevice(self, options):
        return _from_options(DeviceType.IpuModel, options)

    def createSimDevice(self, options):
        return _from_options(DeviceType.Sim, options)

    def createOfflineIPUDevice(self, options):
        return _from_options(DeviceType.OfflineIpu, options)

    def createOfflineIpuFromSystemString(self, system, numIpus):
        """A device of a system by its name, such as 'ipu2' or 'IPU-POD16'. Raises ValueError for an unknown one, or one that has too few IPUs."""
        found = _SYSTEM.fullmatch(system.lower())
        if not found:
            raise ValueError(f"unknown system {system!r}; known are ipu1, ipu2, ipu21, ipu-m2000, ipu-podN and bow-podN with a number N of IPUs")
        ipus = int(found["pod"] or (4 if "m2000" in system.lower() else 0))
        if ipus and numIpus > ipus:
            raise ValueError(f"{system} has {ipus} IPUs, and the program needs {numIpus}")
        return DeviceInfo(DeviceType.OfflineIpu, numIpus, ipu_version=found["version"] or "ipu2")

    def acquireAvailableDevice(self, numIpus=1, tilesPerIpu=0, pattern=SyncPattern.Full, connectionType=DeviceConnectionType.Always,
                               selectionCriterion=DeviceSelectionCriterion.First):
        device = DeviceInfo(DeviceType.Ipu, numIpus, tilesPerIpu or None, connection_type=connectionType)
        device.setOnDemandAttachTimeout(self._timeout)
        if connectionType == DeviceConnectionType.Always:
            device.attach()
        return device

    def tryAcquireAvailableDevice(self, *args, **kwargs):
        return self.acquireAvailableDevice(*args, **kwargs)

    def acquireDeviceById(self, id, pattern=SyncPattern.Full, connectionType=DeviceConnectionType.Always):
        device = self.acquireAvailableDevice(pattern=pattern, connectionType=connectionType)
        device._id = id
        return device

    def enumerateDevices(self, pattern=SyncPattern.Full, numIpus=1, deviceType=DeviceType.Ipu, connectionType=DeviceConnectionType.Always, tilesPerIPU=0):
        return [DeviceInfo(deviceType, numIpus, tilesPerIPU or None, connection_type=connectionType)]
