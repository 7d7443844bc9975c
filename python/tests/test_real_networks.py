"""Networks of real libraries beside the catalog's: parameters equal, products within 2 %, bytes kept for backward within 3 %."""
import json
import os
import subprocess
import unittest

from .common import TOP, torch
from .real_networks import NETWORKS, facts, library

PROGRAM = os.environ.get("FORETRAIN", str(TOP / "build" / "release" / "foretrain"))

# Sizes that take seconds together; FORETRAIN_ALL_NETWORKS=1 compares all of them (some minutes).
USUAL = ("whisper_tiny", "vit_base_patch16_224", "dinov2_base", "t5_small", "flan_t5_small", "clip_vit_b_32",
         "siglip_base_patch16_224", "segformer_b0", "convnext_tiny", "efficientnet_v2_s", "yolov8n", "yolo11n",
         "smollm2_135m", "modernbert_base", "wav2vec2_base", "sd15_unet")


def of_program(name):
    run = subprocess.run([PROGRAM, "model", "show", name, "--format", "json"], capture_output=True, text=True, check=True)
    shown = json.JSONDecoder().raw_decode(run.stdout)[0]
    totals = shown["totals"]
    loss = sum(row["saved_bytes"] * row["count"] for row in shown["layers"] if row["layer"].startswith("loss"))
    return {"parameters": totals["parameters"] + totals["frozen_parameters"], "flops": totals["forward_product_flops"],
            "kept": totals["saved_bytes_per_sample"], "kept_by_loss": loss}


def row_of(name):
    """What the library and the program say; a loss that the library's forward pass does not have is left out."""
    real, ours = facts(NETWORKS[name][1]), of_program(name)
    if not real["with_loss"]:
        ours["kept"] -= ours["kept_by_loss"]
    return real, ours


@unittest.skipIf(torch is None or not hasattr(torch, "get_default_device"), "needs PyTorch 2.3 or newer")
class RealNetworks(unittest.TestCase):
    def test_parameters_products_and_kept_bytes_are_those_of_the_libraries(self):
        names = list(NETWORKS) if os.environ.get("FORETRAIN_ALL_NETWORKS") else USUAL
        compared = 0
        for name in names:
            if library(NETWORKS[name][0]) is None:
                continue
            with self.subTest(network=name):
                real, ours = row_of(name)
                compared += 1
                if os.environ.get("FORETRAIN_PRINT_TABLE"):
                    print(f"{name}: {real['parameters']} {ours['parameters']}, products "
                          f"{100 * (ours['flops'] / real['flops'] - 1):+.2f} %, kept {real['kept'] / 1e6:.1f} MB "
                          f"{100 * (ours['kept'] / real['kept'] - 1):+.2f} %", flush=True)
                self.assertEqual(ours["parameters"], real["parameters"])
                self.assertAlmostEqual(ours["flops"] / real["flops"], 1, delta=0.02)
                self.assertAlmostEqual(ours["kept"] / real["kept"], 1, delta=0.03)
        if compared == 0:
            self.skipTest("needs transformers, timm, torchvision, diffusers or ultralytics")


if __name__ == "__main__":
    unittest.main()
