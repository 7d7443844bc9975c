"""docs/notebooks: every code cell runs, in order, and prints and shows what the file holds.

    python3 python/tests/test_notebooks.py            runs them
    python3 python/tests/test_notebooks.py --write    writes their outputs anew, as after a change of
                                                      predictions

A notebook is kept without execution counts and without metadata but tags. Of an output it keeps the richest
form alone: a picture (SVG), else HTML, else text. `--write` brings a notebook that Jupyter saved into this
form.
"""

import ast
import contextlib
import io
import json
import linecache
import os
import re
import subprocess
import sys
import tempfile
import traceback
import unittest
from pathlib import Path

if __package__:
    from .common import TOP, torch
else:
    TOP = Path(__file__).resolve().parents[2]
    sys.path.insert(0, str(TOP / "python"))
    try:
        import torch
    except ImportError:
        torch = None

NOTEBOOKS = TOP / "docs/notebooks"
BUILT = TOP / "build/release/library/lib/libforetrain.so"
#: What a notebook may weigh, bytes.
LARGEST = 64 * 1024
#: Kept forms of a value, the richest first, with the method that makes each.
FORMS = (("image/svg+xml", "_repr_svg_"), ("text/html", "_repr_html_"), ("text/plain", "__repr__"))
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"file_extension": ".py", "mimetype": "text/x-python", "name": "python"},
}


def notebooks():
    """The files, in their order."""
    return sorted(NOTEBOOKS.glob("*.ipynb"))


def load(path):
    return json.loads(path.read_text(encoding="utf-8"))


def code_of(cell):
    return "".join(cell["source"])


def needs_torch(notebook):
    return any(re.search(r"^import torch", code_of(cell), re.MULTILINE) for cell in notebook["cells"])


def lines_of(text):
    return text.splitlines(keepends=True)


# In the child process: one notebook, one namespace, a working folder of its own.


def shown(value):
    """What Jupyter would show of a cell's last expression, in its richest form. Every form is asked for."""
    made = {form: getattr(value, method)() for form, method in FORMS if hasattr(value, method)}
    form = next(form for form, _ in FORMS if made.get(form))
    return {
        "data": {form: lines_of(made[form])},
        "execution_count": None,
        "metadata": {},
        "output_type": "execute_result",
    }


def run_cell(source, name, namespace):
    """Executes a cell and returns its outputs: what it prints, then its last expression."""
    linecache.cache[name] = (len(source), None, lines_of(source), name)
    tree = ast.parse(source, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    value, printed = None, io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, name, "exec"), namespace)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), name, "eval"), namespace)
    outputs = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": lines_of(printed.getvalue())})
    if value is not None and not source.rstrip().endswith(";"):
        outputs.append(shown(value))
    return outputs


def failure(error, name):
    """The line of the cell that failed, and why."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == name]
    number = frames[-1].lineno if frames else getattr(error, "lineno", None) or 1
    source = linecache.getline(name, number).strip()
    return f"{name}, line {number}: {source}\n  {type(error).__name__}: {error}"


def refuse_network(event, arguments):
    """An audit hook: a notebook reaches no other machine."""
    if event == "socket.connect" and not isinstance(arguments[1], (str, bytes)):
        raise PermissionError(f"a notebook connects to {arguments[1]}")


def run_here(path):
    """The outputs of each code cell, or the failure of one; printed as JSON."""
    sys.addaudithook(refuse_network)
    namespace = {"__name__": "__main__"}
    made = []
    for number, cell in enumerate(load(path)["cells"], 1):
        if cell["cell_type"] != "code":
            continue
        name = f"{path.name}, cell {number}"
        try:
            made.append(run_cell(code_of(cell), name, namespace))
        except Exception as error:
            return {"failure": failure(error, name)}
    return {"outputs": made}


# In the test's process.


def environment():
    """What a child needs to find the simulator of this checkout, and nothing of the user's."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in ("FORETRAIN", "FORETRAIN_LIBRARY", "FORETRAIN_PATH", "PATH")
    }
    if BUILT.is_file() and "FORETRAIN" not in kept:
        kept.setdefault("FORETRAIN_LIBRARY", str(BUILT))
    kept.setdefault("FORETRAIN_PATH", str(TOP))
    return {**kept, "PYTHONPATH": str(TOP / "python"), "PYTHONHASHSEED": "0"}


