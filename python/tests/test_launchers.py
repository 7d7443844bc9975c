"""Scripts that start their ranks themselves, and commands that packages install: the ranks are recorded."""

import os
import sys
import unittest
from pathlib import Path

from .test_record import Recording, needs_torch_2

_TRAIN = (
    "import os, torch\nimport torch.distributed as dist\n"
    "from torch.nn.parallel import DistributedDataParallel as DDP\n"
    "def main():\n"
    "    dist.init_process_group('nccl')\n"
    "    net = DDP(torch.nn.Linear(4, 2).cuda())\n"
    "    o = torch.optim.SGD(net.parameters(), lr=0.1)\n"
    "    for _ in range(3):\n"
    "        net(torch.rand(5, 4).cuda()).sum().backward()\n"
    "        o.step()\n"
)


@needs_torch_2
class Launchers(Recording):
    def runs(self, text, world, *words):
        name = self.script(text)
        program = self.record(*words, "--", "python", name)
        self.assertEqual((program["world"], program["batch"], program["parameters"]), (world, 5, 10))
        sent = [row["bytes"] for row in self.collectives(program) if row["collective"] == "all_reduce"]
        self.assertEqual(sent, [40])

    def test_ranks_that_a_script_starts_by_torchrun_are_recorded(self):
        launcher = (
            "    import subprocess, sys\n    open('ranks.py', 'w').write(open('train.py').read())\n"
            "    subprocess.run([sys.executable, '-m', 'torch.distributed.run', '--nproc_per_node', '4',"
            " 'ranks.py'], check=True)\n"
        )
        self.runs(_TRAIN + "if 'RANK' in os.environ:\n    main()\nelse:\n" + launcher, 4, "--gpus", "4")
        self.assertIn("ranks.py was not written", self.said)

    def test_ranks_of_an_agent_that_a_script_calls_are_recorded(self):
        launcher = (
            "    from torch.distributed.run import main as torchrun\n"
            "    torchrun(['--nnodes', '2', '--nproc-per-node', '4', '--rdzv-endpoint', 'a:1', 'train.py'])\n"
        )
        self.runs(_TRAIN + "if 'RANK' in os.environ:\n    main()\nelse:\n" + launcher, 8)

    def test_a_command_of_the_shell_that_starts_ranks_is_recorded(self):
        launcher = "    os.system('OMP_NUM_THREADS=1 torchrun --nproc-per-node 2 train.py')\n"
        self.runs(_TRAIN + "if 'RANK' in os.environ:\n    main()\nelse:\n" + launcher, 2)

    def test_a_launcher_after_training_has_begun_is_not_followed(self):
        name = self.script(
            _TRAIN + "        try:\n            os.system('torchrun train.py')\n"
            "        except OSError:\n            pass\nmain()\n"
        )
        program = self.record("--", "torchrun", "--nproc-per-node", "2", name)
        self.assertEqual(program["world"], 2)
        self.assertIn("asked for the program 'torchrun', which did not run", self.said)

    def test_launchers_that_start_launchers_without_end_are_refused(self):
        self.refuses(
            "import os\nos.system('torchrun --nproc-per-node 2 train.py')\n",
            "launchers that start launchers",
            command=("--", "python"),
        )

    def test_a_command_that_is_a_python_script_is_recorded(self):
        Path("own-train").write_text(f"#!{sys.executable}\n{_TRAIN}main()\n", encoding="utf-8")
        os.chmod("own-train", 0o755)
        self.own = ["own-train"]
        before = os.environ["PATH"]
        os.environ["PATH"] = os.getcwd() + os.pathsep + before
        try:
            program = self.record("--", "own-train")
        finally:
            os.environ["PATH"] = before
        self.assertEqual(program["parameters"], 10)

    def test_what_a_script_printed_last_tells_why_it_ended(self):
        self.refuses(
            "import argparse\np = argparse.ArgumentParser()\np.add_argument('--steps', required=True)\n"
            "p.parse_args()\n",
            "ended with exit code 2",
            "the following arguments are required: --steps",
        )

    def test_a_tensor_of_numbers_on_the_gpu_reads_them(self):
        name = self.script(
            "import torch\nfound = torch.arange(4.0, device='cuda')\n"
            "again = torch.tensor([x * 2 for x in found], device='cuda')\n"
            "assert again.tolist() == [0.0, 2.0, 4.0, 6.0]\n"
            "net = torch.nn.Linear(4, 2).cuda()\no = torch.optim.SGD(net.parameters(), lr=0.1)\n"
            "for _ in range(3):\n    net(again[None]).sum().backward()\n    o.step()\n"
        )
        self.assertEqual(self.record("--", "python", name)["parameters"], 10)


if __name__ == "__main__":
    unittest.main()
