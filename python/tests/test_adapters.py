"""Adapters of real PEFT on networks of transformers: trained and frozen parameters equal the program's, exactly."""
import json
import os
import subprocess
import unittest

from .common import TOP, torch

try:
    import peft
    import transformers
except ImportError:
    peft = transformers = None

PROGRAM = os.environ.get("FORETRAIN", str(TOP / "build" / "release" / "foretrain"))


def llama(**sizes):
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(tie_word_embeddings=False, **sizes))


def networks():
    """A network of the catalog, and the same of transformers, on the meta device."""
    return {
        "llama3_8b": lambda: llama(
            vocab_size=128256, hidden_size=4096, intermediate_size=14336, num_hidden_layers=32,
            num_attention_heads=32, num_key_value_heads=8),
        "llama2_7b": lambda: llama(
            vocab_size=32000, hidden_size=4096, intermediate_size=11008, num_hidden_layers=32,
            num_attention_heads=32, num_key_value_heads=32),
        "llama2_13b": lambda: llama(
            vocab_size=32000, hidden_size=5120, intermediate_size=13824, num_hidden_layers=40,
            num_attention_heads=40, num_key_value_heads=40),
        "mistral_7b": lambda: transformers.MistralForCausalLM(transformers.MistralConfig(
            vocab_size=32000, hidden_size=4096, intermediate_size=14336, num_hidden_layers=32,
            num_attention_heads=32, num_key_value_heads=8)),
        "qwen2_5_7b": lambda: transformers.Qwen2ForCausalLM(transformers.Qwen2Config(
            vocab_size=152064, hidden_size=3584, intermediate_size=18944, num_hidden_layers=28,
            num_attention_heads=28, num_key_value_heads=4, tie_word_embeddings=False)),
        "gpt2": lambda: transformers.GPT2LMHeadModel(transformers.GPT2Config()),
        "falcon_7b": lambda: transformers.FalconForCausalLM(transformers.FalconConfig(
            vocab_size=65024, hidden_size=4544, num_hidden_layers=32, num_attention_heads=71)),
        "bloom_560m": lambda: transformers.BloomForCausalLM(transformers.BloomConfig(
            vocab_size=250880, hidden_size=1024, n_layer=24, n_head=16)),
        "pythia_1_4b": lambda: transformers.GPTNeoXForCausalLM(transformers.GPTNeoXConfig(
            vocab_size=50304, hidden_size=2048, num_hidden_layers=24, num_attention_heads=16,
            intermediate_size=8192)),
        "gemma_2b": lambda: transformers.GemmaForCausalLM(transformers.GemmaConfig(
            vocab_size=256000, hidden_size=2048, intermediate_size=16384, num_hidden_layers=18,
            num_attention_heads=8, num_key_value_heads=1, head_dim=256)),
    }


SPLIT = ["q_proj", "k_proj", "v_proj", "o_proj"]
LLAMA = [
    ("lora", 8, None), ("lora", 16, "all-linear"), ("lora", 64, ["q_proj", "v_proj"]), ("lora", 4, SPLIT),
    ("dora", 8, None), ("dora", 16, "all-linear"), ("lora", 8, ["gate_proj", "up_proj", "down_proj"]),
    ("ia3", 0, ["k_proj", "v_proj", "down_proj"]),
]
PACKED = {"gpt2": "c_attn", "falcon_7b": "query_key_value", "bloom_560m": "query_key_value",
          "pythia_1_4b": "query_key_value"}


def setups(name):
    if name not in PACKED:
        return LLAMA
    return [("lora", 8, None), ("lora", 16, [PACKED[name]]), ("lora", 32, "all-linear"), ("dora", 8, [PACKED[name]])]


def of_peft(make, kind, rank, targets):
    """Trained and frozen parameters."""
    with torch.device("meta"):
        model = make()
        if kind == "ia3":
            config = peft.IA3Config(target_modules=targets, feedforward_modules=targets[-1:], task_type="CAUSAL_LM")
        else:
            config = peft.LoraConfig(r=rank, target_modules=targets, use_dora=kind == "dora", task_type="CAUSAL_LM",
                                     init_lora_weights=kind != "dora")
        model = peft.get_peft_model(model, config)
    trained = sum(p.numel() for p in model.parameters() if p.requires_grad)
    return trained, sum(p.numel() for p in model.parameters()) - trained


def of_program(name, kind, rank, targets):
    """The same from the gradients that DDP exchanges."""
    settings = [f"model.adapters.kind={kind}", "model.weights=bf16", "model.sequence_length=64"]
    if rank:
        settings.append(f"model.adapters.rank={rank}")
    if targets:
        settings.append("model.adapters.targets=" + json.dumps([targets] if isinstance(targets, str) else targets))
    command = [PROGRAM, "predict", "--model", name, "--cluster", "gpu:a100-sxm4-80gb", "--gpus", "2", "--batch", "1",
               "--strategy", "ddp", "--format", "json"]
    for setting in settings:
        command += ["--set", setting]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    point = json.JSONDecoder().raw_decode(run.stdout)[0]["points"][0]
    return sum(point["buckets_bytes"]) // 4


@unittest.skipIf(torch is None or peft is None, "needs PyTorch, transformers and peft")
class Adapters(unittest.TestCase):
    def test_trained_parameters_are_those_of_peft(self):
        for name, make in networks().items():
            for kind, rank, targets in setups(name):
                with self.subTest(network=name, kind=kind, rank=rank, targets=targets):
                    trained, _ = of_peft(make, kind, rank, targets)
                    self.assertEqual(of_program(name, kind, rank, targets), trained)


if __name__ == "__main__":
    unittest.main()
