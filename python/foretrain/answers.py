"""What the simulator answers, as objects: fields by name, the answer's story in notebooks, dicts and tables. Times in seconds, sizes
in bytes."""
from __future__ import annotations

from dataclasses import asdict, dataclass, field
from html import escape
from typing import Any, ClassVar, Dict, List, Mapping, Sequence, Tuple

from .errors import ForetrainError, InputError
from .pictures import Picture, chart
from .reports import (
    CollectiveFields,
    CollectivePoint,
    ComparisonFields,
    ComparisonPoint,
    Layout,
    PlanFields,
    PlannedCount,
    PlansFields,
    PredictionFields,
    PredictionPoint,
    StrategyResult,
)

#: Rows of a table in a notebook; of layouts of a large model, whose table has hundreds.
_MOST_ROWS = 50
_MOST_LAYOUTS = 10


def flat(entry: Mapping[str, Any], prefix: str = "") -> Dict[str, Any]:
    """One level of columns: breakdown.compute_s becomes breakdown_compute_s; lists stay lists."""
    row: Dict[str, Any] = {}
    for key, value in entry.items():
        if isinstance(value, Mapping):
            row.update(flat(value, f"{prefix}{key}_"))
        else:
            row[prefix + key] = value
    return row


def story_html(said: Mapping[str, Any]) -> str:
    """The one answer for a notebook: the verdict, then cause, action and what was assumed."""
    assumed = ", ".join(f"{one['text']} ({one['option']})" for one in said.get("assumptions", []))
    lines = {"Cause": said.get("cause"), "Next step": said.get("action"), "Assumed": assumed}
    listed = "".join(f"<li>{key}: {escape(text)}</li>" for key, text in lines.items() if text)
    return f"<p><b>{escape(said['verdict'])}</b></p><ul>{listed}</ul>"


