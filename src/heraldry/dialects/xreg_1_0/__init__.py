"""The dialect of xRegistry 1.0: documents of rc2 and rc4."""

from heraldry.dialects.xreg_1_0.document import detect, read
from heraldry.dialects.xreg_1_0.writing import write

__all__ = ["detect", "read", "write"]
