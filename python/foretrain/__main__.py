"""The command `foretrain`: capture, record and measure are Python's, everything else is the program's, which takes this process's
place."""
import os
import sys


def main() -> int:
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name == "record":
        from .pretend.command import main as carry_out

        return carry_out(None)
    if name == "measure":
        from .measure.command import main as carry_out

        return carry_out(sys.argv[2:])
    if name == "capture":
        from .command import main as carry_out

        return carry_out(None)
    from .errors import ForetrainError
    from .library import find_program

    try:
        program = find_program()
        os.execv(program, [program, *sys.argv[1:]])
    except ForetrainError as error:
        print(f"error: {error}", file=sys.stderr)
    except OSError as error:
        print(f"error: {program}: {error.strerror}", file=sys.stderr)
    return 3


if __name__ == "__main__":
    raise SystemExit(main())
