"""Up to twelve set-ups of PEFT's adapters on each network: parameters and DDP's buckets equal, bytes kept for backward within 3 %."""
import json
import os
import subprocess
import unittest

from .adapter_setups import setups_of
from .common import torch
from .real_networks import (NETWORKS, FusedAttention, facts, library, sums_of, with_adapters,
                            without_looking_at_values)
from .test_real_networks import PROGRAM, USUAL, of_program, settings_of

ALL = bool(os.environ.get("FORETRAIN_ALL_NETWORKS"))
# Networks whose kept bytes are compared with adapters where not all are asked for.
SMALL = ("smollm2_135m", "vit_base_patch16_224", "whisper_tiny", "t5_small", "clip_vit_b_32", "wav2vec2_base",
         "segformer_b0", "modernbert_base")
# Weight norm has no backward on meta tensors; what stands for fused attention has no gradient for the bias that SAM's positions are.
WITHOUT_BACKWARD = ("wav2vec2", "sam_")
# A bias, or a table of positions, is ready one bucket sooner or later.
ONE_BIAS_FURTHER = ("t5_3b", "t5_11b", "flan_t5_large", "flan_t5_xl", "flan_t5_xxl", "sd21", "sdxl", "flux", "rt_detr_r50",
                    "rt_detr_r101")


def has_transformers_names(name):
    return NETWORKS[name][0] == "transformers"


def rows():
    for name in (NETWORKS if ALL else [one for one in USUAL if one != "yolov8n"]):
        if library(NETWORKS[name][0]) is None:
            continue
        for setup in setups_of(name, has_transformers_names(name)):
            yield name, setup


def buckets_of_library(name, setup):
    """Gradients in the order in which backward completes them, cut as DDP does after its first step."""
    without_looking_at_values()
    ready = []
    with torch.device("meta"):
        model, inputs = NETWORKS[name][1]()
        model = with_adapters(model, *setup) if setup else model
        model.train()
        for parameter in model.parameters():
            if parameter.requires_grad:
                parameter.register_post_accumulate_grad_hook(ready.append)
        given = inputs(2)
        with FusedAttention():
            result = model(**given) if isinstance(given, dict) else model(*given)
            sums_of(result.loss if getattr(result, "loss", None) is not None else result).backward()
    groups, _ = torch.distributed._compute_bucket_assignment_by_size(ready, [1 << 20, 25 << 20])
    return [sum(ready[i].numel() * 4 for i in group) for group in groups]


def buckets_of_program(name, setup):
    command = [PROGRAM, "predict", "--model", name, "--cluster", "gpu:a100-sxm4-80gb", "--gpus", "2", "--batch", "1",
               "--strategy", "ddp", "--format", "json"]
    for setting in settings_of(*setup) if setup else []:
        command += ["--set", setting]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.JSONDecoder().raw_decode(run.stdout)[0]["points"][0]["buckets_bytes"]


@unittest.skipIf(torch is None or not hasattr(torch, "get_default_device"), "needs PyTorch 2.3 or newer")
@unittest.skipIf(library("peft") is None, "needs peft")
class AdapterMatrix(unittest.TestCase):
    def test_trained_and_frozen_parameters_are_those_of_peft(self):
        for name, (kind, rank, targets) in rows():
            with self.subTest(network=name, kind=kind, rank=rank, targets=targets):
                with torch.device("meta"):
                    model = with_adapters(NETWORKS[name][1]()[0], kind, rank, targets)
                counts = [(p.numel(), p.requires_grad) for p in model.parameters()]
                ours = of_program(name, settings_of(kind, rank, targets))
                self.assertEqual(ours["trained"], sum(n for n, trains in counts if trains))
                self.assertEqual(ours["parameters"], sum(n for n, _ in counts))

    def test_bytes_kept_for_backward_are_those_of_peft(self):
        for name, setup in rows():
            if not ALL and (name not in SMALL or setup[1] > 8):
                continue
            with self.subTest(network=name, setup=setup):
                real, ours = facts(NETWORKS[name][1], setup), of_program(name, settings_of(*setup))
                kept = ours["kept"] - (0 if real["with_loss"] else ours["kept_by_loss"])
                self.assertAlmostEqual(kept / real["kept"], 1, delta=0.03)

    def test_buckets_of_adapters_are_those_of_ddp(self):
        """DoRA's trained lengths are ready behind the products in PEFT, before them here: only sums are compared."""
        for name in ("smollm2_135m", "vit_base_patch16_224", "clip_vit_b_32"):
            for setup in [setup for one, setup in rows() if one == name]:
                with self.subTest(network=name, setup=setup):
                    real, ours = buckets_of_library(name, setup), buckets_of_program(name, setup)
                    if setup[0] == "dora":
                        real, ours = [sum(real)], [sum(ours)]
                    self.assertEqual(ours, real)

    def test_buckets_of_whole_networks_are_those_of_ddp(self):
        for name in (NETWORKS if ALL else USUAL):
            if library(NETWORKS[name][0]) is None or name.startswith(WITHOUT_BACKWARD):
                continue
            with self.subTest(network=name):
                real, ours = buckets_of_library(name, None), buckets_of_program(name, None)
                if not name.startswith(ONE_BIAS_FURTHER):
                    self.assertEqual(ours, real)
                    continue
                self.assertEqual((len(ours), sum(ours)), (len(real), sum(real)))
                for one, other in zip(ours, real):
                    self.assertAlmostEqual(one / other, 1, delta=0.001)


if __name__ == "__main__":
    unittest.main()
