package propose

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/internal/strict"
	"mergesafe/merge/catalog"
	"mergesafe/merge/check"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// WriteRules writes a file of rules that says what all columns seem to be. The check
// can read it unchanged. Columns for a person to decide come first, plain ones last. An
// undecided column stays open until its line is moved. It is an error if the report has
// no proposals, or a column that no file of rules can name.
func WriteRules(r *verdict.Report, w io.Writer) error {
	if r.Proposed == nil {
		return errors.New("merge: the report has no proposals")
	}
	for _, c := range r.Proposed.Columns {
		if at := placeOf(c); strict.LooksLikeDSN(at) {
			return fmt.Errorf("merge: the column %q looks like a DSN with a password, so a file of rules cannot name it: rename the table or the column in all worlds", at)
		}
	}
	f := rulesFile{bufio.NewWriter(w), r}
	f.header()
	f.line("[check]")
	f.undecided()
	f.list("shared", "The same in every world: keys of the game's own data, or places within a key.", f.of(verdict.ClassShared))
	f.list("plain", "They refer to nothing: neither their names nor their values suggest a key.", f.of(verdict.ClassPlain))
	f.references()
	f.worlds()
	f.uniques()
	f.spaces()
	return f.w.Flush()
}

// rulesFile writes a file of rules.
type rulesFile struct {
	w *bufio.Writer
	r *verdict.Report
}

func (f rulesFile) line(format string, args ...any) { fmt.Fprintf(f.w, format+"\n", args...) }

// comment writes a comment of one line, whatever is in it.
func (f rulesFile) comment(format string, args ...any) {
	f.line("# %s", printable.Text(fmt.Sprintf(format, args...)))
}

// of returns the columns of a class, in the order of the report.
func (f rulesFile) of(class verdict.ColumnClass) (all []verdict.ProposedColumn) {
	for _, c := range f.r.Proposed.Columns {
		if c.Class == class && !c.Declared {
			all = append(all, c)
		}
	}
	return all
}

func placeOf(c verdict.ProposedColumn) string { return rules.Place(c.Table, c.Column) }

func (f rulesFile) header() {
	names := slice.Map(f.r.Worlds, func(s verdict.Summary) string { return s.Name })
	f.line("#:schema docs/schema/rules.json")
	f.line("# Editors complete and check this file if that path leads to this schema of mergesafe.")
	f.line("#")
	f.comment("What the columns of %s seem to be: mergecheck -propose, %s", strings.Join(names, ", "), f.r.Finished.Format("2006-01-02T15:04:05Z"))
	f.comment("How certain that is: %s", f.r.Proposed.Gaps)
	if none := f.r.Proposed.NoGaps; len(none) > 0 {
		f.line("#")
		f.comment("READ THIS FIRST: the keys %s have no gaps,", catalog.Few(none))
		f.comment("so values prove nothing: you must decide about each column that may refer to them. Worlds in which")
		f.comment("rows were deleted give a better file: use copies of worlds that were played for months; or delete")
		f.comment("some of these rows and everything that refers to them in the copies. Then run -propose again.")
	}
	for _, blocked := range f.r.Results {
		if blocked.Code == verdict.CodeKeySpace && blocked.Verdict == verdict.Fail {
			f.comment("Before any merge: %s: %s", rules.Place(blocked.Table, blocked.Subject), blocked.Message)
		}
	}
	f.line("#")
	if len(f.of(verdict.ClassUndecided)) > 0 {
		f.comment("1. Read the list undecided. Its columns stay NOT VERIFIED until you move each: to plain (it")
		f.comment("   refers to nothing), shared (the same value means the same thing in all worlds: the game's own data,")
		f.comment("   one account database), a [[check.reference]] or, if it is a key of its own that each world")
		f.comment("   numbers itself, a [[merge.space]] at the end. docs/words.md explains every word.")
	} else {
		f.comment("1. No column is undecided.")
	}
	f.comment("2. Read the references at the end: %s, each with its evidence.",
		printable.Count(int64(len(f.of(verdict.ClassReference))), "column", "columns"))
	f.comment("3. Check shared and plain: %d and %d columns.", len(f.of(verdict.ClassShared)), len(f.of(verdict.ClassPlain)))
	f.comment("4. Run mergecheck on these databases with -rules FILE. Or name FILE in config.toml, for all commands: [merge] rules = [\"FILE\"]")
	f.line("")
}

