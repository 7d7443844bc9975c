"""`python -m foretrain capture module:function [-o FILE]` and `python -m foretrain record -- … train.py`."""
import sys

if sys.argv[1:2] == ["record"]:
    from .pretend.command import main
else:
    from .command import main

if __name__ == "__main__":
    raise SystemExit(main())
