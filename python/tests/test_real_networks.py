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

# A network, and PEFT's adapters on it: kind, rank, target modules.
ADAPTERS = (
    ("smollm2_135m", "lora", 8, ["q_proj", "v_proj"]), ("smollm2_135m", "lora", 16, "all-linear"),
    ("smollm2_135m", "dora", 8, ["q_proj", "v_proj"]), ("smollm2_135m", "lora", 8, ["gate_proj", "up_proj", "down_proj"]),
    ("smollm2_135m", "ia3", 0, ["k_proj", "v_proj", "down_proj"]),
    ("smollm2_360m", "lora", 4, ["q_proj", "k_proj", "v_proj", "o_proj"]), ("whisper_tiny", "lora", 8, ["q_proj", "v_proj"]),
    ("vit_base_patch16_224", "lora", 16, ["qkv"]), ("dinov2_base", "lora", 8, ["q_proj", "v_proj"]),
    ("clip_vit_b_32", "lora", 8, ["q_proj", "v_proj"]), ("siglip_base_patch16_224", "lora", 8, ["q_proj", "v_proj"]),
    ("t5_small", "lora", 8, ["q", "v"]), ("modernbert_base", "lora", 8, ["Wqkv"]),
    ("segformer_b0", "lora", 8, ["q_proj", "v_proj"]), ("sd15_unet", "lora", 4, ["to_q", "to_k", "to_v", "to_out.0"]),
    ("phi_4_mini", "lora", 8, ["qkv_proj"]))

# A network of which only some parts train, by words in the names of their parameters.
PARTS = (("clip_vit_b_32", ("text_model", "text_projection", "logit_scale")),
         ("llava_1_5_7b", ("language_model", "multi_modal_projector", "lm_head")))
# Ultralytics' freeze: the first so many modules.
FROZEN_MODULES = (("yolo11n", 10), ("yolov8n", 10), ("yolo11n", 22))


def settings_of(kind, rank, targets):
    settings = [f"model.adapters.kind={kind}", "model.weights=fp32",  # as the libraries build them here
                "model.adapters.targets=" + json.dumps([targets] if isinstance(targets, str) else targets)]
    return settings + ([f"model.adapters.rank={rank}"] if rank else [])


def of_program(name, settings=()):
    command = [PROGRAM, "model", "show", name, "--format", "json"]
    for setting in settings:
        command += ["--set", setting]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    shown = json.JSONDecoder().raw_decode(run.stdout)[0]
    totals = shown["totals"]
    loss = sum(row["saved_bytes"] * row["count"] for row in shown["layers"] if row["layer"].startswith("loss"))
    return {"parameters": totals["parameters"] + totals["frozen_parameters"], "trained": totals["parameters"], "flops": totals["forward_product_flops"],
            "kept": totals["saved_bytes_per_sample"], "kept_by_loss": loss}


def with_frozen(build, parts):
    def built():
        model, inputs = build()
        for name, parameter in model.named_parameters():
            parameter.requires_grad_(any(part in name for part in parts))
        return model, inputs

    return built


def row_of(name, adapters=None, parts=None):
    """What the library and the program say; a loss that the library's forward pass does not have is left out."""
    build = NETWORKS[name][1]
    real = facts(with_frozen(build, parts) if parts else build, adapters)
    settings = settings_of(*adapters) if adapters else ()
    ours = of_program(name, ["model.trainable=" + json.dumps(list(parts))] if parts else settings)
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
                self.compare(name)
                compared += 1
        if compared == 0:
            self.skipTest("needs transformers, timm, torchvision, diffusers or ultralytics")

    def test_adapters_train_and_keep_what_peft_does(self):
        if library("peft") is None:
            self.skipTest("needs peft")
        for name, *adapters in ADAPTERS:
            is_usual = name in USUAL or os.environ.get("FORETRAIN_ALL_NETWORKS")
            if not is_usual or library(NETWORKS[name][0]) is None:
                continue
            with self.subTest(network=name, adapters=adapters):
                self.compare(name, adapters)

    def test_frozen_towers_keep_nothing(self):
        for name, parts in PARTS:
            is_usual = name in USUAL or os.environ.get("FORETRAIN_ALL_NETWORKS")
            if not is_usual or library(NETWORKS[name][0]) is None:
                continue
            with self.subTest(network=name, trained=parts):
                self.compare(name, parts=parts)

    def test_first_modules_of_yolo_are_frozen_as_ultralytics_does(self):
        for name, first in FROZEN_MODULES:
            if library(NETWORKS[name][0]) is None:
                continue
            with self.subTest(network=name, freeze=first):
                with torch.device("meta"):
                    model, _ = NETWORKS[name][1]()
                numbers = {n: int(next(part for part in n.split(".") if part.isdigit())) for n, _ in model.named_parameters()}
                trained = sum(p.numel() for n, p in model.named_parameters() if numbers[n] >= first and ".dfl" not in n)
                self.assertEqual(of_program(name, [f'model.trainable=["from:{first}"]'])["trained"], trained)

    def compare(self, name, adapters=None, parts=None):
        real, ours = row_of(name, adapters, parts)
        if os.environ.get("FORETRAIN_PRINT_TABLE"):
            print(f"{name} {adapters or parts or ''}: {real['parameters']} parameters, {real['trained']} trained, products "
                  f"{100 * (ours['flops'] / real['flops'] - 1):+.2f} %, kept {real['kept'] / 1e6:.1f} MB "
                  f"{100 * (ours['kept'] / real['kept'] - 1):+.2f} %", flush=True)
        self.assertEqual(ours["parameters"], real["parameters"])
        if adapters or parts:
            self.assertEqual(ours["trained"], real["trained"])
        self.assertAlmostEqual(ours["flops"] / real["flops"], 1, delta=0.02)
        self.assertAlmostEqual(ours["kept"] / real["kept"], 1, delta=0.03)


if __name__ == "__main__":
    unittest.main()