// Asked returns the name that a question about a column is about. Columns of one name that may name the same are one question; those
// of accounts are one together, whatever their names.
func Asked(c verdict.ProposedColumn) string {
	if c.Reason == accountsAsked {
		return ""
	}
	return strings.ToLower(c.Column)
}

// lineOf is a line to read: columns that are one question.
type lineOf struct {
	name, to, when, reason string
	none                   string // as a rule says it
	own, inTexts           bool
	counts                 string // keys
	kinds                  *verdict.Kinds
	others                 string // keys that may be meant as well
}

func (f rulesFile) undecided() {
	columns := f.of(verdict.ClassUndecided)
	if len(columns) == 0 {
		f.line("undecided = []")
		f.line("")
		return
	}
	var order []lineOf
	groups := make(map[lineOf][]verdict.ProposedColumn)
	for _, c := range columns {
		at := lineOf{name: Asked(c), to: c.To, when: c.When.Text(), reason: c.Reason, own: c.Own, inTexts: c.InTexts, counts: strings.Join(c.Counts, " "), kinds: c.Kinds}
		if len(c.None) > 0 {
			at.none = ", none = " + printable.Text(verdict.TomlValues(c.None))
		}
		at.others = strings.Join(slice.Map(meantAsWell(c), func(k verdict.Candidate) string { return k.Key }), " ")
		if groups[at] == nil {
			order = append(order, at)
		}
		groups[at] = append(groups[at], c)
	}
	f.comment("%s, %s. Is it a reference, shared or plain?", printable.Count(int64(len(columns)), "column", "columns"), printable.Count(int64(len(order)), "question", "questions"))
	f.line("undecided = [")
	listed := make(map[string]bool) // some may name several things
	for _, at := range order {
		names := slice.Map(groups[at], placeOf)
		evidence := groups[at][0].Evidence
		if len(names) > 1 && evidence != at.reason { // with figures of the first
			evidence = names[0] + ": " + evidence
		}
		f.line("")
		f.line("  # %s", printable.Text(evidence))
		switch {
		case at.counts != "":
			for _, c := range groups[at] {
				for _, key := range c.Counts {
					f.line("  # [[merge.counter]] at = %s, to = %s", printable.Text(printable.TOML(placeOf(c))), printable.Text(printable.TOML(key)))
				}
			}
			tables := slice.Map(groups[at], func(c verdict.ProposedColumn) string { return c.Table })
			f.line("  # and [[merge.table]] tables = %s, policy = \"skip\": the first world's counters are copied and raised", printable.Text(printable.TOMLList(tables)))
			f.line("  # or: plain, or shared, or [[check.reference]]")
		case at.kinds != nil, at.when != "", at.to != "" && !at.own:
			c, others := groups[at][0], "or: plain, or shared"
			if at.inTexts {
				others = "and a format that says where they are (mergecheck -h formats); " + others
			}
			all := []rules.DeclaredReference{{To: []string{c.To}, At: names, None: c.None, When: c.When}}
			if at.kinds != nil {
				var rest []string
				others = "these are all of its rows"
				if all, rest = at.kinds.References(all[0]); len(rest) > 0 {
					others = fmt.Sprintf("and, for rows in which %s is %s, a reference of their own; or, if they refer to nothing, others = \"plain\" in one of these", at.kinds.By, catalog.Few(rest))
				}
			}
			for _, r := range all {
				for line := range strings.Lines(verdict.ReferenceTOML(r)) {
					f.line("  # %s", printable.Text(strings.TrimSuffix(line, "\n")))
				}
			}
			for _, k := range meantAsWell(c) {
				f.line("  # or to = %s: %s", printable.Text(printable.TOML(k.Key)), check.Nowhere(k.Rows, k.Matched, k.Elsewhere))
			}
			f.line("  # %s", others)
		case at.own && at.to == "":
			f.line("  # the game's own data: shared, and [[merge.table]] tables = %s, policy = \"same\"; a key of its own: [[merge.space]] keys = %s,", printable.Text(printable.TOMLList([]string{groups[at][0].Table})), printable.Text(printable.TOMLList(names[:1])))
			f.line("  # as at the end of this file")
		case at.own:
			f.line("  # one row for each: [[check.reference]] to = %s, at = %s; a key of its own: [[merge.space]] keys = %s,", printable.Text(printable.TOML(at.to)), printable.Text(printable.TOMLList(names)), printable.Text(printable.TOMLList(names[:1])))
			f.line("  # as at the end of this file; or plain, or shared")
		default:
			f.line("  # shared = %s; or plain, or [[check.reference]]", printable.Text(printable.TOMLList(names)))
		}
		names = slices.DeleteFunc(names, func(n string) bool { again := listed[n]; listed[n] = true; return again })
		if len(names) > 0 {
			f.line("  %s,", strings.Trim(printable.TOMLList(names), "[]"))
		}
	}
	f.line("]")
	f.line("")
}

