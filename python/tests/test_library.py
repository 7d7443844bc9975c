"""The simulator in the process: what each function answers, threads, errors; and a wheel that works alone."""
import json
import os
import subprocess
import sys
import tempfile
import threading
import unittest
import venv
from pathlib import Path

from .common import TOP, in_checkout

import foretrain
from foretrain import library

BUILT = TOP / "build/release/library/lib/libforetrain.so"
PROGRAM = TOP / "build/release/foretrain"
JOBS = "docs/tutorials/jobs"
SWEEP = """scenario = "workshop-mnist-ddp"
[axes]
batch = [64, 128]
gpus = [1, 2]
"""


class InProcess(unittest.TestCase):
    def setUp(self):
        if not BUILT.is_file():
            self.skipTest("needs the library: ninja -C build/release foretrain_python")
        held = os.getcwd()
        self.addCleanup(lambda: os.chdir(held))
        in_checkout()
        for name, value in (("FORETRAIN_LIBRARY", str(BUILT)), ("XDG_DATA_HOME", "/no/folder")):
            before = os.environ.get(name)
            self.addCleanup(lambda n=name, b=before: os.environ.__setitem__(n, b) if b is not None else os.environ.pop(n, None))
            os.environ[name] = value
        library._opened.clear()
        self.addCleanup(library._opened.clear)


class Library(InProcess):
    def test_a_command_prints_into_the_result_what_the_program_prints(self):
        for words in (["predict", "mahti-resnet50-ddp", "--gpus", "1,4"], ["list", "models"], ["predict", "--help"], ["--version"]):
            program = subprocess.run([str(PROGRAM), *words], capture_output=True, text=True, check=True)
            self.assertEqual(foretrain.run(words), (0, program.stdout, program.stderr))

    def test_nothing_is_printed(self):
        code = "import foretrain; foretrain.predict('mahti-resnet50-ddp', gpus=4); foretrain.topology('puhti')"
        done = subprocess.run([sys.executable, "-c", code], cwd=TOP / "python", capture_output=True, check=True)
        self.assertEqual((done.stdout, done.stderr), (b"", b""))

    def test_mistakes_are_exceptions_with_the_diagnostics(self):
        with self.assertRaises(foretrain.InputError) as raised:
            foretrain.predict(model="resnet5", cluster="mahti", gpus=1)
        self.assertIn("resnet50", str(raised.exception))
        with self.assertRaisesRegex(foretrain.UsageError, "no option --gpu-s"):
            foretrain.predict("mahti-resnet50-ddp", gpu_s=1)
        with self.assertRaisesRegex(foretrain.EnvironmentError, "cannot be written|No such file|no folder"):
            foretrain.predict("mahti-resnet50-ddp", gpus=1, html="/no/folder/page.html")
        with self.assertRaisesRegex(foretrain.ForetrainError, "NUL"):
            foretrain.predict("a\0b")

    def test_what_needs_a_process_of_its_own_is_refused(self):
        for words in (["serve"], ["mcp"], ["record", "--", "python3", "x.py"], ["calibrate", "run"]):
            done = foretrain.run(words)
            self.assertEqual((done.exit_code, done.output), (3, ""), words)
            self.assertIn("needs a process of its own", done.messages)

    def test_a_file_may_be_written_after_it_was_read_by_another_call(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "mine.toml")
            file.write_text((TOP / "scenarios/mahti-resnet50-ddp.toml").read_text())
            foretrain.predict(str(file), gpus=1)
            done = foretrain.run(["predict", "mahti-resnet50-ddp", "--gpus", "1", "-o", str(file)])
            self.assertEqual(done.exit_code, 0, done.messages)
            self.assertEqual(foretrain.run(["predict", str(file), "-o", str(file)]).exit_code, 1)

    def test_threads_answer_at_the_same_time_and_alike(self):
        alone = {gpus: foretrain.predict("mahti-resnet50-ddp", gpus=gpus).raw for gpus in (1, 2, 4, 8)}
        together, wrong = {}, []

        def ask(gpus):
            for _ in range(5):
                together[gpus] = foretrain.predict("mahti-resnet50-ddp", gpus=gpus).raw
                try:
                    foretrain.predict(f"no-{gpus}")
                except foretrain.InputError as error:
                    if f'"no-{gpus}"' not in str(error):
                        wrong.append(str(error))

        threads = [threading.Thread(target=ask, args=(gpus,)) for gpus in alone]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(together, alone)
        self.assertEqual(wrong, [])

    def test_other_threads_run_while_the_simulator_works(self):
        counted, done = [0], threading.Event()

        def count():
            while not done.is_set():
                counted[0] += 1

        counter = threading.Thread(target=count)
        counter.start()
        before = counted[0]
        library.library().run(["plan", "--model", "llama3_8b", "--cluster", "mahti", "--gpus", "32", "--format", "json"])
        after = counted[0]
        done.set()
        counter.join()
        self.assertGreater(after - before, 100)