def run_notebook(path):
    """Runs a notebook in a process of its own: the outputs of its code cells.

    An AssertionError names the cell and the line that failed.
    """
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, str(Path(__file__).resolve()), "--run", str(path)],
            cwd=folder,
            env={**environment(), "HOME": folder, "XDG_DATA_HOME": os.path.join(folder, "no-data")},
            capture_output=True,
            text=True,
        )
    if done.returncode != 0:
        raise AssertionError(f"{path.name} ended its process: {done.stderr[-2000:]}")
    made = json.loads(done.stdout)
    if "failure" in made:
        raise AssertionError(made["failure"])
    return made["outputs"]


def tidy(notebook):
    """The notebook in the form that is kept, without outputs."""
    cells = []
    for cell in notebook["cells"]:
        tags = cell.get("metadata", {}).get("tags")
        kept = {"cell_type": cell["cell_type"], "id": cell["id"], "metadata": {"tags": tags} if tags else {}}
        kept["source"] = lines_of(code_of(cell))
        cells.append(
            {**kept, "execution_count": None, "outputs": []} if kept["cell_type"] == "code" else kept
        )
    return {"cells": cells, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}


def text_of(notebook):
    """As nbformat writes it."""
    return json.dumps(notebook, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def with_outputs(notebook, outputs):
    made = tidy(notebook)
    for cell, found in zip((cell for cell in made["cells"] if cell["cell_type"] == "code"), outputs):
        cell["outputs"] = found
    return made


def write():
    """Writes the outputs of all notebooks anew; without PyTorch those of the others."""
    for path in notebooks():
        notebook = load(path)
        if needs_torch(notebook) and torch is None:
            print(f"{path.name}: left as it is, needs PyTorch", file=sys.stderr)
            continue
        made = text_of(with_outputs(notebook, run_notebook(path)))
        if made != path.read_text(encoding="utf-8"):
            path.write_text(made, encoding="utf-8")
            print(f"wrote {path.relative_to(TOP)}")


class Notebooks(unittest.TestCase):
    def setUp(self):
        import foretrain

        try:
            foretrain.find_program()
        except foretrain.ForetrainError as error:
            if foretrain.find_library() is None:
                self.skipTest(str(error).splitlines()[0])

    def check(self, path):
        notebook = load(path)
        if needs_torch(notebook) and torch is None:
            self.skipTest("needs PyTorch (Debian: python3-torch)")
        found = run_notebook(path)
        stored = [
            (number, cell) for number, cell in enumerate(notebook["cells"], 1) if cell["cell_type"] == "code"
        ]
        for (number, cell), outputs in zip(stored, found):
            self.assertEqual(
                outputs,
                cell["outputs"],
                f"{path.name}, cell {number}: {code_of(cell).splitlines()[0]}\n"
                "  hint: python3 python/tests/test_notebooks.py --write, if predictions are meant to change",
            )

    def test_a_failing_cell_is_named_with_its_line(self):
        cells = [
            {"cell_type": "markdown", "id": "a", "metadata": {}, "source": ["# Page"]},
            {
                "cell_type": "code",
                "id": "b",
                "metadata": {},
                "source": ["x = 1\n", "assert x == 2, 'two'"],
                "outputs": [],
            },
        ]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "wrong.ipynb")
            path.write_text(json.dumps({"cells": cells}))
            with self.assertRaises(AssertionError) as raised:
                run_notebook(path)
            self.assertIn(
                "wrong.ipynb, cell 2, line 2: assert x == 2, 'two'\n  AssertionError: two",
                str(raised.exception),
            )
            cells[1]["source"] = ["import socket\n", "socket.create_connection(('127.0.0.1', 9))"]
            path.write_text(json.dumps({"cells": cells}))
            with self.assertRaisesRegex(AssertionError, "a notebook connects to"):
                run_notebook(path)


