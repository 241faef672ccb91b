"""Reading JSON byte by byte, or eight bytes at once: spaces, strings, numbers, instants.

A position is an offset from the address of the text. Functions may read up to eight bytes past
what they are asked about, into the padding or the next line; whoever calls them compares the last
position with the end of the text, so that nothing beyond it is ever accepted.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from heraldry.pipeline.kernel.jit import byte_at, inlined, kernel, trailing_zeros, word_at

_WORD = np.uint64
_NONE = _WORD(0)
_ONES = _WORD(0x0101010101010101)
_HIGH = _WORD(0x8080808080808080)
_QUOTES = _WORD(0x2222222222222222)
_BACKSLASHES = _WORD(0x5C5C5C5C5C5C5C5C)
_SPACES = _WORD(0x2020202020202020)
_DIGITS = 18  # so many always fit 64 bits
_EXPONENT = 400
POWERS = np.array([10.0**i for i in range(23)])
"""The powers of ten that a double holds exactly."""


@inlined
def same_bytes(left: Any, p: int, right: Any, q: int, count: int) -> bool:
    """Whether so many bytes are equal; both sides are readable eight bytes past the end."""
    done = np.int64(0)
    while done < count:
        differing = word_at(left, p + done) ^ word_at(right, q + done)
        missing = count - done
        if missing < 8:
            differing &= (_WORD(1) << _WORD(8 * missing)) - _WORD(1)
        if differing != _NONE:
            return False
        done += 8
    return True


@inlined
def skip_space(buffer: Any, p: int) -> int:
    """The position of the next byte that is no white space."""
    c = byte_at(buffer, p)
    while c == 32 or c == 10 or c == 13 or c == 9:
        p += 1
        c = byte_at(buffer, p)
    return p


@inlined
def has_percent(buffer: Any, p: int, end: int) -> bool:
    """Whether a text has a percent sign, which may be an escape."""
    while p < end:
        if byte_at(buffer, p) == 37:
            return True
        p += 1
    return False


@kernel
def end_of_string(buffer: Any, p: int, end: int) -> tuple[int, int, int]:
    """The position of the closing quote, or -1; how many bytes continue a character; escapes.

    Escapes of one letter are understood, those with a code point are not.
    """
    continuing = 0
    escapes = 0
    while p < end:
        word = word_at(buffer, p)
        quotes = word ^ _QUOTES
        slashes = word ^ _BACKSLASHES
        special = ((quotes - _ONES) & ~quotes) | ((slashes - _ONES) & ~slashes)
        special = (special | ((word - _SPACES) & ~word) | word) & _HIGH
        if special == _NONE:
            p += 8
            continue
        p += np.int64(trailing_zeros(special)) >> 3
        if p >= end:
            break
        c = byte_at(buffer, p)
        if c == 34:
            return p, continuing, escapes
        if c < 32:
            break
        if c == 92:
            p += 1
            escapes += 1
            c = byte_at(buffer, p)
            short = c == 34 or c == 92 or c == 47 or c == 98 or c == 102
            if not (short or c == 110 or c == 114 or c == 116):
                break
        elif (c & 0xC0) == 0x80:
            continuing += 1
        p += 1
    return np.int64(-1), 0, 0


@inlined
def number(buffer: Any, p: int) -> tuple[int, int, int, bool, bool]:
    """Position after the number or -1, mantissa, exponent, whether an integer, whether negative."""
    mantissa = np.int64(0)
    digits = 0
    exponent = 0
    negative = byte_at(buffer, p) == 45
    if negative:
        p += 1
    c = byte_at(buffer, p)
    if c == 48:
        p += 1
        c = byte_at(buffer, p)
    else:
        while 48 <= c <= 57 and digits <= _DIGITS:
            mantissa = mantissa * 10 + (np.int64(c) - 48)
            digits += 1
            p += 1
            c = byte_at(buffer, p)
        if digits == 0 or digits > _DIGITS:
            return np.int64(-1), mantissa, 0, True, negative
    integer = True
    if c == 46:
        integer = False
        p += 1
        c = byte_at(buffer, p)
        first = p
        while 48 <= c <= 57 and digits <= _DIGITS:
            mantissa = mantissa * 10 + (np.int64(c) - 48)
            digits += 1
            exponent -= 1
            p += 1
            c = byte_at(buffer, p)
        if p == first or digits > _DIGITS:
            return np.int64(-1), mantissa, 0, True, negative
    if c == 101 or c == 69:
        integer = False
        p, power = _power(buffer, p + 1)
        exponent += power
    return p, mantissa, exponent, integer, negative


@inlined
def _power(buffer: Any, p: int) -> tuple[int, int]:
    """The position after the digits of an exponent, or -1, and the exponent."""
    c = byte_at(buffer, p)
    negative = c == 45
    if c == 43 or c == 45:
        p += 1
        c = byte_at(buffer, p)
    first = p
    power = np.int64(0)
    while 48 <= c <= 57 and power <= _EXPONENT:
        power = power * 10 + (np.int64(c) - 48)
        p += 1
        c = byte_at(buffer, p)
    if p == first or power > _EXPONENT:
        return np.int64(-1), power
    return p, -power if negative else power


@inlined
def is_word(buffer: Any, p: int, c: int) -> int:
    """The length of ``true``, ``false`` or ``null`` at a position, whose first byte is given; 0."""
    if c == 102:
        word = word_at(buffer, p + 1) & _WORD(0xFFFFFFFF)
        return 5 if word == _WORD(0x65736C61) else 0  # "alse"
    word = word_at(buffer, p) & _WORD(0xFFFFFFFF)
    return 4 if word == _WORD(0x65757274) or word == _WORD(0x6C6C756E) else 0  # "true", "null"


@inlined
def _two_digits(buffer: Any, p: int) -> int:
    tens = np.int64(byte_at(buffer, p)) - 48
    ones = np.int64(byte_at(buffer, p + 1)) - 48
    if tens < 0 or tens > 9 or ones < 0 or ones > 9:
        return np.int64(-1)
    return tens * 10 + ones


@inlined
def _days(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01 in the Gregorian calendar; the year begins in March inside."""
    if month <= 2:
        year -= 1
    era = year // 400
    of_era = year - era * 400
    of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468


