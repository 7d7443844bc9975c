"""The function runs without data: networks larger than memory, conversions, wrapping; files are read back."""
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

from . import common
from .common import TOP, needs_torch

needs_torch_2 = unittest.skipIf(
    common.torch is None or common.torch.__version__.startswith("1."), "needs PyTorch 2"
)


@needs_torch
@needs_torch_2
class Making(unittest.TestCase):
    def capture(self, code, *more, program=None):
        """What the command says and writes of a train.py."""
        with tempfile.TemporaryDirectory() as folder:
            head = "import torch\nfrom torch import nn\n"
            Path(folder, "train.py").write_text(head + textwrap.dedent(code))
            done = subprocess.run(
                [sys.executable, "-m", "foretrain", "capture", "train:example", *more],
                cwd=folder,
                env={
                    **os.environ,
                    "PYTHONPATH": str(TOP / "python"),
                    "FORETRAIN": program or "/no/program",
                },
                capture_output=True,
                text=True,
                timeout=120,
            )
            self.assertEqual([p for p in os.listdir(folder) if p.startswith(".")], [])
            path = Path(folder, "model.toml")
            return done, path.read_text() if path.exists() else None

    def test_weights_larger_than_memory_are_made_converted_and_loaded(self):
        done, content = self.capture(
            """
            def example():
                model = nn.Sequential(*(nn.Linear(1 << 17, 1 << 17, bias=False) for _ in range(8)))
                other = nn.Sequential(*(nn.Linear(1 << 17, 1 << 17, bias=False) for _ in range(8)))
                model.load_state_dict(other.state_dict(), assign=True)
                return model.half().to("cuda", torch.bfloat16).cuda(), torch.randn(2, 1 << 17).bfloat16()
            """
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("without running it", done.stderr)
        self.assertIn('size = "bf16[131072,131072]"', content)

    def test_token_ids_that_the_function_draws_keep_their_values(self):
        done, content = self.capture(
            """
            class Net(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.table, self.head = nn.Embedding(5000, 64), nn.Linear(64, 8)

                def forward(self, ids, mask):
                    if mask.all():
                        return self.head(self.table(ids)).relu()
                    return self.head(self.table(ids)).tanh()


            def example():
                with torch.device("meta"):
                    model = Net()
                return model, (torch.randint(0, 5000, (4, 32)), torch.ones(4, 32, dtype=torch.long))
            """
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("without running it", done.stderr)
        self.assertIn("aten::relu", content)
        self.assertNotIn("aten::tanh", content)

    def test_a_function_that_reads_its_weights_runs_with_data(self):
        done, content = self.capture(
            """
            def example():
                model = nn.Linear(512, 512)
                model.weight.data /= model.weight.norm().item()
                return model, torch.randn(2, 512)
            """
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("f32[512,512]", content)

    def test_a_network_larger_than_memory_that_needs_values_is_refused_and_not_tried(self):
        done, content = self.capture(
            """
            class Net(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.layers = nn.Sequential(*(nn.Linear(1 << 17, 1 << 17, bias=False) for _ in range(32)))

                def forward(self, x):
                    y = self.layers(x)
                    return y * 2 if y.sum() > 0 else y


            def example():
                return Net(), torch.randn(2, 1 << 17)
            """
        )
        self.assertEqual((done.returncode, content), (1, None))
        self.assertIn("train.py:11: return y * 2 if y.sum() > 0 else y", done.stderr)

    def test_a_file_that_the_program_refuses_is_not_left(self):
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder, "foretrain")
            said = "recorded.operators has too many entries"
            program.write_text(f'#!/bin/sh\necho "error: $3: {said}" >&2\nexit 1\n')
            program.chmod(0o755)
            done, content = self.capture(
                "def example():\n    return nn.Linear(4, 3), torch.zeros(2, 4)\n", program=str(program)
            )
        self.assertEqual((done.returncode, content), (1, None))
        self.assertIn(f"does not read the recording: error: the file: {said}", done.stderr)
        self.assertNotIn("wrote", done.stdout)

    def test_a_loop_over_time_is_read_by_the_program(self):
        done, content = self.capture(
            """
            class Loop(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.cell = nn.Linear(8, 8)

                def forward(self, x):
                    states = [self.cell(x[:, 0])]
                    for step in range(1, 300):
                        states.append(self.cell(states[-1] + x[:, step]))
                    return torch.stack(states, 1)


            def example():
                return Loop(), torch.zeros(2, 300, 8)
            """,
            program=common.program(),
        )
        self.assertEqual((done.returncode, done.stdout), (0, "wrote model.toml\n"), done.stderr)
        self.assertIn("aten::stack", content.replace("aten::cat", "aten::stack"))


if __name__ == "__main__":
    unittest.main()
