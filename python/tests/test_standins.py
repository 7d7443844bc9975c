"""What stands in for texts, tokenizers, weights and kernels that are not on this machine."""

import importlib.util
import unittest

from . import common
from .test_record import Recording, needs_torch_2

_TRAIN = (
    "net = torch.nn.Linear(4, 2).cuda()\no = torch.optim.SGD(net.parameters(), lr=0.1)\n"
    "for _ in range(3):\n    net(torch.rand(5, 4).cuda()).sum().backward()\n    o.step()\n"
)


def _needs(*packages):
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    return unittest.skipIf(missing, f"needs {', '.join(packages)}")


def _since(*version):
    own = (0,) if common.torch is None else tuple(int(p) for p in common.torch.__version__.split(".")[:2])
    return unittest.skipIf(own < version, f"needs PyTorch {version[0]}.{version[1]}")


@needs_torch_2
class StandIns(Recording):
    def runs(self, text):
        name = self.script("import os, torch\n" + text + _TRAIN)
        return self.record("--", "python", name)

    @_needs("transformers", "tokenizers")
    def test_a_tokenizer_that_is_missing_numbers_words(self):
        self.runs(
            "from transformers import AutoTokenizer\nt = AutoTokenizer.from_pretrained('no/where')\n"
            "ids = t('the model of the data')['input_ids']\nassert ids == [7, 9, 10, 7, 11], ids\n"
            "assert len(t) == 32000 and t.pad_token_id == 3\n"
            "said = [{'role': 'user', 'content': 'run'}, {'role': 'assistant', 'content': 'fast'}]\n"
            "assert 'assistant fast' in t.apply_chat_template(said, tokenize=False)\n"
        )
        self.assertIn("The tokenizer where is missing; each word is a token", self.said)

    @_needs("transformers", "tokenizers")
    def test_a_tokenizer_beside_a_configuration_has_its_numbers(self):
        self.runs(
            "import json\nos.makedirs('model')\n"
            "json.dump({'model_type': 'gpt2', 'vocab_size': 300}, open('model/config.json', 'w'))\n"
            "from transformers import AutoTokenizer\nt = AutoTokenizer.from_pretrained('model')\n"
            "assert len(t) == 300, len(t)\n"
        )

    @_since(2, 5)
    def test_flex_attention_is_one_kernel_each_way_with_the_products_of_a_causal_one(self):
        program = self.record(
            "--",
            "python",
            self.script(
                "import torch\n"
                "from torch.nn.attention.flex_attention import create_block_mask, flex_attention\n"
                "flex = torch.compile(flex_attention)\n"
                "net = torch.nn.Linear(64, 192).cuda().bfloat16()\n"
                "o = torch.optim.SGD(net.parameters(), lr=0.1)\n"
                "mask = create_block_mask(lambda b, h, q, k: q >= k, None, None, 128, 128, device='cuda')\n"
                "for _ in range(3):\n"
                "    x = torch.rand(2, 128, 64).cuda().bfloat16()\n"
                "    q, k, v = (t.reshape(2, 128, 4, 16).transpose(1, 2) for t in net(x).chunk(3, -1))\n"
                "    flex(q, k, v, block_mask=mask).sum().backward()\n    o.step()\n"
            ),
        )
        rows = [row["op"] for row in program["ranks"][0]["operators"] if "attention" in row.get("op", "")]
        flash = "aten::_scaled_dot_product_flash_attention"
        self.assertEqual(rows, [flash, flash + "_backward"])
        self.assertIn("Masks of flex_attention are taken for causal ones.", self.said)

    @_needs("tiktoken")
    def test_a_file_of_tiktoken_that_is_missing_has_bytes_and_words(self):
        self.runs(
            "from tiktoken.load import load_tiktoken_bpe\nranks = load_tiktoken_bpe('none.model')\n"
            "assert ranks[b'a'] == 97 and ranks[b' model'] > 255\n"
        )

    @_needs("datasets")
    def test_a_data_set_that_is_missing_has_the_columns_of_its_name(self):
        self.runs(
            "from datasets import load_dataset\n"
            "rows = load_dataset('org/alpaca', split='train')\n"
            "assert set(rows.column_names) == {'instruction', 'input', 'output', 'text'}\n"
            "assert load_dataset('org/chat')['train'][0]['messages'][1]['role'] == 'assistant'\n"
            "split = {'train': 'train[:20]', 'validation': 'validation'}\n"
            "parts = load_dataset('glue', 'mrpc', split=split)\n"
            "assert len(parts['train']) == 20 and parts['train'].features['label'].num_classes == 2\n"
        )
        self.assertIn("The data set org/alpaca is missing", self.said)

    def test_composed_operators_are_taken_apart_in_inference_mode(self):
        self.runs(
            "x = torch.tensor([0.0, 1.0, 0.0, 2.0]).cuda()\n"
            "with torch.inference_mode():\n"
            "    found = x.nonzero(as_tuple=True)[0]\n"
            "    made = torch.nn.functional.linear(x[None], x.expand(3, 4))\n"
            "assert found.tolist() == [1, 3] and made.shape == (1, 3), found\n"
        )

    def test_what_is_saved_before_training_can_be_read_again(self):
        self.runs(
            "torch.save({'a': torch.ones(3)}, 'state.pt')\n"
            "assert torch.load('state.pt')['a'].tolist() == [1.0, 1.0, 1.0]\n"
        )
        self.assertIn("state.pt was not written", self.said)

    def test_a_checkpoint_after_training_has_begun_goes_nowhere(self):
        name = self.script(
            "import os, torch\n"
            + _TRAIN.replace("o.step()\n", "o.step()\n    torch.save(net.state_dict(), 'net.pt')\n")
        )
        self.record("--", "python", name)
        self.assertIn("The checkpoint that train.py:7 saves was not written", self.said)

    @_needs("triton")
    def test_a_kernel_of_triton_is_one_pass_over_its_largest_tensor(self):
        name = self.script(
            "import torch, triton\nimport triton.language as tl\n"
            "@triton.jit\ndef scaled(x, y, n: tl.constexpr):\n"
            "    tl.store(y + tl.arange(0, n), 2 * tl.load(x + tl.arange(0, n)))\n"
            "net = torch.nn.Linear(4, 2).cuda()\no = torch.optim.SGD(net.parameters(), lr=0.1)\n"
            "for _ in range(3):\n    net(torch.rand(5, 4).cuda()).sum().backward()\n"
            "    small, large = torch.empty(8, device='cuda'), torch.empty(1000, device='cuda')\n"
            "    scaled[(1,)](small, large, n=8)\n"
            "    o.step()\n"
        )
        program = self.record("--", "python", name)
        rows = [row for row in program["ranks"][0]["operators"] if row.get("op") == "aten::copy_"]
        self.assertEqual([row["out"] for row in rows], [["f32[1000]"]])
        self.assertIn("The Triton kernel scaled is taken for one pass", self.said)


if __name__ == "__main__":
    unittest.main()