def _cell(value: Any) -> str:
    """A number with at most four digits behind its first, and without an exponent where people read none."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, float)):
        return f"{value:,.0f}" if 1000 <= abs(value) < 1e12 else f"{value:.4g}"
    return "" if value is None else str(value)


def table_html(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], most: int = _MOST_ROWS) -> str:
    """A table of some columns, and of as many rows as one looks at."""
    there = [name for name in columns if any(name in row for row in rows)]
    if not there:
        return ""
    head = "".join(f"<th>{escape(name)}</th>" for name in there)
    lines = ("".join(f"<td>{escape(_cell(row.get(name)))}</td>" for name in there) for row in rows[:most])
    more = f"<p>{len(rows) - most} more rows</p>" if len(rows) > most else ""
    return f"<table><tr>{head}</tr>" + "".join(f"<tr>{line}</tr>" for line in lines) + f"</table>{more}"


def table_text(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], most: int = _MOST_ROWS) -> str:
    """The same table for a terminal."""
    there = [name for name in columns if any(name in row for row in rows)]
    lines = [there, *([_cell(row.get(name)) for name in there] for row in rows[:most])]
    widths = [max(len(line[i]) for line in lines) for i in range(len(there))]
    made = ["  ".join(cell.rjust(width) for cell, width in zip(line, widths)).rstrip() for line in lines]
    more = [f"{len(rows) - most} more rows"] if len(rows) > most else []
    return "\n".join(made + more) if there else ""


class Table(List[Dict[str, Any]]):
    """Rows as a list of dicts that shows itself as a table; `columns` are those that were asked for."""

    def __init__(self, rows: Sequence[Mapping[str, Any]], columns: Sequence[str] = ()) -> None:
        self.columns = tuple(columns) or tuple(dict.fromkeys(name for row in rows for name in row))
        unknown = [name for name in self.columns if rows and not any(name in row for row in rows)]
        if unknown:
            there = ", ".join(dict.fromkeys(name for row in rows for name in row))
            raise InputError(f"the table has no column {unknown[0]}\n  hint: it has {there}")
        super().__init__({name: row.get(name) for name in self.columns} for row in rows)

    def head(self, count: int = 5) -> Table:
        """The first rows, as of a DataFrame."""
        return Table(self[:count], self.columns)

    def __repr__(self) -> str:
        return table_text(self, self.columns)

    def _repr_html_(self) -> str:
        return table_html(self, self.columns)


@dataclass(repr=False)
class Answer:
    """What the simulator said; `raw` is its JSON, whole."""

    warnings: List[str]
    raw: Dict[str, Any] = field(repr=False)

    #: The key of the table's rows, and the columns that a notebook shows.
    _table: ClassVar[Tuple[str, Tuple[str, ...]]] = ("points", ())
    _most: ClassVar[int] = _MOST_ROWS
    #: What chart() draws: across and up.
    _chart: ClassVar[Tuple[str, str]] = ("gpus", "speedup")

    def _verdicts(self) -> List[str]:
        said = self.raw.get("answer")
        return [str(said["verdict"])] if isinstance(said, Mapping) and said.get("verdict") else []

    def __repr__(self) -> str:
        """The verdict; print() shows the table, too."""
        return f"<{type(self).__name__}: {' '.join(self._verdicts()) or self.raw.get('schema', 'no answer')}>"

    def __str__(self) -> str:
        return "\n".join([*self._verdicts(), table_text(self.rows(), self._columns(), self._most)]).rstrip()

    def _columns(self) -> Sequence[str]:
        """Of the table that is shown: those that hold something."""
        rows = self.rows()
        return [name for name in self._table[1] if any(row.get(name) is not None for row in rows)]

    def to_dict(self) -> Dict[str, Any]:
        """The fields as plain dicts and lists, without `raw`."""
        made = asdict(self)
        made.pop("raw")
        return made

    def rows(self) -> List[Dict[str, Any]]:
        """A flat dict for each line of the table."""
        return [flat(point) for point in self.raw.get(self._table[0], [])]

    def table(self, *columns: str) -> Table:
        """rows() with some columns, or with all: a list of dicts that a notebook shows as a table.

        It needs no pandas.
        """
        return Table(self.rows(), columns)

    def chart(self, y: str = "", x: str = "") -> Picture:
        """A picture of column y: a line over a column x of numbers, a bar for each row over one of names.

        It needs no matplotlib.
        """
        rows = self.rows()
        across, up = x or self._chart[0], y or self._chart[1]
        for name in (across, up):
            if not any(name in row for row in rows):
                there = [key for row in rows for key, value in row.items() if isinstance(value, (int, float))]
                known = ", ".join(dict.fromkeys(there)) or "none"
                raise InputError(f"no column {name!r} to draw\n  hint: it has {known}")
        return chart(rows, across, up)

    def to_frame(self) -> Any:
        """rows() as a pandas.DataFrame."""
        try:
            import pandas
        except ImportError as error:
            raise ForetrainError("to_frame() needs pandas\n  hint: pip install pandas; rows() needs nothing") from error
        return pandas.DataFrame(self.rows())

    def _repr_html_(self) -> str:
        """The answer in a notebook: its story and its table."""
        said = self.raw.get("answer")
        return (story_html(said) if said else "") + table_html(self.rows(), self._columns(), self._most)


@dataclass(repr=False)
class Prediction(PredictionFields, Answer):
    """A scaling table; `recommendation` is there where one was asked for."""

    __repr__ = Answer.__repr__
    _table = ("points", ("gpus", "nodes", "step_s", "epoch_s", "total_s", "speedup", "efficiency", "memory_fits"))


@dataclass(repr=False)
class Comparison(ComparisonFields, Answer):
    """Strategies side by side."""

    __repr__ = Answer.__repr__
    _table = ("points", ("gpus", "strategy", "runs", "step_s", "samples_per_s", "speedup", "why_not"))
    _chart = ("strategy", "step_s")

    def _verdicts(self) -> List[str]:
        return [str(point["answer"]["verdict"]) for point in self.raw.get("points", [])]

    def rows(self) -> List[Dict[str, Any]]:
        """A flat dict for each strategy and number of GPUs."""
        return [
            {"gpus": point["gpus"], "nodes": point["nodes"], **flat(one)}
            for point in self.raw.get("points", [])
            for one in point["strategies"]
        ]

    def _repr_html_(self) -> str:
        said = (story_html(point["answer"]) for point in self.raw.get("points", []))
        return "".join(said) + table_html(self.rows(), self._columns(), self._most)


@dataclass(repr=False)
class Collective(CollectiveFields, Answer):
    """A collective over message sizes."""

    __repr__ = Answer.__repr__
    _table = ("points", ("bytes", "time_s", "algbw_bytes_per_s", "busbw_bytes_per_s", "algorithm", "protocol"))
    _chart = ("bytes", "busbw_bytes_per_s")


@dataclass(repr=False)
class Plan(PlanFields, Answer):
    """Layouts of a large model on one number of GPUs, fastest first."""

    __repr__ = Answer.__repr__
    _table = ("layouts", ("layout", "micro_batch", "recompute", "step_s", "tokens_per_s_per_gpu", "mfu", "memory_bytes"))
    _chart = ("layout", "step_s")
    _most = _MOST_LAYOUTS


@dataclass(repr=False)
class Plans(PlansFields, Answer):
    """Layouts on several numbers of GPUs, and which number to ask for."""

    __repr__ = Answer.__repr__
    _table = ("counts", ("gpus", "nodes", "fits", "tokens_per_s", "run_s", "gpu_hours", "efficiency", "pays"))
    _chart = ("gpus", "tokens_per_s")

    def rows(self) -> List[Dict[str, Any]]:
        """A flat dict for each number of GPUs, without its layouts."""
        return [flat({key: value for key, value in one.items() if key != "plan"}) for one in self.raw["counts"]]


@dataclass(repr=False)
class Report(Answer):
    """A report whose keys are those of its schema (docs/reference/schema): report.can_start is report.raw["can_start"]."""

    #: Where a report has its rows.
    _places: ClassVar[Tuple[str, ...]] = ("rows", "cases", "jobs", "machines", "points", "mistakes")

    def __getattr__(self, name: str) -> Any:
        raw = self.__dict__.get("raw", {})
        if name not in raw:
            raise AttributeError(f"{raw.get('schema', 'the report')} has no {name!r}; it has {', '.join(raw)}")
        return raw[name]

    def __dir__(self) -> List[str]:
        return [*super().__dir__(), *self.raw]

    def to_dict(self) -> Dict[str, Any]:
        return dict(self.raw)

    def rows(self) -> List[Dict[str, Any]]:
        """A flat dict for each entry of the report's list, as of jobs or cases; none where it has no list."""
        for place in self._places:
            if isinstance(self.raw.get(place), list):
                return [flat(one) for one in self.raw[place] if isinstance(one, Mapping)]
        return []

    def _repr_html_(self) -> str:
        said = self.raw.get("answer")
        story = story_html(said) if said else ""
        for job in self.raw.get("jobs", []):
            found = "".join(f"<li>{escape(str(one.get('text')))}</li>" for one in job.get("findings", []))
            story += f"<p><b>Job {escape(str(job.get('job', {}).get('id')))}</b></p><ul>{found}</ul>"
        rows = self.rows() if "jobs" not in self.raw else []
        return story + table_html(rows, self._columns())

    def __str__(self) -> str:
        if "jobs" not in self.raw:
            return super().__str__()
        found = [str(one.get("text")) for job in self.raw["jobs"] for one in job.get("findings", [])]
        return "\n".join([*self._verdicts(), *found])

    def _columns(self) -> Sequence[str]:
        rows = self.rows()
        return list(rows[0])[:10] if rows else []


