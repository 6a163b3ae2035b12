"""A merge of worlds as the documents describe it: the reference that the product is compared with.

It reads one case on each line of its standard input, and answers each with one line. A case has the worlds' rows, the
rules in the words of docs/words.md, and of the plan only what a plan may choose: offsets, new names and the values that
counters get. All else is computed here from docs/words.md, rules.md, merging.md and leaving.md. Nothing here is
taken from the program.

A value is a string, or null: "i5" is the number 5, "tabc" is a text, "x0aff" are bytes.
"""
import json
import re
import sqlite3
import sys
import traceback


class Wrong(Exception):
    """What the plan chose is not what the documents allow."""


def decode(cell):
    if cell is None:
        return None
    kind, text = cell[0], cell[1:]
    return int(text) if kind == "i" else text if kind == "t" else bytes.fromhex(text)


def encode(value):
    if value is None:
        return None
    if isinstance(value, int):
        return "i%d" % value
    return "t" + value if isinstance(value, str) else "x" + value.hex()


# ---------------------------------------------------------------- keys inside cells (go doc ./merge/keys)

def words_of(text):
    """Splits a format into its words; quoted texts lose their quotes."""
    return [w for w in re.findall(r"(?:[^\s'\[]|'(?:[^']|'')*'|\[[^\]]*\])+", text)]


def unquoted(word):
    return word[1:-1].replace("''", "'") if word.startswith("'") else word


def parse_format(text):
    """Returns the steps of a format: (kind, free words, options)."""
    steps, step = [], []
    for w in words_of(text) + ["then"]:
        if w != "then":
            step.append(w)
            continue
        options = dict(w.split("=", 1) for w in step[1:] if re.match(r"[a-z]+=", w))
        free = [unquoted(w) for w in step[1:] if not re.match(r"[a-z]+=", w)]
        steps.append((step[0], free, {k: unquoted(v) for k, v in options.items()}))
        step = []
    return steps


def rewrite(steps, part, image):
    """Gives the keys in a part of a cell new values, and returns the part with them."""
    if not steps:
        return image(part) if isinstance(part, int) else str(image(int(part)))
    (kind, free, options), rest = steps[0], steps[1:]
    inner = lambda p: rewrite(rest, p, image)
    if kind == "list":
        elements = part.split(options["sep"])
        if part == "":
            return part
        every, first = 1, 0
        if "pos" in options:
            chosen = [int(options["pos"])]
        else:
            if "every" in options:
                every, first = (int(n) for n in options["every"].split("+"))
            chosen = range(first, len(elements), every)
        keyed = lambda i, e: i in chosen and (e != "" or i == 0)
        return options["sep"].join(inner(e) if keyed(i, e) else e for i, e in enumerate(elements))
    if kind == "regex":
        group, base = int(options.get("group", 1)), int(options.get("base", 10))

        def put(m):
            if m.group(group) is None:
                return m.group(0)
            if rest:
                new = inner(m.group(group))
            else:
                new = image(int(m.group(group), base))
                new = ("%x" % new if base == 16 else str(new))
                new = new.upper() if "upper" in free else new
                new = new.rjust(int(options.get("width", 0)), options.get("pad", "0"))
            start, end = m.start(group) - m.start(0), m.end(group) - m.start(0)
            return m.group(0)[:start] + new + m.group(0)[end:]

        return re.sub(free[0], put, part)
    if kind == "json":
        return rewrite_json(free[0], part, inner)
    if kind == "bits":
        number = part if isinstance(part, int) else int(part)
        low, high = (int(n) for n in free[0].split(".."))
        if len(free) > 2:
            bits, want = free[2].split("=")
            first, last = (int(n) for n in bits.split(".."))
            if number >> first & (1 << last - first + 1) - 1 != int(want, 0):
                return part
        mask = (1 << high - low + 1) - 1
        new = number & ~(mask << low) | inner(number >> low & mask) << low
        return new if isinstance(part, int) else str(new)
    if kind == "records":
        size, at, length = int(options["size"]), int(options["at"]), int(options["len"])
        order = "big" if "be" in free else "little"
        empty = int(options["empty"], 0) if "empty" in options else None
        out = bytearray(part)
        for start in range(at, len(part), size):
            n = int.from_bytes(part[start:start + length], order)
            if n != empty:
                out[start:start + length] = inner(n).to_bytes(length, order)
        return bytes(out)
    if kind == "array":
        def width(name):
            return int(re.findall(r"\d+", name)[0]) // 8, "big" if name.endswith("be") else "little"
        (skip, _), (length, order) = width(options["count"]), width(options["elem"])
        out = bytearray(part)
        for start in range(skip, len(part), length):
            out[start:start + length] = inner(int.from_bytes(part[start:start + length], order)).to_bytes(length, order)
        return bytes(out)
    raise Wrong("no such format: " + kind)


