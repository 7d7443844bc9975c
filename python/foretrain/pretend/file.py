"""The program file: a TOML file of the step that each kind of rank issued."""

from __future__ import annotations

from typing import Any, Dict, List

from ..version import VERSION
from ..writer import rows, value


def text_of(
    ranks: List[Dict[str, Any]], like: List[List[Dict[str, int]]], command: str, torch_version: str
) -> str:
    """The file."""
    first = ranks[0]
    header: Dict[str, Any] = {
        "format": 1,
        "by": f"foretrain record {VERSION}, torch {torch_version}",
        "command": command,
        "framework": ", ".join(first["frameworks"]) or "torch",
    }
    if first["precision"]:
        header["precision"] = first["precision"]
    header.update(
        world=first["world"],
        batch=first["batch"],
        micro_steps=first["micro_steps"],
        step=first["step"],
        parameters=first["numbers"],
        trained=first["trained"],
        guesses=[g for r in ranks for g in r["guesses"]],
        notes=list(dict.fromkeys(n for r in ranks for n in r["notes"])),
    )
    groups: List[Dict[str, Any]] = []
    for rank in ranks:
        places = []
        for group in rank["groups"]:
            if group not in groups:
                groups.append(group)
            places.append(groups.index(group))
        for row in rank["operators"]:
            if "group" in row:
                row["group"] = places[row["group"]]
    header["groups"] = groups
    words = f"{command} as {first['world']} ranks, one optimizer step"
    lines = [f"description = {value(words)}", "", "[program]"]
    lines += [f"{k} = {value(v)}" for k, v in header.items()]
    for rank, kinds in zip(ranks, like):
        lines += ["", "[[program.ranks]]", f"rank = {rank['rank']}", f"like = {value(kinds)}"]
        for name in ("parameters", "buffers", "operators", "storages"):
            lines += rows(name, rank[name])
    return "\n".join(lines) + "\n"
