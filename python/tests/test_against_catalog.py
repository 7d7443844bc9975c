"""Recorded networks against those of the catalog, which were compared operator by operator with traces: the
program's answers for both are held side by side, and printed as the table of docs/models/networks.md."""
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from . import common
from .common import needs_torch, needs_torchvision, record

if common.torch is not None:
    import torch
    import torch.nn.functional as F

    from . import networks

    class ShiftedAsHuggingFaceDoes(networks.GPT2):
        """Its logits are cut by `...`, which makes one view less than naming every dimension."""

        def forward(self, ids, labels):
            logits = self.lm_head(self.transformer(ids))
            ahead, wanted = logits[..., :-1, :].contiguous(), labels[..., 1:].contiguous()
            return F.cross_entropy(ahead.view(-1, ahead.shape[-1]), wanted.view(-1))


CLUSTERS = {"puhti": "V100, InfiniBand", "juwels-booster": "A100, InfiniBand"}


def ask(*words):
    """What the program answers, as JSON."""
    from foretrain.library import find_program

    run = subprocess.run([find_program(), *words, "--format", "json"], capture_output=True, text=True)
    if run.returncode != 0:
        raise AssertionError(run.stderr)
    return json.loads(run.stdout)


@needs_torch
class AgainstCatalog(unittest.TestCase):
    def predicted(self, model, cluster, precision):
        """Milliseconds of a step on 1 and 8 GPUs, and the sizes of the buckets."""
        settings = ["--set", 'model.optimizer="sgd"', "--set", f'model.precision="{precision}"']
        # As simulated: measured runs calibrate the catalog's network, and not a file of another name.
        settings += ["--evidence", "off"]
        answer = ask("predict", "--model", model, "--cluster", cluster, "--gpus", "1,8", "--batch", "32", *settings)
        steps = [1e3 * point["step_s"] for point in answer["points"] if point["gpus"] in (1, 8)]
        buckets = [p["buckets_bytes"] for p in answer["points"] if p["gpus"] == 8]
        return steps, buckets

    def compare(self, recording_of, name, precisions=("fp32", "amp_fp16")):
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "recorded.toml")
            recording_of(path)
            ours, theirs = (
                ask("model", "show", m, "--layers", "none")["totals"] for m in (path, name)
            )
            for key in ("parameters", "tensors", "gradient_bytes"):
                self.assertEqual(ours[key], theirs[key], key)
            for key in ("forward_flops", "forward_product_flops", "backward_flops"):
                self.assertAlmostEqual(ours[key] / theirs[key], 1, delta=0.001, msg=key)
            kept = [t["activation_bytes_per_sample"]["fp32"] for t in (ours, theirs)]
            self.assertAlmostEqual(kept[0] / kept[1], 1, delta=0.02, msg="activations")
            row = [name, f"{ours['forward_flops'] / 1e9:.2f}", f"{ours['backward_flops'] / 1e9:.2f}"]
            for precision in precisions:
                for cluster in CLUSTERS:
                    steps, buckets = self.predicted(path, cluster, precision)
                    known, known_buckets = self.predicted(name, cluster, precision)
                    self.assertEqual(buckets, known_buckets)
                    for gpus, a, b in zip((1, 8), steps, known):
                        self.assertAlmostEqual(a / b, 1, delta=0.01, msg=f"{cluster} {precision} {gpus}")
                        row.append(f"{a:.2f} ({100 * (a / b - 1):+.2f} %)")
            if os.environ.get("FORETRAIN_PRINT_TABLE"):
                print("| " + " | ".join(row) + " |")

    def images(self, name):
        model = getattr(common.torchvision.models, name)()
        batch = (torch.zeros(2, 3, 224, 224), torch.zeros(2, dtype=torch.long))
        self.compare(lambda path: record(model, batch, out=path), name)

    @needs_torchvision
    def test_resnet18(self):
        self.images("resnet18")

    @needs_torchvision
    def test_resnet50(self):
        self.images("resnet50")

    @needs_torchvision
    def test_vgg16(self):
        self.images("vgg16")

    @needs_torchvision
    def test_alexnet(self):
        self.images("alexnet")

    @needs_torchvision
    def test_vit_b_16(self):
        self.images("vit_b_16")

    def test_gpt2(self):
        ids = networks.ids(2, 128)
        self.compare(lambda path: record(ShiftedAsHuggingFaceDoes(), (ids, ids), out=path), "gpt2_s128", ("fp32",))

    def test_bert(self):
        """In 32 bits: under autocast a layer `attention` of the catalog casts all of its weights before each of
        its four products."""
        ids = networks.ids(2, 128)
        batch = {"input_ids": ids, "labels": ids, "next_label": torch.zeros(2, dtype=torch.long)}
        self.compare(lambda path: record(networks.BERT(), batch, out=path), "bert_base_s128", ("fp32",))


if __name__ == "__main__":
    unittest.main()
