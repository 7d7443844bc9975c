"""Tests of the Python package; those that need torch or the program say so and are skipped without."""
