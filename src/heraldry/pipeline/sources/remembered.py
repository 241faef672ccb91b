"""What a job finds out when it first runs and finds again ever after: files of its checkpoint.

begin = Remembered.of(checkpoint, "begin")
begin.keep("17")                     # "17"; by every later run as well, whatever it gives
begin.forget()                       # the next run finds out anew
"""

from __future__ import annotations

from dataclasses import dataclass

from heraldry.pipeline.lake.storage import Storage


@dataclass(frozen=True, slots=True)
class Remembered:
    """A text that is written once."""

    storage: Storage
    path: str

    @classmethod
    def of(cls, checkpoint: str, name: str) -> Remembered:
        """What a job remembers under a name."""
        return cls(Storage.open(checkpoint), f"heraldry/{name}")

    def find(self) -> str | None:
        """The text; None where nothing was kept."""
        found = self.storage.read(self.path)
        return None if found is None else found.decode()

    def keep(self, text: str) -> str:
        """Keep a text, unless there is one: what is kept."""
        found = self.find()
        if found is None:
            self.storage.write(self.path, text.encode())
        return text if found is None else found

    def forget(self) -> None:
        """Let another text be kept: nothing rests on this one yet."""
        self.storage.delete(self.path)
