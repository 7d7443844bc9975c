"""What the tests share: what they need, how they record, what autograd keeps by its own hooks."""
import json
import os
import sys
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "python"))
FACTS = TOP.parent / "shared" / "facts" / "models"

try:
    import torch
except ImportError:
    torch = None  # type: ignore[assignment]
try:
    import torchvision
except ImportError:
    torchvision = None  # type: ignore[assignment]

needs_torch = unittest.skipIf(torch is None, "needs PyTorch (Debian: python3-torch)")
needs_torchvision = unittest.skipIf(
    torch is None or torchvision is None, "needs torchvision (Debian: python3-torchvision)"
)


def facts(name):
    """A network's table in ../shared, or the test is skipped."""
    path = FACTS / f"{name}.json"
    if not path.is_file():
        raise unittest.SkipTest(f"needs {path}")
    return json.loads(path.read_text(encoding="utf-8"))


def record(model, batch, loss=None, **options):
    """A recording without a file and without words."""
    import foretrain

    return foretrain.capture(model, batch, loss, out=options.pop("out", None), quiet=True, **options)


def kept_by_hooks(model, forward):
    """Bytes of the storages that saved_tensors_hooks see in a forward for real, parameters and buffers
    left out."""

    def place(tensor):
        return tensor.storage().data_ptr()

    own = {place(t) for t in list(model.parameters()) + list(model.buffers())}
    seen = {}
    held = []

    def pack(tensor):
        held.append(tensor)  # or its place would be given to another
        if place(tensor) not in own:
            seen[place(tensor)] = tensor.storage().nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        result = forward()
    del result
    return sum(seen.values())


def mask_bytes(capture):
    """Bytes by which a CPU's dropout masks (single precision) are larger than CUDA's (a byte each)."""
    total = 0
    for one in capture.operators:
        if one.op == "aten::native_dropout" and not one.recomputed:
            count = 1
            for size in one.outs[0][1]:
                count *= size
            total += 3 * count
    return total


def program():
    """The program, or the test is skipped."""
    import foretrain

    try:
        return foretrain.find_program()
    except foretrain.ForetrainError as error:
        raise unittest.SkipTest(str(error).splitlines()[0])


def in_checkout():
    """The program finds its catalogs from the checkout's folder."""
    os.chdir(TOP)
