#!/usr/bin/env python3
"""Whether the chapters of the lesson say what the page's questions say, and whether the program and the measured rows agree.

The questions are in web/workshop/src/questions.json, which the page is built from. In docs/tutorials/lesson everything between
<!-- question: ID --> (or answer:, table:) and <!-- end --> is made of them and of the program's answers; `--write`, as in
`make docs`, writes these parts anew, without it a part that differs is a fault. Usage: lesson_questions.py PROGRAM ROOT [--write]
"""
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import urllib.parse

QUESTIONS = "web/workshop/src/questions.json"
LESSON = "docs/tutorials/lesson"
PART = re.compile(r"^<!-- (question|answer|table): (\S+) -->\n(.*?)^<!-- end -->\n", re.M | re.S)
# As web/workshop/src/state.ts names them in a link, in its order.
SHORT = {"preset": "q", "scenario": "s", "model": "m", "cluster": "c", "strategy": "by", "gpus": "gpus", "batch": "batch", "bucket": "bucket",
         "workers": "workers", "cores": "cores", "links": "links", "kernels": "kernels", "epochs": "epochs", "deadline": "deadline"}
OPTION = {"model": "--model {}", "cluster": "--cluster {}", "strategy": "--strategy {}", "gpus": "--gpus {}", "batch": "--batch {}", "epochs": "--epochs {}",
          "bucket": "--set strategy.bucket_cap={}MiB", "workers": "--set data.workers_per_gpu={}", "cores": "--set data.cores_per_gpu={}",
          "links": "--set cluster.link_speed={}", "kernels": "--set cluster.kernel_speed={}"}
# How far a prediction may be off before the question has to say how it differs.
NEAR = 0.15


def arguments(state):
    """The arguments of `foretrain predict` for what a question's keys say; links as they are (1) and buckets as they are (0) are not stated."""
    out = [state["scenario"]] if "scenario" in state else []
    most = state["gpus"]
    counts = ",".join(str(n) for n in range(1, most + 1) if n in (1, 2, 4, 8, 16, most))
    for key, form in OPTION.items():
        if key in state and state[key] != {"links": 1, "bucket": 0}.get(key):
            out += form.format(counts if key == "gpus" else state[key]).split()
    return out


def command(state):
    """What a person types; a deadline is asked of --recommend."""
    due = ["--recommend", "--deadline", f"{state['deadline']}h"] if "deadline" in state else []
    return " ".join(["foretrain", "predict", *arguments(state), *due])


def link(question):
    fields = {short: {**question["state"], "preset": question["id"]}[key] for key, short in SHORT.items() if key in {**question["state"], "preset": 1}}
    return "http://127.0.0.1:8080/#" + urllib.parse.urlencode({**fields, "v": 2})


def digits(value):
    """Three significant digits, or a whole number, as the page writes them."""
    if value == round(value):
        return str(round(value))
    size = math.floor(math.log10(abs(value) or 1))
    return f"{value:.{max(0, min(6, 2 - size))}f}"


def with_unit(text, unit):
    return f"{text}{' %' if unit == '%' else unit}"


class Program:
    """The program's answers, each asked for once."""

    def __init__(self, binary, root):
        self.binary, self.root, self.kept = binary, root, {}

    def number(self, question, state):
        line = tuple(arguments(state))
        if line not in self.kept:
            text = subprocess.run([self.binary, "predict", *line, "--format", "json"], check=True, stdout=subprocess.PIPE,
                                  env={**os.environ, "FORETRAIN_PATH": str(self.root)}).stdout
            self.kept[line] = json.loads(text)["points"]
        points, of = self.kept[line], question["of"]
        if of["kind"] == "gpus_within":
            return next(p["gpus"] for p in points if p["total_interval"]["high_s"] <= 3600 * of["hours"])
        point = next(p for p in points if p["gpus"] == of["gpus"])
        if of["kind"] in ("speedup", "rate", "total"):
            return point[{"speedup": "speedup", "rate": "samples_per_s", "total": "total_s"}[of["kind"]]]
        parts = {"input": ["input_stall_s"], "communication": ["exposed_communication_s"], "kernels": ["compute_s", "optimizer_s"]}[of["kind"]]
        return 100 * sum(point["breakdown"][part] for part in parts) / point["step_s"]


def measured_text(question):
    found = question.get("measured")
    if not found:
        return f"No measured value is published. {question['unmeasured']}"
    differs = f" {found['differs']}" if "differs" in found else ""
    return f"Measured: {with_unit(found['value'], question['unit'])} ({found['source']}; `{found['file']}`).{differs}"


def said(program, question, state):
    return with_unit(digits(program.number(question, state)), question["unit"])


