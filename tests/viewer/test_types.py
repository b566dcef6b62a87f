"""The types of viewer/ hold: test_types.py BUILD. TypeScript is installed from viewer/package-lock.json."""
import importlib.util
import pathlib
import shutil
import subprocess
import sys

build = pathlib.Path(sys.argv[1]).resolve()
VIEWER = pathlib.Path(__file__).resolve().parents[2] / "viewer"
spec = importlib.util.spec_from_file_location("make_page", VIEWER / "make_page.py")
make_page = importlib.util.module_from_spec(spec)
spec.loader.exec_module(make_page)


def main():
    _, npm = make_page.node_of_host() or make_page.node_of_index(build / "viewer", build / "venv/bin/python")
    work = build / "viewer/types"
    work.mkdir(parents=True, exist_ok=True)
    for name in ["package.json", "package-lock.json", "tsconfig.json"]:
        shutil.copy(VIEWER / name, work / name)
    shutil.rmtree(work / "src", ignore_errors=True)
    shutil.copytree(VIEWER / "src", work / "src")
    subprocess.run([*npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=work, check=True, stdout=subprocess.PIPE)
    return subprocess.run([*npm, "run", "--silent", "types"], cwd=work, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
