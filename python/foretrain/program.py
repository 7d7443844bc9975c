"""Asks the simulator: a function for each command, with the command's options as keywords."""
from __future__ import annotations

import json
import os
import tempfile
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from .answers import Answer, Collective, Comparison, Plan, Plans, Prediction
from .answers import Report, Text, Validation, answer_of
from .errors import EnvironmentError, InputError, UsageError
from .library import Ran, run

Numbers = Union[int, str, Sequence[int]]
Settings = Optional[Mapping[str, Any]]

_ERRORS = {1: InputError, 2: UsageError, 3: EnvironmentError}


def _numbers(value: Numbers) -> str:
    return ",".join(map(str, value)) if isinstance(value, (list, tuple, range)) else str(value)


def _value(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def _words(options: Mapping[str, Any]) -> List[str]:
    """every_gpu=True is --every-gpu, scaling="both" is --scaling both, a list is the option again and again, and settings are
    --set; None and False leave an option out."""
    made: List[str] = []
    for name, value in options.items():
        flag = "--" + name.strip("_").replace("_", "-")
        if name == "settings":
            for key, setting in (value or {}).items():
                made += ["--set", f"{key}={_value(setting)}"]
        elif value is None or value is False:
            continue
        elif value is True:
            made.append(flag)
        elif name in ("gpus", "nodes"):
            made += [flag, _numbers(value)]
        elif isinstance(value, (list, tuple)):
            for one in value:
                made += [flag, _value(one)]
        else:
            made += [flag, _value(value)]
    return made


def _carry_out(words: Sequence[str], also_ok: Tuple[int, ...] = ()) -> Ran:
    done = run(words)
    if done.exit_code != 0 and not (done.exit_code in also_ok and done.output):
        text = done.messages.strip() or f"foretrain {words[0]} ended with exit code {done.exit_code}"
        raise _ERRORS.get(done.exit_code, EnvironmentError)(text)
    return done


def ask(words: Sequence[str], also_ok: Tuple[int, ...] = ()) -> Dict[str, Any]:
    """A command's JSON; InputError, UsageError or EnvironmentError with the diagnostics where it has none."""
    done = _carry_out([*words, "--format", "json"], also_ok)
    try:
        raw = json.loads(done.output)
    except ValueError as error:
        raise EnvironmentError(f"foretrain {words[0]} printed no JSON: {error}") from error
    if not isinstance(raw, dict):
        raise EnvironmentError(f"foretrain {words[0]} printed no JSON object")
    return raw


def _text(words: Sequence[str]) -> Text:
    done = _carry_out(words)
    made = Text(done.output)
    made.messages = done.messages
    return made


def _positional(*words: Any) -> List[str]:
    return [_value(word) for word in words if word is not None]


def predict(
    scenario: Optional[str] = None,
    *,
    gpus: Optional[Numbers] = None,
    model: Optional[str] = None,
    cluster: Optional[str] = None,
    strategy: Optional[str] = None,
    batch: Optional[int] = None,
    precision: Optional[str] = None,
    settings: Settings = None,
    **options: Any,
) -> Prediction:
    """The scaling table of a scenario (its name or file), of a job script, or of a model (name or file) on a cluster.

    gpus: numbers of GPUs, as [1, 2, 4] or "1-8". batch: samples per GPU and step. settings: any key of the scenario, as
    {"strategy.bucket_cap": "10MiB"}. options: any other option of `foretrain predict --help-all`, as every_gpu=True or
    scaling="strong". Raises InputError with the program's diagnostics.
    """
    named = dict(gpus=gpus, model=model, cluster=cluster, strategy=strategy, batch=batch, precision=precision, settings=settings)
    return answer_of(ask(["predict", *_positional(scenario), *_words({**named, **options})]))  # type: ignore[no-any-return]


def recommend(scenario: Optional[str] = None, **options: Any) -> Prediction:
    """As predict(), and which job to ask for: `.recommendation`; options as deadline="2 h" are those of predict."""
    return predict(scenario, recommend=True, **options)


def compare(
    scenario: Optional[str] = None,
    *,
    gpus: Optional[Numbers] = None,
    model: Optional[str] = None,
    cluster: Optional[str] = None,
    strategies: Optional[Sequence[str]] = None,
    batch: Optional[int] = None,
    precision: Optional[str] = None,
    settings: Settings = None,
    **options: Any,
) -> Union[Comparison, Report]:
    """Strategies side by side; `strategies` None: all. With clusters=[…] one training on several machines, with models=[…] and
    clusters=[…] the best strategy of each: a Report."""
    named = dict(gpus=gpus, model=model, cluster=cluster, strategies=strategies, batch=batch, precision=precision, settings=settings)
    return answer_of(ask(["compare", *_positional(scenario), *_words({**named, **options})]))  # type: ignore[no-any-return]


def plan(scenario: Optional[str] = None, **options: Any) -> Union[Plan, Plans]:
    """Layouts of a large model that fit, fastest first: plan(model="llama3_8b", cluster="mahti", gpus=64); with several numbers of
    GPUs which of them to ask for."""
    return answer_of(ask(["plan", *_positional(scenario), *_words(options)]))  # type: ignore[no-any-return]


def tune(scenario: str, **options: Any) -> Report:
    """The best of many settings: tune("mahti-resnet50-ddp", gpus=8, over=["bucket_cap", "workers"]).best["settings"]."""
    return answer_of(ask(["tune", *_positional(scenario), *_words(options)]))  # type: ignore[no-any-return]


def sweep(file: str, database: Optional[str] = None, *, jobs: Optional[int] = None, most: int = 1_000_000, **options: Any) -> Any:
    """Every case of a sweep file: a pandas.DataFrame where pandas is installed, else a Report with rows().

    database: a file that keeps the results, so that a second call predicts only what is new. jobs: worker processes. options: of
    `foretrain sweep show`, as where="fits", best="total_s".
    """
    with tempfile.TemporaryDirectory() as folder:
        kept = database if database is not None else os.path.join(folder, "sweep.sqlite")
        workers = ["--threads", str(jobs)] if jobs is not None else []
        _carry_out(["sweep", "run", *_positional(file), "--db", _value(kept), "--quiet", *workers])
        raw = ask(["sweep", "show", _value(kept), "--most", str(most), *_words(options)])
    made = Report(list(raw.get("warnings", [])), raw)
    try:
        import pandas
    except ImportError:
        return made
    return pandas.DataFrame(raw["rows"], columns=raw["columns"])


def check(file: str, *, cluster: Optional[str] = None, model: Optional[str] = None, settings: Settings = None, **options: Any) -> Report:
    """What is wrong with a job script, before it is submitted: .can_start, .mistakes, .warnings, .answer."""
    named = dict(cluster=cluster, model=model, settings=settings)
    return answer_of(ask(["job", "check", *_positional(file), *_words({**named, **options})], also_ok=(1,)))  # type: ignore[no-any-return]


def explain(*files: str, **options: Any) -> Report:
    """A finished job beside its prediction: explain("sacct.json", "job.sbatch", model="resnet50").jobs."""
    return answer_of(ask(["explain", *_positional(*files), *_words(options)]))  # type: ignore[no-any-return]


def topology(cluster: str, **options: Any) -> Text:
    """Links, routes between GPUs and all-reduces of a cluster; channels=True: what NCCL finds for a job of gpus=N."""
    return _text(["topology", "show", *_positional(cluster), *_words(options)])


def collective(
    op: str,
    *,
    cluster: str,
    gpus: int,
    nodes: Optional[int] = None,
    sizes: Optional[str] = None,
    transport: Optional[str] = None,
    settings: Settings = None,
    **options: Any,
) -> Collective:
    """A collective as "all_reduce" over message sizes, as "8:128M:2" (from, to, factor) or "1M,64M"; K, M, G: powers of two."""
    named = dict(op=op, cluster=cluster, gpus=gpus, nodes=nodes, sizes=sizes, transport=transport, settings=settings)
    return answer_of(ask(["collective", *_words({**named, **options})]))  # type: ignore[no-any-return]


def calibrate(action: str, *files: str, **options: Any) -> Union[Text, Report]:
    """`foretrain calibrate fit|show|samples|check`: calibrate("fit", "samples.csv", cluster="puhti") is the calibration file's text,
    calibrate("check", …) the held-out errors."""
    words = ["calibrate", action, *_positional(*files), *_words(options)]
    return answer_of(ask(words)) if action == "check" else _text(words)  # type: ignore[no-any-return]


def validate(file: str, **options: Any) -> Validation:
    """Predicted against measured, row by row: validate("my_runs.csv").error.

    The columns of the file: `foretrain validate --help-all`.
    """
    return answer_of(ask(["validate", *_positional(file), *_words(options)]))  # type: ignore[no-any-return]


def evidence(action: str = "list", *words: str, **options: Any) -> Text:
    """`foretrain evidence list|show|report|score|learn|add|remove|undo|export`: measured runs that correct predictions."""
    return _text(["evidence", action, *_positional(*words), *_words(options)])


__all__ = ["Answer", "ask", "calibrate", "check", "collective", "compare", "evidence", "explain", "plan", "predict", "recommend", "sweep",
           "topology", "tune", "validate"]
