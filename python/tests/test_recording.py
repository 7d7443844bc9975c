"""What a recording says of a step: kept storages, lifetimes, modules, calls, growth, checkpointing, autocast,
recurrent layers."""
import tempfile
import unittest
from dataclasses import dataclass
from pathlib import Path

from . import common
from .common import kept_by_hooks, mask_bytes, needs_torch, record

if common.torch is not None:
    import torch
    from torch import nn
    from torch.nn import functional as F
    from torch.utils.checkpoint import checkpoint

    from . import networks


def labels(count):
    return torch.zeros(count, dtype=torch.long)


def ops(capture, **wanted):
    return [o for o in capture.operators if all(getattr(o, k) == v for k, v in wanted.items())]


@needs_torch
class KeptStorages(unittest.TestCase):
    def agrees(self, model, forward, capture):
        self.assertAlmostEqual(
            (capture.saved_bytes + mask_bytes(capture)) / kept_by_hooks(model, forward), 1, delta=0.002
        )

    def test_a_unet_with_a_custom_function_keeps_what_the_hooks_count(self):
        model, x, y = networks.UNet(), torch.zeros(2, 3, 32, 32), torch.zeros(2, 32, 32, dtype=torch.long)
        self.agrees(model, lambda: F.cross_entropy(model(x), y), record(model, (x, y)))

    def test_a_small_gpt2_keeps_what_the_hooks_count(self):
        model, ids = networks.GPT2(100, 32, 16, 2, 2), networks.ids(2, 16, 100)
        self.agrees(model, lambda: model(ids, ids)[0], record(model, (ids, ids)))

    def test_running_it_records_the_same_as_fake_tensors(self):
        model, ids = networks.GPT2(100, 32, 16, 2, 2), networks.ids(2, 16, 100)
        faked, run = record(model, (ids, ids), fake=True), record(model, (ids, ids), fake=False)
        self.assertEqual(faked.content.replace("\n", ""), run.content.replace("\n", ""))

    def test_storages_are_freed_where_their_last_holder_goes(self):
        capture = record(
            nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 3)), (torch.zeros(2, 4), labels(2))
        )
        relu = next(
            s
            for s in capture.storages
            if s.made == next(i for i, o in enumerate(capture.operators) if o.op == "aten::relu")
        )
        threshold = next(i for i, o in enumerate(capture.operators) if o.op == "aten::threshold_backward")
        self.assertTrue(relu.saved)
        self.assertEqual(relu.freed, threshold)

    def test_an_lstm_is_one_operator_each_way_and_keeps_gates_and_states(self):
        model = nn.LSTM(8, 16, 2)
        capture = record(model, torch.zeros(7, 5, 8), lambda out: out[0].sum(), batch_dim=1)
        forward, backward = ops(capture, op="aten::_cudnn_rnn"), ops(capture, op="aten::_cudnn_rnn_backward")
        self.assertEqual((len(forward), len(backward)), (1, 1))
        self.assertEqual(forward[0].ins[0], ("f32", (7, 5, 8)))
        self.assertEqual(forward[0].with_["mode"], "lstm")
        self.assertEqual(forward[0].outs[3], ("f32", (2, 35, 6 * 16)))
        self.assertEqual(sorted(capture.ready_order), list(range(8)))
        self.assertIn("f32[7,B,8]", capture.content)

    def test_an_lstm_that_runs_for_real_has_real_results(self):
        class Asks(nn.Module):
            def __init__(self):
                super().__init__()
                self.lstm = nn.LSTM(8, 16)

            def forward(self, x):
                y = self.lstm(x)[0]
                self.seen = y.abs().sum().item()
                return y.sum()

        model = Asks()
        capture = record(model, torch.ones(7, 5, 8), batch_dim=1)
        self.assertFalse(capture.faked)
        self.assertGreater(model.seen, 0)
        self.assertEqual(len(ops(capture, op="aten::_cudnn_rnn")), 1)

    def test_attention_is_one_operator_each_way_as_on_cuda(self):
        from foretrain.attention import run_attention
        from foretrain.recorder import Recorder

        for dtype, name in ((torch.bfloat16, "flash"), (torch.float32, "efficient")):
            q = torch.zeros(2, 3, 5, 8, dtype=dtype, requires_grad=True)
            recorder = Recorder()
            with recorder:
                out = run_attention(recorder, lambda q, k, v, **_: q * 1, (q, q, q), {"is_causal": True})
                recorder.backward = True
                out.backward(torch.ones_like(out))
            fused = [o for o in recorder.operators if "attention" in o.op]
            self.assertEqual(
                [o.op for o in fused],
                [f"aten::_scaled_dot_product_{name}_attention{end}" for end in ("", "_backward")],
            )
            self.assertEqual(fused[0].outs[1], ("f32", (2, 3, 5)))
            self.assertTrue(fused[0].with_["is_causal"])

    def test_dropout_is_one_operator_with_a_mask_of_bytes(self):
        capture = record(nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5)), (torch.zeros(2, 4), labels(2)))
        self.assertEqual(ops(capture, op="aten::native_dropout")[0].outs[1], ("b8", (2, 4)))


