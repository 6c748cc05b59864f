# SPDX-License-Identifier: GPL-3.0-or-later
"""The program smtune: where it is, and what it prints.

All reading goes through its commands, so the package does not depend on the
tables of the store.
"""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from typing import (IO, Any, Iterator, List, Mapping, NoReturn, Optional,
                    Sequence, Union)

File = Union[str, "os.PathLike[str]", Mapping[str, Any]]
Folder = Union[str, "os.PathLike[str]"]


class Error(Exception):
    """smtune refused a request. `status` is its exit status."""

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status


class ProgramNotFound(Error):
    """There is no program smtune on this machine."""


def find() -> str:
    """The path of the program: of the same wheel, in PATH, or beside Python."""
    name = "smtune"
    installed = _programs_of_wheel()
    beside = os.path.dirname(sys.executable)
    for folders in (installed, None, beside):
        path = shutil.which(name, path=folders)
        if path is not None:
            return os.path.abspath(path)
    raise ProgramNotFound(
        f"no program 'smtune' in {installed}, in PATH or in {beside}. Build it "
        "with 'make', then add the folder of the program to PATH")


def _programs_of_wheel() -> str:
    """Where pip puts the programs of the wheel that this package is from: below
    ENVIRONMENT/lib/pythonX.Y/site-packages, or below the folder of --target."""
    site = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if os.path.basename(site).endswith("-packages"):
        return os.path.abspath(os.path.join(site, "../../../bin"))
    return os.path.join(site, "bin")


def command(*words: object, store: Optional[Folder] = None) -> List[str]:
    """The words of a command that starts smtune."""
    line = [find(), *map(os.fspath, map(_text, words)), "--color", "never"]
    return line + (["--store", os.fspath(store)] if store is not None else [])


def _text(word: object) -> Any:
    return word if isinstance(word, (str, os.PathLike)) else str(word)


def call(*words: object, store: Optional[Folder] = None,
         text: bytes = b"") -> bytes:
    """The output of a command, with a text as its input. Error, if it fails."""
    done = subprocess.run(
        command(*words, store=store), input=text,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        fail(done.returncode, done.stdout, done.stderr)
    return done.stdout


def call_json(*words: object, store: Optional[Folder] = None) -> Any:
    """The document that a command prints with -o json."""
    import json
    return json.loads(call(*words, "-o", "json", store=store))


def fail(status: int, out: bytes, err: bytes) -> NoReturn:
    """Raises the error of a command: that of its JSON, or its messages."""
    import json
    message = err.decode(errors="replace").strip()
    for text in (out, err):
        try:
            message = json.loads(text)["error"]
        except (ValueError, KeyError, TypeError):
            pass
    prefix = "smtune: "
    if message.startswith(prefix):
        message = message[len(prefix):]
    raise Error(message or f"smtune ended with exit status {status}, see its "
                "messages", status)


def file_text(file: Mapping[str, Any]) -> str:
    """An experiment or a workflow from a dict, as the text of its file. Lines
    are short, because messages show the line with the error."""
    import json
    return json.dumps({"version": 1, **file}, indent=1, default=_plain,
                      ensure_ascii=False, allow_nan=False) + "\n"


@contextlib.contextmanager
def on_disk(file: Optional[File]) -> Iterator[Optional[Folder]]:
    """The path of a file; that of one for a dict exists until the end."""
    if not isinstance(file, Mapping):
        yield file
        return
    with tempfile.NamedTemporaryFile("w", suffix=".yaml", prefix="smtune-",
                                     encoding="utf-8") as made:
        made.write(file_text(file))
        made.flush()
        yield made.name


def plain_setting(params: Mapping[str, Any]) -> Any:
    """The parameters of a trial with values as JSON has them."""
    import json
    return json.loads(json.dumps(dict(params), default=_plain))


def _plain(value: Any) -> Any:
    """Paths, and the numbers and lists of NumPy."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    for name in ("tolist", "item"):
        if hasattr(value, name):
            return getattr(value, name)()
    if isinstance(value, (set, frozenset, range)):
        return list(value)
    raise TypeError(f"{value!r} cannot be a value in an experiment")


def settings(changes: Optional[Mapping[str, Any]]) -> Sequence[str]:
    """--set words; the value is JSON, so a text stays a text."""
    import json
    words: List[str] = []
    for name, value in (changes or {}).items():
        words += ["--set", f"{name}={json.dumps(value, default=_plain)}"]
    return words


def drain(stream: IO[bytes]) -> bytes:
    """All that a temporary file has."""
    stream.seek(0)
    return stream.read()
