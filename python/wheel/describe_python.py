"""Says how the native part of popxl is built for the Python that runs this: tag;folder of Python.h;suffix of the file;folder of nanobind.

    describe_python.py NANOBIND      NANOBIND holds nanobind of version 3 in `new`, of version 2 in `old`

From Python 3.12 on the file is for this and all later versions (the stable ABI). nanobind 3 needs 3.10.
"""
import pathlib
import sys
import sysconfig

version = sys.version_info[:2]
stable = version >= (3, 12)
nanobind = pathlib.Path(sys.argv[1]).resolve() / ("new" if version >= (3, 10) else "old") / "nanobind"
print(";".join(["cp312_abi3" if stable else f"cp{version[0]}{version[1]}", sysconfig.get_paths()["include"],
                ".abi3.so" if stable else sysconfig.get_config_var("EXT_SUFFIX"), str(nanobind)]))
