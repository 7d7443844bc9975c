"""Nothing of the user's is written or deleted, no network is asked, no process started."""

from __future__ import annotations

import builtins
import errno
import io
import os
import shlex
import shutil
import socket
import stat
import sys
import tempfile
from typing import Any, Dict

from .session import Session, user_place

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Overlay:
    """What the script writes goes to a folder of its own, and is read from there."""

    def __init__(self, session: Session) -> None:
        self.session, self.top = session, os.path.abspath(session.scratch)
        self._open = builtins.open

    def inside(self, path: str) -> bool:
        real = os.path.abspath(path)
        return real.startswith(self.top + os.sep) or real == self.top or real.startswith("/dev/")

    def place(self, path: Any) -> str:
        """Where the overlay has a path."""
        full = os.path.abspath(os.fsdecode(path))
        return full if self.inside(full) else os.path.join(self.top, "files", full.lstrip(os.sep))

    def readable(self, path: str) -> str:
        """Where a path can be read: in the overlay, if the script wrote it there."""
        where = self.place(path)
        return where if os.path.exists(where) else path

    def install(self) -> None:
        sys.dont_write_bytecode = True
        tempfile.tempdir = os.path.join(self.top, "tmp")
        os.makedirs(tempfile.tempdir, exist_ok=True)
        plain_mkdir, plain_stat = os.mkdir, os.stat

        def plain_exists(path: Any) -> bool:
            try:
                plain_stat(path)
            except (OSError, ValueError):
                return False
            return True

        def plain_isdir(path: Any) -> bool:
            try:
                return stat.S_ISDIR(plain_stat(path).st_mode)
            except (OSError, ValueError):
                return False

        def folders(path: str) -> None:
            for end in range(1, len(path) + 1):
                if end == len(path) or path[end] == os.sep:
                    if not plain_isdir(path[:end]):
                        plain_mkdir(path[:end])

        self.folders = folders

        def opened(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
            if isinstance(file, int):
                return self._open(file, mode, *args, **kwargs)
            where = self.place(file)
            if any(letter in mode for letter in "wxa+"):
                if not self.inside(os.fsdecode(file)):
                    self._say(file)
                    folders(os.path.dirname(where))
                    if plain_exists(file) and not plain_exists(where) and ("a" in mode or "+" in mode):
                        shutil.copyfile(file, where)
                return self._open(where, mode, *args, **kwargs)
            return self._open(where if plain_exists(where) else file, mode, *args, **kwargs)

        def makedirs(name: Any, mode: int = 0o777, exist_ok: bool = False) -> None:
            folders(self.place(name))

        def mkdir(path: Any, mode: int = 0o777, **_: Any) -> None:
            where = self.place(path)
            if plain_isdir(path) or plain_isdir(where):
                raise FileExistsError(17, "File exists", path)
            folders(where)

        builtins.open = io.open = opened  # type: ignore
        os.makedirs, os.mkdir = makedirs, mkdir
        plain_open, plain_listdir = os.open, os.listdir

        def open_handle(path: Any, flags: int, mode: int = 0o777, **kwargs: Any) -> int:
            if flags & _WRITES and not self.inside(os.fsdecode(path)):
                self._say(path)
                path = self.place(path)
                folders(os.path.dirname(path))
            return plain_open(path, flags, mode, **kwargs)

        def listdir(path: Any = ".") -> Any:
            where = path if isinstance(path, int) else self.place(path)
            if isinstance(path, int) or where == path or not plain_isdir(where):
                return plain_listdir(path)
            return sorted(set(plain_listdir(where)) | set(plain_listdir(path) if plain_isdir(path) else []))

        os.open, os.listdir = open_handle, listdir
        for name in ("stat", "lstat", "scandir"):
            setattr(os, name, self._falling_back(getattr(os, name)))
        remove_tree = self._removing(os.unlink, os.rmdir)
        for name in ("remove", "unlink", "rmdir", "rename", "replace", "symlink", "link", "chmod", "chown"):
            setattr(os, name, self._guarded(getattr(os, name)))
        shutil.rmtree = self._guarded(remove_tree)  # type: ignore
        # Whether a port is free is asked so: it is.
        socket.socket.connect_ex = lambda *_, **__: errno.ECONNREFUSED  # type: ignore
        sys.addaudithook(self._audit)

    def _say(self, path: Any) -> None:
        name = os.path.relpath(os.fsdecode(path))
        self.session.note(f"{name} was not written.")

    def _falling_back(self, plain: Any) -> Any:
        """A question about a path that is answered by the overlay where the path is not there."""

        def ask(path: Any = ".", *args: Any, **kwargs: Any) -> Any:
            try:
                return plain(path, *args, **kwargs)
            except FileNotFoundError:
                if isinstance(path, int) or kwargs.get("dir_fd") is not None:
                    raise
                return plain(self.place(path), *args, **kwargs)

        return ask

    @staticmethod
    def _removing(unlink: Any, rmdir: Any) -> Any:
        """A folder of the overlay goes file by file, by whole paths."""

        def remove(path: Any, *_: Any, **__: Any) -> None:
            for folder, folders, files in os.walk(path, topdown=False):
                for name in files:
                    unlink(os.path.join(folder, name))
                for name in folders:
                    inner = os.path.join(folder, name)
                    (unlink if os.path.islink(inner) else rmdir)(inner)
            rmdir(path)

        return remove

    def _guarded(self, plain: Any) -> Any:
        def run(path: Any, *args: Any, **kwargs: Any) -> Any:
            if isinstance(path, (str, bytes, os.PathLike)) and not self.inside(os.fsdecode(path)):
                where = self.place(path)
                if not os.path.lexists(where):
                    self.session.note(f"{os.path.relpath(os.fsdecode(path))} was left as it is.")
                    return None
                path = where
            if args and isinstance(args[0], (str, os.PathLike)):
                args = (self.place(args[0]),) + args[1:]
                self.folders(os.path.dirname(args[0]))
            return plain(path, *args, **kwargs)

        return run

    def _audit(self, event: str, args: Any) -> None:
        """What the functions above did not see is refused."""
        if event == "open":
            path, _, flags = args
            if isinstance(path, (str, bytes)) and isinstance(flags, int) and flags & _WRITES:
                if not self.inside(os.fsdecode(path)):
                    raise OSError(30, "foretrain record writes nothing", os.fsdecode(path))
        elif event in ("os.remove", "os.rmdir", "os.mkdir", "shutil.rmtree", "os.truncate"):
            if isinstance(args[0], (str, bytes)) and not self.inside(os.fsdecode(args[0])):
                raise OSError(30, "foretrain record writes and deletes nothing", os.fsdecode(args[0]))
        elif event == "socket.connect":
            address = args[1]
            if isinstance(address, tuple):
                raise ConnectionError(f"foretrain record asks no network, and {address[0]} was asked for")
        elif event == "socket.getaddrinfo":
            if args[0] not in (None, "", "localhost", "127.0.0.1", "::1"):
                raise ConnectionError(f"foretrain record asks no network, and {args[0]} was asked for")
        elif event in ("subprocess.Popen", "os.system", "os.posix_spawn", "os.exec"):
            command = args[1] if event == "subprocess.Popen" else args[0]
            command = os.fsdecode(command) if isinstance(command, (str, bytes)) else command or [args[0]]
            listed = shlex.split(command) if isinstance(command, str) else [os.fsdecode(w) for w in command]
            words = " ".join(listed)
            if self.session.starts is not None:
                self.session.starts(listed, _environment(event, args))
            who = user_place() or "A library"
            self.session.note(f"{who} asked for the program {words.split()[0]!r}, which did not run.")
            raise FileNotFoundError(2, "foretrain record starts no process", words)
        elif event == "os.fork":
            raise PermissionError(1, "foretrain record starts no process")


def _environment(event: str, args: Any) -> Dict[str, str]:
    """The environment that a new process would have; an audit event tells it, if it is another one."""
    given = {"subprocess.Popen": 3, "os.posix_spawn": 2, "os.exec": 2}.get(event)
    found = args[given] if given is not None and len(args) > given else None
    if not found:
        return dict(os.environ)
    return {os.fsdecode(name): os.fsdecode(value) for name, value in dict(found).items()}
