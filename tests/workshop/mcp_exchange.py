#!/usr/bin/env python3
"""Whether `foretrain mcp` speaks the Model Context Protocol, answers what predict answers, and lives on whatever comes.

Usage: mcp_exchange.py BINARY ROOT. With the package mcp of PyPI its client takes part, too."""
import asyncio
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile

failures = []


def check(what, is_right, *seen):
    if not is_right:
        failures.append(what)
        print("wrong:", what, *[str(one)[:600] for one in seen])


class Client:
    def __init__(self, binary, *arguments):
        # Node gives its children a socket, others a pipe.
        ours, theirs = socket.socketpair()
        self.process = subprocess.Popen([binary, "mcp", *arguments], stdin=theirs, stdout=subprocess.PIPE)
        theirs.close()
        self.process.stdin = ours.makefile("wb")
        ours.close()

    def say(self, line):
        self.process.stdin.write(line if isinstance(line, bytes) else json.dumps(line).encode())
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()

    def hear(self):
        return json.loads(self.process.stdout.readline())

    def ask(self, method, params=None, number=1):
        self.say({"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}})
        return self.hear()

    def call(self, tool, **arguments):
        return self.ask("tools/call", {"name": tool, "arguments": arguments}).get("result", {})

    def end(self):
        self.process.stdin.close()
        rest = self.process.stdout.read()
        self.process.stdout.close()
        return self.process.wait(), rest


def text_of(result):
    return result["content"][0]["text"]


def check_conversation(binary, root):
    client = Client(binary)
    said = client.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}})
    check("initialize", said["result"]["serverInfo"]["name"] == "foretrain" and "tools" in said["result"]["capabilities"], said)
    client.say({"jsonrpc": "2.0", "method": "notifications/initialized"})
    check("ping", client.ask("ping", number="a") == {"jsonrpc": "2.0", "id": "a", "result": {}})
    tools = {tool["name"]: tool for tool in client.ask("tools/list")["result"]["tools"]}
    check("the six tools", set(tools) == {"check", "predict", "compare", "plan", "explain", "topology"}, list(tools))
    predict = tools["predict"]["inputSchema"]["properties"]
    check("what the help names in part has no closed list", "enum" not in predict["precision"], predict["precision"])
    check("its parameters are the command's options", {"gpus", "model", "cluster", "every_gpu", "set", "files"} <= set(predict), list(predict))
    for tool in tools.values():
        writes = {"output", "html", "trace", "program_out", "sbatch", "condor", "job_script", "evidence", "store", "add", "svg"} & set(tool["inputSchema"]["properties"])
        check(f"{tool['name']} writes no file and reads no store", not writes, writes)
    result = client.call("predict", scenario="mahti-resnet50-ddp", gpus=[1, 4])
    printed = subprocess.run([binary, "predict", "mahti-resnet50-ddp", "--gpus", "1,4", "--format", "json"], stdout=subprocess.PIPE, check=True).stdout
    check("predict's report is what predict prints", result.get("structuredContent") == json.loads(printed), result)
    check("and its text begins with the verdict", text_of(result).startswith(json.loads(printed)["answer"]["verdict"]), text_of(result))
    script = "#!/bin/bash\n#SBATCH --nodes=1\n#SBATCH --gres=gpu:v100:8\n#SBATCH --partition=gpu\n#SBATCH --account=project_1\nsrun python train.py\n"
    result = client.call("check", file="job.sbatch", cluster="puhti", files={"job.sbatch": script})
    check("a job that cannot start is a report, not an error", result["structuredContent"]["can_start"] is False and not result.get("isError"), result)
    result = client.call("compare", scenario="puhti-resnet50-ddp", gpus=4, strategies=["ddp", "horovod"])
    check("compare", len(result["structuredContent"]["points"][0]["strategies"]) >= 2, result)
    result = client.call("plan", model="llama3_8b", cluster="mahti", gpus=32)
    check("plan", result["structuredContent"]["layouts"], text_of(result))
    folder = pathlib.Path(root, "docs/tutorials/accounting")
    result = client.call("explain", file=["seff.txt"], files={"seff.txt": (folder / "seff.txt").read_text()})
    check("explain", "structuredContent" in result and not result.get("isError"), result)
    result = client.call("topology", cluster="puhti")
    check("topology", "puhti" in text_of(result) and not result.get("isError"), result)
    result = client.call("predict", model="resnet5", cluster="mahti", gpus=1)
    check("a wrong name is the tool's error, with a hint", result["isError"] and "resnet5" in text_of(result) and "hint" in text_of(result), result)
    code, rest = client.end()
    check("the end of its input ends it", code == 0 and not rest, code, rest)


