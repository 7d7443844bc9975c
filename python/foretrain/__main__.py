"""`python -m foretrain capture module:function [-o FILE]`, `… record -- … train.py` and `… measure steps`."""
import sys

arguments = None
if sys.argv[1:2] == ["record"]:
    from .pretend.command import main
elif sys.argv[1:2] == ["measure"]:
    from .measure.command import main

    arguments = sys.argv[2:]
else:
    from .command import main

if __name__ == "__main__":
    raise SystemExit(main(arguments))
