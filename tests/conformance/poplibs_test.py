"""How the runner of PopLibs reads ctest: which tests there are, whose they are, and what became of them."""
import pathlib
import tempfile
import types
import unittest
import unittest.mock
import xml.etree.ElementTree

from poplibs import (LIBRARIES, NOT_THERE, RELEASES, add_passing, arguments, as_installed, forget_codelets, forget_stale, judge, outcome_of, parts_of, programs_of,
                     read_tests, short, tenth, variant_of, wanted)

LISTING = {
    "backtraceGraph": {"files": ["/x/tests/popops/CMakeLists.txt", "/x/tests/popnn/codelets/CMakeLists.txt", "/x/tests/CMakeLists.txt"],
                       "nodes": [{"file": 0}, {"file": 2, "parent": 0}, {"file": 1}, {"file": 2}]},
    "tests": [{"name": "IpuModel2_default_a", "backtrace": 1, "properties": [{"name": "LABELS", "value": ["popops"]}]},
              {"name": "IpuModel2_default_b_benchmark", "backtrace": 0, "properties": [{"name": "LABELS", "value": ["benchmarks", "python3"]}]},
              {"name": "Cpu_default_c", "backtrace": 2},
              {"name": "d", "backtrace": 3},
              {"name": "IpuModel2_default_e", "backtrace": 0, "properties": [{"name": "DISABLED", "value": True}]},
              {"name": "IpuModel2_default_f", "backtrace": 0, "properties": [{"name": "DISABLED", "value": False}]}],
}


def case(text):
    return outcome_of(xml.etree.ElementTree.fromstring(text))


class Tests(unittest.TestCase):
    def test_a_test_is_its_outermost_folders(self):
        self.assertEqual(read_tests(LISTING), {"popops": [(1, "IpuModel2_default_a"), (6, "IpuModel2_default_f")], "popnn": [(3, "Cpu_default_c")]})

    def test_variants(self):
        self.assertEqual([variant_of(n) for n in ("Cpu_default_c", "IpuModel2_default_a", "NoTarget_default_x", "popsolver_Div")],
                         ["Cpu", "IpuModel2", "NoTarget", "NoTarget"])

    def test_names_are_those_of_any_machine(self):
        for name, shorter in {"Api-/usr/bin/c++": "Api-c++", "Api-c++": "Api-c++", "Cpu_default_a_{1,2}": "Cpu_default_a_{1,2}", "b-1/2": "b-1/2"}.items():
            self.assertEqual(short(name), shorter)

    def test_with_our_libraries_theirs_are_not_built(self):
        self.assertEqual(parts_of(LIBRARIES["poputil"], ours=True), ["tests/poputil/all"])
        self.assertEqual(parts_of(RELEASES[0].libraries["popsolver"], ours=True), RELEASES[0].libraries["popsolver"])
        self.assertEqual(parts_of(LIBRARIES["popops"], ours=False), LIBRARIES["popops"])
        self.assertNotIn("lib/popnn/popnn.gp", parts_of(LIBRARIES["popops"], ours=True))

    def test_programs_are_those_that_commands_name(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "tests").mkdir()
            (pathlib.Path(folder) / "tests/CTestTestfile.cmake").write_text(
                f'# add_test(no "{folder}/no")\n'
                f'add_test(a_{{x,y}} "{folder}/tools/a" "--n" "{{\n  \\"n\\": (1)\n}}")\nset_tests_properties(a_{{x,y}} PROPERTIES LABELS "z")\n'
                f'add_test([=[b c]=] "/usr/bin/python3" "/from/bench.py" "{folder}/tools/b")\nadd_test(d NOT_AVAILABLE)\n')
            self.assertEqual(programs_of(pathlib.Path(folder)), {"a_{x,y}": ["tools/a"], "b c": ["tools/b"]})

    def test_another_popc_or_header_compiles_codelets_again(self):
        with tempfile.TemporaryDirectory() as folder:
            work, prefix = pathlib.Path(folder) / "work", pathlib.Path(folder) / "prefix"
            codelets, popc, header = work / "build/lib/popops/popops.gp", prefix / "bin/popc", prefix / "include/poplar/Vertex.hpp"
            for file in (codelets, popc, header):
                file.parent.mkdir(parents=True)
            for changed in (popc, header):
                for file in (codelets, popc, header):
                    file.touch()
                forget_codelets(work, prefix)
                codelets.touch()
                forget_codelets(work, prefix)
                self.assertTrue(codelets.exists())
                changed.write_text("another")
                forget_codelets(work, prefix)
                self.assertFalse(codelets.exists())

    def test_codelets_of_other_libraries_are_built_for_one_alone(self):
        for library in ("poputil", "popops", "poprand", "poplin", "popnn", "popfloat"):
            built = wanted(LIBRARIES[library], ["a"], {}, quick=False, ours=False)
            self.assertTrue(library == "popops" or "lib/popops/popops.gp" in built, library)
            self.assertIn(f"lib/{library}/all", built)

    def test_quick_builds_what_its_tests_run(self):
        programs = {"a": ["tools/x"], "b": ["tools/y"], "c": ["tools/x"]}
        self.assertEqual(wanted(LIBRARIES["poplin"], ["c", "a"], programs, quick=True, ours=False),
                         ["lib/poplin/all", "lib/popops/popops.gp", "lib/poprand/poprand.gp", "tools/x"])
        self.assertEqual(wanted(LIBRARIES["poplin"], ["a", "b"], programs, quick=False, ours=True), ["tests/poplin/all", "tools/x", "tools/y"])
        self.assertEqual(wanted(LIBRARIES["popfloat"], [], programs, quick=True, ours=False), [])

    def test_a_new_header_of_ours_makes_all_of_the_build_stale(self):
        with tempfile.TemporaryDirectory() as folder:
            work, include = pathlib.Path(folder), pathlib.Path(folder) / "include"
            (include / "popops").mkdir(parents=True)
            (include / "popops/a.hpp").touch()
            for header, is_kept in (("popops/a.hpp", False), ("popops/a.hpp", True), ("popops/b.hpp", False), ("popops/b.hpp", True)):
                (include / header).touch()
                (work / "build").mkdir(exist_ok=True)
                forget_stale(work, include)
                self.assertEqual((work / "build").exists(), is_kept)

    def test_compilers_find_the_build_as_if_it_were_installed(self):
        with tempfile.TemporaryDirectory() as folder:
            work = pathlib.Path(folder)
            for library in ("lib/popops/libpopops.so", "lib/poputil/libpoputil.so", "lib/popsolver/notes.txt"):
                (work / "build" / library).parent.mkdir(parents=True)
                (work / "build" / library).touch()
            found = as_installed({"CPATH": "/p/include", "PATH": "/p/bin"}, pathlib.Path("/x"), work)
            libraries = f"{folder}/build/lib/popops:{folder}/build/lib/poputil"
            self.assertEqual(found, {"CPATH": "/p/include:/x/include", "PATH": "/p/bin", "LIBRARY_PATH": libraries, "LD_RUN_PATH": libraries})

    def test_a_tenth(self):
        self.assertEqual(tenth({f"{i:02}" for i in range(25)}), {"00", "10", "20"})


