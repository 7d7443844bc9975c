#!/usr/bin/env python3
"""Whether every npm package in the pages has its notice wherever a page goes: notices.py PROGRAM SOURCES [FOLDER_OF_THE_BUILD]. The lock file
says which packages those are; compared with it are the committed notices, Debian's copyright file, both packed pages, what the program prints,
a page that it writes, and the SBOM."""
import gzip
import html
import importlib.machinery
import importlib.util
import json
import pathlib
import re
import subprocess
import sys
import tempfile

FAULTS = []


def expect(is_right, sentence):
    if not is_right:
        FAULTS.append(sentence)


def production_packages(lock):
    """{(name, version, licence)} of a lock file."""
    return {(path.rpartition("node_modules/")[2], entry["version"], entry["license"])
            for path, entry in lock["packages"].items() if path and not entry.get("dev")}


def notice_lines(text):
    """{(name, version, licence)} that a text of notices has lines for, each with a copyright or the statement that none is claimed."""
    return {(name, version, licence) for name, version, licence, holder in re.findall(r"^(\S+) (\S+) \(([^)]+)\): (.+)$", text, re.M)
            if "opyright" in holder or holder == "names no holder"}


def missing(packages, text):
    return sorted(name for name, *rest in packages - notice_lines(text))


def said_by(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def check_texts(packages, texts, body_of_each_licence):
    for name, text in texts.items():
        expect(not missing(packages, text), f"{name} has no notice of {', '.join(missing(packages, text))}")
        for sentence in body_of_each_licence:
            expect(sentence in re.sub(r"\s+", " ", text), f"{name} lacks the licence text that contains {sentence!r}")


def check_debian_copyright(packages, text):
    """Machine-readable format 1.0: every license that is named has a paragraph, every package is in a comment."""
    expect(text.startswith("Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n"), "packaging/copyright has no format")
    for name, version, _ in packages:
        expect(re.search(rf"^ {re.escape(name)} {re.escape(version)} \(", text, re.M), f"packaging/copyright does not name {name} {version}")
    paragraphs = set(re.findall(r"^License: (\S+)\n ", text, re.M))
    for line in re.findall(r"^License: (.+)$", text, re.M):
        for licence in line.split(" and "):
            expect(licence in paragraphs, f"packaging/copyright names the license {licence} and has no text of it")


def sbom_of(sources):
    loader = importlib.machinery.SourceFileLoader("sbom", str(sources / "packaging/sbom"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("sbom", loader))
    loader.exec_module(module)
    return module


def check_sbom(packages, sources, build, lock):
    listed = sbom_of(sources).npm_packages(lock)
    expect({(one["name"], one["versionInfo"], one["licenseDeclared"]) for one in listed} == packages, "packaging/sbom lists other npm packages than the lock file")
    expect(all(re.fullmatch(r"[0-9a-f]{128}", one["checksums"][0]["checksumValue"]) for one in listed), "packaging/sbom has a checksum that is no SHA-512")
    if build is None:
        return
    try:
        document = json.loads(said_by(sys.executable, str(sources / "packaging/sbom"), str(build)))
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"the whole SBOM is not checked, because packaging/sbom needs Debian, ninja and git: {error}")
        return
    contained = {one["relatedSpdxElement"] for one in document["relationships"] if one["relationshipType"] == "CONTAINS"}
    expect(contained == {one["SPDXID"] for one in listed}, "the SBOM does not say that the program contains the npm packages")


def main(program, sources, build):
    lock = json.loads((sources / "web/package-lock.json").read_text())
    packages = production_packages(lock)
    committed = (sources / "web/third_party_notices.txt").read_text()
    expect(len(packages) > 10, "the lock file has hardly any package")
    expect(notice_lines(committed) == packages, "web/third_party_notices.txt is not of this lock file: `make page` writes it")
    # What this test would miss if it looked at nothing.
    expect(missing(packages | {("left-pad", "1.3.0", "WTFPL")}, committed) == ["left-pad"], "a package without a notice was not noticed")
    unescaped = {name: html.unescape(gzip.decompress((sources / f"web/{name}/page.html.gz").read_bytes()).decode("ascii")) for name in ("report", "workshop")}
    with tempfile.TemporaryDirectory(prefix="foretrain-notices-") as folder:
        page = pathlib.Path(folder, "page.html")
        subprocess.run([program, "predict", "--model", "resnet50", "--cluster", "mahti", "--gpus", "1", "-o", f"{folder}/table", "--html", str(page)], check=True)
        written = html.unescape(page.read_text())
    printed = said_by(program, "reference", "licences")
    bodies = ["Permission to use, copy, modify, and/or distribute this software for any purpose", "Neither the name of the author nor the names of contributors",
              "The name Michael Bostock may not be used to endorse", "Cynthia Brewer, Mark Harrower", "GeographicLib", "This is free and unencumbered software"]
    check_texts(packages, {"web/third_party_notices.txt": committed, "web/report/page.html.gz": unescaped["report"], "web/workshop/page.html.gz": unescaped["workshop"],
                           "a page of --html": written, "`foretrain reference licences`": printed}, bodies)
    for library in ("libcli11-dev", "libfmt-dev", "libtomlplusplus-dev", "libeigen3-dev"):
        part = printed.partition(f"==== {library} of Debian\n\n")[2].partition("\n====")[0]
        is_here = pathlib.Path("/usr/share/doc", library, "copyright").exists()
        expect(len(part) > 500 if is_here else part, f"`foretrain reference licences` has no licence of {library}")
    check_debian_copyright(packages, (sources / "packaging/copyright").read_text())
    check_sbom(packages, sources, build, lock)
    for sentence in FAULTS:
        print(sentence, file=sys.stderr)
    print(f"{len(packages)} npm packages, {len(FAULTS)} faults")
    return 1 if FAULTS else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else None))
