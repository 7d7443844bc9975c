"""What scripts call beside tensors: spawn, compile, other processes, evaluation before the first step."""

from __future__ import annotations

from typing import Any

import torch

from .data import when_imported
from .launch import Launch
from .session import Session, refuse


def install(session: Session, launch: Launch) -> None:
    _spawn(session, launch)
    _compile(session)
    _kernels()
    for place in ("lightning.pytorch", "pytorch_lightning", "lightning.fabric", "lightning_fabric"):
        when_imported(f"{place}.strategies.launchers.subprocess_script", _one_script)


def _one_script(module: Any) -> None:
    """Lightning starts the script again for each further rank; this rank is enough."""
    module._SubprocessScriptLauncher._call_children_scripts = lambda *_, **__: None


def _spawn(session: Session, launch: Launch) -> None:
    """mp.spawn becomes one call, of the process that this rank would be."""
    import multiprocessing.process as process

    import torch.multiprocessing as several

    def spawn(
        fn: Any,
        args: Any = (),
        nprocs: int = 1,
        join: bool = True,
        daemon: bool = False,
        start_method: str = "spawn",
    ) -> None:
        if not launch.fixed:
            session.world = max(session.world, nprocs)
        fn(session.local if session.local < nprocs else 0, *args)

    several.spawn = spawn
    several.spawn.__module__ = "torch.multiprocessing"

    def start(self: Any) -> None:
        target = getattr(getattr(self, "_target", None), "__name__", "without a name")
        refuse(
            f"the script starts a process of its own ({target})",
            "start ranks by torchrun or torch.multiprocessing.spawn",
        )

    process.BaseProcess.start = start  # type: ignore


def _compile(session: Session) -> None:
    """torch.compile gives the function itself: operators are recorded one by one."""
    note = "torch.compile was left out: operators are recorded as eager code issues them."

    def compiled(model: Any = None, *_: Any, **__: Any) -> Any:
        session.note(note)
        return (lambda function: function) if model is None else model

    def in_place(self: Any, *_: Any, **__: Any) -> None:
        session.note(note)

    torch.compile = compiled  # type: ignore
    torch.nn.Module.compile = in_place  # type: ignore


def _kernels() -> None:
    plain = getattr(torch._C, "_select_conv_backend", None)
    if plain is None:
        return

    def select(*args: Any, **kwargs: Any) -> Any:
        try:
            return plain(*args, **kwargs)
        except Exception:
            return torch._C._ConvBackend.Cudnn

    torch._C._select_conv_backend = select  # type: ignore
