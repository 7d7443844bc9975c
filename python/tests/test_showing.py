"""How answers show themselves: verdict, tables, charts; without pandas, matplotlib and the program."""

import re
import tempfile
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path

from . import common  # noqa: F401, puts the package on the path

import foretrain
from foretrain.answers import answer_of
from foretrain.pictures import bars, chart, line, number

VALIDATION = {
    "schema": "foretrain.validation/1",
    "rows": 3,
    "scored": 2,
    "skipped": [],
    "error": {"median": 0.024, "p90": 0.034, "mean": 0.024, "bias": 0.024},
    "coverage": 1.0,
    "series": [
        {
            "series": "a & b",
            "median": 0.024,
            "points": [{"gpus": 4, "measured": 10.0, "predicted": 11.0, "error": 0.1}],
        }
    ],
}


def report(rows, **more):
    """An answer whose table has these rows."""
    return answer_of({"schema": "foretrain.report/1", "rows": rows, **more})


def texts(picture):
    return [one.text for one in xml.fromstring(picture.svg).iter("{http://www.w3.org/2000/svg}text")]


class Tables(unittest.TestCase):
    def test_columns_are_chosen_in_their_order(self):
        made = report([{"a": 1, "b": 2.5, "c": None}, {"a": 2000000, "b": True, "c": "x<y"}]).table("b", "a")
        self.assertEqual(made, [{"b": 2.5, "a": 1}, {"b": True, "a": 2000000}])
        self.assertEqual(repr(made), "  b          a\n2.5          1\nyes  2,000,000")
        self.assertEqual(made._repr_html_().count("<tr>"), 3)

    def test_without_columns_all_are_there(self):
        made = report([{"a": 1, "nested": {"b": 2}}, {"c": 3}]).table()
        self.assertEqual(made.columns, ("a", "nested_b", "c"))
        self.assertEqual(made[1], {"a": None, "nested_b": None, "c": 3})

    def test_a_column_that_there_is_not_is_named_with_those_that_there_are(self):
        with self.assertRaisesRegex(foretrain.InputError, "no column step\n  hint: it has step_s, gpus"):
            report([{"step_s": 1, "gpus": 2}]).table("step")

    def test_the_head_of_a_table_is_a_table(self):
        made = report([{"a": i} for i in range(9)]).table("a").head(2)
        self.assertEqual((type(made), len(made), made.columns), (foretrain.Table, 2, ("a",)))

    def test_html_is_escaped_and_long_tables_are_cut(self):
        made = report([{"a": "<b>"}] * 60)._repr_html_()
        self.assertNotIn("<b>", made)
        self.assertIn("<p>10 more rows</p>", made)

    def test_columns_without_any_value_are_not_shown(self):
        point = {"gpus": 1, "nodes": 1, "step_s": 0.5, "epoch_s": None}
        made = foretrain.Prediction.__new__(foretrain.Prediction)
        made.raw = {"points": [point], "answer": {"verdict": "One GPU.", "cause": ""}}
        self.assertEqual(str(made), "One GPU.\ngpus  nodes  step_s\n   1      1     0.5")
        self.assertNotIn("epoch_s", made._repr_html_())
        self.assertEqual(repr(made), "<Prediction: One GPU.>")


class Validations(unittest.TestCase):
    def test_the_verdict_has_errors_and_the_table_a_row_for_each_point(self):
        made = answer_of(dict(VALIDATION))
        self.assertIsInstance(made, foretrain.Validation)
        self.assertIn(
            "2 of 3 rows scored: the median error is 2.4 %, the ninth decile 3.4 %, and 100 % lie", str(made)
        )
        self.assertEqual(
            made.rows(), [{"series": "a & b", "gpus": 4, "measured": 10.0, "predicted": 11.0, "error": 0.1}]
        )
        self.assertIn("a &amp; b", made._repr_html_())
        self.assertEqual(made.error["median"], 0.024)

    def test_nothing_scored_is_said(self):
        made = answer_of(
            {"schema": "foretrain.validation/1", "rows": 3, "scored": 0, "skipped": [], "series": []}
        )
        self.assertEqual(str(made), "None of 3 rows could be scored.")


class Pictures(unittest.TestCase):
    def test_numbers_have_three_digits_and_no_exponent(self):
        given = (0, 0.5, 1, 99.96, 1234, 0.0123, 27.6e9, 1e6, -5)
        self.assertEqual(
            [number(one) for one in given], ["0", "0.5", "1", "100", "1,234", "0.0123", "27.6 G", "1 M", "-5"]
        )

    def test_a_line_rises_where_its_numbers_do(self):
        rows = [
            {"gpus": n, "speedup": up, "speedup_interval_low": up - 0.5, "speedup_interval_high": up + 0.5}
            for n, up in ((1, 1), (4, 3), (8, 5))
        ]
        made = chart(rows, "gpus", "speedup")
        heights = [float(one) for one in re.findall(r'<circle cx="[\d.]+" cy="([\d.]+)"', made.svg)]
        self.assertEqual(heights, sorted(heights, reverse=True))
        self.assertEqual(made._repr_svg_().count("<polygon"), 1)
        self.assertTrue(
            {"1", "4", "8", "gpus", "speedup", "dashed: perfect", "shaded: 90 % interval"} <= set(texts(made))
        )

    def test_sizes_over_three_decades_are_drawn_logarithmically(self):
        made = line([(8, 1.0), (8 * 1024, 2.0), (8 * 1024**2, 3.0)], "bytes", "time_s")
        left = [float(one) for one in re.findall(r'<circle cx="([\d.]+)"', made.svg)]
        self.assertAlmostEqual(left[1] - left[0], left[2] - left[1], delta=0.2)

    def test_bars_have_a_length_in_proportion_and_none_where_there_is_no_number(self):
        made = bars([("a<b", 2.0), ("c", 1.0), ("d", None)], "strategy", "step_s")
        width = [float(one) for one in re.findall(r'width="([\d.]+)" height="18"', made.svg)]
        self.assertAlmostEqual(width[0], 2 * width[1], delta=0.2)
        self.assertEqual(texts(made), ["step_s by strategy", "a<b", "2", "c", "1", "d", "none"])

    def test_nothing_to_draw_is_said(self):
        for points in ([], [(1, 0.0)], [(0, 1.0)]):
            self.assertEqual(texts(line(points, "x", "y")), ["nothing to draw"])
        self.assertEqual(texts(bars([], "x", "y")), ["y by x"])

    def test_a_column_that_there_is_not_is_refused(self):
        with self.assertRaisesRegex(foretrain.InputError, "no column 'speed' to draw\n  hint: it has gpus"):
            report([{"gpus": 1, "name": "a"}]).chart("speed", "gpus")

    def test_a_picture_is_saved(self):
        made = bars([("a", 1.0)], "x", "y")
        with tempfile.TemporaryDirectory() as folder:
            made.save(f"{folder}/a.svg")
            self.assertEqual(Path(folder, "a.svg").read_text(encoding="utf-8"), made.svg)
        self.assertEqual(repr(made), "<Picture: y by x>")


if __name__ == "__main__":
    unittest.main()
