"""Answers the questions of the tests, a line each. See ../languages_test.go."""

import sys

from gameid import Error, GameID, is_checked, parse_checked, parse_number, spaced, with_check


def show(i):
    return i.millis, i.server, i.sequence, bytes(i).hex(), i, i.time.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def text(h):
    return bytes.fromhex(h).decode("utf-8", "surrogateescape")


def number(h):
    n = parse_number(text(h))
    return n, spaced(n), int(is_checked(n))


def compare(a, b):
    a, b = GameID.parse(a), GameID.parse(b)
    return ((a > b) - (a < b),)


ANSWERS = {
    "text": lambda h: show(GameID.parse(text(h))),
    "bytes": lambda h: show(GameID.from_bytes(bytes.fromhex(h))),
    "fields": lambda m, s, q: show(GameID(int(m), int(s), int(q))),
    "compare": compare,
    "number": number,
    "checked": lambda h: (parse_checked(text(h)),),
    "withcheck": lambda n: (with_check(int(n)),),
}

for line in sys.stdin:
    question, *args = line.rstrip("\n").split("\t")
    if question not in ANSWERS:
        print("unsupported")
        continue
    try:
        print("ok", *ANSWERS[question](*args), sep="\t")
    except Error as e:
        print("error", e.code, e, sep="\t")
