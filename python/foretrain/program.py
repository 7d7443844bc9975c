"""Asks the program: predict, compare and collective as dataclasses of its JSON. Times in seconds, sizes in
bytes."""
from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import asdict, dataclass, field
from html import escape
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from .errors import ForetrainError
from .reports import (
    CollectiveFields,
    CollectivePoint,
    ComparisonFields,
    ComparisonPoint,
    PredictionFields,
    PredictionPoint,
    StrategyResult,
)

Numbers = Union[int, str, Sequence[int]]


def find_program() -> str:
    """The program: $FORETRAIN, PATH, or build/release or build/dev of the checkout that this package lies
    in."""
    named = os.environ.get("FORETRAIN")
    if named:
        if not os.access(named, os.X_OK) or os.path.isdir(named):
            raise ForetrainError(f"FORETRAIN={named}: no program\n  hint: the path of the foretrain binary")
        return named
    found = shutil.which("foretrain")
    if found:
        return found
    top = Path(__file__).resolve().parents[2]
    for built in (top / "build/release/foretrain", top / "build/dev/foretrain"):
        if os.access(built, os.X_OK):
            return str(built)
    raise ForetrainError(
        "the program foretrain is not there\n  hint: put it on PATH, set FORETRAIN to its path, "
        "or build it: make build"
    )


def ask(arguments: Sequence[str], timeout_s: Optional[float] = None) -> Dict[str, Any]:
    """Runs the program with `arguments` and --format json; its answer. ForetrainError has what it prints
    instead."""
    command = [find_program(), *arguments, "--format", "json"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, check=False)
    except subprocess.TimeoutExpired as error:
        raise ForetrainError(f"foretrain {arguments[0]} took longer than {timeout_s} s") from error
    except OSError as error:
        raise ForetrainError(f"{command[0]}: {error.strerror}") from error
    if done.returncode != 0:
        raise ForetrainError(
            done.stderr.strip() or f"foretrain {arguments[0]} ended with exit code {done.returncode}"
        )
    try:
        answer = json.loads(done.stdout)
    except ValueError as error:
        raise ForetrainError(f"foretrain {arguments[0]} printed no JSON: {error}") from error
    if not isinstance(answer, dict):
        raise ForetrainError(f"foretrain {arguments[0]} printed no JSON object")
    return answer


def _numbers(value: Numbers) -> str:
    return ",".join(map(str, value)) if isinstance(value, (list, tuple, range)) else str(value)


def _flat(entry: Mapping[str, Any], prefix: str = "") -> Dict[str, Any]:
    """One level of columns: breakdown.compute_s becomes breakdown_compute_s; lists stay lists."""
    row: Dict[str, Any] = {}
    for key, value in entry.items():
        if isinstance(value, Mapping):
            row.update(_flat(value, f"{prefix}{key}_"))
        else:
            row[prefix + key] = value
    return row


@dataclass
class Answer:
    """What the program said; `raw` is its JSON, whole."""

    warnings: List[str]
    raw: Dict[str, Any] = field(repr=False)

    def to_dict(self) -> Dict[str, Any]:
        """The fields as plain dicts and lists, without `raw`."""
        made = asdict(self)
        made.pop("raw")
        return made

    def rows(self) -> List[Dict[str, Any]]:
        """A flat dict for each line of the table: pandas.DataFrame(answer.rows())."""
        return [_flat(point) for point in self.raw.get("points", [])]


@dataclass
class Prediction(PredictionFields, Answer):
    """A scaling table."""

    def _repr_html_(self) -> str:
        """The answer in a notebook: the verdict, then cause, action and what was assumed."""
        said = self.answer
        assumed = ", ".join(f"{one['text']} ({one['option']})" for one in said["assumptions"])
        lines = {"Cause": said["cause"], "Next step": said["action"], "Assumed": assumed}
        listed = "".join(f"<li>{key}: {escape(text)}</li>" for key, text in lines.items() if text)
        return f"<p><b>{escape(said['verdict'])}</b></p><ul>{listed}</ul>"


@dataclass
class Comparison(ComparisonFields, Answer):
    """Strategies side by side."""

    def rows(self) -> List[Dict[str, Any]]:
        """A flat dict for each strategy and number of GPUs."""
        return [
            {"gpus": point["gpus"], "nodes": point["nodes"], **_flat(one)}
            for point in self.raw.get("points", [])
            for one in point["strategies"]
        ]


