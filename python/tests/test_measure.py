"""Measured steps on the CPU: what is kept, what an interruption loses, what a mistake says."""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PYTHON = Path(__file__).resolve().parents[1]


def measure(*arguments, **environment):
    """Runs `python -m foretrain measure …`."""
    return subprocess.run(
        [sys.executable, "-m", "foretrain", "measure", *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONPATH": str(PYTHON), **environment},
    )


def rows(path):
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


class MeasuredSteps(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()

    def steps(self, networks="perceptron_small", budget="60", **environment):
        return measure(
            "steps", "--folder", self.folder, "--device", "cpu", "--networks", networks, "--budget", budget, "--traces", "--loader", "0", **environment
        )

    def test_each_configuration_is_a_row_with_time_memory_and_kernels(self):
        done = self.steps()
        self.assertEqual(done.returncode, 0, done.stderr)
        steps = rows(f"{self.folder}/steps.jsonl")
        self.assertEqual(
            [(row["precision"], row["batch"]) for row in steps],
            [("fp32", 16), ("bf16", 16), ("pure_bf16", 16), ("fp32", 64)],
        )
        for row in steps:
            self.assertIsNone(row["error"])
            self.assertGreater(row["step_s"], 0)
            self.assertGreaterEqual(row["steps"], 6)
        parameters = 2 * (128 * 128 + 128) + 128 * 10 + 10
        self.assertEqual(steps[0]["memory"]["parameters"], 4 * parameters)
        self.assertEqual(steps[2]["memory"]["parameters"], 2 * parameters)
        self.assertGreaterEqual(steps[0]["memory"]["optimizer"], 8 * parameters)
        summed = measure("kernels", "--folder", self.folder)
        self.assertEqual((summed.returncode, summed.stdout), (0, ""), summed.stderr)
        kernels = rows(f"{self.folder}/kernels.jsonl")
        self.assertIn("matrix_product", {row["kind"] for row in kernels})
        self.assertIn("optimizer", {row["kind"] for row in kernels})

    def test_what_is_measured_is_not_measured_again_and_half_a_line_is_cut_off(self):
        self.assertEqual(self.steps().returncode, 0)
        path = Path(self.folder) / "steps.jsonl"
        whole = path.read_text().splitlines(keepends=True)
        path.write_text("".join(whole[:2]) + whole[2][:40])
        self.assertEqual(self.steps().returncode, 0)
        again = path.read_text().splitlines(keepends=True)
        self.assertEqual(again[:2], whole[:2])
        self.assertEqual(len(again), len(whole))
        third = self.steps()
        self.assertIn("0 configurations measured", third.stdout)

    def broken(self, code):
        """The environment in which the measuring process runs `code` first."""
        Path(self.folder, "breaks.py").write_text(code)
        Path(self.folder, "sitecustomize.py").write_text(
            "import sys\nif 'measure.worker' in ' '.join(sys.orig_argv): import breaks\n"
        )
        return {"PYTHONPATH": f"{self.folder}:{PYTHON}"}

    def test_a_process_that_dies_loses_its_configuration_alone(self):
        code = (
            "import os, foretrain.measure.stepping as s\n"
            "plain = s.measured\n"
            "def dies(step):\n"
            "    if step.way.precision == 'bf16': os._exit(9)\n"
            "    return plain(step)\n"
            "s.measured = dies\n"
        )
        done = self.steps("perceptron_small,encoder_small", **self.broken(code))
        self.assertEqual(done.returncode, 0, done.stderr)
        steps = rows(f"{self.folder}/steps.jsonl")
        self.assertEqual([row["error"] is None for row in steps][:2], [True, False])
        self.assertIn("the process died", steps[1]["error"])
        self.assertEqual(steps[-1]["network"], "encoder_small")
        self.assertIsNone(steps[-1]["error"])

    def test_memory_that_runs_out_and_a_hang_lose_their_configuration_alone(self):
        code = (
            "import time, foretrain.measure.stepping as s\n"
            "plain = s.measured\n"
            "def fails(step):\n"
            "    if step.way.precision == 'bf16': raise RuntimeError('CUDA out of memory. Tried to allocate')\n"
            "    if step.network.name == 'encoder_small': time.sleep(1000)\n"
            "    return plain(step)\n"
            "s.measured = fails\n"
        )
        done = self.steps("perceptron_small,encoder_small,unet2d_small", "45", **self.broken(code))
        self.assertEqual(done.returncode, 0, done.stderr)
        told = {(row["network"], row["precision"], row["batch"]): row["error"] for row in rows(f"{self.folder}/steps.jsonl")}
        self.assertEqual(told["perceptron_small", "bf16", 16], "out of memory")
        self.assertIsNone(told["perceptron_small", "pure_bf16", 16])
        self.assertIn("not done in its time", told["encoder_small", "fp32", 4])

    def test_where_forks_cannot_use_the_gpu_each_network_has_a_process(self):
        code = (
            "import os, foretrain.measure.stepping as s\n"
            "first, plain = os.getpid(), s.Step.__init__\n"
            "def made(self, *arguments):\n"
            "    if os.getpid() != first: raise RuntimeError('Cannot re-initialize CUDA in forked subprocess')\n"
            "    plain(self, *arguments)\n"
            "s.Step.__init__ = made\n"
        )
        done = self.steps("perceptron_small,unet2d_small", **self.broken(code))
        self.assertEqual(done.returncode, 0, done.stderr)
        steps = rows(f"{self.folder}/steps.jsonl")
        self.assertEqual([row["network"] for row in steps], ["perceptron_small"] * 4 + ["unet2d_small"])
        self.assertEqual([row["error"] for row in steps], [None] * 5)

    def test_the_networks_are_recorded_as_model_files(self):
        self.assertEqual(self.steps(networks="perceptron_small,unet2d_small").returncode, 0)
        done = measure("capture", "--folder", self.folder, "--budget", "120")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, "")
        made = sorted(os.listdir(f"{self.folder}/networks"))
        self.assertEqual(
            made,
            ["perceptron_small.toml", "perceptron_small_amp_bf16.toml", "perceptron_small_bf16.toml", "unet2d_small.toml"],
        )

    def test_the_wheel_has_every_package(self):
        named = (PYTHON / "pyproject.toml").read_text().split("packages = [", 1)[1].split("]", 1)[0]
        for init in PYTHON.glob("foretrain/**/__init__.py"):
            package = ".".join(init.parent.relative_to(PYTHON).parts)
            self.assertIn(f'"{package}"', named)

    def test_mistakes_are_sentences(self):
        unknown = self.steps(networks="resnet5000")
        self.assertEqual(unknown.returncode, 1)
        self.assertIn("no network 'resnet5000'", unknown.stderr)
        nowhere = measure("steps", "--folder", f"{self.folder}/none", "--device", "cpu", "--networks", "perceptron_small")
        self.assertEqual(nowhere.returncode, 3)
        self.assertIn("No such file or directory", nowhere.stderr)
        import torch

        if not torch.cuda.is_available():
            none = measure("steps", "--folder", self.folder, "--device", "cuda")
            self.assertEqual(none.returncode, 1)
            self.assertIn("PyTorch sees no GPU here", none.stderr)

    def test_what_the_machine_is_names_nobody(self):
        path = f"{self.folder}/about.json"
        self.assertEqual(measure("about", "-o", path).returncode, 0)
        told = json.loads(Path(path).read_text())
        self.assertIn("torch", told)
        import getpass
        import socket

        text = Path(path).read_text()
        for word in (socket.gethostname(), os.path.expanduser("~"), getpass.getuser()):
            if len(word) > 4:
                self.assertNotIn(word, text)


if __name__ == "__main__":
    unittest.main()
