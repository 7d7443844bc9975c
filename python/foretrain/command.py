"""The command line: `capture module:function`, where the function returns (model, batch) or (model, batch,
loss)."""
from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import sys
from typing import Any, List, Optional

from .errors import CaptureError, ForetrainError, explain


def load(place: str) -> Any:
    """The function of `module:function` or `file.py:function`."""
    where, colon, name = place.rpartition(":")
    if not colon or not where or not name:
        raise CaptureError(
            f"{place!r} names no function\n  hint: module:function, as train:example or"
            " scripts/train.py:example"
        )
    try:
        if where.endswith(".py"):
            if not os.path.isfile(where):
                raise CaptureError(f"{where}: no such file")
            sys.path.insert(0, os.path.dirname(os.path.abspath(where)))
            spec = importlib.util.spec_from_file_location(os.path.basename(where)[:-3], where)
            assert spec is not None and spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            sys.modules[spec.name] = module
            spec.loader.exec_module(module)
        else:
            sys.path.insert(0, os.getcwd())
            module = importlib.import_module(where)
    except Exception as error:
        raise explain(error, f"importing {where}") from error
    function = getattr(module, name, None)
    if not callable(function):
        raise CaptureError(
            f"{where} has no function {name}\n  hint: write one that returns (model, batch) or (model, batch,"
            " loss)"
        )
    return function


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="foretrain", description="Records a PyTorch model for foretrain.")
    commands = made.add_subparsers(dest="command", required=True)
    one = commands.add_parser("capture", help="write a model file from one training step; needs no GPU")
    one.add_argument(
        "function",
        help="module:function or file.py:function that returns (model, batch) or (model, batch, loss)",
    )
    one.add_argument("-o", "--out", default="model.toml", help="the file to write (model.toml)")
    one.add_argument("--name", help="what the model is called in the file")
    one.add_argument(
        "--batch-dim", type=int, default=0, help="dimension of the batch's tensors that counts samples (0)"
    )
    one.add_argument("--optimizer", help="written into the file, for example adamw")
    one.add_argument(
        "--autocast", choices=["float16", "bfloat16"], help='run the step in torch.autocast("cuda")'
    )
    one.add_argument("--run", action="store_true", help="run the step for real, without trying fake tensors")
    return made


def _given(options: argparse.Namespace, function: Any) -> Any:
    """What the function returns: model, batch and, perhaps, loss."""
    try:
        given = function()
    except Exception as error:
        raise explain(error, f"{options.function}()") from error
    if not isinstance(given, (tuple, list)) or len(given) not in (2, 3):
        raise CaptureError(
            f"{options.function}() returned {type(given).__name__}\n  hint: return (model, batch) or "
            "(model, batch, loss)"
        )
    return given


def _capture(options: argparse.Namespace, given: Any, fake: Optional[bool]) -> None:
    from .recording import capture

    capture(
        given[0],
        given[1],
        given[2] if len(given) == 3 else None,
        options.out,
        batch_dim=options.batch_dim,
        name=options.name or type(given[0]).__name__,
        optimizer=options.optimizer,
        autocast=options.autocast,
        fake=fake,
    )


def _without_data(options: argparse.Namespace, function: Any) -> Optional[CaptureError]:
    """Makes model and batch without data and records them; why that cannot be, where the function may be
    tried with data instead."""
    from .making import made_without_data

    given = None
    try:
        with made_without_data():
            given = _given(options, function)
        _capture(options, given, True)
    except CaptureError as error:
        if given is not None and _bytes(given[0]) > _free_bytes():
            raise
        return error
    return None


def _bytes(model: Any) -> int:
    """Bytes of the weights; 0 for what is no module."""
    weights = model.parameters() if callable(getattr(model, "parameters", None)) else ()
    return sum(p.numel() * p.element_size() for p in weights)


def _free_bytes() -> int:
    """Memory that weights may take: half of what is free, since gradients come on top."""
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, OSError, ValueError):
        return 1 << 62


def _run(options: argparse.Namespace) -> None:
    from .known import KNOWS_VALUES

    function = load(options.function)
    if options.run or not KNOWS_VALUES:
        _capture(options, _given(options, function), False if options.run else None)
    elif _without_data(options, function) is not None:
        _capture(options, _given(options, function), None)
    print(f"wrote {options.out}")


def main(arguments: Optional[List[str]] = None) -> int:
    """Exit code 0, or 1 with the reason on standard error."""
    options = parser().parse_args(arguments)
    try:
        _run(options)
    except ForetrainError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        print(
            "error: foretrain capture needs PyTorch 1.13 or newer\n  hint: run it in the environment of the"
            " training",
            file=sys.stderr,
        )
        return 1
    except OSError as error:
        print(f"error: {error.filename or options.out}: {error.strerror}", file=sys.stderr)
        return 3
    return 0