def _test_of(path):
    def test(self):
        self.check(path)

    return test


for _path in notebooks():
    setattr(Notebooks, f"test_{_path.stem}", _test_of(_path))


class Form(unittest.TestCase):
    """The files themselves, by the schema of nbformat 4.5."""

    def test_there_are_five_and_the_page_names_them(self):
        page = (NOTEBOOKS / "README.md").read_text(encoding="utf-8")
        self.assertEqual(len(notebooks()), 5)
        for path in notebooks():
            self.assertIn(f"]({path.name})", page)

    def test_each_is_tidy_and_small(self):
        for path in notebooks():
            with self.subTest(path.name):
                notebook = load(path)
                self.assertEqual(
                    text_of(
                        with_outputs(notebook, [c["outputs"] for c in notebook["cells"] if "outputs" in c])
                    ),
                    path.read_text(encoding="utf-8"),
                    "not in the kept form\n  hint: --write",
                )
                self.assertLess(path.stat().st_size, LARGEST)

    def test_cells_have_ids_and_known_outputs(self):
        for path in notebooks():
            notebook = load(path)
            ids = [cell["id"] for cell in notebook["cells"]]
            self.assertEqual(len(ids), len(set(ids)), path.name)
            for number, cell in enumerate(notebook["cells"], 1):
                with self.subTest(f"{path.name}, cell {number}"):
                    self.assertRegex(cell["id"], r"^[a-zA-Z0-9_-]{1,64}$")
                    self.assertIn(cell["cell_type"], ("markdown", "code"))
                    self.assertTrue(code_of(cell).strip())
                    for output in cell.get("outputs", []):
                        if output["output_type"] == "stream":
                            self.assertEqual(
                                (output["name"], set(output)), ("stdout", {"name", "output_type", "text"})
                            )
                        else:
                            self.assertEqual(
                                set(output), {"data", "execution_count", "metadata", "output_type"}
                            )
                            self.assertEqual(output["output_type"], "execute_result")
                            self.assertTrue(set(output["data"]) <= {form for form, _ in FORMS})

    def test_each_says_whom_it_is_for_and_its_code_is_short(self):
        for path in notebooks():
            notebook = load(path)
            first = notebook["cells"][0]
            self.assertEqual(first["cell_type"], "markdown", path.name)
            self.assertRegex(code_of(first), r"^# .+\n\nFor [^.]+\. After this page you can ", path.name)
            for number, cell in enumerate(notebook["cells"], 1):
                if cell["cell_type"] == "code":
                    for line in code_of(cell).splitlines():
                        self.assertLessEqual(len(line), 110, f"{path.name}, cell {number}: {line}")

    def test_pictures_are_five_small_files_of_tagged_cells(self):
        page = (NOTEBOOKS / "README.md").read_text(encoding="utf-8")
        pictures = sorted(NOTEBOOKS.glob("pictures/*"))
        self.assertEqual([one.stem for one in pictures], [path.stem for path in notebooks()])
        for path, picture in zip(notebooks(), pictures):
            self.assertLess(picture.stat().st_size, 60_000, picture.name)
            self.assertIn(f"](pictures/{picture.name})", page)
            tagged = [cell for cell in load(path)["cells"] if "picture" in cell["metadata"].get("tags", [])]
            self.assertTrue(tagged and all(cell["outputs"] for cell in tagged), path.name)

    def test_links_lead_somewhere(self):
        for path in notebooks():
            for cell in load(path)["cells"]:
                for target in (
                    re.findall(r"\]\(([^)#]+)", code_of(cell)) if cell["cell_type"] == "markdown" else []
                ):
                    self.assertTrue((NOTEBOOKS / target).exists(), f"{path.name}: {target}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        json.dump(run_here(Path(sys.argv[2])), sys.stdout)
    elif sys.argv[1:2] == ["--write"]:
        write()
    else:
        unittest.main()
