"""Reads and writes the IDs and numbers of SPEC.md.

It makes no new IDs, and reads no public IDs: Python's standard library has no
AES.
"""

from datetime import datetime, timedelta, timezone
from typing import NamedTuple

EPOCH = datetime(2025, 1, 1, tzinfo=timezone.utc)
MAX_MILLIS = 2**44 - 1
MAX_SERVER = 2**20 - 1
MAX_NUMBER = 999_999_999_999_999


class Error(ValueError):
    """Why something is not valid. code is the name that SPEC.md gives it."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class _Fields(NamedTuple):
    millis: int
    server: int
    sequence: int


class GameID(_Fields):
    """An ID. It compares, sorts and hashes as the tuple of its fields does."""

    __slots__ = ()

    def __new__(cls, millis, server, sequence):
        _in_range("time", "millis", millis, 0, MAX_MILLIS)
        _in_range("server", "server", server, 1, MAX_SERVER)
        _in_range("sequence", "sequence", sequence, 0, 0xFFFF)
        return super().__new__(cls, millis, server, sequence)

    @classmethod
    def parse(cls, text):
        """Reads 20 hexadecimal digits."""
        for at, c in enumerate(text[:20]):
            if c not in "0123456789abcdefABCDEF":
                raise Error("digit", f"{_quote(text)} is not an ID: character {at + 1} is not a hexadecimal digit")
        if len(text) != 20:
            raise Error("length", f"{_quote(text)} is not an ID: it has {len(text)} characters, want 20")
        return cls.from_bytes(bytes.fromhex(text))

    @classmethod
    def from_bytes(cls, data):
        """Reads 10 bytes."""
        if len(data) != 10:
            raise Error("length", f"an ID has 10 bytes, not {len(data)}")
        value = int.from_bytes(data, "big")
        return cls(value >> 36, value >> 16 & MAX_SERVER, value & 0xFFFF)

    @property
    def time(self):
        """The time in the ID, in UTC, to the millisecond."""
        return EPOCH + timedelta(milliseconds=self.millis)

    def __int__(self):
        return self.millis << 36 | self.server << 16 | self.sequence

    def __bytes__(self):
        return int(self).to_bytes(10, "big")

    def __str__(self):
        return f"{int(self):020x}"


_DAMM = (
    "0317598642", "7092154863", "4206871359", "1750983426", "6123045978",
    "3674209581", "5869720134", "8945362017", "9438617205", "2581436790",
)


def _left(n):
    left = 0
    for digit in str(n):
        left = int(_DAMM[left][int(digit)])
    return left


def parse_number(text):
    """Reads a short number as people type it, without looking at a check digit."""
    digits, gap = "", True  # none may come first
    for c in text:
        if "0" <= c <= "9":
            digits += c
            if len(digits) > 15:
                raise Error("long", f"{_quote(text)} is not a number: it has more than 15 digits")
            if digits == "0":
                raise Error("zero", f"{_quote(text)} is not a number: it begins with 0")
            gap = False
        elif gap or c not in " -\u00a0\u2009\u202f\u2011":
            raise Error("form", f"{_quote(text)} is not a number: want digits, with single spaces or hyphens between them")
        else:
            gap = True
    if gap:
        raise Error("form", f"{_quote(text)} is not a number: want digits at its end")
    return int(digits)


def is_checked(n):
    """Whether the last digit of n is its check digit."""
    return n > 9 and _left(n) == 0


def parse_checked(text):
    """parse_number for numbers with a check digit."""
    n = parse_number(text)
    if not is_checked(n):
        raise Error("mistyped", f"{_quote(text)} is mistyped: its last digit does not fit the others")
    return n


def with_check(n):
    """Returns n with its check digit at the end."""
    _in_range("range", "a number without its check digit", n, 1, MAX_NUMBER // 10)
    return 10 * n + _left(n)


def spaced(n):
    """Returns the digits of n in groups of three."""
    return f"{n:,}".replace(",", " ")


def _in_range(code, name, value, least, most):
    if not isinstance(value, int) or not least <= value <= most:
        raise Error(code, f"{name} is {value!r:.40}, want an integer from {least} to {most}")


def _quote(text):
    """The first 40 characters of what a stranger may have written."""
    return ascii(text[:40]) + ("..." if len(text) > 40 else "")
