"""What cannot be recorded is said with the line, the reason and what to do."""
import contextlib
import io
import os
import sys
import tempfile
import unittest
import warnings
from pathlib import Path

from . import common
from .common import needs_torch, record

if common.torch is not None:
    import torch
    from torch import nn

    class Asks(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Linear(4, 4)

        def forward(self, x):
            y = self.net(x)
            return y * 2 if y.mean().item() > 0 else y  # asks for a number

    class Loop(nn.Module):
        def __init__(self, count):
            super().__init__()
            self.scale, self.count = nn.Parameter(torch.ones(1)), count

        def forward(self, x):
            for _ in range(self.count):
                x = x * 1.0
            return x * self.scale


@needs_torch
class BadInput(unittest.TestCase):
    def says(self, *words, model, batch, loss=None, **options):
        import foretrain

        with self.assertRaises(foretrain.CaptureError) as caught:
            record(model, batch, loss, **options)
        for word in words + ("hint: ",):
            self.assertIn(word, str(caught.exception))

    def test_code_that_asks_for_numbers_is_run(self):
        capture = record(Asks(), torch.ones(2, 4))
        self.assertFalse(capture.faked)
        self.assertIn("asks for a number", " ".join(capture.notes))
        self.assertIn("test_bad_input.py:", " ".join(capture.notes))

    def test_code_that_asks_for_numbers_is_refused_on_fake_tensors_alone(self):
        self.says("test_bad_input.py:", "asks for a number", model=Asks(), batch=torch.ones(2, 4), fake=True)

    def test_a_wrong_shape_names_the_line(self):
        self.says(
            "recording the step failed",
            "2x5 and 4x4",
            "test_bad_input.py:",
            model=Asks(),
            batch=torch.ones(2, 5),
        )

    def test_an_empty_batch(self):
        self.says("the batch is empty", model=Asks(), batch=torch.ones(0, 4))

    def test_a_batch_without_tensors(self):
        self.says("no tensor", model=Asks(), batch={"x": 3})

    def test_no_module(self):
        self.says("no torch.nn.Module", model=Asks, batch=torch.ones(2, 4))

    def test_nothing_to_train(self):
        self.says(
            "no gradient",
            model=Asks().requires_grad_(False),
            batch=torch.ones(2, 4),
            loss=lambda out: out.sum(),
        )

    def test_input_and_target_of_different_lengths(self):
        self.says(
            "2 samples, the target 3",
            model=nn.Linear(4, 4),
            batch=(torch.ones(2, 4), torch.zeros(3, dtype=torch.long)),
        )

    def test_a_loss_that_is_no_scalar(self):
        self.says(
            "the loss has the shape (2, 4)",
            model=nn.Linear(4, 4),
            batch=torch.ones(2, 4),
            loss=lambda out: out,
        )

    def test_lazy_parameters(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = nn.LazyLinear(4)
        self.says("lazy parameters", model=model, batch=torch.ones(2, 4))

    def test_an_unknown_half(self):
        self.says("autocast = 'int8'", model=nn.Linear(4, 4), batch=torch.ones(2, 4), autocast="int8")

    def test_a_step_of_too_many_operators(self):
        from foretrain import recorder

        held, recorder.MOST_OPERATORS = recorder.MOST_OPERATORS, 1000
        try:
            self.says("more than 1000 operators", model=Loop(1001), batch=torch.ones(2, 4))
        finally:
            recorder.MOST_OPERATORS = held

    def test_a_batch_that_cannot_be_made_larger_is_recorded_alone(self):
        class Fixed(nn.Module):
            def __init__(self):
                super().__init__()
                self.scale = nn.Parameter(torch.ones(2, 4))

            def forward(self, x):
                return x.view(2, 4) * self.scale  # two samples, no more

        capture = record(Fixed(), torch.ones(2, 4))
        self.assertFalse(capture.grows)
        self.assertIn("two samples, no more", " ".join(capture.notes))

    def test_a_module_that_failed_leaves_no_hooks_and_no_fakes(self):
        model = Asks()
        with contextlib.suppress(Exception):
            record(model, torch.ones(2, 5))
        self.assertIs(type(model.net.weight), nn.Parameter)
        self.assertEqual(tuple(model(torch.ones(2, 4)).shape), (2, 4))


@needs_torch
class CommandLine(unittest.TestCase):
    def run_in(self, folder, *arguments):
        from foretrain.command import main

        held, path = os.getcwd(), list(sys.path)
        os.chdir(folder)
        said = io.StringIO()
        try:
            with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
                code = main(list(arguments))
        finally:
            os.chdir(held)
            sys.path[:] = path
            for name in ("one_example", "one_broken"):
                sys.modules.pop(name, None)
        return code, said.getvalue()

    def setUp(self):
        self.kept = tempfile.TemporaryDirectory()
        self.addCleanup(self.kept.cleanup)
        self.folder = Path(self.kept.name)
        (self.folder / "one_example.py").write_text(
            "import torch\n\n\ndef example():\n    return torch.nn.Linear(4, 3), torch.zeros(2, 4)\n\n\ndef"
            " nothing():\n    return 3\n"
        )
        (self.folder / "one_broken.py").write_text("import torch\nnot_there()\n")

    def test_a_module_and_a_file_are_taken(self):
        for place in ("one_example:example", "one_example.py:example"):
            code, said = self.run_in(self.folder, "capture", place, "-o", "out.toml")
            self.assertEqual((code, "wrote out.toml" in said, "15 parameters" in said), (0, True, True), said)
            self.assertTrue((self.folder / "out.toml").is_file())

    def test_what_is_wrong_is_said_in_lines(self):
        for place, word in (
            ("one_example", "names no function"),
            ("one_example:other", "no function other"),
            ("one_example:nothing", "returned int"),
            ("not_there:f", "not_there"),
            ("no.py:f", "no such file"),
            ("one_broken:f", "one_broken.py:2: not_there()"),
        ):
            code, said = self.run_in(self.folder, "capture", place)
            self.assertEqual(code, 1, said)
            self.assertIn(word, said)
            self.assertNotIn("Traceback", said)

    def test_a_folder_that_is_not_there(self):
        code, said = self.run_in(self.folder, "capture", "one_example:example", "-o", "no/such/out.toml")
        self.assertEqual(code, 3, said)


if __name__ == "__main__":
    unittest.main()
