"""Known values beside fake tensors: the code takes a GPU's branches, and nothing is run."""
import unittest

from . import common
from .common import needs_torch, record

if common.torch is not None:
    import torch
    from torch import nn
    from torch.nn import functional as F
    from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
    from torch.utils.checkpoint import checkpoint

needs_torch_2 = unittest.skipIf(
    common.torch is None or common.torch.__version__.startswith("1."), "needs PyTorch 2"
)
FLASH = "aten::_scaled_dot_product_flash_attention"
EFFICIENT = "aten::_scaled_dot_product_efficient_attention"


def count(capture, name, backward=False):
    return sum(o.op == name and o.backward == backward for o in capture.operators)


@needs_torch
@needs_torch_2
class Masks(unittest.TestCase):
    def attention(self, dtype, heads=4, keys=2, **more):
        """A layer that asks for a mask's values, as libraries do, before it chooses how to attend."""

        class Attention(nn.Module):
            def __init__(self):
                super().__init__()
                self.q, self.kv = nn.Linear(32, 8 * heads, dtype=dtype), nn.Linear(32, 16 * keys, dtype=dtype)

            def forward(self, x, padding):
                b, s, _ = x.shape
                q = self.q(x).view(b, s, heads, 8).transpose(1, 2)
                k, v = self.kv(x).view(b, s, 2, keys, 8).permute(2, 0, 3, 1, 4)
                if (padding == 1).all():
                    y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=keys != heads)
                else:
                    k, v = (t.repeat_interleave(heads // keys, 1) for t in (k, v))
                    y = F.scaled_dot_product_attention(q, k, v, attn_mask=padding[:, None, None].bool())
                return y.transpose(1, 2).reshape(b, s, -1)

        padding = torch.ones(2, 6, dtype=torch.long)
        padding[0, 4:] = more.pop("padded", 1)
        return record(Attention(), (torch.zeros(2, 6, 32, dtype=dtype), padding), **more)

    def test_a_mask_of_ones_is_left_out_and_keys_stay_grouped(self):
        capture = self.attention(torch.bfloat16, fake=True)
        flash = [o for o in capture.operators if o.op == FLASH]
        self.assertEqual(len(flash), 1)
        self.assertTrue(flash[0].with_["is_causal"])
        self.assertEqual([shape[1] for _, shape in flash[0].ins], [4, 2, 2])
        self.assertTrue(capture.grows)

    def test_positions_of_a_long_sequence_are_known(self):
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.table = nn.Embedding(9, 4)

            def forward(self, ids):
                places = torch.arange(ids.shape[1], device=ids.device)[None]
                x = self.table(ids)
                return x.relu() if (places.diff() == 1).all() else x.tanh()

        ids = torch.zeros(2, 20000, dtype=torch.long)
        self.assertEqual(count(record(Net(), ids, fake=True), "aten::relu"), 1)

    def test_padding_keeps_its_mask(self):
        capture = self.attention(torch.bfloat16, padded=0, fake=True)
        self.assertEqual((count(capture, FLASH), count(capture, EFFICIENT)), (0, 1))

    def test_single_precision_takes_the_memory_efficient_kernel(self):
        capture = self.attention(torch.float32, keys=4, fake=True)
        self.assertEqual((count(capture, EFFICIENT), count(capture, EFFICIENT + "_backward", True)), (1, 1))

    def test_grouped_heads_in_single_precision_are_plain_products(self):
        capture = self.attention(torch.float32, fake=True)
        self.assertEqual((count(capture, FLASH), count(capture, EFFICIENT)), (0, 0))
        self.assertEqual(count(capture, "aten::bmm"), 2)

    def test_checkpointing_with_a_mask_is_recorded_without_running_it(self):
        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.qkv, self.out = nn.Linear(16, 48), nn.Linear(16, 16)

            def forward(self, x, mask):
                q, k, v = (t.unflatten(-1, (2, 8)).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
                y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
                return x + self.out(y.transpose(1, 2).flatten(2))

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.blocks = nn.ModuleList(Block() for _ in range(3))

            def forward(self, x, mask):
                for block in self.blocks:
                    x = checkpoint(block, x, mask, use_reentrant=False)
                return x

        mask = torch.ones(2, 1, 5, 5, dtype=torch.bool)
        capture = record(Net(), (torch.zeros(2, 5, 16), mask), fake=True)
        again = [o for o in capture.operators if o.recomputed]
        self.assertEqual(sum(o.op == EFFICIENT for o in again), 3)
        self.assertEqual(sum(o.op == "aten::addmm" for o in again), 3)  # the last one of a block is left out


@needs_torch
@needs_torch_2
class Lengths(unittest.TestCase):
    def test_packed_sequences_are_as_those_of_a_real_run(self):
        class Reader(nn.Module):
            def __init__(self):
                super().__init__()
                self.lstm, self.head = nn.LSTM(6, 8, batch_first=True), nn.Linear(8, 3)

            def forward(self, x, lengths):
                packed = pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
                y, kept = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
                return self.head(y[:, : int(kept.max())])

        batch = (torch.zeros(4, 9, 6), torch.tensor([8, 4, 2, 2]))
        fake, real = record(Reader(), batch, fake=True), record(Reader(), batch, fake=False)
        self.assertTrue(fake.faked)
        for name in ("aten::_pack_padded_sequence", "aten::_cudnn_rnn", "aten::addmm"):
            ours, theirs = ([o for o in c.operators if o.op == name] for c in (fake, real))
            self.assertEqual([o.outs for o in ours], [o.outs for o in theirs], name)

    def test_ctc_is_as_that_of_a_real_run(self):
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.net = nn.Linear(6, 5)

            def forward(self, x, targets, lengths):
                scores = self.net(x).log_softmax(-1).transpose(0, 1)
                steps = torch.full((len(x),), x.shape[1], dtype=torch.long)
                return F.ctc_loss(scores, targets, steps, lengths)

        batch = (torch.zeros(2, 9, 6), torch.tensor([[1, 2, 3], [2, 1, 0]]), torch.tensor([3, 2]))
        fake, real = record(Net(), batch, fake=True), record(Net(), batch, fake=False)
        for name in ("aten::_ctc_loss", "aten::_ctc_loss_backward"):
            ours, theirs = ([o.outs for o in c.operators if o.op == name] for c in (fake, real))
            self.assertEqual(ours, theirs)
            self.assertEqual(len(ours), 1)

    def test_a_choice_by_a_mask_has_the_masks_size(self):
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.net = nn.Linear(4, 3)

            def forward(self, x, labels):
                chosen = labels != -100
                return F.cross_entropy(self.net(x)[chosen], labels[chosen])

        labels = torch.tensor([[1, -100, 2], [-100, -100, 0]])
        capture = record(Net(), (torch.zeros(2, 3, 4), labels), fake=True)
        self.assertIn(("f32", (3, 3)), [o.outs[0] for o in capture.operators if o.op == "aten::index"])

    def test_an_unknown_value_is_an_error_and_no_guess(self):
        import foretrain

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.net = nn.Linear(4, 3)

            def forward(self, x):
                y = self.net(x)
                return y * 2 if y.sum() > 0 else y

        with self.assertRaises(foretrain.CaptureError):
            record(Net(), torch.zeros(2, 4), fake=True)
        self.assertFalse(record(Net(), torch.zeros(2, 4)).faked)

    def test_values_that_were_written_over_are_unknown(self):
        import foretrain

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.net = nn.Linear(4, 3)

            def forward(self, x):
                y, counts = self.net(x), torch.zeros(3)
                counts.copy_(y.detach()[0])
                return y if counts.sum() > 0 else y * 2

        with self.assertRaises(foretrain.CaptureError):
            record(Net(), torch.zeros(2, 4), fake=True)

    def test_the_batch_keeps_its_values(self):
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.table = nn.Embedding(9, 4)

            def forward(self, ids):
                return self.table(ids.add_(1))

        ids = torch.tensor([[1, 2], [3, 4]])
        record(Net(), ids, fake=True)
        self.assertEqual(ids.tolist(), [[1, 2], [3, 4]])


@needs_torch
@needs_torch_2
class Draws(unittest.TestCase):
    class Skips(torch.nn.Module if common.torch is not None else object):
        """Leaves out each second layer or so, by a random number that the host reads."""

        def __init__(self, read):
            super().__init__()
            self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(8))
            self.read = read

        def forward(self, x):
            for layer in self.layers:
                if not self.read or torch.rand([]) < 0.5:
                    x = layer(x) + torch.rand(4)
            return x

    def test_random_numbers_that_the_host_reads_are_drawn_once_and_said(self):
        model = self.Skips(True)
        state = torch.random.get_rng_state()
        capture = record(model, torch.zeros(2, 4), fake=True)
        self.assertTrue(capture.grows)
        self.assertTrue(0 < count(capture, "aten::addmm") < 8)
        self.assertIn("depends on random numbers", " ".join(capture.notes))
        self.assertTrue(torch.equal(state, torch.random.get_rng_state()))

    def test_random_numbers_that_stay_on_the_gpu_are_no_matter(self):
        self.assertEqual(record(self.Skips(False), torch.zeros(2, 4), fake=True).notes, [])


@needs_torch
class Storages(unittest.TestCase):
    def test_a_strided_storage_is_written_whole_and_others_need_a_line(self):
        from foretrain.sizes import Growth

        growth = Growth(2, 4)
        self.assertEqual(growth.storage(("f32", (985,)), ("f32", (1985,))), "f32[500B]")
        self.assertIsNone(growth.storage(("f32", (800,)), ("f32", (1800,))))
        self.assertIsNone(growth.storage(("f32", (985,)), ("f32", (1986,))))


@needs_torch
class BatchesOfOne(unittest.TestCase):
    class Net(torch.nn.Module if common.torch is not None else object):
        def __init__(self, special):
            super().__init__()
            self.net, self.special = torch.nn.Linear(4, 3), special

        def forward(self, x):
            y = self.net(x)
            return y.relu() if self.special and len(x) > 1 else y

    def test_one_that_is_special_is_said_and_sizes_grow_from_two(self):
        capture = record(self.Net(True), common.torch.zeros(1, 4))
        self.assertEqual((capture.batch, capture.grows), (2, True))
        self.assertIn("a batch of one is special", " ".join(capture.notes))
        self.assertEqual(count(capture, "aten::relu"), 1)

    def test_one_that_is_like_others_stays(self):
        capture = record(self.Net(False), common.torch.zeros(1, 4))
        self.assertEqual((capture.batch, capture.grows, capture.notes), (1, True, []))


if __name__ == "__main__":
    unittest.main()
