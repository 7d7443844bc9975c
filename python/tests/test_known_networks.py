"""Recordings of known networks agree with ../shared/facts/models: parameters, gradients' order, operators,
kept bytes."""
import unittest

from . import common
from .common import facts, mask_bytes, needs_torch, needs_torchvision, record

if common.torch is not None:
    import torch

    from . import networks


@needs_torch
class KnownNetworks(unittest.TestCase):
    def agrees(self, capture, name, same_forward=True):
        known = facts(name)
        self.assertTrue(capture.faked and capture.grows, capture.notes)
        self.assertEqual(capture.parameters, known["n_params"])
        self.assertEqual(capture.gradient_bytes, 4 * known["n_params"])
        self.assertEqual(capture.ready_order, known["grad_ready_order"])
        kept = (
            capture.batch * known["saved_for_backward_bytes_per_sample_fp32_cpu"]
            + known["saved_for_backward_bytes_fixed_cpu"]
        )
        self.assertAlmostEqual((capture.saved_bytes + mask_bytes(capture)) / kept, 1, delta=0.001)
        dropouts = sum(o.op == "aten::native_dropout" for o in capture.operators)
        forward = [o for o in capture.operators if not o.backward and not o.view]
        if same_forward:  # a CPU's dropout is four operators, CUDA's is one
            self.assertEqual(len(forward) + 3 * dropouts, known["fwd_nonview_ops"])

    def images(self, make, name, size=224, **more):
        model = make()
        labels = torch.zeros(2, dtype=torch.long)
        self.agrees(record(model, (torch.zeros(2, 3, size, size), labels)), name, **more)

    @needs_torchvision
    def test_resnet18(self):
        self.images(common.torchvision.models.resnet18, "resnet18")

    @needs_torchvision
    def test_resnet50(self):
        self.images(common.torchvision.models.resnet50, "resnet50")

    @needs_torchvision
    def test_vgg16(self):
        self.images(common.torchvision.models.vgg16, "vgg16")

    @needs_torchvision
    def test_alexnet(self):
        self.images(common.torchvision.models.alexnet, "alexnet")

    @needs_torchvision
    def test_vit_b_16(self):
        self.images(common.torchvision.models.vit_b_16, "vit_b_16")

    @needs_torchvision
    def test_inception_v3_with_its_second_output(self):
        make = common.torchvision.models.inception_v3
        self.images(lambda: make(init_weights=False), "inception_v3", 299, same_forward=False)

    def test_gpt2_written_by_hand(self):
        ids = networks.ids(2, 128)
        self.agrees(record(networks.GPT2(), (ids, ids)), "gpt2_s128", same_forward=False)

    def test_bert_by_modules(self):
        ids = networks.ids(2, 128)
        batch = {"input_ids": ids, "labels": ids, "next_label": torch.zeros(2, dtype=torch.long)}
        self.agrees(record(networks.BERT(), batch), "bert_base_s128")


if __name__ == "__main__":
    unittest.main()