@dataclass
class Collective(CollectiveFields, Answer):
    """A collective over message sizes."""


def _made(kind: Any, entry: Mapping[str, Any], **more: Any) -> Any:
    """A dataclass from the fields that it knows; what it does not know stays in `raw`."""
    known = {name: entry[name] for name in kind.__dataclass_fields__ if name in entry and name not in more}
    for name, wanted in kind.__dataclass_fields__.items():
        if name not in known and name not in more and str(wanted.type).startswith("Optional"):
            known[name] = None
    try:
        return kind(**known, **more)
    except TypeError as error:
        raise ForetrainError(f"the program's answer is of another version: {error}") from error


def _arguments(
    scenario: Optional[str],
    gpus: Optional[Numbers],
    model: Optional[str],
    cluster: Optional[str],
    strategy: Optional[str],
    batch: Optional[int],
    precision: Optional[str],
    settings: Optional[Mapping[str, Any]],
) -> List[str]:
    made: List[str] = [scenario] if scenario is not None else []
    for flag, value in (
        ("--model", model),
        ("--cluster", cluster),
        ("--strategy", strategy),
        ("--batch", batch),
        ("--precision", precision),
    ):
        if value is not None:
            made += [flag, str(value)]
    if gpus is not None:
        made += ["--gpus", _numbers(gpus)]
    for key, value in (settings or {}).items():
        made += ["--set", f"{key}={str(value).lower() if isinstance(value, bool) else value}"]
    return made


def predict(
    scenario: Optional[str] = None,
    *,
    gpus: Optional[Numbers] = None,
    model: Optional[str] = None,
    cluster: Optional[str] = None,
    strategy: Optional[str] = None,
    batch: Optional[int] = None,
    precision: Optional[str] = None,
    settings: Optional[Mapping[str, Any]] = None,
) -> Prediction:
    """The scaling table of a scenario (its name or file), or of a model (name or file) on a cluster.

    gpus: numbers of GPUs, as [1, 2, 4] or "1-8". batch: samples per GPU and step. settings: any key of
    the scenario,
    as {"strategy.bucket_cap": "10MiB"}. Raises ForetrainError with the program's diagnostics.
    """
    raw = ask(["predict", *_arguments(scenario, gpus, model, cluster, strategy, batch, precision, settings)])
    points = [_made(PredictionPoint, point) for point in raw.get("points", [])]
    return _made(Prediction, raw, points=points, raw=raw)


def compare(
    scenario: Optional[str] = None,
    *,
    gpus: Optional[Numbers] = None,
    model: Optional[str] = None,
    cluster: Optional[str] = None,
    strategies: Optional[Sequence[str]] = None,
    batch: Optional[int] = None,
    precision: Optional[str] = None,
    settings: Optional[Mapping[str, Any]] = None,
) -> Comparison:
    """Strategies side by side; `strategies` None: all."""
    arguments = _arguments(scenario, gpus, model, cluster, None, batch, precision, settings)
    if strategies is not None:
        arguments += ["--strategies", ",".join(strategies)]
    raw = ask(["compare", *arguments])
    points = [
        _made(ComparisonPoint, point, strategies=[_made(StrategyResult, {"breakdown": {}, "memory": {}, **s}) for s in point["strategies"]])
        for point in raw.get("points", [])
    ]
    return _made(Comparison, raw, points=points, raw=raw)


def collective(
    op: str,
    *,
    cluster: str,
    gpus: int,
    nodes: Optional[int] = None,
    sizes: Optional[str] = None,
    transport: Optional[str] = None,
    settings: Optional[Mapping[str, Any]] = None,
) -> Collective:
    """A collective as "all_reduce" over message sizes, as "8:128M:2" (from, to, factor) or "1M,64M"; K,
    M, G: powers of two."""
    arguments = ["collective", "--op", op, "--cluster", cluster, "--gpus", str(gpus)]
    for flag, value in (("--nodes", nodes), ("--sizes", sizes), ("--transport", transport)):
        if value is not None:
            arguments += [flag, str(value)]
    for key, value in (settings or {}).items():
        arguments += ["--set", f"{key}={value}"]
    raw = ask(arguments)
    return _made(
        Collective, raw, points=[_made(CollectivePoint, point) for point in raw.get("points", [])], raw=raw
    )
