"""What PyTorch sends now, recorded anew, beside what foretrain's own strategy sends."""

import os
import subprocess
import sys
import tempfile
import unittest

try:
    import tomllib
except ImportError:
    tomllib = None
try:
    import torch
except ImportError:
    torch = None

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BINARY = os.environ.get("FORETRAIN_BIN", os.path.join(ROOT, "build", "release", "foretrain"))
SCRIPT = os.path.join(ROOT, "python", "tests", "scripts", "fsdp2.py")
# The network of that script.
NETWORK = """input = [16]
input_is_tokens = true
layers = [
  { type = "embedding", entries = 1000, out = 256 },
  { type = "block", block = "layer", repeat = 4, name = "layers" },
  { type = "linear", out = 1000, bias = false },
  { type = "loss" },
]

[blocks.layer]
layers = [
  { type = "add", branches = [[{ type = "attention", heads = 4, projection = "packed" }], []] },
  { type = "layer_norm" },
  { type = "add", branches = [[{ type = "linear", out = 1024 }, { type = "relu" }, { type = "linear", out = 256 }], []] },
  { type = "layer_norm" },
]
"""


def messages(path):
    with open(path, "rb") as file:
        rows = tomllib.load(file)["program"]["ranks"][0]["operators"]
    return [(row["collective"], row["bytes"], row.get("type")) for row in rows if "collective" in row]


@unittest.skipIf(torch is None or int(torch.__version__.split(".")[0]) < 2, "needs PyTorch 2")
@unittest.skipIf(tomllib is None, "needs Python 3.11")
@unittest.skipIf(not os.path.exists(BINARY), "needs foretrain (make build)")
class Fsdp2(unittest.TestCase):
    def test_our_fsdp2_sends_what_pytorch_sends(self):
        with tempfile.TemporaryDirectory() as folder:
            recorded, network, sent = (os.path.join(folder, name) for name in ("recorded.toml", "net.toml", "sent.toml"))
            environment = {**os.environ, "PYTHONPATH": os.path.join(ROOT, "python"), "FORETRAIN_PATH": ROOT}
            ran = subprocess.run([sys.executable, "-m", "foretrain", "record", "-o", recorded, "--", "torchrun",
                                  "--nproc-per-node", "8", SCRIPT], env=environment, capture_output=True, text=True, check=False)
            self.assertEqual(ran.returncode, 0, ran.stderr[-2000:])
            with open(network, "w", encoding="utf-8") as file:
                file.write(NETWORK)
            subprocess.run([BINARY, "predict", "--model", network, "--cluster", "dgx-a100-80gb", "--gpus", "8", "--batch", "2",
                            "--strategy", "fsdp2", "--precision", "bf16", "--set", "model.half_weights=true",
                            "--set", "strategy.reduce_dtype=fp32", "--program-out", sent, "-o", os.path.join(folder, "report")],
                           env=environment, check=True)
            theirs = [m for m in messages(recorded) if m[0] in ("all_gather", "reduce_scatter")]
            self.assertEqual(theirs, messages(sent))


if __name__ == "__main__":
    unittest.main()