def rewrite_json(path, text, inner):
    """Replaces what a path of JSON leads to. Each number and string is marked, the marked text is read, and the marks
    that are at the end of the path are found again."""
    places = []

    def mark(m):
        places.append((m.start(), m.end()))
        return '"%d"' % (len(places) - 1) if not re.match(r"\s*:", text[m.end():]) else m.group(0)

    value = json.loads(re.sub(r'"(?:\\.|[^"\\])*"|-?\d+', mark, text))
    found = [value]
    for name, index, star in re.findall(r"\.(\w+)|\[(\d+)\]|(\[\*\]|\.\*)", path):
        nexts = []
        for v in found:
            if star:
                nexts += v if isinstance(v, list) else list(v.values())
            elif name:
                nexts += [v[name]] if name in v else []
            else:
                nexts += v[int(index):int(index) + 1]
        found = nexts
    for at in sorted((int(v) for v in found if v is not None), reverse=True):
        start, end = places[at]
        if text[start] == '"':
            start, end = start + 1, end - 1
        text = text[:start] + inner(text[start:end]) + text[end:]
    return text


# ---------------------------------------------------------------- rules

def place(text):
    """Reads table.column, or table.(a, b)."""
    table, columns = text.split(".", 1)
    return table, tuple(c.strip() for c in columns.strip("()").split(","))


class When:
    def __init__(self, said):
        self.column, self.values, self.negated = said["column"], said.get("is") or said.get("not"), "not" in said

    def holds(self, row):
        v = row.v[self.column]
        return (v is not None and str(v) in self.values) != self.negated


class Values:
    """Values that name no row: single ones, and bounds such as <32."""

    def __init__(self, texts):
        self.single = [t for t in texts if not t.startswith("<")]
        self.below = [int(t[1:]) for t in texts if t.startswith("<")]

    def has(self, v):
        return str(v) in self.single or isinstance(v, int) and any(v < n for n in self.below)


class Reference:
    def __init__(self, said, at):
        self.table, self.columns = place(at)
        to = said["to"] if isinstance(said["to"], list) else [said["to"]]
        self.space = to[0][len("space:"):] if to[0].startswith("space:") else None
        self.to = [] if self.space else [place(t) for t in to]
        self.none = Values(said.get("none", []))
        self.when = When(said["when"]) if "when" in said else None
        self.gone, self.by = said.get("gone"), said.get("by")
        self.format = said.get("format")
        self.steps = parse_format(self.format) if self.format else None
        if self.steps and self.steps[0][0] == "words":
            self.columns = tuple(c.strip() for c in self.steps[0][1][0].strip("[]").split(","))

    def covers(self, row):
        return self.when is None or self.when.holds(row)


class Row:
    def __init__(self, world, table, values):
        self.world, self.table, self.v = world, table, values
        self.was = dict(values)


