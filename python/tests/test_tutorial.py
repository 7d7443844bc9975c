"""docs/tutorials/python.md: its blocks run, one after the other, and its recorded output is what capture
prints."""
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from .common import TOP, needs_torch, program

PAGE = TOP / "docs/tutorials/python.md"


def blocks():
    """(note above, language, text) of each fenced block."""
    pattern = re.compile(
        r"(?:^<!-- (?P<note>[^\n]*) -->\n)?^```(?P<language>\w*)\n(?P<text>.*?)^```$",
        re.MULTILINE | re.DOTALL,
    )
    return [
        (m["note"] or "", m["language"], m["text"])
        for m in pattern.finditer(PAGE.read_text(encoding="utf-8"))
    ]


@needs_torch
class Tutorial(unittest.TestCase):
    def run_in(self, folder, *command):
        environment = dict(
            os.environ, PYTHONPATH=str(TOP / "python"), FORETRAIN_PATH=str(TOP), FORETRAIN=self.program
        )
        return subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )

    def reads_recordings(self, folder):
        return self.run_in(folder, self.program, "model", "show", "./model.toml").returncode == 0

    def test_every_block_runs(self):
        self.program = program()
        code = []
        with tempfile.TemporaryDirectory() as folder:
            for note, language, text in blocks():
                if note.startswith("file "):
                    (Path(folder) / note[5:]).write_text(text)
                elif text.startswith("$ python3 -m foretrain"):
                    self.prints_what_is_shown(folder, text)
                elif language == "python" and (
                    not note.startswith("needs a program") or self.reads_recordings(folder)
                ):
                    code.append(text)
            (Path(folder) / "page.py").write_text("\n".join(code))
            done = self.run_in(folder, sys.executable, "page.py")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn('unknown scenario "no-such-scenario"', done.stdout)
        self.assertGreater(len(code), 5)

    def prints_what_is_shown(self, folder, text):
        command, _, shown = text.partition("\n")
        done = self.run_in(folder, sys.executable, *command.split()[2:])
        printed = [
            line for line in (done.stderr + done.stdout).splitlines() if "without formula" not in line.lower()
        ]
        self.assertEqual("\n".join(printed) + "\n", shown)


if __name__ == "__main__":
    unittest.main()
