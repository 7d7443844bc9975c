"""The program's answers as dataclasses; the package without torch; the wheel and the single file."""
import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

from . import common
from .common import TOP, in_checkout, needs_torch, program

import foretrain


class Answers(unittest.TestCase):
    def setUp(self):
        program()
        held = os.getcwd()
        self.addCleanup(lambda: os.chdir(held))
        in_checkout()

    def test_a_prediction_has_points_and_rows(self):
        answer = foretrain.predict("mahti-resnet50-ddp", gpus=[1, 4])
        self.assertEqual([p.gpus for p in answer.points], [1, 4])
        self.assertAlmostEqual(answer.points[0].step_s, sum(answer.points[0].breakdown.values()), places=6)
        self.assertEqual(answer.rows()[1]["breakdown_compute_s"], answer.points[1].breakdown["compute_s"])
        self.assertEqual(answer.to_dict()["points"][0]["gpus"], 1)
        self.assertNotIn("raw", answer.to_dict())

    def test_the_answer_says_the_headline_and_shows_itself_in_a_notebook(self):
        made = foretrain.predict("mahti-resnet50-ddp", gpus=[1, 4])
        self.assertEqual(made.answer["verdict"], made.headline)
        self.assertEqual(made.answer["counts"], [1, 4])
        self.assertTrue(made._repr_html_().startswith(f"<p><b>{made.headline}</b></p>"))

    def test_settings_reach_the_scenario(self):
        small = foretrain.predict("mahti-resnet50-ddp", gpus="4", settings={"strategy.bucket_cap": "1MiB"})
        self.assertGreater(len(small.points[0].buckets_bytes), 10)

    def test_a_comparison_has_a_row_for_each_strategy(self):
        answer = foretrain.compare("puhti-resnet50-ddp", gpus=[4], strategies=["ddp", "horovod"])
        self.assertEqual({r["strategy"] for r in answer.rows()} >= {"ddp", "horovod"}, True)
        self.assertEqual(answer.points[0].strategies[0].runs, True)

    def test_a_collective_has_a_time_for_each_size(self):
        answer = foretrain.collective("all_reduce", cluster="puhti", gpus=4, sizes="1M,64M")
        self.assertEqual([p.bytes for p in answer.points], [1 << 20, 64 << 20])
        self.assertLess(answer.points[0].time_s, answer.points[1].time_s)

    def test_the_programs_diagnostics_are_the_error(self):
        with self.assertRaisesRegex(foretrain.ForetrainError, 'unknown scenario "no-such"'):
            foretrain.predict("no-such")

    def test_a_program_that_is_not_there_is_said(self):
        held = os.environ.get("FORETRAIN")
        os.environ["FORETRAIN"] = "/no/such/program"
        try:
            with self.assertRaisesRegex(foretrain.ForetrainError, "no program"):
                foretrain.predict("mahti-resnet50-ddp")
        finally:
            os.environ.pop("FORETRAIN")
            if held is not None:
                os.environ["FORETRAIN"] = held


class Package(unittest.TestCase):
    def test_its_version_is_the_programs(self):
        self.assertIn(f"VERSION {foretrain.__version__} ", (TOP / "CMakeLists.txt").read_text())

    def test_asking_needs_no_torch(self):
        code = (
            "import sys; sys.modules['torch'] = None; import foretrain\ntry: foretrain.capture\nexcept"
            " foretrain.ForetrainError as error: print('needs PyTorch' in str(error))"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=TOP / "python", capture_output=True, text=True, check=True
        )
        self.assertEqual(done.stdout, "True\n")

    def test_the_command_says_that_it_needs_torch(self):
        code = (
            "import sys, runpy; sys.modules['torch'] = None; sys.argv = ['foretrain', 'capture', 'a:b'];"
            " runpy.run_module('foretrain', run_name='__main__')"
        )
        done = subprocess.run([sys.executable, "-c", code], cwd=TOP / "python", capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertTrue(done.stderr.startswith("error: foretrain capture needs PyTorch"), done.stderr)

    def test_a_build_without_wheel_says_so(self):
        code = (
            "import importlib.util as util, sys, setuptools; setuptools.__version__ = '65.5.0'; find = util.find_spec;"
            " util.find_spec = lambda name, *more: None if name == 'wheel' else find(name, *more);"
            " exec(open('setup.py').read())"
        )
        done = subprocess.run([sys.executable, "-c", code], cwd=TOP / "python", capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("needs the Python package wheel", done.stderr)
        self.assertNotIn("Traceback", done.stderr)

    def test_a_wheel_is_built_without_the_net(self):
        if importlib.util.find_spec("build") is None or importlib.util.find_spec("wheel") is None:
            self.skipTest("needs build and wheel (Debian: python3-build python3-wheel)")
        import shutil

        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "python"
            shutil.copytree(
                TOP / "python", copy, ignore=shutil.ignore_patterns("__pycache__", "tests", "build")
            )
            subprocess.run(
                [sys.executable, "-m", "build", "--no-isolation", "--wheel", "-o", folder, str(copy)],
                capture_output=True,
                check=True,
            )
            wheel = next(Path(folder).glob("foretrain-*.whl"))
            names = set(zipfile.ZipFile(wheel).namelist())
            sources = {f"foretrain/{p.name}" for p in (TOP / "python/foretrain").glob("*.py")}
            self.assertLessEqual(sources | {"foretrain/py.typed"}, names)

    @needs_torch
    def test_the_single_file_records_by_itself(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(
                [sys.executable, str(TOP / "tools/one_file"), str(Path(folder) / "foretrain_capture.py")],
                check=True,
            )
            (Path(folder) / "one.py").write_text(
                "import torch\n\n\ndef example():\n    return torch.nn.LSTM(4, 3), torch.zeros(5, 2, 4),"
                " lambda out: out[0].sum()\n"
            )
            done = subprocess.run(
                [sys.executable, "foretrain_capture.py", "capture", "one:example", "--batch-dim", "1"],
                cwd=folder,
                capture_output=True,
                text=True,
                check=False,
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("f32[5,B,4]", (Path(folder) / "model.toml").read_text())

    @needs_torch
    def test_steps_are_measured_on_a_cpu_where_asked(self):
        import torch

        model = torch.nn.Linear(4, 3)
        timing = foretrain.time(model, torch.zeros(2, 4), device="cpu", steps=3, warm_up=1)
        self.assertEqual((len(timing.steps_s), timing.batch, timing.device), (3, 2, "cpu"))
        self.assertIn("[measured]\ngpus = 1\nstep = ", timing.anchor())
        if not torch.cuda.is_available():
            with self.assertRaisesRegex(foretrain.ForetrainError, "no GPU here"):
                foretrain.time(model, torch.zeros(2, 4))


if __name__ == "__main__":
    unittest.main()
