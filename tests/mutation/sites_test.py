#!/usr/bin/env python3
# Tests of sites.py: what is a site in a small source and what is none, and that lines stay where they are.
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import sites  # noqa: E402

SOURCE = """// A source.
#include <vector>
constexpr int kMost = 1 + 2;
std::vector<int> f(const int* a, int b) {
  constexpr int kLocal = 3;
  if (b < 4 && *a != 0) b += 2;  // not + here
  total = std::min(b, kMost);
  return {a[0] * b};  // "a + b"
}
"""


def kinds(line):
    return sorted(site.kind for site in sites.sites_of("sim/engine/a.cpp", SOURCE) if site.line == line)


class Sites(unittest.TestCase):
    def test_operators_conditions_constants_and_statements_are_sites(self):
        self.assertEqual(kinds(6), ["Less", "NotLess", "Unequal", "condition", "flipped", "literal", "literal", "literal", "negative"])
        self.assertEqual(kinds(7), ["max", "statement"])
        self.assertEqual(kinds(8), ["Product", "literal"])

    def test_what_the_compiler_computes_templates_and_signatures_are_none(self):
        for line in (1, 2, 3, 4, 5, 9):
            self.assertEqual(kinds(line), [], line)

    def test_all_sites_fit_into_one_text_whose_lines_stay(self):
        found = sites.sites_of("sim/engine/a.cpp", SOURCE)
        text = sites.instrumented(SOURCE, list(enumerate(found, 1)))
        self.assertEqual(text.count("\n"), SOURCE.count("\n"))
        self.assertIn("foretrain::mutant::min<", text.split("\n")[6])
        self.assertTrue(text.split("\n")[7].startswith("  return {a[foretrain::mutant::literal<"))
        self.assertEqual(text.count("("), text.count(")"))

    def test_a_site_is_named_by_its_text_so_that_lines_may_move(self):
        before = [site.name() for site in sites.sites_of("a.cpp", SOURCE)]
        self.assertEqual(before, [site.name() for site in sites.sites_of("a.cpp", "// More.\n\n" + SOURCE)])


unittest.main()