// meantAsWell are the other keys that an undecided column may name: with a row for each of its values, or by its name.
func meantAsWell(c verdict.ProposedColumn) (all []verdict.Candidate) {
	if c.Own || c.When != nil || c.Kinds != nil || c.InTexts {
		return nil
	}
	for _, k := range c.Candidates {
		if k.Key != c.To && (k.Misses() == 0 || k.Name == "clear") {
			all = append(all, k)
		}
	}
	return all
}

// list writes columns, one line for each table.
func (f rulesFile) list(key, comment string, columns []verdict.ProposedColumn) {
	byTable := make(map[string][]string)
	for _, c := range columns {
		byTable[c.Table] = append(byTable[c.Table], placeOf(c))
	}
	if len(byTable) == 0 {
		return
	}
	f.comment("%s", comment)
	f.line("%s = [", key)
	for _, table := range slices.Sorted(maps.Keys(byTable)) {
		slices.Sort(byTable[table])
		f.line("  %s,", strings.Trim(printable.TOMLList(byTable[table]), "[]"))
	}
	f.line("]")
	f.line("")
}

func (f rulesFile) references() {
	evidence := make(map[string]string)
	for _, c := range f.of(verdict.ClassReference) {
		evidence[placeOf(c)+c.When.Text()] = c.Evidence
	}
	for _, r := range references(f.r.Proposed) {
		for _, at := range r.At {
			f.comment("%s: %s", at, evidence[at+r.When.Text()])
		}
		f.w.WriteString(verdict.ReferenceTOML(r))
		f.line("")
	}
}

func (f rulesFile) worlds() {
	for _, w := range f.r.Proposed.Worlds {
		f.comment("%s: its keys contain their server number, which the registry of each database lists.", w.At)
		f.line("[[check.world]]")
		f.line("at = %s", printable.TOML(w.At))
		f.line("by = %s", printable.TOML(w.Value))
		f.line("")
	}
}

func (f rulesFile) uniques() {
	for _, p := range f.r.Proposals {
		if p.Unique == nil {
			continue
		}
		f.comment("Perhaps unique. Remove the # to check:")
		for line := range strings.Lines(p.TOML()) {
			f.line("# %s", strings.TrimSpace(strings.TrimPrefix(line, "# ")))
		}
		f.line("")
	}
}

// spaces writes which keys get new values, and what no statement of [check.Check] says, for people.
func (f rulesFile) spaces() {
	p := f.r.Proposed
	if p.Rekey {
		f.line("[merge]")
		f.line("rekey = true # new values for keys of AUTO_INCREMENT that several worlds have")
		f.line("")
	}
	if len(p.Keys) > 0 {
		f.comment("New values for these keys too. Does each world number them itself? Remove those that it does not.")
	}
	for _, key := range p.Keys {
		f.line("[[merge.space]]")
		f.line("keys = %s", printable.TOMLList([]string{key}))
		f.line("")
	}
	first := true
	for _, c := range f.of(verdict.ClassUndecided) {
		if !c.Own {
			continue
		}
		if first {
			f.comment("These are undecided above. Remove the # if they are keys of their own:")
			first = false
		}
		f.line("# [[merge.space]]")
		f.line("# keys = %s", printable.Text(printable.TOMLList([]string{placeOf(c)})))
		f.line("")
	}
	if len(p.Spaces) > 0 {
		f.comment("Kinds of keys, each a [[merge.space]] of a merge that renumbers them:")
	}
	for _, s := range p.Spaces {
		f.comment("  %s", s)
	}
	for _, class := range []struct {
		class verdict.ColumnClass
		text  string
	}{
		{verdict.ClassKey, "Keys of their own that need no declaration"},
		{verdict.ClassOpaque, "Opaque: its contents are not read, and it stays NOT VERIFIED"},
		{verdict.ClassEmpty, "Without values to judge by; they become open again when they have some"},
	} {
		names := slice.Map(f.of(class.class), placeOf)
		if slices.Sort(names); len(names) > 0 {
			f.comment("%s: %s", class.text, strings.Join(names, ", "))
		}
	}
}
