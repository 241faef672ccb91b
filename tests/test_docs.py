"""The documentation is complete, and everything it shows runs.

A page is a transcript: its blocks run in order, in one folder with a copy of `examples/`.
`python` blocks share their names; of `console` and `sh` blocks, the lines that start with
`$ heraldry ` run and must end with 0, or with N where `# exit N` follows the command or stands on
the next line. Comments before a block steer it: `<!-- not run: REASON -->`, `<!-- spark -->`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import click
import pytest

from heraldry import cli, errors
from heraldry.cli.setting_table import PROCESS, SETTINGS

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "docs" / "reference"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

NOT_RUN = re.compile(r"<!--\s*not run:\s*\S.*-->")
SPARK = re.compile(r"<!--\s*spark\s*-->")
EXIT = re.compile(r"\s*# exit (\d+)\s*$")


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


# --- the blocks of a page


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    line: int
    language: str
    text: str
    notes: str

    @property
    def runs(self) -> bool:
        return self.language in {"python", "console", "sh"} and not NOT_RUN.search(self.notes)


def blocks(text: str) -> Iterator[Block]:
    """The fenced blocks of a page, each with the comments right before it."""
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        opening = re.match(r"^( *)(`{3,}|~{3,}) *([\w+-]*)", lines[at])
        if opening is None:
            at += 1
            continue
        indent, fence, language = opening.groups()
        end = at + 1
        while end < len(lines) and not re.match(rf"^ *{fence}+ *$", lines[end]):
            end += 1
        before = at
        while before > 0 and re.match(r"^\s*(<!--.*-->)?\s*$", lines[before - 1]):
            before -= 1
        yield Block(
            line=at + 1,
            language=language,
            text="\n".join(line.removeprefix(indent) for line in lines[at + 1 : end]) + "\n",
            notes="\n".join(lines[before:at]),
        )
        at = end + 1


def commands(text: str) -> Iterator[tuple[str, int]]:
    """The `$ heraldry` lines of a block with the exit code each is to end with."""
    lines = iter([*text.replace("\\\n> ", " ").replace("\\\n", " ").splitlines(), ""])
    line = next(lines)
    for following in lines:
        if line.startswith("$ heraldry "):
            code = EXIT.search(line) or re.match(EXIT.pattern, following)
            yield EXIT.sub("", line)[2:], int(code.group(1)) if code else 0
        line = following


def run_command(command: str, expected: int, folder: Path, where: str) -> None:
    run = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=folder,
        env=os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    said = f"{where}: {command}\nexit {run.returncode}, not {expected}\n{run.stdout}{run.stderr}"
    assert run.returncode == expected, said


def runnable_pages() -> Iterator[object]:
    for page in PAGES:
        if not page.exists():
            continue
        running = [block for block in blocks(page.read_text(encoding="utf-8")) if block.runs]
        if running:
            languages = {block.language for block in running if SPARK.search(block.notes)}
            marks = [pytest.mark.spark] if languages else []
            if "python" in languages:  # shares the session of the worker it runs on
                marks.append(pytest.mark.xdist_group("spark"))
            yield pytest.param(page, id=name(page), marks=marks)


@pytest.mark.docs
@pytest.mark.parametrize("page", list(runnable_pages()))
def test_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if (ROOT / "examples").is_dir():
        shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__main__"}
    for block in blocks(page.read_text(encoding="utf-8")):
        where = f"{name(page)}:{block.line}"
        if not block.runs:
            continue
        if block.language == "python":
            exec(compile("\n" * block.line + block.text, name(page), "exec"), names)
        else:
            for command, expected in commands(block.text):
                run_command(command, expected, tmp_path, where)


def test_blocks_are_read_as_described() -> None:
    page = (
        "text\n\n<!-- not run: needs a broker -->\n```console\n$ heraldry land\n```\n\n"
        "<!-- spark -->\n\n```python\nprint()\n```\n"
    )
    found = [(b.line, b.language, b.runs, bool(SPARK.search(b.notes))) for b in blocks(page)]
    assert found == [(4, "console", False, False), (10, "python", True, True)]


def test_commands_are_read_as_described() -> None:
    block = (
        "$ heraldry check a.json  # exit 1\nfinding\n$ heraldry match \\\n>  x\n# exit 2\n"
        "$ make run\n$ heraldry tables\n"
    )
    found = [(" ".join(command.split()), code) for command, code in commands(block)]
    assert found == [("heraldry check a.json", 1), ("heraldry match x", 2), ("heraldry tables", 0)]


# --- the reference is complete


def section(page: str, word: str) -> str:
    """The part of a page under the heading of a command."""
    heading = re.search(rf"^(#+) `?(?:heraldry )?{re.escape(word)}(?![\w-]).*$", page, re.MULTILINE)
    assert heading, f"no heading names {word}"
    rest = page[heading.end() :]
    end = re.search(rf"^#{{1,{len(heading.group(1))}}} ", rest, re.MULTILINE)
    return rest[: end.start()] if end else rest


def top_command() -> click.Group:
    groups = [cli.main, *vars(cli).values()]
    return next(group for group in groups if isinstance(group, click.Group))


def every_command(group: click.Group, path: str = "") -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for word in group.list_commands(context):
        command = group.get_command(context, word)
        assert command is not None, word
        yield f"{path} {word}".strip(), command
        if isinstance(command, click.Group):
            yield from every_command(command, f"{path} {word}".strip())


def test_every_command_and_option_is_documented() -> None:
    page = (REFERENCE / "cli.md").read_text(encoding="utf-8")
    missing = []
    for path, command in every_command(top_command()):
        text = section(page, path)
        options = [p for p in command.params if isinstance(p, click.Option) and not p.hidden]
        missing += [
            f"{path} {word}"
            for option in options
            for word in (*option.opts, *option.secondary_opts)
            if not re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text)
        ]
    assert not missing


def every_error(root: type[errors.HeraldryError]) -> Iterator[str]:
    yield root.__name__
    for child in root.__subclasses__():
        yield from every_error(child)


def test_every_error_is_documented() -> None:
    page = (REFERENCE / "errors.md").read_text(encoding="utf-8")
    missing = [e for e in every_error(errors.HeraldryError) if not re.search(rf"\b{e}\b", page)]
    assert not missing


def test_every_setting_is_documented() -> None:
    page = (REFERENCE / "settings.md").read_text(encoding="utf-8")
    words = {word for s in (*SETTINGS, *PROCESS) for word in (s.name, s.env)}
    missing = [w for w in sorted(words) if not re.search(rf"(?<![\w-]){w}(?![\w-])", page)]
    assert not missing


# --- the front page, the changelog, and what no file may hold


def test_readme_says_what_it_is_and_how_to_start() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    paragraphs = [p.strip() for p in re.split(r"\n\s*\n", text)]
    first = next(p for p in paragraphs if re.match(r"[>*\w]", p)).lstrip("> ")
    assert re.fullmatch(r"[^.!?]+(?:[.!?]\w[^.!?]*)*[.]\W*", first), f"not one sentence: {first}"
    assert "```mermaid" in text or re.search(r"\.svg\b|<svg", text), "no picture"
    for command in ("make run", "make test"):
        assert re.search(rf"^[$ ]*{command}\b", text, re.MULTILINE), f"{command} is not shown"


def test_changelog_starts_with_this_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    log = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    top = re.search(r"^## \[([^\]]+)\]", log, re.MULTILINE)
    assert top
    assert top.group(1) in {project["version"], "Unreleased"}


def package_hosts() -> set[str]:
    """The hosts packages come from: the public ones, and those this machine is set up with."""
    domains = ("py" + "pi", "python" + "hosted", "registry.npm" + "js", "repo1.ma" + "ven")
    hosts = {f"{domain}.org" for domain in domains}
    pip = [sys.executable, "-m", "pip", "config", "list"]
    listed = subprocess.run(pip, capture_output=True, text=True, check=False).stdout
    urls = [*re.findall(r"https?://[^\s'\"]+", listed), os.environ.get("PIP_INDEX_URL", "")]
    return hosts | {host for url in urls if (host := urlsplit(url).hostname)}


def test_no_file_names_a_package_host_or_a_path_of_a_machine() -> None:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listing.returncode:
        pytest.skip("not a git checkout")
    banned = [re.escape(host) for host in package_hosts()] + [r"(?<![\w.])/(?:work|root)" + "/"]
    pattern = re.compile("|".join(banned))
    found = [
        f"{file}:{number}"
        for file in listing.stdout.splitlines()
        if (ROOT / file).is_file()
        for number, line in enumerate((ROOT / file).read_text("utf-8", "replace").splitlines(), 1)
        if pattern.search(line)
    ]
    assert not found
