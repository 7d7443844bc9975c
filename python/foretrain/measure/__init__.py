"""Measures real training steps on this machine: `python -m foretrain measure`, run by `calibrate machine`."""
