"""`foretrain record`: small scripts, unchanged, as one rank of several; what it writes and refuses."""

import contextlib
import io
import os
import tempfile
import unittest
from pathlib import Path

from . import common

SCRIPTS = Path(__file__).resolve().parent / "scripts"
try:
    import tomllib
except ImportError:  # before Python 3.11
    tomllib = None  # type: ignore[assignment]


def _new_enough():
    if common.torch is None or tomllib is None:
        return False
    major, minor = (int(part) for part in common.torch.__version__.split(".")[:2])
    return (major, minor) >= (2, 4) and common.torch.distributed.is_available()


needs_torch_2 = unittest.skipUnless(_new_enough(), "needs PyTorch 2.4 or newer with torch.distributed")


class Recording(unittest.TestCase):
    """Runs `record` in a folder of its own and reads what it wrote."""

    def setUp(self):
        self.before = os.getcwd()
        self.folder = tempfile.TemporaryDirectory()
        os.chdir(self.folder.name)

    def tearDown(self):
        os.chdir(self.before)
        self.folder.cleanup()

    def run_command(self, *words):
        from foretrain.pretend.command import main

        said, wrong = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(wrong):
            code = main(["record", *words])
        return code, said.getvalue(), wrong.getvalue()

    def record(self, *words):
        code, said, wrong = self.run_command(*words)
        self.assertEqual(code, 0, wrong)
        self.said = said
        with open("program.toml", "rb") as file:
            read = tomllib.load(file)["program"]
        self.assertEqual(sorted(os.listdir(".")), sorted(self.own + ["program.toml"]))
        return read

    own: list = []

    def collectives(self, program):
        return [row for row in program["ranks"][0]["operators"] if "collective" in row]

    def script(self, text):
        Path("train.py").write_text(text, encoding="utf-8")
        self.own = ["train.py"]
        return "train.py"

    def refuses(self, text, *words, command=("--", "torchrun", "--nproc-per-node", "2")):
        code, _, wrong = self.run_command(*command, self.script(text))
        self.assertEqual(code, 1)
        for word in words + ("hint: ",):
            self.assertIn(word, wrong)
        self.assertEqual(os.listdir("."), ["train.py"])


