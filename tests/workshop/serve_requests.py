#!/usr/bin/env python3
"""Whether `foretrain serve` answers what is asked, refuses what is wrong with the right status, and lives on in bounded memory.

Usage: serve_requests.py BINARY ROOT.
"""
import gzip
import http.client
import json
import os
import pathlib
import re
import resource
import signal
import socket
import subprocess
import sys
import threading
import time

PATIENCE = 600  # seconds after which a request is taken to hang, longer than any busy machine needs
MOST_MEMORY = 256 << 20  # bytes: the page, 64 threads, and no thousand bodies
LARGEST = 1 << 20  # as question.hpp has it
QUESTION = {"arguments": ["mahti-resnet50-ddp", "--gpus", "1,4"]}


class Server:
    def __init__(self, binary, *arguments):
        self.process = subprocess.Popen([binary, "serve", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if not line:
            self.refusal = self.process.stderr.read()
            self.process.wait()
            return
        self.refusal = ""
        self.port = int(line.split("127.0.0.1:")[1].split("/")[0])
        self.host = f"127.0.0.1:{self.port}"
        self.token = line.split("?token=")[1].split()[0] if "?token=" in line else ""
        self.cookie = f"foretrain-{self.port}={self.token}"

    def request(self, method, path, body=None, headers=None):
        """Status and body; headers given as None are left out."""
        status, body, _ = self.full_request(method, path, body, headers)
        return status, body

    def full_request(self, method, path, body=None, headers=None, address="127.0.0.1"):
        """Status, body and headers of the response, with the cookie unless headers say otherwise."""
        connection = http.client.HTTPConnection(address, self.port, timeout=PATIENCE)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            said = {"Host": self.host, "Cookie": self.cookie, **(headers or {})}
            if body is not None:
                said.setdefault("Content-Length", str(len(body)))
                said.setdefault("Content-Type", "application/json")
            for name, value in said.items():
                if value is not None:
                    connection.putheader(name, value)
            connection.endheaders(body)
            response = connection.getresponse()
            return response.status, response.read(), dict(response.getheaders())
        finally:
            connection.close()

    def ask(self, question, headers=None):
        body = question if isinstance(question, bytes) else json.dumps(question).encode()
        return self.request("POST", "/api/answer", body, headers)

    def raw(self, text):
        """All that comes back until the server hangs up."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as connection:
            connection.sendall(text)
            out = b""
            try:
                while block := connection.recv(65536):
                    out += block
            except ConnectionResetError:
                pass
            return out

    def most_memory(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) << 10

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        return self.process.wait()


failures = []


def check(what, is_right, *seen):
    if not is_right:
        failures.append(what)
        print("wrong:", what, *[str(one)[:400] for one in seen])


def check_page(server):
    status, body = server.request("GET", "/")
    check("the page comes", status == 200 and b"<" in gzip.decompress(body), status)
    check("HEAD of the page", server.request("HEAD", "/")[0] == 200)


def check_answers(server, binary):
    status, body = server.ask(QUESTION)
    answer = json.loads(body)
    printed = subprocess.run([binary, "predict", *QUESTION["arguments"], "--format", "json"], stdout=subprocess.PIPE, check=True).stdout
    check("an answer is what predict says", status == 200 and answer["prediction"] == json.loads(printed), status, body)
    status, body = server.ask({"list": True})
    check("the catalogs", status == 200 and any(one["name"] == "mahti" and one["gpus_per_node"] == 4 for one in json.loads(body)["clusters"]), status)
    model = {"arguments": ["--model", "mine.toml", "--cluster", "mahti", "--batch", "8", "--gpus", "1"], "files": {"mine.toml": "[model"}}
    status, body = server.ask(model)
    check("a mistake in a file has its place", status == 200 and "mine.toml:1:" in json.loads(body)["errors"], status, body)


def check_bad_questions(server, root):
    for what, body in {
        "no JSON": b"{", "empty": b"", "a list": b"[]", "a number": b"1", "an unknown key": b'{"what":1}', "nothing asked": b"{}",
        "no text": b'{"arguments":[1]}', "deep": b"[" * 100_000, "no UTF-8": b'{"arguments":["\xff\xfe"]}', "a NUL": b'{"arguments":["a\\u0000b"]}',
        "too many arguments": json.dumps({"arguments": ["--every-gpu"] * 65}).encode(), "a path as file": b'{"arguments":["x"],"files":{"../x":"a"}}',
        "too many files": json.dumps({"arguments": [], "files": {f"{i}.toml": "a = 1" for i in range(17)}}).encode(),
    }.items():
        status, answer = server.ask(body)
        parsed = json.loads(answer) if answer.startswith(b"{") else {}
        check(f"{what}: 400 with what is wrong", status == 400 and parsed.get("ok") is False and parsed.get("errors"), status, answer)
        check(f"{what}: no control characters", "\x1b" not in parsed.get("errors", "") and "\u202e" not in parsed.get("errors", ""), answer)
    for what, body in {
        "help": b'{"arguments":["--help"]}', "a file to write": b'{"arguments":["mahti-resnet50-ddp","-o","out.txt"]}',
        "settings": b'{"arguments":["mahti-resnet50-ddp","--settings","/etc/passwd"]}',
        "a long name": json.dumps({"arguments": ["--model", "x" * 4000]}).encode(),
        "a hostile name": json.dumps({"arguments": ["--model", "<script>alert(1)</script>\u202e\x1b[31m", "--cluster", "mahti"]}).encode(),
    }.items():
        status, answer = server.ask(body)
        parsed = json.loads(answer) if answer.startswith(b"{") else {}
        check(f"{what}: an answer with what is wrong", status == 200 and parsed.get("ok") is False and parsed.get("errors"), status, answer)
        check(f"{what}: no control characters", "\x1b" not in parsed.get("errors", "") and "\u202e" not in parsed.get("errors", ""), answer)
    for path in ["/etc/passwd", f"{root}/CMakeLists.txt", f"{root}/models/../CMakeLists.txt", "/proc/self/environ", "/dev/zero", "/dev/stdin"]:
        for arguments in [[path], ["--cluster", path, "--model", "resnet50"], ["--model", path, "--cluster", "mahti"],
                          ["mahti-resnet50-ddp", "--set", f'cluster.name="{path}"'], ["--dataset", path, "mahti-resnet50-ddp"]]:
            status, answer = server.ask({"arguments": arguments})
            is_told = any(word in answer for word in [b"root:", b"cmake_minimum", b"project(", b"PATH="])
            check(f"{arguments}: a file of the machine is not read", status == 200 and b'"ok": false' in answer and not is_told, status, answer)


def check_bad_requests(server):
    for path in ["/nothing", "/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/..%2f..%2fetc/passwd", "/api", "/api/answer/..", "/index.html",
                 "/%00", "/.git/config"]:
        status, body = server.request("GET", path)
        check(f"GET {path}: 404", status == 404 and b"root:" not in body, status, body)
    for method in ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "FOO"]:
        status, _ = server.request(method, "/api/answer", b"{}")
        check(f"{method}: 4xx", 400 <= status < 500, status)
    check("GET of an answer: 404", server.request("GET", "/api/answer")[0] == 404)
    check("POST elsewhere: 404", server.request("POST", "/", b"{}")[0] == 404)
    for headers in [{"Host": "example.org"}, {"Host": f"example.org:{server.port}"}, {"Host": "127.0.0.1:1"}, {"Host": None}, {"Host": f"[::2]:{server.port}"},
                    {"Origin": "http://example.org"}, {"Origin": "null"}, {"Origin": f"https://127.0.0.1:{server.port}"}, {"Origin": "http://127.0.0.1:1"}]:
        for method, path, body in [("GET", "/", None), ("POST", "/api/answer", b'{"list":true}')]:
            status, answer = server.request(method, path, body, headers)
            check(f"{method} with {headers}: 403 and nothing else", status == 403 and not answer, status, answer)
    check("its own origin", server.ask({"list": True}, {"Origin": f"http://127.0.0.1:{server.port}"})[0] == 200)
    check("as localhost", server.ask({"list": True}, {"Host": f"localhost:{server.port}", "Origin": f"http://localhost:{server.port}"})[0] == 200)
    check("as [::1]", server.ask({"list": True}, {"Host": f"[::1]:{server.port}", "Origin": f"http://[::1]:{server.port}"})[0] == 200)
    twice = server.raw(f"GET / HTTP/1.1\r\nCookie: {server.cookie}\r\nHost: {server.host}\r\nHost: example.org\r\n\r\n".encode())
    check("two hosts: 403", twice.startswith(b"HTTP/1.1 403"), twice)


def check_sizes(server):
    spaces = json.dumps({"list": True}).encode()
    check("1 MiB: an answer", server.ask(spaces + b" " * (LARGEST - len(spaces)))[0] == 200)
    check("a byte more: 413", server.ask(b" " * (LARGEST + 1))[0] == 413)
    check("64 MiB: 413", server.ask(b" " * (64 << 20))[0] == 413)
    head = f"POST /api/answer HTTP/1.1\r\nHost: {server.host}\r\nCookie: {server.cookie}\r\n".encode()
    lying = server.raw(head + b"Content-Length: 9\r\n\r\n" + b'{"list":1' + b"} and more")
    check("longer than it says: refused", lying.startswith(b"HTTP/1.1 400") and lying.count(b"HTTP/1.1") == 1, lying)
    for what, more in {"no length": b"Content-Length: x\r\n\r\n{}", "a negative length": b"Content-Length: -1\r\n\r\n{}", "a huge length": b"Content-Length: 99999999999999999999\r\n\r\n{}",
                       "a broken chunk": b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", "a form": b'Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 2\r\n\r\n{}'}.items():
        with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
            connection.sendall(head + more)
            connection.shutdown(socket.SHUT_WR)
            out = connection.recv(65536)
            check(f"{what}: 4xx or hung up", not out or out.startswith(b"HTTP/1.1 4"), out)
    chunk = b"100000\r\n" + b" " * (1 << 20) + b"\r\n"
    chunked = b""
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
        try:
            connection.sendall(head + b"Transfer-Encoding: chunked\r\n\r\n")
            for _ in range(512):
                connection.sendall(chunk)
            connection.sendall(b"0\r\n\r\n")
        except (BrokenPipeError, ConnectionResetError):
            pass
        try:
            chunked = connection.recv(65536)
        except ConnectionResetError:
            pass
    check("512 MiB in chunks: 413 or hung up", not chunked or chunked.startswith(b"HTTP/1.1 413"), chunked)
    bomb = gzip.compress(b" " * (64 << 20))
    status, _ = server.ask(bomb, {"Content-Encoding": "gzip"})
    check("64 MiB packed: 4xx", 400 <= status < 500, status)
    check("a long address: 4xx", 400 <= server.request("GET", "/" + "x" * 10_000)[0] < 500)
    long_header = server.raw(f"GET / HTTP/1.1\r\nHost: {server.host}\r\nCookie: {server.cookie}\r\nX: ".encode() + b"x" * 100_000 + b"\r\n\r\n")
    check("a long header: 4xx or hung up", not long_header or long_header.startswith(b"HTTP/1.1 4"), long_header)
    inner = f'POST /api/answer HTTP/1.1\r\nHost: {server.host}\r\nCookie: {server.cookie}\r\nContent-Length: 13\r\n\r\n{{"list":true}}'.encode()
    outer = f"POST /api/answer HTTP/1.1\r\nHost: {server.host}\r\nCookie: {server.cookie}\r\nOrigin: http://example.org\r\nContent-Length: {len(inner)}\r\n\r\n".encode()
    smuggled = server.raw(outer + inner)
    check("a request inside a refused one is not heard", smuggled.startswith(b"HTTP/1.1 403") and smuggled.count(b"HTTP/1.1") == 1, smuggled)
    check("no HTTP: 4xx or hung up", not (junk := server.raw(b"\x16\x03\x01\x02\x00\x01\r\n\r\n")) or junk.startswith(b"HTTP/1.1 4"), junk)


def check_crowds(server):
    statuses = []
    threads = [threading.Thread(target=lambda: statuses.append(server.ask(QUESTION)[0])) for _ in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check("forty questions at once: answers, or 503", set(statuses) <= {200, 503} and 200 in statuses and len(statuses) == 40, statuses)
    silent = [socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) for _ in range(1000)]
    for one in silent[::2]:
        one.sendall(b"POST /api/answer HTTP/1.1\r\nHost: ")
    check("beside a thousand connections that say nothing, or half of it: the page", server.request("GET", "/")[0] == 200)
    for one in silent:
        one.close()
    check("after them: an answer", server.ask({"list": True})[0] == 200)


def check_alone(server, binary):
    second = Server(binary, "--port", str(server.port))
    check("a port that is taken: exit 3 with the reason", second.refusal and str(server.port) in second.refusal and second.process.returncode == 3, second.refusal)
    if not second.refusal:
        second.stop()
    try:
        socket.create_connection(("127.0.0.2", server.port), timeout=PATIENCE).close()
        check("it listens on 127.0.0.1 alone", False)
    except ConnectionRefusedError:
        pass


def check_token(server, binary):
    token = server.token
    check("the token has 128 bits", len(token) == 32 and set(token) <= set("0123456789abcdef"), token)
    wrong = token[:-1] + ("0" if token[-1] != "0" else "1")
    for what, headers in {"no cookie": {"Cookie": None}, "an empty cookie": {"Cookie": f"foretrain-{server.port}="}, "a wrong one": {"Cookie": f"foretrain-{server.port}={wrong}"},
                          "half of it": {"Cookie": f"foretrain-{server.port}={token[:16]}"}, "more than it": {"Cookie": f"foretrain-{server.port}={token}0"},
                          "that of another port": {"Cookie": f"foretrain-1={token}"}, "its name in another": {"Cookie": f"xforetrain-{server.port}={token}"}}.items():
        for method, path, body in [("GET", "/", None), ("GET", "/engine.json", None), ("POST", "/api/answer", b'{"list":true}'), ("GET", "/nothing", None)]:
            status, answer = server.request(method, path, body, headers)
            check(f"{method} {path} with {what}: 403 and how to get in", status == 403 and b"printed" in answer and b"clusters" not in answer, status, answer)
        status, _, said = server.full_request("GET", f"/?token={wrong}", headers=headers)
        check(f"a wrong token with {what}: 403 and no cookie", status == 403 and "Set-Cookie" not in said, status, said)
    status, body, said = server.full_request("GET", f"/?token={token}", headers={"Cookie": None})
    cookie = said.get("Set-Cookie", "")
    check("the printed address: a cookie, and on to the page", status == 303 and said.get("Location") == "/" and cookie.startswith(server.cookie + ";"), status, said)
    check("the cookie is for this page alone", all(word in cookie for word in ["HttpOnly", "SameSite=Lax", "Path=/"]) and "Domain" not in cookie, cookie)
    check("the cookie among others", server.request("GET", "/", headers={"Cookie": f"a=b; {server.cookie}; c=d"})[0] == 200)
    check("a program says the token in the address", server.request("POST", f"/api/answer?token={token}", b'{"list":true}', {"Cookie": None})[0] == 200)
    check("another host with the token: 403", server.request("GET", f"/?token={token}", headers={"Host": "example.org"})[0] == 403)
    other = Server(binary, "--port", "0")
    check("every server has its own", other.token != token and other.request("GET", "/", headers={"Cookie": f"foretrain-{other.port}={token}"})[0] == 403)
    other.stop()
    kiosk = Server(binary, "--port", "0", "--no-token")
    check("without a token anybody may ask", not kiosk.token and kiosk.request("GET", "/", headers={"Cookie": None})[0] == 200)
    kiosk.stop()


def check_ports(binary):
    with socket.socket() as taken:
        try:
            taken.bind(("127.0.0.1", 8080))
            taken.listen()
        except OSError:
            pass  # somebody else has it
        server = Server(binary)
        check("the usual port is taken: another one, which is printed", not server.refusal and server.port != 8080 and server.request("GET", "/")[0] == 200, server.refusal)
        second = Server(binary)
        check("and once more", not second.refusal and second.port not in (8080, server.port) and second.request("GET", "/")[0] == 200, second.refusal)
        server.stop(), second.stop()


def check_ipv6(server):
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return print("no IPv6 here")
    status, body, _ = server.full_request("GET", "/", headers={"Host": f"[::1]:{server.port}"}, address="::1")
    check("the page on [::1]", status == 200 and body, status)


def children_of(process):
    return [int(child) for task in pathlib.Path(f"/proc/{process}/task").iterdir() for child in (task / "children").read_text().split()]


def links_of(process):
    """What the open files of a process are; those that it closes meanwhile are left out."""
    links = []
    ignore_reset(lambda: [ignore_reset(lambda: links.append(os.readlink(link))) for link in pathlib.Path(f"/proc/{process}/fd").iterdir()])
    return links


def is_alive(process):
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def check_children(binary, root):
    """A question that takes long, and a server that is killed meanwhile."""
    text = re.sub(r"^nodes *=.*", "nodes = 100000", pathlib.Path(root, "topologies", "mahti.toml").read_text(), flags=re.M)
    question = {"arguments": ["--model", "densenet121", "--cluster", "c.toml", "--strategy", "horovod", "--gpus", "1-1000", "--every-gpu"], "files": {"c.toml": text}}
    for how in [signal.SIGKILL, signal.SIGTERM]:
        server = Server(binary, "--port", "0")
        asked = threading.Thread(target=lambda: ignore_reset(lambda: server.ask(question)))
        asked.start()
        until, children = time.monotonic() + PATIENCE, []
        while not children and time.monotonic() < until and asked.is_alive():
            children = children_of(server.process.pid)
        check("a long question is answered by a process of its own", len(children) == 1, children)
        if not children:
            continue
        time.sleep(0.3)
        links = links_of(children[0])
        check("which has no socket", links and not any("socket" in link for link in links), links)
        server.process.send_signal(how)
        server.process.wait()
        again = Server(binary, "--port", str(server.port))
        check(f"after signal {how}: the port is free at once", not again.refusal and again.request("GET", "/")[0] == 200, again.refusal)
        if not again.refusal:
            again.stop()
        until = time.monotonic() + 10
        while is_alive(children[0]) and time.monotonic() < until:
            time.sleep(0.05)
        check(f"after signal {how}: the answering process is gone", not is_alive(children[0]))
        asked.join()


def ignore_reset(call):
    try:
        call()
    except (OSError, http.client.HTTPException):
        pass


def drip(connection, stop):
    """A byte a second until the server hangs up; how long that took."""
    begin = time.monotonic()
    connection.settimeout(1)
    while not stop.is_set():
        try:
            connection.sendall(b"x")
            if not connection.recv(4096):
                break
        except socket.timeout:
            continue
        except OSError:
            break
    return time.monotonic() - begin


def check_slow(server):
    """Clients that send a byte a second, in the head and in the body."""
    heads = [f"POST /api/answer HTTP/1.1\r\nHost: {server.host}\r\nCookie: {server.cookie}\r\nX: ".encode(),
             f"POST /api/answer HTTP/1.1\r\nHost: {server.host}\r\nCookie: {server.cookie}\r\nContent-Length: 100000\r\n\r\n".encode()]
    stop, times = threading.Event(), []
    for head in heads:
        one = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)
        one.sendall(head)
        times.append(drip(one, stop))
        one.close()
    check("a request that drips has a deadline in all", all(5 < seconds < 30 for seconds in times), times)
    crowd = [socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) for _ in range(300)]
    threads = []
    for number, one in enumerate(crowd):
        ignore_reset(lambda: one.sendall(heads[number % 2]))
        threads.append(threading.Thread(target=drip, args=(one, stop)))
        threads[-1].start()
    begin, pages = time.monotonic(), 0
    while time.monotonic() < begin + 4:
        status, _ = server.request("GET", "/")
        pages += status == 200
        check("beside 300 clients that drip: the page", status == 200, status)
    check("and soon", pages >= 8, pages)
    check("and an answer", server.ask({"list": True})[0] == 200)
    stop.set()
    for one, thread in zip(crowd, threads):
        thread.join()
        one.close()


def main():
    binary, root = sys.argv[1:3]
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard) if hard != resource.RLIM_INFINITY else 4096, hard))
    os.environ["FORETRAIN_PATH"] = root
    server = Server(binary, "--port", "0")
    if server.refusal:
        print(server.refusal)
        return 1
    try:
        check_page(server)
        check_token(server, binary)
        check_ipv6(server)
        check_answers(server, binary)
        check_bad_questions(server, root)
        check_bad_requests(server)
        check_sizes(server)
        check_alone(server, binary)
        check_slow(server)
        check_crowds(server)
        check("memory is bounded", server.most_memory() < MOST_MEMORY, server.most_memory())
        check("the server lives", server.process.poll() is None and server.request("GET", "/")[0] == 200)
        check_ports(binary)
        check_children(binary, root)
    finally:
        code = server.stop()
    check("Ctrl-C ends it", code in (0, -signal.SIGINT, 128 + signal.SIGINT), code)
    print(f"{len(failures)} wrong" if failures else "all as it should be")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