@inlined
def _is_day(year: int, month: int, day: int) -> bool:
    if year < 1 or month < 1 or month > 12 or day < 1:
        return False
    last = 31
    if month == 4 or month == 6 or month == 9 or month == 11:
        last = 30
    elif month == 2:
        leap = (year % 4 == 0 and year % 100 != 0) or year % 400 == 0
        last = 29 if leap else 28
    return day <= last


@inlined
def _fraction(buffer: Any, p: int, end: int) -> int:
    """Up to six digits as microseconds, or -1."""
    total = np.int64(0)
    for i in range(p, p + 6):
        total *= 10
        if i < end:
            digit = np.int64(byte_at(buffer, i)) - 48
            if digit < 0 or digit > 9:
                return np.int64(-1)
            total += digit
    return total


@kernel
def instant(buffer: Any, p: int, end: int) -> tuple[bool, int]:
    """Whether a text is ``YYYY-MM-DDTHH:MM:SS[.1-6 digits]Z``, and its microseconds since 1970."""
    size = end - p
    if size < 20 or byte_at(buffer, p + 4) != 45 or byte_at(buffer, p + 7) != 45:
        return False, np.int64(0)
    if byte_at(buffer, p + 10) != 84 or byte_at(buffer, end - 1) != 90:
        return False, np.int64(0)
    if byte_at(buffer, p + 13) != 58 or byte_at(buffer, p + 16) != 58:
        return False, np.int64(0)
    century, years = _two_digits(buffer, p), _two_digits(buffer, p + 2)
    month, day = _two_digits(buffer, p + 5), _two_digits(buffer, p + 8)
    hour, minute = _two_digits(buffer, p + 11), _two_digits(buffer, p + 14)
    second = _two_digits(buffer, p + 17)
    if century < 0 or years < 0 or not _is_day(century * 100 + years, month, day):
        return False, np.int64(0)
    if hour < 0 or hour > 23 or minute < 0 or minute > 59 or second < 0 or second > 59:
        return False, np.int64(0)
    micros = np.int64(0)
    if size > 20:
        if byte_at(buffer, p + 19) != 46 or size < 22 or size > 27:
            return False, np.int64(0)
        micros = _fraction(buffer, p + 20, end - 1)
        if micros < 0:
            return False, np.int64(0)
    days = _days(century * 100 + years, month, day)
    return True, ((days * 24 + hour) * 60 + minute) * 60_000_000 + second * 1_000_000 + micros
