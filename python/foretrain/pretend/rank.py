"""One pretend rank: a process of its own that shows a GPU and N ranks to the script, and runs it to the
end of a step. `python -m foretrain.pretend.rank OPTIONS.json`."""

from __future__ import annotations

import faulthandler
import gc
import json
import os
import random
import runpy
import sys
import traceback
from typing import Any, Dict, List, NoReturn

from ..errors import ForetrainError, reason, user_line
from .launch import Launch
from .session import ENDED, Refused, Session


def main(options: Dict[str, Any]) -> None:
    """Runs the script and writes what it issued, or why it could not, to options["out"]."""
    launch = Launch(**options["launch"])
    os.environ["FORETRAIN_SCRATCH"] = options["scratch"]
    os.environ.update(options["environment"])
    session = Session(
        options["rank"], launch.world, options["rank"] % launch.devices, launch.devices, options["steps"],
        launch.launcher, scratch=options["scratch"],
    )  # fmt: skip
    try:
        _run(session, launch, options)
    except (ForetrainError, Refused) as error:
        traceback.print_exc()
        _end(options["out"], {"error": str(error)})
    except BaseException as error:
        if not isinstance(error, SystemExit):
            traceback.print_exc()
        _end(options["out"], {"error": _explained(error)})


def _run(session: Session, launch: Launch, options: Dict[str, Any]) -> None:
    from . import guard

    guard.preload(session.scratch, launch.devices)
    from . import attention, data, ddp, device, extensions, files, libraries, tensors, weights, words
    from .communication import Communication
    from .groups import Groups
    from .mode import Pretend
    from .phases import Phases
    from .program import rank_of
    from .relaunch import Relaunch
    from .rows import StepRecorder

    import torch
    import torch._dynamo  # its tables name functions of torch.cuda as they are

    from torch.utils._python_dispatch import _disable_current_modes

    gc.set_threshold(100_000, 20, 20)  # rows are many, and no garbage
    torch.set_num_threads(1)
    random.seed(0)
    device.show(session)
    recorder = StepRecorder()
    communication = Communication(session, recorder)
    mode = Pretend(session, recorder, communication)

    def finish() -> None:
        session.on = False
        recorder.recording = False
        recorder.storages.close(len(recorder.operators))
        with _disable_current_modes():
            found = rank_of(session, recorder, communication, phases)
        found["torch"] = torch.__version__
        _end(options["out"], found)

    phases = Phases(session, recorder, communication, finish)
    if torch.distributed.is_available():
        Groups(session, communication, launch.fixed).install()
        ddp.install(session)
    tensors.install(mode)
    attention.install(session)
    data.install(session)
    words.install(session)
    weights.install(session)
    libraries.install(session, launch)
    extensions.install(session, options.get("rules"))
    phases.install()
    session.trained = lambda: phases.trained
    program = launch.program
    sys.argv = list(program)
    sys.path.insert(0, os.getcwd() if launch.module else os.path.dirname(os.path.abspath(program[0])))
    overlay = files.Overlay(session)
    overlay.install()
    Relaunch(session, overlay.readable).install(
        lambda found: _end(options["out"], found)
    )
    with mode:
        session.on = True
        try:
            if launch.module:
                runpy.run_module(program[0], run_name="__main__", alter_sys=True)
            else:
                runpy.run_path(program[0], run_name="__main__")
        except SystemExit as stop:
            if stop.code not in (0, None):
                raise
    said = f"{program[0]} ended after {phases.completed} of {session.steps} optimizer steps"
    if phases._cycle and phases._known is None:
        said = f"{program[0]} ended after 1 of {session.steps} optimizer steps"
    raise Refused(
        f"{said}\n  hint: give it enough epochs or samples, or record fewer steps: --steps 1;"
        " a step is a backward pass and a call of an optimizer of torch.optim"
    )


def _explained(error: BaseException) -> str:
    """The user's line, the reason, and what may help."""
    if isinstance(error, SystemExit):
        return f"{ENDED} {error.code}\n  hint: check its arguments; --show prints all that it says"
    where = user_line(error.__traceback__)
    lines = [f"the script stopped: {reason(error)}"]
    if where:
        lines.insert(0, where)
    return "\n".join(lines) + f"\n  hint: {_hint(error)}"


def _hint(error: BaseException) -> str:
    said = f"{type(error).__name__} {error}"
    if "asks no network" in said:
        return "put the files on this machine first, or switch the download off"
    if "starts no process" in said:
        return "take the call of another program out of the path that trains"
    if isinstance(error, FileNotFoundError):
        return "a file of the script is missing here; an empty stand-in may do, or a small data set"
    if isinstance(error, ModuleNotFoundError):
        return f"install it in this environment: pip install {error.name}"
    return "what the script does here needs values or memory of a GPU; --show prints all that it says"


def _end(path: str, found: Dict[str, Any]) -> NoReturn:
    text = json.dumps(found, default=str)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.write(handle, b"")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(1 if "error" in found else 0)


if __name__ == "__main__":
    faulthandler.enable()
    arguments: List[str] = sys.argv[1:]
    with open(arguments[0], encoding="utf-8") as given:
        read = json.load(given)
    main(read)