class Merge:
    def __init__(self, case):
        self.case, self.schema = case, case["schema"]
        check, merge = case["rules"].get("check", {}), case["rules"].get("merge", {})
        self.names = [w["name"] for w in case["worlds"]]
        self.references = [Reference(r, at) for r in check.get("reference", []) for at in r["at"] if "by" not in r]
        self.copies = [Reference(r, at) for r in check.get("reference", []) for at in r["at"] if "by" in r]
        self.spaces = {s.get("name") or s["keys"][0]: s for s in merge.get("space", [])}
        self.policies = {}
        self.renumbers, self.formulas = {}, {}
        for t in merge.get("table", []):
            for name in t["tables"]:
                self.policies[name] = t.get("policy", "copy")
                self.formulas[name] = t.get("set", {})
                if "renumber" in t:
                    self.renumbers[name] = t["renumber"]
        self.leaves, self.names_said = merge.get("leave", []), merge.get("name", [])
        self.counters = merge.get("counter", [])
        if case["rules"].get("rekey"):  # rekey: every key of one AUTO_INCREMENT column
            keys = [place(k) for s in self.spaces.values() for k in s.get("keys", [])]
            for name, t in self.schema.items():
                at = (name, tuple(t["key"]))
                if t["auto"] and len(t["key"]) == 1 and at not in keys and self.policies.get(name, "copy") == "copy":
                    self.spaces["%s.%s" % (name, t["key"][0])] = {"keys": ["%s.%s" % (name, t["key"][0])]}
        self.key_space = {place(k): n for n, s in self.spaces.items() for k in s.get("keys", [])}
        self.rows = []
        for w, world in enumerate(case["worlds"]):
            for name, rows in world["tables"].items():
                columns = [c["name"] for c in self.schema[name]["columns"]]
                self.rows += [Row(w, name, dict(zip(columns, map(decode, cells)))) for cells in rows]
        self.seen = {}

    def see(self, what, n=1):
        if n:
            self.seen[what] = self.seen.get(what, 0) + n

    def column(self, table, name):
        return next(c for c in self.schema[table]["columns"] if c["name"] == name)

    def of(self, table, world=None):
        return [r for r in self.rows if r.table == table and world in (None, r.world)]

    def folded(self, table, column, text):
        return text.casefold() if self.column(table, column)["fold"] and isinstance(text, str) else text

    def key(self, row):
        return tuple(row.v[k] for k in self.schema[row.table]["key"])

    # As it was; a row without a key is told by its name.
    def key_text(self, row, name=None):
        return "/".join(str(encode(v)) for v in self.key_before(row) or (row.was.get(name),))

    # Which row a reference names in its own world; None if it names none.
    def named(self, row, ref):
        values = tuple(row.was[c] for c in ref.columns)
        if None in values or ref.format or not ref.covers(row) or len(values) == 1 and ref.none.has(values[0]):
            return None
        return self.find(row.world, ref, values)

    def find(self, world, ref, values):
        for table, columns in ref.to:
            index = self.index.setdefault((table, columns), {})
            if not index:
                for r in self.of(table):
                    index[(r.world,) + tuple(self.name_form(table, columns, r.was[c]) for c in columns)] = r
            found = index.get((world,) + tuple(self.name_form(table, columns, v) for v in values))
            if found:
                return found
        return None

    # A name is found as its column compares; digits in a text are the number.
    def name_form(self, table, columns, v):
        if isinstance(v, str) and self.is_number(table, columns):
            return int(v)
        return self.folded(table, columns[0], v)

    def is_number(self, table, columns):
        return len(columns) == 1 and self.column(table, columns[0])["kind"] == "int"

    # ------------------------------------------------------------ who comes (docs/leaving.md)

    def leave(self):
        self.index, self.stays, self.uncounted = {}, set(), set()
        behind = lambda r: self.policies.get(r.table) == "reset" or self.policies.get(r.table) == "skip" and r.world > 0
        for said in self.leaves:
            if "where" in said:
                self.stays |= self.where(said)
        for said in self.leaves:
            if "best" in said:
                self.best(said)
        self.stays |= {r for r in self.rows if behind(r)}
        self.follow()
        small = set()
        for said in self.leaves:
            if "fewer" in said:
                small |= self.fewer(said)
        self.see("rows that stay by fewer", len(small))
        self.stays |= small
        self.follow()
        for row in self.rows:
            if row in self.stays:
                continue
            for ref in self.references:
                if ref.table == row.table and self.lost(row, ref):
                    self.clear(row, ref)
                elif ref.table == row.table and ref.format and ref.covers(row) and row.v[ref.columns[0]] is not None:
                    self.clear_in_cells(row, ref)

    # The rows for which a condition is true, as SQL judges each world.
    def where(self, said):
        stays = set()
        for w in range(len(self.names)):
            db = sqlite3.connect(":memory:")
            for name, t in self.schema.items():
                columns = [c["name"] + (" COLLATE NOCASE" if c["fold"] else "") for c in t["columns"]]
                db.execute("CREATE TABLE %s (%s)" % (name, ", ".join(columns)))
                insert = "INSERT INTO %s VALUES (%s)" % (name, ", ".join("?" * len(columns)))
                db.executemany(insert, [list(r.v.values()) for r in self.of(name, w)])
            rows = self.of(said["table"], w)
            condition = said["where"].replace(":now", str(self.case["now"]))
            for rowid, holds in db.execute("SELECT rowid, (%s) FROM %s" % (condition, said["table"])):
                if holds is None:
                    self.see("a condition is NULL")
                elif holds:
                    stays.add(rows[rowid - 1])
                    self.see("rows that stay by where")
        return stays

    def best(self, said):
        of, keep = said["best"]["of"], said["best"]["keep"]
        groups = {}
        for r in self.of(said["table"]):
            if r in self.stays or r.v[of] is None:
                continue
            ref = next((f for f in self.references if f.table == r.table and f.columns == (of,)), None)
            group = (None, r.v[of])  # the same thing in every world
            if ref:
                if ref.none.has(r.v[of]):
                    continue
                group = (r.world, r.v[of])
                to = self.named(r, ref)
                if to:
                    group = ("match", self.identity(to)) if self.identity(to) else (to.world, self.key(to))
            groups.setdefault(group, []).append(r)
        for rows in groups.values():
            rows.sort(key=lambda r: (r.world, self.key(r)))
            for by in reversed(said["best"]["by"]):
                column, _, way = by.partition(" ")
                known = [r for r in rows if r.v[column] is not None]
                known.sort(key=lambda r: r.v[column], reverse=way == "desc")
                rows = known + [r for r in rows if r.v[column] is None]
            self.stays |= set(rows[keep:])
            self.see("rows that stay by best", len(rows[keep:]))

    def fewer(self, said):
        table, columns = place(said["fewer"]["of"])
        ref = next(f for f in self.references if (f.table, f.columns) == (table, columns))
        count = {}
        for r in self.of(table):
            if r not in self.stays:
                to = self.named(r, ref)
                count[to] = count.get(to, 0) + 1
        return {r for r in self.of(said["table"]) if r not in self.stays and count.get(r, 0) < said["fewer"]["than"]}

    # Whether what a row refers to stays behind. Of a table that stays behind as a whole, a missing row does too.
    def lost(self, row, ref):
        value = row.was[ref.columns[0]]
        if value is None or ref.format or not ref.covers(row) or ref.none.has(value):
            return False
        for table, _ in ref.to:
            if self.policies.get(table) in ("reset", "skip") and row.world > 0:
                if ref.gone == "drop" and not self.case["count_keys_of_dropped"]:
                    self.uncounted.add(row)
                return True
        return self.named(row, ref) in self.stays

    def follow(self):
        more = True
        while more:
            more = False
            for ref in self.references:
                if ref.gone != "drop":
                    continue
                for r in self.of(ref.table):
                    if r not in self.stays and self.lost(r, ref):
                        self.stays.add(r)
                        self.see("rows that follow")
                        more = True

    def clear(self, row, ref):
        if ref.gone != "none":
            raise Wrong("%s refers to a row that stays, and nothing says what becomes of it" % encode_row(row))
        column = self.column(ref.table, ref.columns[0])
        self.see("references that are cleared")
        row.v[column["name"]] = None if column.get("null") else decode_like(column, ref.none.single[0])

    def clear_in_cells(self, row, ref):
        def image(key):
            if ref.none.has(key) or self.find(row.world, ref, (key,)) not in self.stays:
                return key
            if ref.gone != "none":
                raise Wrong("%s names a row that stays inside a cell, and nothing says what becomes of it" % encode_row(row))
            self.see("keys in cells that are cleared")
            return int(ref.none.single[0])

        self.move_cell(row, self.column(ref.table, ref.columns[0]), ref, image)

    # ------------------------------------------------------------ rows that are one thing (match)

    def identity(self, row):
        for name, space in self.spaces.items():
            if "match" in space and place(space["match"][0])[0] == row.table:
                texts = tuple(self.folded(row.table, place(m)[1][0], row.was[place(m)[1][0]]) for m in space["match"])
                return None if None in texts or "" in texts else (name,) + texts
        return None

    def match(self):
        self.pairs, first = {}, {}
        for r in self.rows:  # in the order of the worlds
            identity = self.identity(r)
            if identity:
                one = first.setdefault(identity, r)
                if one is not r:
                    self.pairs[identity[0], r.world, self.key(r)[0]] = one
                    self.see("rows that are matched")

    # ------------------------------------------------------------ new keys (docs/rules.md)

    # The spaces of a column, each with the reference by which it is one of it; None: the column is its key.
    def moving(self, table, column):
        if (table, column) not in self.moves:
            self.moves[table, column] = found = []
            if (table, (column,)) in self.key_space:
                found.append((self.key_space[table, (column,)], None))
            for ref in self.references:
                if ref.table != table or column not in ref.columns or ref.format and column != ref.columns[0]:
                    continue
                at = ref.columns.index(column)
                spaces = {s for t, columns in ref.to for s, _ in self.moving(t, columns[at])}
                for space in [ref.space] if ref.space else sorted(spaces):
                    if found and found[0][1] is None and found[0][0] == space:
                        continue
                    found.append((space, ref))
        return self.moves[table, column]

    def image(self, space, world, key):
        if world == 0 or "keep" in self.spaces.get(space, {}) and Values([self.spaces[space]["keep"]]).has(key):
            return key
        if (space, world, key) in self.pairs:
            first = self.pairs[space, world, key]
            return self.image(space, first.world, self.key_before(first)[0])
        return key + self.case["offsets"].get(space, {}).get(self.names[world], 0)

    def key_before(self, row):
        return tuple(row.was[k] for k in self.schema[row.table]["key"])

    def move(self):
        values = {}  # by space and world, all that move
        before = {}
        for r in self.rows:
            for c in self.schema[r.table]["columns"]:
                moved = False
                for space, ref in self.moving(r.table, c["name"]):
                    if r.v[c["name"]] is None or ref and not ref.covers(r) or moved and not (ref and ref.format):
                        continue

                    def image(key):
                        if ref and ref.none.has(key):
                            return key
                        if r not in self.uncounted:
                            values.setdefault((space, r.world), set()).add(key)
                        return self.image(space, r.world, key)

                    moved = True
                    self.move_cell(r, c, ref, image)
        self.disjoint(values)

    def move_cell(self, r, c, ref, image):
        v = r.v[c["name"]]
        if ref and ref.format:
            self.see("cells with keys: " + ref.steps[0][0])
            if ref.steps[0][0] == "words":
                low, high = ref.columns
                key = r.v[low] | r.v[high] << 16
                new = image(key)
                r.v[low], r.v[high] = new & 0xFFFF, new >> 16
            else:
                r.v[c["name"]] = type(v)(rewrite(ref.steps, v, image))
        elif isinstance(v, str):
            r.v[c["name"]] = str(image(int(v)))
        else:
            r.v[c["name"]] = image(v)

    # New keys lie above every key and every referring value of the worlds before, and are multiples of the step. Keys
    # that are apart from those of all worlds before may stay as they are.
    def disjoint(self, values):
        for space, offsets in self.case["offsets"].items():
            said = self.spaces.get(space, {}).get("offset")
            before = []
            for w in range(len(self.names)):
                keep = Values([self.spaces[space]["keep"]] if "keep" in self.spaces.get(space, {}) else [])
                own = {v for v in values.get((space, w), ()) if not keep.has(v) and (space, w, v) not in self.pairs}
                by = offsets.get(self.names[w], 0) if w > 0 else 0
                if isinstance(said, int) and by % said:
                    raise Wrong("%d is added to %s of %s: want a multiple of %d" % (by, space, self.names[w], said))
                if isinstance(said, dict) and w > 0 and said.get(self.names[w], by) != by:
                    raise Wrong("%d is added to %s of %s: want %d" % (by, space, self.names[w], said[self.names[w]]))
                if own and w > 0:
                    low, high = min(own) + by, max(own) + by
                    below = by and not isinstance(said, dict) and any(low <= h for _, h in before)
                    if below or any(low <= h and l <= high for l, h in before):
                        here = (space, self.names[w], low, high, before)
                        raise Wrong("%s of %s are from %d to %d: those before are %s" % here)
                if own:
                    before.append((min(own) + by, max(own) + by))
                limit = self.spaces.get(space, {}).get("max")
                if own and limit and max(own) + by > limit and w > 0:
                    raise Wrong("a key of %s becomes %d, above %d" % (space, max(own) + by, limit))

    # ------------------------------------------------------------ names (docs/merging.md)

    def rename(self):
        plan = {(n["world"], n["table"], n["column"], n["key"]): n["new"] for n in self.case["names"]}
        for said in self.names_said:
            table, (column,) = place(said["at"])
            groups, into = {}, self.giving(table, column)
            for r in self.of(table):
                if r in into and into[r] is not r:
                    continue
                if r.v[column] is not None and r not in self.stays and str(r.v[column]) not in said.get("none", []):
                    groups.setdefault(self.folded(table, column, r.v[column]), []).append(r)
            renamed = {}
            for rows in groups.values():
                if said.get("keep") == "older":
                    rows.sort(key=lambda r: r.v[said["by"]])
                elif said.get("keep") == "active":
                    rows.sort(key=lambda r: -r.v[said["by"]])
                for r in rows[1:]:
                    at = (self.names[r.world], table, column, self.key_text(r, column))
                    if at not in plan:
                        raise Wrong("%s keeps its name %r, and another row has it" % (at, r.v[column]))
                    renamed[r] = plan.pop(at)
            self.new_names(said, table, column, renamed)
            for r, new in renamed.items():
                r.v[column] = new
                self.see("new names")
                for name, to in said.get("set", {}).items():
                    c = self.column(table, name)
                    r.v[name] = r.v[name] | int(to[2:]) if to.startswith("| ") else decode_like(c, to)
            for r, one in into.items():
                if r.v[column] != one.v[column]:
                    renamed[r] = r.v[column] = one.v[column]
                    if plan.pop((self.names[r.world], table, column, self.key_text(r)), None) != one.v[column]:
                        raise Wrong("%r of %s does not become %r" % (r.was[column], self.names[r.world], one.v[column]))
                    self.see("names of combined rows")
            for r in self.rows:
                self.follow_name(r, table, column, renamed, plan, said)
        for at in plan:
            raise Wrong("%s gets a new name, and nothing asks for it" % (at,))

    # Which row gives its name to each, of those that become one.
    def giving(self, table, column):
        space = self.spaces.get(self.key_space.get((table, tuple(self.schema[table]["key"]))), {})
        if self.policies.get(table) != "combine" and "match" not in space:
            return {}
        rows = [r for r in self.of(table) if r not in self.stays]
        last = self.formulas.get(table, {}).get(column) == "last"
        one, key = {}, lambda r: self.image(self.key_space[table, tuple(self.schema[table]["key"])], r.world, self.key_before(r)[0])
        for r in rows if last else reversed(rows):
            one[key(r)] = r
        return {r: one[key(r)] for r in rows}

    def follow_name(self, r, table, column, renamed, plan, said):
        if r in self.stays:
            return
        for ref in self.references + self.copies:
            if ref.table != r.table or ref.to != [(table, (column,))] or not ref.covers(r):
                continue
            at = ref.columns[0]
            if ref.by is None:
                to = self.named(r, ref)
            else:
                key = next(f for f in self.references if f.table == r.table and f.columns == (ref.by,))
                to = self.named(r, key)
                if to is not None and r.v[at] != to.was[column]:
                    to = None
            if to in renamed and r.v[at] is not None:
                r.v[at] = renamed[to]
                self.see("cells that follow a name" if ref.by is None else "cells that repeat a name")
                plan.pop((self.names[r.world], r.table, at, self.key_text(r, at)), None)
        for name in said.get("set", {}):
            plan.pop((self.names[r.world], r.table, name, self.key_text(r, column)), None)

    # New names fit, come from the template, and are no other row's.
    def new_names(self, said, table, column, renamed):
        form = lambda text: self.folded(table, column, text)
        size = lambda t, c: self.column(t, c)["size"] or 10**6
        most = min([size(table, column), said.get("max", 10**6)] +
                   [size(f.table, f.columns[0]) for f in self.references + self.copies if f.to == [(table, (column,))]])
        taken = {form(r.was[column]) for r in self.of(table) if r.was[column] is not None and r not in self.stays}
        ever = {form(r.was[column]) for r in self.of(table) if r.was[column] is not None}
        for f in self.references + self.copies:
            if f.to == [(table, (column,))]:
                ever |= {form(r.was[f.columns[0]]) for r in self.of(f.table) if r.was[f.columns[0]] is not None}
        fresh = set()
        for r, new in renamed.items():
            if form(new) in taken or form(new) in fresh:
                raise Wrong("the new name %r is another row's" % new)
            fresh.add(form(new))
        for r, new in renamed.items():
            template = said.get("template", "{name}.s{server}")
            template = template.replace("{server}", "0").replace("{source}", self.names[r.world])
            for attempt in range(1, 60):
                before, after = (template + (".%d" % attempt if attempt > 1 else "")).split("{name}")
                name = r.was[column][:most - len(before) - len(after)].rstrip(" ")
                if new == before + name + after:
                    break
                if form(before + name + after) not in ever | fresh:
                    raise Wrong("%r becomes %r, and %r is free" % (r.was[column], new, before + name + after))
            else:
                raise Wrong("%r becomes %r: not by the template %r" % (r.was[column], new, template))

    # ------------------------------------------------------------ one row for a key (combine), places (renumber)

    def renumber(self, table, rows):
        said = self.renumbers.get(table)
        if not said:
            return
        column, within = said["column"], said["within"]
        within = within if isinstance(within, list) else [within]
        refs = [f for f in self.references if f.table == table and len(f.columns) == 1 and f.columns[0] in within]
        nobody = lambda r: any(f.none.has(r.was[f.columns[0]]) for f in refs)
        unique = any(sorted(u) == sorted(within + [column]) for u in self.schema[table].get("unique", []))
        groups = {}
        for r in rows:
            group = tuple(r.v[w] for w in within)
            if None not in group and r.v[column] is not None and (unique or not nobody(r)):
                groups.setdefault(group, []).append(r)
        for group in groups.values():
            first = said.get("from", min(r.v[column] for r in group))
            taken = {r.v[column] for r in group if r.world == 0}
            for w in range(1, len(self.names)):
                mine = sorted((r for r in group if r.world == w), key=lambda r: (r.v[column], self.key_before(r)))
                moved = [r for r in mine if r.v[column] in taken]
                taken |= {r.v[column] for r in mine}
                for r in moved:
                    n = first
                    while n in taken:
                        n += 1
                    if n > said.get("max", n):
                        raise Wrong("no place is left in %s" % table)
                    taken.add(n)
                    r.v[column] = n
                    self.see("rows that are renumbered")

    def combine(self, table, rows):
        groups = {}
        for r in rows:
            groups.setdefault(self.key(r), []).append(r)
        out = []
        for group in groups.values():
            one = Row(group[0].world, table, dict(group[0].v))
            one.was = group[0].was
            out.append(one)
            if len(group) == 1:
                continue
            self.see("rows that are combined", len(group))
            for c in (c["name"] for c in self.schema[table]["columns"]):
                op, _, most = self.formulas[table].get(c, "").partition(" ")
                values = [r.v[c] for r in group if r.v[c] is not None]
                if op in ("sum", "max", "min"):
                    one.v[c] = {"sum": sum, "max": max, "min": min}[op](values) if values else None
                elif op == "append":
                    one.v[c] = "".join(values) if values else None
                    if values and len(one.v[c]) > int(most):
                        raise Wrong("%r is longer than %s" % (one.v[c], most))
                elif op == "last":
                    one.v[c] = group[-1].v[c]
                elif op == "" and any(self.folded(table, c, r.v[c]) != self.folded(table, c, one.v[c]) for r in group):
                    raise Wrong("%s.%s is not the same in all rows, and has no formula" % (table, c))
                if op:
                    self.see("formula " + op)
        return out

    # ------------------------------------------------------------ all together

    def run(self):
        self.moves, self.origins = {}, []
        self.leave()
        self.match()
        self.rename()
        self.move()
        tables, nexts = {}, {}
        for table, schema in self.schema.items():
            rows = [r for r in self.of(table) if r not in self.stays]
            policy = self.policies.get(table, "copy")
            if policy in ("same", "skip"):
                rows = [r for r in rows if r.world == 0]
            rows = self.kept(table, rows)
            if policy == "combine":
                rows = self.combine(table, rows)
            else:
                seen = set()
                for r in list(rows):  # of rows that are one thing, the first that comes
                    identity = self.identity(r)
                    if identity in seen:
                        rows.remove(r)
                    elif identity:
                        seen.add(identity)
            self.renumber(table, rows)
            self.count(table, rows)
            self.generate(table, rows)
            if schema["key"] and len({self.key(r) for r in rows}) < len(rows):
                raise Wrong("two rows of %s have one key" % table)
            tables[table] = [encode_row(r) for r in rows]
            if (table, tuple(schema["key"])) in self.key_space:
                for r in rows:
                    if r.world:
                        self.origins.append([table, self.names[r.world], str(*self.key_before(r)), str(*self.key(r))])
            if schema.get("auto"):
                come = self.case["count_keys_of_no_rows"] or any(r.world for r in rows)
                nexts[table] = self.next(table, schema, come)
        return {"tables": tables, "next": nexts, "seen": self.seen, "origins": self.origins}

    # Built-in rows are the first world's.
    def kept(self, table, rows):
        key = self.schema[table]["key"]
        space = self.spaces.get(self.key_space.get((table, tuple(key))), {})
        if "keep" not in space:
            return rows
        keep = Values([space["keep"]])
        self.see("built-in rows", sum(1 for r in rows if keep.has(r.was[key[0]])))
        return [r for r in rows if r.world == 0 or not keep.has(r.was[key[0]])]

    # Counters in rows are above all keys that come, and not below what they were.
    def count(self, table, rows):
        raised = {(c["table"], c["column"], c["key"]): c["after"] for c in self.case["counters"]}
        for said in self.counters:
            at, (column,) = place(said["at"])
            if at != table:
                continue
            when = When(said["when"]) if "when" in said else None
            space = said["to"] if said["to"] in self.spaces else self.key_space[place(said["to"])]
            for r in rows:
                if when and not when.holds(r):
                    continue
                before, highest = r.v[column], self.highest(space)
                after = raised.get((table, column, self.key_text(r)), before)
                if after < before or after <= highest:
                    raise Wrong("%s.%s: %d becomes %d; keys go up to %d" % (table, column, before, after, highest))
                self.see("counters in rows" if after > before else "counters in rows that stay")
                r.v[column] = after

    # The highest key of a space in any world after the merge, of rows that stay behind too.
    def highest(self, space):
        tables = [(t, k) for (t, k), s in self.key_space.items() if s == space]
        return max([r.v[k[0]] for t, k in tables for r in self.of(t) if r not in self.uncounted] or [0])

    def next(self, table, schema, come):
        at = (table, tuple(schema["key"]))
        first = self.case["worlds"][0].get("next", {}).get(table, 0)
        if at in self.key_space and come:
            highest = self.highest(self.key_space[at])
            return max(first, highest + 1 if highest else 0)
        return first

    def generate(self, table, rows):
        made = [c for c in self.schema[table]["columns"] if c.get("as")]
        if not made:
            return
        db = sqlite3.connect(":memory:")
        for r in rows:
            given = [n for n in r.v if n not in [c["name"] for c in made]]
            for c in made:
                query = "SELECT %s FROM (SELECT %s)" % (c["as"], ", ".join("? AS " + n for n in given))
                r.v[c["name"]] = db.execute(query, [r.v[n] for n in given]).fetchone()[0]


def decode_like(column, text):
    return int(text) if column["kind"] == "int" else text


def encode_row(row):
    return [encode(v) for v in row.v.values()]


for line in sys.stdin:
    try:
        answer = Merge(json.loads(line)).run()
    except Wrong as e:
        answer = {"wrong": str(e)}
    except Exception:
        answer = {"wrong": "it failed: " + traceback.format_exc()}
    print(json.dumps(answer), flush=True)
