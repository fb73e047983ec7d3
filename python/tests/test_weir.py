"""The package against the program that WEIR names, or the one in PATH."""
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import weir

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
HAS_PANDAS = importlib.util.find_spec("pandas") is not None


class WithRuns(unittest.TestCase):
    """One simulation for all tests."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.dir = Path(cls.folder.name)
        cls.two = weir.run(EXAMPLES / "two-jobs.yaml", output=cls.dir / "two jobs#1.weir")

    @classmethod
    def tearDownClass(cls):
        cls.two.close()
        cls.folder.cleanup()


class Files(WithRuns):
    def test_a_run_is_complete_and_has_its_configuration(self):
        self.assertTrue(self.two.complete)
        self.assertIn("topology", self.two.config)

    def test_rows_are_dicts_by_column(self):
        jobs = {j["name"]: j for j in self.two.rows("app_stat")}
        self.assertEqual(jobs["stencil"]["ranks"], 64)
        self.assertGreater(jobs["fft"]["elapsed_ns"], 0)
        self.assertEqual(list(jobs["fft"]), self.two.columns("app_stat"))

    def test_the_summary_is_what_the_program_prints(self):
        text = weir.command(["query", self.two.path, "SELECT value FROM summary WHERE key = 'messages'", "--csv"])
        self.assertEqual(self.two.summary["messages"], int(text.split()[1]))

    def test_a_query_takes_parameters(self):
        rows = self.two.query("SELECT rank FROM rank_stat WHERE app_name = ? AND rank < ?", ("stencil", 3))
        self.assertEqual([r["rank"] for r in rows], [0, 1, 2])

    def test_nothing_can_be_changed(self):
        with self.assertRaises(weir.Error):
            self.two.query("DELETE FROM meta")

    def test_an_unknown_view_is_named_with_those_there_are(self):
        with self.assertRaisesRegex(weir.Error, "app_stat"):
            self.two.rows("app_stats")

    def test_what_is_no_run_file_is_refused(self):
        other = self.dir / "other.weir"
        other.write_text("no database")
        with self.assertRaisesRegex(weir.Error, "not a run file"):
            weir.open(other)
        with self.assertRaisesRegex(weir.Error, "no such file"):
            weir.open(self.dir / "missing.weir")

    @unittest.skipUnless(HAS_PANDAS, "pandas is not installed")
    def test_a_frame_has_the_rows(self):
        self.assertEqual(len(self.two.frame("rank_stat")), 128)
        self.assertEqual(len(self.two.frame("SELECT rank FROM rank_stat WHERE rank = 0")), 2)

    @unittest.skipIf(HAS_PANDAS, "pandas is installed")
    def test_without_pandas_a_frame_says_what_to_do(self):
        with self.assertRaisesRegex(weir.Error, "pandas"):
            self.two.frame("rank_stat")


class Programs(WithRuns):
    def test_settings_reach_the_configuration(self):
        with weir.run(EXAMPLES / "two-jobs.yaml", settings={"seed": 7, "slice": "20 us"}, output=self.dir / "seven.weir") as r:
            self.assertEqual(r.meta["seed"], "7")
            self.assertTrue(r.series("bytes_arrived"))

    def test_a_fault_is_raised_with_message_and_status(self):
        with self.assertRaisesRegex(weir.Error, "routing") as caught:
            weir.run(EXAMPLES / "two-jobs.yaml", settings={"machine.routing": "none"}, output=self.dir / "no.weir")
        self.assertEqual(caught.exception.status, 2)

    def test_an_existing_file_stays_unless_forced(self):
        with self.assertRaises(weir.Error):
            weir.run(EXAMPLES / "two-jobs.yaml", output=self.two.path)
        weir.run(EXAMPLES / "two-jobs.yaml", output=self.dir / "again.weir").close()
        weir.run(EXAMPLES / "two-jobs.yaml", output=self.dir / "again.weir", force=True).close()

    def test_a_sweep_has_a_row_for_each_point(self):
        with weir.sweep(EXAMPLES / "two-racks.yaml", loads=["5%", "10%"], output=self.dir / "sweep.weir") as r:
            self.assertEqual([round(p["load"], 2) for p in r.rows("sweep")], [0.05, 0.10])

    def test_a_study_has_the_choices_of_each_run(self):
        spec = (EXAMPLES / "studies/placements.yaml").read_text().replace("../apps", str(EXAMPLES / "apps"))
        small = self.dir / "small.yaml"
        small.write_text(spec.replace("values: [minimal, par]", "values: [minimal]"))
        with weir.study(small, self.dir / "small") as s:
            self.assertEqual(len(s.runs), 6)
            rows = [r for r in s.rows("app_stat") if r["workload"] == "both" and r["placement"] == "random"]
            self.assertEqual({r["name"] for r in rows}, {"stencil", "fft"})

    def test_a_report_is_data(self):
        self.assertIn("jobs", [s["id"] for s in weir.report(self.two)["sections"]])

    def test_json_of_a_verb_is_parsed(self):
        self.assertTrue(weir.command_json(["dev", "nvme"]))


class Package(unittest.TestCase):
    @unittest.skipUnless(importlib.util.find_spec("pip"), "pip is not installed")
    def test_pip_installs_it_with_the_version_of_the_program(self):
        with tempfile.TemporaryDirectory() as scratch:
            shutil.copytree(ROOT / "python", Path(scratch) / "python", ignore=shutil.ignore_patterns("__pycache__"))
            shutil.copy(ROOT / "CMakeLists.txt", scratch)
            subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps",
                            "--target", scratch + "/to", scratch + "/python"], check=True, capture_output=True,
                           env={**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"})
            out = subprocess.run([sys.executable, "-c", "import weir; print(weir.__file__)"], check=True, capture_output=True,
                                 text=True, env={**os.environ, "PYTHONPATH": scratch + "/to"}).stdout
            self.assertTrue(out.startswith(scratch), out)
            version = weir.command(["version"]).split()[1]
            self.assertTrue(list(Path(scratch, "to").glob("weir-%s.dist-info" % version)), version)


if __name__ == "__main__":
    unittest.main()
