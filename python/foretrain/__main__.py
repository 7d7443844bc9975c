"""`python -m foretrain capture module:function [-o FILE]`."""
from .command import main

if __name__ == "__main__":
    raise SystemExit(main())
