"""python3 FOLDER/pando_kernel -f CONNECTION_FILE: what the kernel's description starts."""
import os
import sys

# Started by its path, so that nothing has to be installed or set for it.
sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

from ipykernel.kernelapp import IPKernelApp  # noqa: E402

from pando_kernel.kernel import PandoKernel  # noqa: E402

if __name__ == "__main__":
    IPKernelApp.launch_instance(kernel_class=PandoKernel)