class Releases(unittest.TestCase):
    def options(self, mark, *more):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / mark).parent.mkdir(parents=True)
            (pathlib.Path(folder) / mark).touch()
            return arguments(["--from", folder, "--prefix", "p", "--work", folder, *more])

    def test_its_files_tell_which_release_it_is(self):
        for release in RELEASES:
            options = self.options(release.mark)
            self.assertEqual((options.release, options.libraries), (release, list(release.libraries)))
            self.assertEqual(options.work.name if release.folder else "", release.folder)
            self.assertTrue(release.list_of("expected").exists() and release.list_of("reasons").exists())
        with self.assertRaisesRegex(SystemExit, "not a checkout of PopLibs that is known: sdk-release-2.0 has include/popsolver"):
            self.options("include/other/x.hpp")

    def test_a_library_is_one_of_the_release(self):
        self.assertEqual(self.options(RELEASES[0].mark, "--libraries", "popsolver,popops").libraries, ["popsolver", "popops"])
        with self.assertRaisesRegex(SystemExit, "unknown libraries: popsolver; sdk-release-3.4 has poplibs_support"):
            self.options(RELEASES[1].mark, "--libraries", "popsolver,popops")

    def test_our_libraries_need_a_list(self):
        for release in RELEASES:
            self.assertEqual(self.options(release.mark, "--libs", "ours").work.name, "ours")
        with unittest.mock.patch.object(RELEASES[1], "stem", "no_such_list"):
            with self.assertRaisesRegex(SystemExit, "no list of what passes of sdk-release-3.4"):
                self.options(RELEASES[1].mark, "--libs", "ours")


class Outcomes(unittest.TestCase):
    def test_a_pass(self):
        self.assertIsNone(case('<testcase name="a" status="run"><system-out>error: not really</system-out></testcase>'))

    def test_a_failure_names_its_first_telling_line(self):
        self.assertEqual(case('<testcase name="a" status="fail"><failure message="Failed"/><system-out>hello\n  x: error: y\nz</system-out></testcase>'),
                         "Failed: x: error: y")

    def test_a_missing_program_is_no_pass(self):
        self.assertIn("is not there", case('<testcase name="a" status="notrun"><skipped message="Unable to find executable"/></testcase>'))

    def test_what_has_no_known_status_is_no_pass(self):
        self.assertEqual(case('<testcase name="a" status="odd"/>'), "fails: ")


class Listing(unittest.TestCase):
    def test_it_only_grows_and_keeps_its_comments(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "list"
            file.write_text("# What passes.\nb/1\n")
            add_passing(file, {"b/1": "fails", "a/2": None, "c/3": "fails"})
            self.assertEqual(file.read_text(), "# What passes.\na/2\nb/1\n")


class Judgement(unittest.TestCase):
    options = types.SimpleNamespace(libs="theirs", quick=False, release=RELEASES[0])

    def status(self, results, expected):
        return judge(results, expected, ("popnone/",), self.options)[1]

    def test_a_failure_without_a_reason_is_an_error(self):
        self.assertEqual(self.status({"popnone/a": None, "popnone/b": "fails"}, {"popnone/a"}), 1)

    def test_what_was_not_built_or_never_listed_is_counted(self):
        self.assertEqual(self.status({"popnone/a": None, "popnone/b": NOT_THERE}, {"popnone/a"}), 0)
        self.assertEqual(self.status({"popnone/a": None, "popnone/b": "fails"}, set()), 0)

    def test_with_our_libraries_what_was_not_built_needs_its_reason(self):
        ours = types.SimpleNamespace(libs="ours", quick=False, release=RELEASES[0])
        results = {"popops/a": None, "popops/b": NOT_THERE, "other/c": "fails"}
        self.assertEqual(judge(results, {"popops/a"}, ("popnone/",), ours)[1], 1)
        reason = ("poplin/IpuModel2_default_ConvPlanTest", "poplin/a")
        self.assertEqual(judge({reason[0]: NOT_THERE, reason[1]: None}, {reason[1]}, (reason[0],), ours)[1], 0)

    def test_an_expected_one_must_pass(self):
        self.assertEqual(self.status({"popnone/a": NOT_THERE}, {"popnone/a"}), 1)


if __name__ == "__main__":
    unittest.main()
