"""Avro object container files: their records, block by block."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

from fastavro import block_reader

from heraldry.errors import MessageError
from heraldry.model.problem import Problem


def read_blocks(file: IO[bytes]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Every record that is an Avro record, with the number of its block.

    MessageError where the file is none, or breaks off; all records before that have come.
    """
    try:
        for number, block in enumerate(block_reader(file)):
            for record in block:
                yield number, record if isinstance(record, dict) else {"value": record}
    except OSError as error:
        if error.errno is not None:
            raise  # the machine's fault, not the file's
        raise _broken(error) from error
    except (ValueError, TypeError, LookupError, EOFError, ArithmeticError) as error:
        raise _broken(error) from error


def _broken(error: Exception) -> MessageError:
    told = str(error).partition("\n")[0][:200] or type(error).__name__
    problem = Problem(path="/", rule="avro", message="cannot be read as Avro", found=told)
    return MessageError((problem,))