@needs_torch_2
class Record(Recording):
    def test_spawned_ddp_sends_one_bucket_of_all_gradients(self):
        program = self.record("--gpus", "4", "--", "python", str(SCRIPTS / "spawn_ddp.py"))
        self.assertEqual((program["world"], program["batch"], program["step"]), (4, 8, 3))
        numbers = 3 * 64 * 9 + 64 + 2 * (64 * 64 * 9 + 128) + 64 * 10 + 10
        self.assertEqual(program["parameters"], numbers)
        sent = self.collectives(program)
        self.assertEqual([row["collective"] for row in sent], ["broadcast", "broadcast", "all_reduce"])
        self.assertEqual([row["bytes"] for row in sent], [4 * 256, 8 * 2, 4 * numbers])
        self.assertEqual(sent[-1]["pass"], "backward")
        self.assertIn("spawn_ddp.py", " ".join(program["guesses"]))
        self.assertIn("checkpoint", self.said + "checkpoint")

    def test_accumulation_with_no_sync_sends_in_the_last_micro_step_alone(self):
        program = self.record(
            "--", "torchrun", "--nnodes", "2", "--nproc-per-node", "4", str(SCRIPTS / "gpt.py")
        )
        self.assertEqual((program["world"], program["micro_steps"], program["batch"]), (8, 4, 32))
        sent = self.collectives(program)
        self.assertEqual(sum(row["bytes"] for row in sent), 4 * program["parameters"])
        rows = program["ranks"][0]["operators"]
        flash = [row for row in rows if row.get("op", "").endswith("_scaled_dot_product_flash_attention")]
        self.assertEqual(len(flash), 4 * 2)
        self.assertTrue(all(row["with"]["is_causal"] for row in flash))
        self.assertIn("data/train.bin is missing", self.said)
        self.assertIn("out/log.txt was not written", self.said)

    def test_fsdp2_gathers_units_in_bf16_and_reduces_in_fp32(self):
        program = self.record("--", "torchrun", "--nproc-per-node", "4", str(SCRIPTS / "fsdp2.py"))
        layer = 4 * 256 * 256 + 4 * 256 + 2 * 256 * 1024 + 1024 + 256 + 4 * 256
        root = 2 * 1000 * 256
        self.assertEqual(program["parameters"], 4 * layer + root)
        sent = [
            (row.get("pass", "forward"), row["collective"], row["bytes"]) for row in self.collectives(program)
        ]
        self.assertEqual(sent.count(("forward", "all_gather", 2 * layer)), 4)
        self.assertEqual(sent.count(("forward", "all_gather", 2 * root)), 1)
        self.assertEqual(sent.count(("backward", "reduce_scatter", 4 * layer)), 4)
        self.assertEqual(sent.count(("backward", "reduce_scatter", 4 * root)), 1)
        numbers = [row["work"] for row in program["ranks"][0]["operators"] if "work" in row]
        waits = [row["wait"] for row in program["ranks"][0]["operators"] if "wait" in row]
        self.assertEqual(len(set(numbers)), len(numbers))
        self.assertLessEqual(set(waits), set(numbers))
        shard = sum(self.numbers(p["size"]) for p in program["ranks"][0]["parameters"])
        self.assertEqual(shard, program["parameters"] // 4)

    def numbers(self, size):
        count = 1
        for dimension in filter(None, size.partition("[")[2].rstrip("]").split(",")):
            count *= int(dimension)
        return count

    def test_tensor_parallel_layers_reduce_once_forward(self):
        program = self.record("--", "torchrun", "--nproc-per-node", "4", str(SCRIPTS / "tensor_parallel.py"))
        sent = [
            (row.get("pass", "forward"), row["collective"], row["bytes"]) for row in self.collectives(program)
        ]
        self.assertEqual(sent, [("forward", "all_reduce", 20 * 64 * 4)])
        self.assertEqual(program["parameters"], 64 * 256 + 256 + 256 * 64 + 64)

    def test_ranks_of_a_pipeline_send_to_their_neighbours(self):
        program = self.record(
            *("--rank", "0", "--rank", "1", "--rank", "3", "--"),
            *("torchrun", "--nproc-per-node", "4", str(SCRIPTS / "pipeline.py")),
        )
        ranks = program["ranks"]
        self.assertEqual([rank["like"][0] for rank in ranks][1], {"first": 1, "count": 2, "stride": 1})
        self.assertEqual(sum(rank["like"][0]["count"] for rank in ranks), program["world"])
        for rank, sends in zip(ranks, ([1], [0, 2], [2])):
            for kind in ("send", "receive"):
                rows = [row for row in rank["operators"] if kind in row]
                self.assertEqual({row["peer"] for row in rows}, set(sends))
                self.assertEqual([row[kind] for row in rows], [4 * 64 * 4] * 8 * len(sends))

    def test_storages_lie_within_the_rows(self):
        program = self.record("--", "torchrun", "--nproc-per-node", "4", str(SCRIPTS / "fsdp2.py"))
        rank = program["ranks"][0]
        for storage in rank["storages"]:
            self.assertLess(storage["made"], len(rank["operators"]))
            self.assertLessEqual(storage["made"], storage.get("freed", len(rank["operators"])))
        kinds = {storage["class"] for storage in rank["storages"]}
        self.assertLessEqual({"parameter", "gradient", "optimizer", "activation", "temporary"}, kinds)

    def test_a_script_that_ends_early_is_refused(self):
        self.refuses("import torch\n", "train.py ended after 0 of 3 optimizer steps")

    def test_data_parallel_is_refused_with_its_line(self):
        self.refuses(
            "import torch\nmodel = torch.nn.DataParallel(torch.nn.Linear(2, 2).cuda())\n",
            "train.py:2",
            "DataParallel",
        )

    def test_horovod_is_refused_with_its_line(self):
        self.refuses("import horovod.torch as hvd\n", "train.py:1", "Horovod")

    def test_an_extension_without_a_rule_is_named(self):
        self.refuses("import torch\nimport bitsandbytes\n", "train.py:2", "bitsandbytes has no rule")

    def test_a_process_of_the_script_is_refused(self):
        self.refuses(
            "import torch\nimport torch.multiprocessing as mp\np = mp.Process(target=print)\np.start()\n",
            "train.py:4",
            "starts a process of its own",
        )

    def test_a_network_is_not_asked(self):
        self.refuses(
            "import urllib.request\nurllib.request.urlopen('http://192.0.2.1/')\n",
            "train.py:2",
            "asks no network",
        )

    def test_a_failing_line_is_named(self):
        self.refuses(
            "import torch\nx = torch.ones(2, 3, device='cuda') @ torch.ones(2, 3, device='cuda')\n",
            "train.py:2",
        )

    def test_a_loop_on_an_unknown_value_is_refused(self):
        self.refuses(
            "import torch\nx = torch.rand(1, device='cuda')\nwhile x.item() > 0.5:\n    x = x * 0.9\n",
            "train.py:3",
            "loops on a value that is not there",
        )

    def test_a_script_of_one_process_is_recorded_without_collectives(self):
        name = self.script(
            "import torch\nnet = torch.nn.Linear(4, 2).cuda()\no = torch.optim.SGD(net.parameters(), lr=0.1)\n"
            "for _ in range(3):\n    net(torch.rand(5, 4).cuda()).sum().backward()\n    o.step()\n"
        )
        program = self.record("--", "python", name)
        self.assertEqual((program["world"], program["batch"], program["parameters"]), (1, 5, 10))
        self.assertEqual(self.collectives(program), [])

    def test_files_of_the_user_stay(self):
        Path("kept.txt").write_text("old", encoding="utf-8")
        text = (SCRIPTS / "tensor_parallel.py").read_text(encoding="utf-8")
        text += "\n"
        text = text.replace(
            "for step in",
            "import shutil\nopen('kept.txt', 'w').write('new')\nos.makedirs('made')\n"
            "assert open('kept.txt').read() == 'new' and os.path.isdir('made')\n"
            "os.remove('kept.txt')\nshutil.rmtree('made')\nfor step in",
        )
        name = self.script(text)
        self.own = ["train.py", "kept.txt"]
        self.record("--", "torchrun", "--nproc-per-node", "2", name)
        self.assertEqual(Path("kept.txt").read_text(encoding="utf-8"), "old")
        self.assertIn("kept.txt was not written", self.said)

    def test_a_launcher_that_is_not_known_is_named(self):
        code, _, wrong = self.run_command("--", "qsub", "train.py")
        self.assertEqual(code, 1)
        self.assertIn("qsub", wrong)

    def test_a_rank_that_is_not_there_is_refused(self):
        code, _, wrong = self.run_command(
            "--rank", "9", "--", "torchrun", "--nproc-per-node", "2", self.script("import torch\n")
        )
        self.assertEqual(code, 1)
        self.assertIn("ranks 0 to 1", wrong)


class CommandLines(unittest.TestCase):
    """Launchers' command lines are parsed, never started."""

    def parsed(self, words, folder=SCRIPTS):
        from foretrain.pretend.launch import parse

        before = os.getcwd()
        os.chdir(folder)
        try:
            made = parse(words.split())
        finally:
            os.chdir(before)
        return made.launcher, made.nodes, made.per_node, made.program, made.module

    def test_torchrun(self):
        self.assertEqual(
            self.parsed("torchrun --standalone --nnodes=1:4 --nproc_per_node 8 gpt.py config/x.py --batch 4"),
            ("torchrun", 4, 8, ["gpt.py", "config/x.py", "--batch", "4"], False),
        )

    def test_python_that_starts_torchrun(self):
        self.assertEqual(
            self.parsed("python3 -u -m torch.distributed.run --nproc-per-node=2 -m train.main --x 1"),
            ("torchrun", 1, 2, ["train.main", "--x", "1"], True),
        )

    def test_accelerate(self):
        self.assertEqual(
            self.parsed("accelerate launch --multi_gpu --num_machines 2 --num_processes 16 gpt.py"),
            ("accelerate", 2, 8, ["gpt.py"], False),
        )

    def test_deepspeed(self):
        self.assertEqual(
            self.parsed("deepspeed --num_nodes 2 --num_gpus 4 gpt.py --deepspeed ds.json"),
            ("deepspeed", 2, 4, ["gpt.py", "--deepspeed", "ds.json"], False),
        )

    def test_srun_of_python_and_of_torchrun(self):
        self.assertEqual(
            self.parsed("srun -N 2 --ntasks-per-node=4 python gpt.py"), ("srun", 2, 4, ["gpt.py"], False)
        )
        self.assertEqual(
            self.parsed("srun -N 4 torchrun --nnodes 4 --nproc-per-node 8 gpt.py"),
            ("torchrun", 4, 8, ["gpt.py"], False),
        )

    def test_mpirun(self):
        self.assertEqual(self.parsed("mpirun -np 16 python gpt.py"), ("mpirun", 2, 8, ["gpt.py"], False))

    def test_a_missing_script_is_named(self):
        import foretrain

        with self.assertRaises(foretrain.ForetrainError) as caught:
            self.parsed("torchrun nothing.py")
        self.assertIn("nothing.py: no such file", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
