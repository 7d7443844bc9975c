"""What compiled code keeps for backward: the graphs that PyTorch itself cuts, beside the program's account."""
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from .common import TOP, torch

try:
    from torch._functorch.aot_autograd import aot_module
    from torch._functorch.partitioners import min_cut_rematerialization_partition
    from torch._inductor.decomposition import select_decomp_table
except (ImportError, AttributeError):  # before PyTorch 2.1
    aot_module = None

PROGRAM = os.environ.get("FORETRAIN", str(TOP / "build" / "release" / "foretrain"))
WIDTH, INNER, HEADS, GROUPS, TOKENS, WORDS, BLOCKS = 256, 1024, 8, 4, 512, 4096, 2


def llama():
    """A Llama of transformers' formulas, without the library."""
    nn, functional = torch.nn, torch.nn.functional
    head = WIDTH // HEADS

    class Norm(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(WIDTH))

        def forward(self, x):
            wide = x.float()
            wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-5)
            return self.weight * wide.to(x.dtype)

    def turn(x, cosine, sine):
        first, second = x[..., : head // 2], x[..., head // 2:]
        return x * cosine + torch.cat((-second, first), -1) * sine

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            linear = lambda a, b: nn.Linear(a, b, bias=False)
            self.before, self.between = Norm(), Norm()
            self.q, self.k, self.v = linear(WIDTH, WIDTH), linear(WIDTH, GROUPS * head), linear(WIDTH, GROUPS * head)
            self.o = linear(WIDTH, WIDTH)
            self.gate, self.up, self.down = linear(WIDTH, INNER), linear(WIDTH, INNER), linear(INNER, WIDTH)
            self.register_buffer("cosine", torch.ones(TOKENS, head))
            self.register_buffer("sine", torch.ones(TOKENS, head))

        def forward(self, x):
            y = self.before(x)
            q, k, v = (f(y).view(len(x), TOKENS, -1, head).transpose(1, 2) for f in (self.q, self.k, self.v))
            cosine, sine = self.cosine.to(x.dtype), self.sine.to(x.dtype)
            q, k = turn(q, cosine, sine), turn(k, cosine, sine)
            k, v = (t.repeat_interleave(HEADS // GROUPS, 1) for t in (k, v))
            made = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.o(made.transpose(1, 2).reshape(len(x), TOKENS, WIDTH))
            y = self.between(x)
            return x + self.down(functional.silu(self.gate(y)) * self.up(y))

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.words = nn.Embedding(WORDS, WIDTH)
            self.blocks = nn.ModuleList(Block() for _ in range(BLOCKS))
            self.norm, self.head = Norm(), nn.Linear(WIDTH, WORDS, bias=False)

        def forward(self, tokens, labels):
            x = self.words(tokens)
            for block in self.blocks:
                x = block(x)
            return functional.cross_entropy(self.head(self.norm(x)).float().view(-1, WORDS), labels.view(-1))

    return Net()


def kept_by_min_cut():
    """Bytes that the forward graph hands to the backward graph, without parameters."""
    kept = []

    def forward(graph, _):
        outputs = [node for node in graph.graph.nodes if node.op == "output"][0].args[0]
        kept.extend(o.meta["val"] for o in outputs[1:] if hasattr(o, "meta") and not o.name.startswith("primals")
                    and isinstance(o.meta.get("val"), torch.Tensor))
        return graph

    net = llama().to(torch.bfloat16)
    weights = {tuple(sorted(p.shape)) for p in net.parameters()}
    step = aot_module(net, fw_compiler=forward, bw_compiler=lambda graph, _: graph,
                      partition_fn=min_cut_rematerialization_partition, decompositions=select_decomp_table())
    tokens = torch.zeros(1, TOKENS, dtype=torch.long)
    step(tokens, tokens).sum().backward()
    return sum(t.numel() * t.element_size() for t in kept
               if tuple(sorted(t.shape)) not in weights or t.shape[0] == TOKENS)


def kept_by_the_program(execution):
    config = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": WIDTH,
              "intermediate_size": INNER, "num_attention_heads": HEADS, "num_key_value_heads": GROUPS,
              "num_hidden_layers": BLOCKS, "vocab_size": WORDS, "max_position_embeddings": TOKENS}
    with tempfile.TemporaryDirectory() as folder:
        path, network = Path(folder) / "config.json", Path(folder) / "network.toml"
        path.write_text(json.dumps(config))
        subprocess.run([PROGRAM, "model", "import", str(path), "-o", str(network)], capture_output=True, check=True)
        answer = subprocess.run(
            [PROGRAM, "predict", "--model", str(network), "--cluster", "dgx-a100-80gb", "--gpus", "1", "--batch", "1",
             "--set", 'model.weights="bf16"', "--set",
             f'framework.execution="{execution}"', "--format", "json"],
            capture_output=True, text=True, check=True)
    rows = json.loads(answer.stdout)["points"][0]["memory"]["ledger"]["rows"]
    return {row["tensors"]: row["forward_bytes"] for row in rows}


@unittest.skipIf(torch is None or aot_module is None, "needs PyTorch 2.1 or newer")
class Compiled(unittest.TestCase):
    def test_min_cut_keeps_what_the_program_says(self):
        ours = kept_by_the_program("compiled")
        # On the CPU attention's result is copied once more for each block.
        copies = BLOCKS * TOKENS * WIDTH * 2
        theirs = kept_by_min_cut() - copies
        kept = ours["activations"] + ours["scores and loss"]
        self.assertLess(abs(kept - theirs), 0.03 * theirs, f"{kept} against {theirs}")

    def test_eager_code_keeps_more(self):
        self.assertGreater(kept_by_the_program("eager")["activations"],
                           1.3 * kept_by_the_program("compiled")["activations"])


if __name__ == "__main__":
    unittest.main()
