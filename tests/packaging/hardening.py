#!/usr/bin/env python3
"""Whether a built program is hardened: hardening.py PROGRAM [--fortified]. readelf says what the linker made of it, and its symbols and code what
the compiler did. Exit code 4: nothing can be said, because this is no Linux or has no readelf."""
import pathlib
import platform
import re
import shutil
import subprocess
import sys

SKIPPED = 4
# endbr64, where an indirect jump may arrive.
LANDING_OF_X86 = bytes.fromhex("f30f1efa")


def said_by(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def faults_of(program, is_fortified):
    header, segments = said_by("readelf", "-h", program), said_by("readelf", "-lW", program)
    dynamic, symbols = said_by("readelf", "-dW", program), said_by("readelf", "--dyn-syms", "-W", program)
    code = pathlib.Path(program).read_bytes()
    faults = []
    if not re.search(r"Type:\s+DYN", header) or "PIE" not in dynamic:
        faults.append("The program is not position-independent (PIE).")
    if "GNU_RELRO" not in segments or not re.search(r"BIND_NOW|\bNOW\b", dynamic):
        faults.append("Its relocations can be written while it runs (full RELRO: -z relro -z now).")
    if not re.search(r"GNU_STACK\s+(0x[0-9a-f]+\s+){5}RW\s", segments):
        faults.append("Its stack can be executed.")
    if "__stack_chk_fail" not in symbols:
        faults.append("Its stack has no protector (-fstack-protector-strong).")
    if b"__n < this->size()" not in code:
        faults.append("The C++ library checks no index (_GLIBCXX_ASSERTIONS).")
    if is_fortified and not re.search(r"__(mem|str|v?s?n?printf|f?printf|read|realpath|fdelt)[a-z_]*_chk\b", symbols):
        faults.append("The C library's copies are not checked (_FORTIFY_SOURCE=2).")
    if platform.machine() == "x86_64" and code.count(LANDING_OF_X86) < 1000:
        faults.append("Its functions have no landing marks for indirect jumps (-fcf-protection).")
    return faults


def main(program, is_fortified):
    if platform.system() != "Linux" or shutil.which("readelf") is None:
        print("skipped: this test needs Linux and readelf (Debian: binutils)")
        return SKIPPED
    faults = faults_of(program, is_fortified)
    for sentence in faults:
        print(f"{program}: {sentence}", file=sys.stderr)
    if not faults:
        print(f"{program} is hardened")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], "--fortified" in sys.argv[2:]))