@dataclass(repr=False)
class Validation(Report):
    """Predicted against measured, a row for each scored point; `.error` has median and `p90`."""

    _chart = ("gpus", "error")

    def _verdicts(self) -> List[str]:
        error, skipped = self.raw.get("error") or {}, len(self.raw.get("skipped", []))
        if not self.raw.get("scored") or error.get("median") is None:
            return [f"None of {self.raw.get('rows', 0)} rows could be scored."]
        said = f"{self.raw['scored']} of {self.raw['rows']} rows scored: "
        median, ninth = (f"{100 * error[name]:.2g} %" for name in ("median", "p90"))
        said += f"the median error is {median}, the ninth decile {ninth}"
        inside = self.raw.get("coverage")
        said += f", and {100 * inside:.0f} % lie inside their 90 % intervals." if inside is not None else "."
        return [f"{said} {skipped} rows were skipped." if skipped else said]

    def rows(self) -> List[Dict[str, Any]]:
        """A flat dict for each point, with its series."""
        series = self.raw.get("series", [])
        return [{"series": one["series"], **flat(point)} for one in series for point in one.get("points", [])]

    def _repr_html_(self) -> str:
        said = "".join(f"<p><b>{escape(line)}</b></p>" for line in self._verdicts())
        return said + table_html(self.rows(), self._columns())


