"""`python -m foretrain capture module:function [-o FILE]` and `python -m foretrain record -- torchrun … train.py`."""
import sys

if sys.argv[1:2] == ["record"]:
    from .pretend.command import main
else:
    try:
        from .command import main
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        sys.exit(
            "error: foretrain capture needs PyTorch 1.13 or newer\n  hint: run it in the environment of the"
            " training"
        )

if __name__ == "__main__":
    raise SystemExit(main())
