# Prints what a pass through a Python loop, or a call of a small torch operator on the CPU, costs: microseconds, one repeat a line.
import sys
import time


def python_loop(count):
    value = 0
    for index in range(count):
        value = value + index
    return value


def torch_dispatch():
    try:
        import torch
    except Exception:  # also libraries that torch itself cannot load
        return None
    torch.set_num_threads(1)
    a, b, out = torch.ones(1), torch.ones(1), torch.empty(1)

    def add(count):
        for _ in range(count):
            torch.add(a, b, out=out)

    return add


def main():
    what, seconds = sys.argv[1], float(sys.argv[2])
    work, count = (python_loop, 20000) if what == "python_loop" else (torch_dispatch(), 2000)
    if work is None:
        print("torch cannot be imported")
        sys.exit(1)
    work(count)
    end = time.perf_counter() + seconds
    repeats = 0
    while repeats < 5 or (time.perf_counter() < end and repeats < 200):
        begin = time.perf_counter()
        work(count)
        print(f"{(time.perf_counter() - begin) / count * 1e6:.6f}")
        repeats += 1


main()
