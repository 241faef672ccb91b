"""The rules of the house that a machine can check: sizes, names, layers, light import, errors."""

from __future__ import annotations

import ast
import inspect
import pickle
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin

import pytest

from heraldry import errors
from heraldry.model.problem import Problem

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "heraldry"
SOURCES = sorted(SOURCE.rglob("*.py"))
FOLDERS = ("src", "tests", "benchmarks", "docs", "examples")
EVERYTHING = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]

MODULE_LINES, MODULE_LIMIT = 400, 600
FUNCTION_LINES, FUNCTION_LIMIT = 40, 80
INIT_LIMIT, CONFTEST_LIMIT = 40, 150

BANNED = {"common", "core", "utils", "helpers", "base", "misc", "manager"}
ALLOWED = {"subscriptions/manager.py"}  # the specification's own word

HEAVY = [
    *("pyspark", "pyarrow", "starlette", "apsw", "psycopg", "deltalake", "confluent_kafka"),
    *("fastavro", "avro", "google.protobuf", "lxml", "xmlschema"),
]
IMPORT_SECONDS = 0.6


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def check_budget(sizes: Mapping[str, int], budget: int, limit: int) -> None:
    """Fail above the limit, and then list all that is above the budget, longest first."""
    over = sorted(((n, w) for w, n in sizes.items() if n > budget), reverse=True)
    listing = "\n".join(f"  {n:5} {where}" for n, where in over)
    assert max(sizes.values(), default=0) <= limit, f"limit {limit}, budget {budget}:\n{listing}"


def test_modules_are_small() -> None:
    check_budget({name(p): lines(p) for p in EVERYTHING}, MODULE_LINES, MODULE_LIMIT)


def test_functions_are_small() -> None:
    sizes = {
        f"{name(path)}:{node.lineno} {node.name}": (node.end_lineno or 0) - node.lineno + 1
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    check_budget(sizes, FUNCTION_LINES, FUNCTION_LIMIT)


def test_conftests_are_small() -> None:
    sizes = {name(p): lines(p) for p in EVERYTHING if p.name == "conftest.py"}
    check_budget(sizes, CONFTEST_LIMIT, CONFTEST_LIMIT)


def only_offers_names(node: ast.stmt) -> bool:
    """Whether a statement of an `__init__.py` re-exports, and does nothing else."""
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Assign() | ast.AnnAssign():
            return True
        case ast.Expr(value=ast.Constant(value=str())):
            return True
        case ast.FunctionDef(name="__getattr__" | "__dir__"):
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return all(map(only_offers_names, node.body)) and not node.orelse
    return False


@pytest.mark.parametrize("path", [p for p in SOURCES if p.name == "__init__.py"], ids=name)
def test_package_files_only_re_export(path: Path) -> None:
    assert lines(path) <= INIT_LIMIT
    tree = ast.parse(path.read_bytes())
    others = [f"line {node.lineno}" for node in tree.body if not only_offers_names(node)]
    assert not others, f"{name(path)} does more than offer names: {', '.join(others)}"


def test_names_come_from_the_domain() -> None:
    found = [
        name(path)
        for path in SOURCES
        if path.relative_to(SOURCE).as_posix() not in ALLOWED
        and BANNED & set(path.relative_to(SOURCE).with_suffix("").parts)
    ]
    assert not found, f"banned as names of modules and packages: {', '.join(sorted(BANNED))}"


def test_every_package_has_an_init() -> None:
    folders = {path.parent for path in SOURCES}
    missing = [name(folder) for folder in sorted(folders) if not (folder / "__init__.py").exists()]
    assert not missing


def test_imports_point_down() -> None:
    run = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr


def load(module: str) -> tuple[float, set[str]]:
    """Import a module in a new process: the seconds it took, and what was loaded after it."""
    program = (
        "import sys, time; start = time.perf_counter(); "
        f"import {module}; print(time.perf_counter() - start, *sys.modules)"
    )
    told = subprocess.check_output([sys.executable, "-c", program], text=True)
    seconds, *loaded = told.split()
    return float(seconds), set(loaded)


@pytest.mark.parametrize("module", ["heraldry", "heraldry.cli"])
def test_import_loads_nothing_heavy(module: str) -> None:
    _, loaded = load(module)
    assert loaded & set(HEAVY) == set()


@pytest.mark.parametrize("module", ["landing.worker", "sources.file_lines", "sources.kafka_lines"])
def test_workers_load_no_writer_of_tables(module: str) -> None:
    # Only the driver commits, and delta-rs takes more memory than the rows of a batch.
    _, loaded = load(f"heraldry.pipeline.{module}")
    assert "deltalake" not in loaded


def test_import_is_quick() -> None:
    assert min(load("heraldry")[0] for _ in range(5)) < IMPORT_SECONDS


def family(root: type[errors.HeraldryError]) -> list[type[errors.HeraldryError]]:
    return [root, *(kind for child in root.__subclasses__() for kind in family(child))]


def stand_in(kind: Any) -> Any:
    """A value of an annotated type, to construct an error with."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return stand_in(arguments[0])
    if kind is Problem:
        return Problem(path="/weight", rule="type", message="is not a number", found="'x'")
    if origin is tuple:
        return tuple(stand_in(part) for part in arguments if part is not Ellipsis)
    if origin is not None and issubclass(origin, Mapping):
        return {stand_in(arguments[0]): stand_in(arguments[1])}
    if origin is not None:  # list, Sequence, frozenset ...
        return (list if inspect.isabstract(origin) else origin)([stand_in(arguments[0])])
    values = {str: "some text", object: "anything", int: 7, float: 0.5, bool: True}
    return {**values, Path: Path("some/path")}[kind]


def example_of(kind: type[errors.HeraldryError]) -> errors.HeraldryError:
    if "__init__" not in {key for cls in kind.__mro__[:-3] for key in vars(cls)}:
        return kind("some text")
    # errors.py names Problem for type checkers only
    signature = inspect.signature(kind, globals=vars(errors) | {"Problem": Problem}, eval_str=True)
    parameters = signature.parameters.values()
    keywords = {p.name: stand_in(p.annotation) for p in parameters if p.kind is p.KEYWORD_ONLY}
    return kind(*(stand_in(p.annotation) for p in parameters if p.name not in keywords), **keywords)


@pytest.mark.parametrize("kind", family(errors.HeraldryError), ids=lambda kind: kind.__name__)
def test_every_error_pickles(kind: type[errors.HeraldryError]) -> None:
    error = example_of(kind)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert again.args == error.args
    assert vars(again) == vars(error)
    assert str(again) == str(error) != ""


def test_errors_live_in_one_module() -> None:
    elsewhere = [
        f"{name(path)}:{node.lineno} {node.name}"
        for path in SOURCES
        if path.name != "errors.py"
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.ClassDef)
        and node.name.endswith(("Error", "Exception"))
        and not node.name.startswith("_")  # never leaves its module
    ]
    assert not elsewhere
