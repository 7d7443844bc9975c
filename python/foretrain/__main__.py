"""`python -m foretrain capture module:function [-o FILE]`."""
import sys

try:
    from .command import main
except ModuleNotFoundError as error:
    if error.name != "torch":
        raise
    sys.exit("error: foretrain capture needs PyTorch 1.13 or newer\n  hint: run it in the environment of the training")

if __name__ == "__main__":
    raise SystemExit(main())
