"""What others install Pando with, besides pip: the Dockerfile, the devcontainer, the conda recipe, the Debian package.

    test_packaging.py ROOT BUILD    with tests/packaging/requirements.txt, after ./x deb
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import rattler_build

ROOT, BUILD = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
VERSION = re.search(r"^project\(pando VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)[1]
CODELET = """#include <poplar/Vertex.hpp>
#include <cstddef>
class Twice : public poplar::Vertex {
public:
  poplar::InOut<poplar::Vector<float>> x;
  void compute() { for (std::size_t i = 0; i < x.size(); ++i) x[i] *= 2; }
};
"""


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **options)


class Container(unittest.TestCase):
    def lint(self, text):
        return run(pathlib.Path(sys.executable).parent / "hadolint", "-", input=text)

    def test_dockerfile(self):
        said = self.lint((ROOT / "Dockerfile").read_text())
        self.assertEqual((said.returncode, said.stdout), (0, ""))

    def test_the_linter_bites(self):
        self.assertIn("DL3007", self.lint("FROM debian:latest\n").stdout)

    def test_devcontainer_names_a_stage(self):
        devcontainer = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())["build"]
        stages = re.findall(r"^FROM \S+ AS (\S+)$", (ROOT / ".devcontainer" / devcontainer["dockerfile"]).resolve().read_text(), re.MULTILINE)
        self.assertIn(devcontainer["target"], stages)


class CondaRecipe(unittest.TestCase):
    path = ROOT / "packaging" / "conda" / "recipe.yaml"

    def test_renders(self):
        (variant,) = rattler_build.Stage0Recipe.from_file(self.path).render(rattler_build.VariantConfig(), rattler_build.RenderConfig())
        recipe = variant.recipe
        self.assertEqual((str(recipe.package.name), str(recipe.package.version)), ("pando", VERSION))

    def test_says_what_the_wheel_says(self):
        recipe, wheel = self.path.read_text(), (ROOT / "pyproject.toml").read_text()
        (needs,) = re.findall(r'^dependencies = \["(.*?)"\]$', wheel, re.MULTILINE)
        (command,) = re.findall(r'^pando = "(pando\._command:main)"$', wheel, re.MULTILINE)
        self.assertIn(needs, recipe.replace("numpy >=", "numpy>="))
        self.assertIn(f"- pando = {command}\n", recipe)

    def test_the_reader_bites(self):
        with self.assertRaises(rattler_build.RattlerBuildError):
            rattler_build.Stage0Recipe.from_yaml(self.path.read_text().replace("requirements:", "requirement:"))


class DebianPackage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        (cls.package,) = (BUILD / "packages").glob("*.deb")

    def field(self, name):
        return run("dpkg-deb", "--field", self.package, name).stdout.strip()

    def test_fields(self):
        self.assertEqual((self.field("Package"), self.field("Version")), ("pando", VERSION))
        for needed in ("libc6", "libfmt9", "libclang-cpp19", "libllvm19", "lld-19", "libclang-common-19-dev"):
            self.assertIn(needed, self.field("Depends"))

    def test_runs_where_it_is_unpacked(self):
        with tempfile.TemporaryDirectory(prefix="pando-package-") as folder:
            self.assertEqual(run("dpkg-deb", "--extract", self.package, folder).returncode, 0)
            prefix = pathlib.Path(folder) / "opt" / "pando"
            bare = {"PATH": "/usr/bin:/bin", "HOME": folder}
            said = run(prefix / "bin" / "pando", "--version", env=bare)
            self.assertEqual(said.returncode, 0, said.stderr)
            self.assertIn(VERSION, said.stdout.splitlines()[0])
            (pathlib.Path(folder) / "twice.cpp").write_text(CODELET)
            said = run(prefix / "bin" / "popc", "twice.cpp", "-o", "twice.gp", cwd=folder, env=bare)
            self.assertEqual(said.returncode, 0, said.stderr)
            self.assertGreater(os.path.getsize(pathlib.Path(folder) / "twice.gp"), 1000)
            # Libraries are found from where the package lies, not in this tree.
            binaries = [path for part in ("bin/*", "lib/*.so") for path in prefix.glob(part) if path.is_file() and not path.is_symlink()]
            said = run("readelf", "-d", *binaries)
            self.assertIn("$ORIGIN", said.stdout)
            self.assertNotIn(str(BUILD), said.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
