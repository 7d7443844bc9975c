"""A process that imports what networks need and measures one network per order, each in a fork of its own.

The forks share the imports, which take seconds; each has a GPU context of its own, and a crash loses one configuration.
Orders come as JSON lines on standard input, messages go as JSON lines to standard output: {"begin": …} before a
configuration, {"step": …} and {"end": …} after it, {"over": …} after a network.
"""
from __future__ import annotations

import importlib
import json
import os
import sys
import time
import warnings
from dataclasses import asdict
from typing import Any, Dict, List

from .networks import Network, networks, small_networks


def key_of(network: str, way: Dict[str, Any]) -> str:
    """What tells a configuration from all others."""
    return "/".join(str(part) for part in (network, *(way[name] for name in sorted(way))))


def rows_of(small: bool) -> List[Network]:
    return small_networks() if small else networks()


def _say(**message: Any) -> None:
    os.write(sys.stdout.fileno(), (json.dumps(message) + "\n").encode())


def reason(error: BaseException) -> str:
    """One line that says why a configuration could not be measured."""
    if type(error).__name__ in ("OutOfMemoryError", "MemoryError") or "out of memory" in str(error):
        return "out of memory"
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[0]}"[:200]


def _import_all(rows: List[Network]) -> Dict[str, str]:
    """Imports the packages of all networks, and makes each network without memory: that imports its code.

    The packages that are missing, with the reason. CUDA is not touched: it could not be used in forks afterwards.
    """
    import torch

    missing: Dict[str, str] = {}
    for row in rows:
        for package in row.needs:
            try:
                importlib.import_module(package)
            except Exception as error:
                missing[package] = reason(error)
    for row in rows:
        if not any(package in missing for package in row.needs) and hasattr(torch, "_subclasses"):
            try:
                with torch.device("meta"):
                    row.make()
            except Exception:
                pass  # measuring says why
    return missing


def main(arguments: List[str]) -> int:
    """device small: cuda or cpu, 1 or 0."""
    device, small = arguments[0], arguments[1] == "1"
    os.environ["PYTORCH_NVML_BASED_CUDA_CHECK"] = "1"
    # Messages go where standard output went; what libraries print goes to standard error.
    lines = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = os.fdopen(lines, "w")
    warnings.filterwarnings("ignore")
    rows = rows_of(small)
    chosen = json.loads(sys.stdin.readline() or "[]")
    missing = _import_all([rows[index] for index in chosen])
    _say(ready=len(chosen))
    for text in iter(sys.stdin.readline, ""):
        order = json.loads(text)
        network = rows[order["index"]]
        lacks = [missing[package] for package in network.needs if package in missing]
        if lacks:
            _say(skipped=lacks[0])
            _say(over=0)
            continue
        if not order["fork"]:
            _measure(network, device, order)
            _say(over=0)
            return 0
        child = os.fork()
        if child == 0:
            code = 1
            try:
                _measure(network, device, order)
                code = 0
            except BaseException as error:  # noqa: B902 - the fork ends here, whatever it was
                _say(failed=reason(error))
            finally:
                os._exit(code)
        _say(process=child)
        _, status = os.waitpid(child, 0)
        _say(over=status)
    return 0


def _measure(network: Network, device: str, order: Dict[str, Any]) -> None:
    import torch

    from .profiling import kernels_of, read_trace, traced
    from .stepping import Step, cleared, measured

    until = time.monotonic() + float(order["seconds"])
    done = set(order["done"])
    torch.manual_seed(1)
    seen = set(order["traced"])
    for way in network.configurations:
        description = asdict(way)
        key = key_of(network.name, description)
        if key in done:
            continue
        if time.monotonic() > until:
            return
        _say(begin=key)
        step = None
        began = time.monotonic()
        try:
            step = Step(network, way, device)
            made_s = time.monotonic() - began
            result = {**measured(step), "made_s": made_s}
            trace = trace_name(network.name, way.precision, way.batch, way.compile)
            if _is_traced(network, way) and trace not in seen and order["folder"] is not None:
                begin = time.monotonic()
                try:
                    path = os.path.join(order["folder"], trace)
                    traced(step, path)
                    result.update(trace=trace, **kernels_of(read_trace(path))[1])
                except Exception as error:
                    result["trace_error"] = reason(error)
                result["trace_s"] = time.monotonic() - begin
            _say(step=line_of(network, description, result, time.monotonic() - began))
        except Exception as error:
            _say(step=line_of(network, description, {"error": reason(error)}, time.monotonic() - began))
        del step
        cleared(device)
        _say(end=key)


def _is_traced(network: Network, way: Any) -> bool:
    """The first configuration, and the first in full precision."""
    first_full = next((one for one in network.configurations if one.precision == "fp32"), None)
    return way in (network.configurations[0], first_full)


def trace_name(network: str, precision: str, batch: int, compiled: bool) -> str:
    return f"{network}-{precision}-{batch}{'-compiled' if compiled else ''}.json.gz"


def line_of(network: Network, way: Dict[str, Any], result: Dict[str, Any], took_s: float) -> Dict[str, Any]:
    """A line of steps.jsonl."""
    settings: Dict[str, Any] = dict(network.settings)
    if way["compile"]:
        settings["framework.execution"] = "compiled"
    if way["channels_last"]:
        settings["framework.layout"] = "channels_last"
    blank = {"step_s": None, "spread": None, "steps": 0, "host_s": None, "launches": None, "memory": None, "error": None}
    when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    return {"network": network.name, "kind": network.kind, **way, "optimizer": network.optimizer, "settings": settings,
            **blank, **result, "took_s": took_s, "when": when}


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