def check_hostile(binary, root):
    client = Client(binary)
    for what, line, code in [("no JSON", b"{", -32700), ("no UTF-8", b'{"jsonrpc":"2.0","id":"\xff"', -32700), ("a batch", b"[]", -32600), ("deep", b"[" * 100_000, -32700),
                             ("2 MiB", b" " * (2 << 20), -32600), ("an unknown method", b'{"jsonrpc":"2.0","id":1,"method":"resources/read"}', -32601)]:
        client.say(line)
        said = client.hear()
        check(f"{what}: a fault", said.get("error", {}).get("code") == code, said)
    client.say(b"")
    for path in ["/etc/passwd", f"{root}/CMakeLists.txt", "/proc/self/environ", f"{root}/models/../CMakeLists.txt", "../secret"]:
        for tool, arguments in [("check", {"file": path}), ("predict", {"scenario": path}), ("predict", {"model": path, "cluster": "mahti"}), ("explain", {"file": path}),
                                ("topology", {"cluster": path}), ("predict", {"scenario": "mahti-resnet50-ddp", "settings": path}), ("predict", {"scenario": "mahti-resnet50-ddp", "dataset": path})]:
            result = client.call(tool, **arguments)
            check(f"{tool} {arguments}: refused", result.get("isError") and not any(word in text_of(result) for word in ["root:", "cmake_minimum", "PATH="]), result)
    with tempfile.TemporaryDirectory() as folder:
        for words in ["-o", "--output", "--html", "--trace"]:
            said = client.ask("tools/call", {"name": "predict", "arguments": {"scenario": f"{words}={folder}/x", "gpus": f"1 {words}={folder}/y"}})
            check(f"{words} as a value: an error", said.get("error") or said["result"].get("isError"), said)
        check("and nothing is written", not os.listdir(folder), os.listdir(folder))
    check("and it lives", client.ask("ping")["result"] == {})
    client.end()


def check_folder(binary):
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "mine.sbatch").write_text("#!/bin/bash\n#SBATCH --nodes=1\n#SBATCH --gres=gpu:v100:1\n#SBATCH --partition=gpu\n#SBATCH --account=p\nsrun python train.py\n")
        client = Client(binary, "--folder", folder)
        result = client.call("check", file=f"{folder}/mine.sbatch", cluster="puhti")
        check("a file of the folder is read", "structuredContent" in result, result)
        check("and none beside it", client.call("check", file="/etc/passwd")["isError"])
        os.symlink("/etc/passwd", os.path.join(folder, "leak.toml"))
        leaked = text_of(client.call("predict", scenario=f"{folder}/leak.toml"))
        check("nor one that a link of the folder leads to", "root:" not in leaked, leaked)
        client.end()


async def exchange(binary):
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    server = StdioServerParameters(command=binary, args=["mcp"], env=dict(os.environ))
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        tools = await session.list_tools()
        check("the client of PyPI lists the tools", len(tools.tools) == 6, tools)
        result = await session.call_tool("predict", {"scenario": "mahti-resnet50-ddp", "gpus": "1,4"})
        check("and calls one", result.content[0].text, result)


def main():
    binary, root = sys.argv[1:3]
    os.environ["FORETRAIN_PATH"] = root
    check_conversation(binary, root)
    check_hostile(binary, root)
    check_folder(binary)
    try:
        import mcp  # noqa: F401
    except ImportError:
        print("without the client of PyPI: pip install mcp")
    else:
        asyncio.run(exchange(binary))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
