"""A real training by DDP over gloo on this machine's cores (measured/train_here.py): captured, predicted,
compared with its own trace."""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from .common import TOP, needs_torch, program, torch

import foretrain

HERE = Path(__file__).resolve().parent / "measured"


@needs_torch
class Training(unittest.TestCase):
    """Rows were measured once; FORETRAIN_TRAIN_HERE=1 measures here and now."""

    def rows(self):
        if os.environ.get("FORETRAIN_TRAIN_HERE"):
            done = subprocess.run(
                [sys.executable, str(HERE / "train_here.py")], capture_output=True, text=True, check=True
            )
            return [json.loads(line) for line in done.stdout.splitlines()]
        return [json.loads(line) for line in (HERE / "training.jsonl").read_text().splitlines()]

    def predicted(self, row, model):
        answer = foretrain.predict(
            model=model,
            cluster=str(HERE / "cores.toml"),
            gpus=[1, row["ranks"]],
            batch=row["batch"],
            settings={
                "strategy.backend": "gloo",
                "measured.gpus": 1,
                "measured.step": f"{row['alone_s'] * 1e3} ms",
                "measured.reused_batch": True,
            },
        )
        return answer.points[1]

    def test_steps_of_a_real_training_are_within_a_tenth_of_its_trace(self):
        sys.path.insert(0, str(HERE))
        import train_here

        os.environ["FORETRAIN_PATH"] = str(TOP)
        self.addCleanup(os.environ.pop, "FORETRAIN_PATH")
        with tempfile.TemporaryDirectory() as folder:
            model = str(Path(folder) / "cnn.toml")
            recording = foretrain.capture(
                train_here.network(), train_here.batch(torch), out=model, optimizer="momentum", quiet=True
            )
            shown = subprocess.run([program(), "model", "show", model], capture_output=True, check=False)
            if shown.returncode != 0:
                self.skipTest("needs a program that reads recorded models")
            for row in self.rows():
                point = self.predicted(row, model)
                self.assertEqual(sum(point.buckets_bytes), recording.gradient_bytes)
                self.assertAlmostEqual(point.step_s / row["ddp_s"], 1, delta=0.1, msg=row)


if __name__ == "__main__":
    unittest.main()