class Answers(InProcess):
    def test_plans(self):
        one = foretrain.plan(model="llama3_8b", cluster="mahti", gpus=32)
        self.assertIsInstance(one, foretrain.Plan)
        self.assertLessEqual(one.layouts[0].step_s, one.layouts[-1].step_s)
        self.assertIn("<table>", one._repr_html_())
        several = foretrain.plan(model="llama3_8b", cluster="mahti", gpus=[16, 32])
        self.assertEqual([one.gpus for one in several.counts], [16, 32])
        self.assertEqual(several.counts[0].plan.layouts[0].layout, several.raw["counts"][0]["plan"]["layouts"][0]["layout"])

    def test_a_recommendation(self):
        self.assertIsNotNone(foretrain.recommend("mahti-resnet50-ddp", gpus=[1, 4]).recommendation)

    def test_a_search(self):
        best = foretrain.tune("mahti-resnet50-ddp", gpus=8, over=["bucket_cap", "workers"]).best
        self.assertIn("strategy.bucket_cap", best["settings"])

    def test_a_sweep_is_a_table(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "sweep.toml").write_text(SWEEP)
            made = foretrain.sweep(f"{folder}/sweep.toml", f"{folder}/rows.sqlite", best="total_s")
            again = foretrain.sweep(f"{folder}/sweep.toml", f"{folder}/rows.sqlite", best="total_s")
        try:
            import pandas
        except ImportError:
            self.assertEqual(len(made.rows()), 4)
            self.assertEqual(made.rows(), again.rows())
        else:
            self.assertIsInstance(made, pandas.DataFrame)
            self.assertEqual(len(made), 4)
            self.assertTrue(made.equals(again))

    def test_a_job_is_checked_and_explained(self):
        checked = foretrain.check(f"{JOBS}/too_many.sbatch")
        self.assertFalse(checked.can_start)
        self.assertTrue(checked.rows())
        with self.assertRaisesRegex(AttributeError, "can_start"):
            checked.no_such_key
        explained = foretrain.explain("docs/tutorials/accounting/seff.txt")
        self.assertTrue(explained.raw["schema"].startswith("foretrain.explanation"))

    def test_every_answer_says_its_verdict_and_draws_a_chart(self):
        for made in (
            foretrain.predict("mahti-resnet50-ddp", gpus=[1, 4]),
            foretrain.compare("puhti-resnet50-ddp", gpus=4, strategies=["ddp", "horovod"]),
            foretrain.plan(model="llama3_8b", cluster="mahti", gpus=32),
            foretrain.collective("all_reduce", cluster="puhti", gpus=4, sizes="1M,64M"),
        ):
            self.assertLess(len(repr(made)), 400)
            self.assertIn("\n", str(made))
            self.assertIn("</svg>", made.chart().svg)
            self.assertEqual(len(made.table()), len(made.rows()))

    def test_runs_are_validated(self):
        made = foretrain.validate("docs/measured/puhti.csv")
        self.assertEqual(len(made.rows()), made.scored)
        self.assertIn("the median error is", repr(made))

    def test_texts(self):
        self.assertIn("puhti", foretrain.topology("puhti"))
        self.assertIn("&", foretrain.Text("a & b")._repr_html_())
        self.assertTrue(foretrain.evidence("list"))

    def test_html_is_escaped(self):
        made = foretrain.predict("mahti-resnet50-ddp", gpus=1)
        made.raw["answer"]["verdict"] = "<script>"
        self.assertNotIn("<script>", made._repr_html_())

    def test_every_declared_answer_is_whole_as_a_dict(self):
        for made in (
            foretrain.compare("puhti-resnet50-ddp", gpus=4, strategies=["ddp", "horovod"]),
            foretrain.collective("all_reduce", cluster="puhti", gpus=4, sizes="1M"),
            foretrain.compare("mahti-resnet50-ddp", clusters=["mahti", "puhti"], gpus=4),
        ):
            json.dumps(made.to_dict())
            self.assertTrue(made._repr_html_())


class Wheel(unittest.TestCase):
    def test_it_answers_alone(self):
        if not BUILT.is_file():
            self.skipTest("needs the library: ninja -C build/release foretrain_python")
        with tempfile.TemporaryDirectory() as folder:
            venv.create(f"{folder}/env", with_pip=True)
            python = f"{folder}/env/bin/python"
            made = subprocess.run([python, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, str(TOP / "python")], capture_output=True, text=True)
            if made.returncode != 0 and "setuptools" in made.stderr and "No matching" in made.stderr:
                self.skipTest("needs the Python package index, for setuptools")
            self.assertEqual(made.returncode, 0, made.stderr)
            wheel = next(Path(folder).glob("*.whl"))
            self.assertRegex(wheel.name, r"^foretrain-[\d.]+-py3-none-.*linux_\w+\.whl$")
            subprocess.run([python, "-m", "pip", "install", "-q", "--no-index", str(wheel)], check=True, capture_output=True)
            alone = {"PATH": "/usr/bin:/bin"}
            code = "import foretrain; print(foretrain.predict(model='resnet50', cluster='puhti', gpus=[1, 4]).headline)"
            asked = subprocess.run([python, "-c", code], cwd=folder, env=alone, capture_output=True, text=True)
            self.assertEqual(asked.returncode, 0, asked.stderr)
            self.assertIn("GPU", asked.stdout)
            program = f"{folder}/env/bin/foretrain"
            said = subprocess.run([program, "predict", "mahti-resnet50-ddp", "--gpus", "1,4"], cwd=folder, env=alone, capture_output=True, text=True)
            self.assertEqual(said.returncode, 0, said.stderr)
            self.assertEqual(subprocess.run([program, "predict", "no-such"], cwd=folder, env=alone, capture_output=True).returncode, 1)


if __name__ == "__main__":
    unittest.main()
