"""Scripts that start ranks by a launcher, as `tune run` and `yolo train` do: the ranks are recorded."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import Any, Callable, Dict, List, Sequence

from .data import when_imported
from .launch import Launch, parse
from .session import RecordError, Session


class Relaunch:
    """Hands the command line of the ranks to `end`, which records them in a process of their own."""

    def __init__(self, session: Session, place: Callable[[str], str]) -> None:
        self.session, self.place = session, place

    def install(self, end: Callable[[Dict[str, Any]], None]) -> None:
        self.end = end
        self.session.starts = self.started
        when_imported("torch.distributed.launcher.api", self._agents)

    def started(self, words: List[str], environment: Dict[str, str]) -> None:
        """A process is about to be started; returns where it is no launcher of ranks."""
        if self.session.trained() or not words:
            return
        try:
            launch = parse(words)
        except (RecordError, OSError, ValueError):
            return
        if launch.launcher != "python":
            self._hand_over(launch, environment)

    def _agents(self, module: Any) -> None:
        """torchrun's own agent, called as a function: tune run, accelerate launch, notebook_launcher."""

        def launch_agent(config: Any, entrypoint: Any, args: Sequence[Any], *_: Any, **__: Any) -> Any:
            if callable(entrypoint):
                found = entrypoint(*args)
                return {rank: found for rank in range(config.nproc_per_node)}
            words = [str(word) for word in (entrypoint, *args)]
            inner = parse(words)
            ranks = Launch(
                "torchrun", int(config.max_nodes), int(config.nproc_per_node), inner.program, inner.module
            )
            self._hand_over(ranks, dict(os.environ))

        module.launch_agent = launch_agent

    def _hand_over(self, launch: Launch, environment: Dict[str, str]) -> None:
        if not launch.module:
            launch.program[0] = self.place(launch.program[0])
        self.end({"relaunch": asdict(launch), "environment": environment, "notes": self.session.notes})