def part(kind, name, lesson, program):
    """The lines of one part of a page."""
    questions = {q["id"]: q for q in lesson["questions"]}
    numbers = {q["id"]: i + 1 for i, q in enumerate(lesson["questions"])}
    if kind == "question":
        q = questions[name]
        return [f"## Question {numbers[name]}: {q['title']}", "", f"*{q['question']}*", "", f"**Guess**, and write it down: {q['ask']}", "",
                f"**Experiment**: `{command(q['state'])}`, or [in the page]({link(q)}) of `foretrain serve`."]
    if kind == "answer":
        q = questions[name]
        turned = {**q["state"], **q["turn"]["state"]}
        return [f"**The answer.** foretrain says {said(program, q, q['state'])}. {measured_text(q)}", "", "Two usual answers, and why they are wrong:", "",
                *(f"- **{with_unit(w['value'], q['unit'])}** {w['why']}" for w in q["wrong"]), "",
                f"**Turn the key**: `{command(turned)}` says {said(program, q, turned)}. {q['turn']['shows']}", "", "**Try**", "", *(f"- {one}" for one in q["tries"])]
    if name == "chapters":
        return ["| | chapter | questions |", "|---|---|---|",
                *(f"| {c['number']} | [{c['title']}]({c['file']}) | " + "; ".join(f"{numbers[q['id']]}. {q['title']}" for q in lesson["questions"] if q["chapter"] == c["number"]) + " |"
                  for c in lesson["chapters"])]
    if name == "quick":
        quick = sorted((q for q in lesson["questions"] if "quick" in q), key=lambda q: q["quick"])
        return [f"{q['quick']}. [{q['title']}]({link(q)}): {q['question']} {q['ask']}" for q in quick]
    if name == "answers":
        far = [str(numbers[q["id"]]) for q in lesson["questions"] if "differs" in q.get("measured", {})]
        return ["| question | foretrain | measured | what people say |", "|---|---:|---:|---|",
                *(f"| {numbers[q['id']]}. {q['title']} | {said(program, q, q['state'])} | "
                  f"{with_unit(q['measured']['value'], q['unit']) if 'measured' in q else 'not published'} | "
                  f"{' or '.join(with_unit(w['value'], q['unit']) for w in q['wrong'])} |" for q in lesson["questions"]),
                "", f"The prediction is more than {NEAR:.0%} off in questions {', '.join(far[:-1])} and {far[-1]}.".replace("%", " %")]
    raise KeyError(f"{kind}: {name}")


def faults_of_data(lesson, program, root):
    """Counts, measured values against their rows, and answers that would not be wrong."""
    questions = lesson["questions"]
    for chapter in lesson["chapters"]:
        if sum(q["chapter"] == chapter["number"] for q in questions) != 2:
            yield f"chapter {chapter['number']} has not two questions"
    if sorted(q["quick"] for q in questions if "quick" in q) != [1, 2, 3, 4]:
        yield "the ten-minute version has not four questions"
    for q in questions:
        found, value = q.get("measured"), program.number(q, q["state"])
        true = [value]
        if found:
            text = (root / found["file"]).read_text()
            for number in re.findall(r"\d+\.\d+|\d{3,}", found["from"].removeprefix("100 * ")):
                if not re.search(rf"(?<![\d.]){re.escape(number)}(?![\d.])", text):
                    yield f"{q['id']}: {number} is not in {found['file']}"
            if found["source"] not in text + (root / "docs/measured/README.md").read_text():
                yield f"{q['id']}: {found['source']} is not in {found['file']}"
            if not re.fullmatch(r"[\d.+*/() ]+", found["from"]) or abs(eval(found["from"]) / found["value"] - 1) > 5e-3:
                yield f"{q['id']}: {found['from']} is not {found['value']}"
            if (abs(value / found["value"] - 1) > NEAR) != ("differs" in found):
                yield f"{q['id']}: foretrain says {value:.3g}, measured is {found['value']}: `differs` is {'not ' * ('differs' not in found)}said"
            true.append(found["value"])
        if len(q["wrong"]) != 2:
            yield f"{q['id']}: there are not two wrong answers"
        for one in q["wrong"]:
            if any(abs(one["value"] / t - 1) < 0.05 for t in true):
                yield f"{q['id']}: {one['value']} is not wrong"


def main():
    binary, root = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    writes = "--write" in sys.argv[3:]
    lesson = json.loads((root / QUESTIONS).read_text())
    program = Program(binary, root)
    faults, seen = list(faults_of_data(lesson, program, root)), []
    chapter_of = {q["id"]: next(c["file"] for c in lesson["chapters"] if c["number"] == q["chapter"]) for q in lesson["questions"]}
    for page in sorted((root / LESSON).glob("*.md")):
        text = page.read_text()

        def fresh(match):
            kind, name, old = match.groups()
            seen.append((kind, name, page.name))
            new = "\n" + "\n".join(part(kind, name, lesson, program)) + "\n\n"
            if old != new and not writes:
                faults.append(f"{page.name}: what stands below <!-- {kind}: {name} --> is not of {QUESTIONS}; `make docs` writes it")
            return f"<!-- {kind}: {name} -->\n{new}<!-- end -->\n"

        made = PART.sub(fresh, text)
        if writes and made != text:
            page.write_text(made)
        for name in re.findall(r"[#&]q=([\w-]+)", made):
            if name not in chapter_of:
                faults.append(f"{page.name}: a link to the question {name}, which the page does not have")
    wanted = [(kind, name, file) for name, file in chapter_of.items() for kind in ("question", "answer")]
    wanted += [("table", "chapters", "README.md"), ("table", "quick", "README.md"), ("table", "answers", "teachers.md")]
    faults += [f"{file}: <!-- {kind}: {name} --> stands there {seen.count((kind, name, file))} times, not once" for kind, name, file in wanted if seen.count((kind, name, file)) != 1]
    faults += [f"{file}: <!-- {kind}: {name} --> does not belong there" for kind, name, file in set(seen) - set(wanted)]
    print("\n".join(faults) or f"{len(chapter_of)} questions: chapters, page, program and measured rows agree")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