@needs_torch
class Structure(unittest.TestCase):
    def test_operators_know_their_module_and_their_node(self):
        model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Flatten(), nn.Linear(4 * 36, 5))
        capture = record(model, (torch.zeros(2, 3, 8, 8), labels(2)))
        self.assertEqual(ops(capture, op="aten::convolution")[0].of, "0")
        backward = ops(capture, op="aten::convolution_backward")[0]
        self.assertEqual((backward.of, backward.node), ("0", "ConvolutionBackward0"))
        linear = [o for o in ops(capture, of="2", backward=False)]
        self.assertEqual([o.op for o in linear], ["aten::t", "aten::addmm"])
        self.assertEqual(linear[0].call, linear[1].call)
        products = ops(capture, op="aten::mm", of="2")
        self.assertEqual(len({o.call for o in products}), 1)

    def test_sizes_grow_with_the_batch(self):
        model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Flatten(0, 1), nn.Flatten())
        text = record(model, torch.zeros(2, 3, 8, 8)).content
        self.assertIn('"f32[B,4,6,6]"', text)
        self.assertIn('"f32[4B,36]"', text)

    def test_what_is_no_line_in_the_batch_holds_for_the_batch_alone(self):
        class Pairs(nn.Module):
            def __init__(self):
                super().__init__()
                self.net = nn.Linear(4, 4)

            def forward(self, x):
                y = self.net(x)
                return (y @ y.t()).view(-1).softmax(0)

        capture = record(Pairs(), torch.zeros(3, 4))
        self.assertFalse(capture.grows)
        self.assertIn("aten::view", " ".join(capture.notes))
        self.assertIn('"f32[9]"', capture.content)

    def test_tied_and_frozen_parameters_are_said(self):
        model = networks.GPT2(100, 32, 16, 2, 1)
        model.transformer.wpe.weight.requires_grad_(False)
        capture = record(model, (networks.ids(2, 16, 100),) * 2)
        self.assertIn(
            '{ name = "transformer.wte.weight", size = "f32[100,16]", also = ["lm_head.weight"] }',
            capture.content,
        )
        self.assertIn(
            '{ name = "transformer.wpe.weight", size = "f32[32,16]", frozen = true }', capture.content
        )
        self.assertNotIn(1, capture.ready_order)

    def test_checkpointed_operators_are_recomputed_under_both_forms(self):
        class Saver(nn.Module):
            def __init__(self, form):
                super().__init__()
                self.inner, self.last, self.form = (
                    nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 4)),
                    nn.Linear(4, 4),
                    form,
                )

            def forward(self, x):
                return checkpoint(self.inner, self.last(x), use_reentrant=self.form)

        for form in (True, False):
            capture = record(Saver(form), (torch.zeros(2, 4), labels(2)))
            again = [o.op for o in ops(capture, recomputed=True) if o.op != "aten::detach"]
            stops_early = not form and not torch.__version__.startswith("1.")
            last = [] if stops_early else ["aten::addmm"]
            self.assertEqual(again, ["aten::t", "aten::addmm", "aten::relu", "aten::t", *last])
            self.assertEqual(sorted(capture.ready_order), list(range(6)))

    def test_cudas_autocast_runs_without_cuda(self):
        class Mixed(nn.Module):
            def __init__(self):
                super().__init__()
                self.conv, self.norm, self.last = nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.LayerNorm(8)

            def forward(self, x):
                with torch.autocast("cuda", dtype=torch.float16):
                    return self.last(self.norm(self.conv(x)).mean((2, 3)))

        for fake in (True, False):
            capture = record(Mixed(), torch.zeros(2, 3, 8, 8), fake=fake)
            convolution, norm = (
                ops(capture, op="aten::convolution")[0],
                ops(capture, op="aten::native_layer_norm")[0],
            )
            self.assertEqual([name for name, _ in convolution.ins], ["f16", "f16", "f16"])
            self.assertEqual([name for name, _ in norm.ins], ["f32", "f32", "f32"])
            self.assertTrue(convolution.autocast)
            self.assertFalse(ops(capture, op="aten::_log_softmax")[0].autocast)

    def test_the_model_is_afterwards_what_it_was(self):
        model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4)).eval()
        before = {k: v.clone() for k, v in model.state_dict().items()}
        state = torch.random.get_rng_state()
        record(model, torch.ones(3, 4), fake=False)
        self.assertFalse(model.training or model[1].training)
        self.assertTrue(all(torch.equal(v, before[k]) for k, v in model.state_dict().items()))
        self.assertTrue(all(p.grad is None for p in model.parameters()))
        self.assertTrue(torch.equal(state, torch.random.get_rng_state()))

    def test_a_file_is_written_whole(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.toml"
            capture = record(
                nn.Linear(4, 3), torch.zeros(2, 4), out=str(path), optimizer="adamw", name='a "b"'
            )
            self.assertEqual(path.read_text(), capture.content)
            self.assertEqual([p.name for p in Path(folder).iterdir()], ["model.toml"])
            self.assertIn('optimizer = "adamw"', capture.content)
            self.assertIn('a \\"b\\"', capture.content)

    def test_the_file_is_toml_of_the_right_form(self):
        try:
            import tomllib
        except ImportError:
            self.skipTest("needs Python 3.11")
        capture = record(nn.Sequential(nn.Linear(4, 3), nn.Dropout()), torch.zeros(2, 4))
        recorded = tomllib.loads(capture.content)["recorded"]
        self.assertEqual((recorded["format"], recorded["batch"], recorded["grows"]), (1, 2, True))
        self.assertEqual([p["name"] for p in recorded["parameters"]], ["0.weight", "0.bias"])
        self.assertEqual(sum(len(o.get("ready", [])) for o in recorded["operators"]), 2)
        self.assertTrue(
            all(
                s["made"] <= s.get("freed", s["made"]) < len(recorded["operators"])
                for s in recorded["storages"]
            )
        )


@needs_torch
class Callers(unittest.TestCase):
    def test_an_output_with_a_loss_as_of_hugging_face(self):
        @dataclass
        class Output:
            loss: object
            logits: object

        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.net, self.unused = nn.Linear(8, 3), nn.Linear(2, 2)

            def forward(self, input_ids=None, attention_mask=None, labels=None, **_):
                logits = self.net(input_ids)
                return Output(F.cross_entropy(logits, labels), logits)

        capture = record(Model(), {"input_ids": torch.zeros(4, 8), "labels": labels(4)})
        self.assertEqual(capture.loss, "the output's own .loss")
        self.assertEqual(sorted(capture.ready_order), [0, 1])
        self.assertIn("find_unused_parameters", " ".join(capture.notes))

    def test_a_lightning_module_by_its_training_step(self):
        class Module(nn.Module):
            def __init__(self):
                super().__init__()
                self.net = nn.Linear(8, 3)

            def log(self, *_):
                raise RuntimeError("no trainer")

            def training_step(self, batch, batch_idx):
                loss = F.cross_entropy(self.net(batch[0]), batch[1])
                self.log("loss", loss)
                return {"loss": loss}

        self.assertEqual(record(Module(), (torch.zeros(4, 8), labels(4))).loss, "training_step's")

    def test_dataclasses_dicts_and_several_inputs_and_outputs(self):
        @dataclass
        class Item:
            x: object
            more: dict

        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.net = nn.Linear(8, 3)

            def forward(self, item):
                return {"a": self.net(item.x), "b": [self.net(item.more["y"])]}

        capture = record(Model(), Item(torch.zeros(4, 8), {"y": torch.zeros(4, 8)}))
        self.assertEqual(capture.loss, "cross entropy of 2 outputs")
        self.assertEqual(len(ops(capture, op="aten::addmm")), 2)

    def test_lists_of_samples_as_detection_takes_them(self):
        class Detector(nn.Module):
            def __init__(self):
                super().__init__()
                self.net = nn.Conv2d(3, 4, 3)

            def forward(self, images, targets):
                x = self.net(torch.stack(images)).mean((1, 2, 3))
                boxes = torch.stack([t["boxes"].sum() for t in targets])
                return {"a": (x - boxes).abs().mean(), "b": x.pow(2).mean()}

        images, targets = [torch.zeros(3, 8, 8)] * 2, [{"boxes": torch.zeros(5, 4)}] * 2
        capture = record(Detector(), (images, targets))
        self.assertEqual((capture.batch, capture.loss), (2, "the sum of the 2 losses that the model returns"))

    def test_scripted_parts_record_the_same_at_both_batches(self):
        model = nn.Sequential(torch.jit.script(nn.Sequential(nn.Linear(4, 4), nn.ReLU())), nn.Linear(4, 2))
        self.assertTrue(record(model, torch.zeros(3, 4)).grows)

    def test_a_given_loss_takes_output_and_target(self):
        capture = record(nn.Linear(8, 3), (torch.zeros(4, 8), torch.zeros(4, 3)), nn.MSELoss())
        self.assertEqual(len(ops(capture, op="aten::mse_loss")), 1)

    def test_cuda_in_the_models_code_does_no_harm(self):
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.net = nn.Linear(8, 3)

            def forward(self, x):
                return self.net(x.cuda() + torch.zeros(8, device="cuda"))

        self.assertTrue(record(Model(), torch.zeros(4, 8)).faked)


if __name__ == "__main__":
    unittest.main()