class Text(str):
    """A report that people read, as the program prints it; `messages` is what it says beside it."""

    messages: str = ""

    def to_dict(self) -> Dict[str, Any]:
        return {"text": str(self), "messages": self.messages}

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self)}</pre>"


def made(kind: Any, entry: Mapping[str, Any], **more: Any) -> Any:
    """A dataclass from the fields that it knows; what it does not know stays in `raw`."""
    known = {name: entry[name] for name in kind.__dataclass_fields__ if name in entry and name not in more}
    for name, wanted in kind.__dataclass_fields__.items():
        if name not in known and name not in more and str(wanted.type).startswith("Optional"):
            known[name] = None
    try:
        return kind(**known, **more)
    except TypeError as error:
        raise ForetrainError(f"the program's answer is of another version: {error}") from error


def _points(kind: Any, raw: Mapping[str, Any], key: str = "points") -> List[Any]:
    return [made(kind, point) for point in raw.get(key, [])]


def _comparison(raw: Dict[str, Any]) -> Comparison:
    points = [
        made(
            ComparisonPoint,
            point,
            strategies=[made(StrategyResult, {"breakdown": {}, "memory": {}, **one}) for one in point["strategies"]],
        )
        for point in raw.get("points", [])
    ]
    return made(Comparison, raw, points=points, raw=raw)  # type: ignore[no-any-return]


def _plan(raw: Dict[str, Any]) -> Plan:
    layouts = _points(Layout, raw, "layouts")
    return made(Plan, raw, layouts=layouts, raw=raw, warnings=raw.get("warnings", []))  # type: ignore[no-any-return]


def _plans(raw: Dict[str, Any]) -> Plans:
    counts = [made(PlannedCount, one, plan=_plan(one["plan"])) for one in raw["counts"]]
    return made(Plans, raw, counts=counts, raw=raw, warnings=raw.get("warnings", []))  # type: ignore[no-any-return]


#: By the schema's name, which every report says first.
_KINDS = {
    "prediction": lambda raw: made(Prediction, raw, points=_points(PredictionPoint, raw), raw=raw),
    "comparison": _comparison,
    "collective": lambda raw: made(Collective, raw, points=_points(CollectivePoint, raw), raw=raw),
    "plan": _plan,
    "validation": lambda raw: Validation(list(raw.get("warnings", [])), raw),
    "plans": _plans,
}


def answer_of(raw: Dict[str, Any]) -> Any:
    """The object of a report: a class of its own, or a Report."""
    name = str(raw.get("schema", "")).split(".")[-1].split("/")[0]
    make = _KINDS.get(name)
    return make(raw) if make is not None else Report(list(raw.get("warnings", [])), raw)
