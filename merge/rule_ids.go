package merge

import (
	"fmt"
	"maps"
	"slices"

	"mergesafe/gameid"
	"mergesafe/internal/printable"
)

// idRule judges the IDs in keys, and in the columns beside them.
func idRule() rule {
	return rule{
		codes: []string{CodeServerUnlisted, CodeIDAboveMark, CodeIDInvalid, CodeIDFuture},
		key:   judgeIDs,
	}
}

// judgeIDs reports what is wrong about the IDs in a table. The gaps are the
// sources that were not read.
func judgeIDs(f *facts, k *keyReading) (o outcome) {
	for _, c := range k.ids {
		gaps := slices.Clip(append(slices.Clip(k.gaps), notIDs(f, k, c)...))
		noRegistry, noClock := gaps, gaps
		for _, s := range c.sources {
			if !s.db.catalog.HasRegistry {
				noRegistry = append(noRegistry, Gap{s.db.name, "keeps no registry of servers"})
			}
			if f.now(s.db).IsZero() {
				noClock = append(noClock, Gap{s.db.name, "has no clock to compare IDs with"})
			}
		}
		for _, form := range idForms(f, gaps, noRegistry, noClock) {
			o.add(found(form.judge(k.table, c)))
		}
	}
	return o
}

// notIDs are the sources in which a column of IDs holds none.
func notIDs(f *facts, k *keyReading, c idColumn) (gaps []Gap) {
	for db, t := range f.having(k.table) {
		judged := slices.ContainsFunc(c.sources, func(s *idsRead) bool { return s.db == db })
		missed := slices.ContainsFunc(k.gaps, func(g Gap) bool { return g.Source == db.name })
		if col := t.column(c.name); col != nil && !judged && !missed {
			gaps = append(gaps, Gap{db.name, "column " + c.name + " is " + col.Type + " and holds no IDs there"})
		}
	}
	return gaps
}

// judge reports one fault of the IDs in a column.
func (form idForm) judge(table string, c idColumn) Result {
	result := Result{Code: form.code, Table: table, Subject: c.name, Columns: []string{c.name}, Gaps: form.gaps}
	var details []string
	for _, s := range c.sources {
		result.Read += s.read
		rows := s.faults[form.fault].rows
		if rows == 0 {
			continue
		}
		result.Count += rows
		details = append(details, s.db.name+": "+form.detail(s))
		result.Next = append(result.Next, form.next(s, sqlName(table), sqlName(c.name))...)
	}
	result.Rows = result.Count
	if result.Count == 0 {
		if result.Message = "nothing could be compared"; result.Read > 0 || len(result.Gaps) == 0 {
			result.Message = printable.Count(result.Read, form.noun, form.noun+"s") + " checked"
		}
	} else {
		result.Message = printable.Count(result.Count, form.noun, form.noun+"s") + ": " + few(details)
		result.Samples = c.samples[form.fault]
	}
	return result
}

// idForm is how a fault of IDs is reported.
type idForm struct {
	code   string
	fault  idFault
	noun   string // for what is counted
	gaps   []Gap
	detail func(*idsRead) string                           // of one source
	next   func(s *idsRead, table, column string) []string // in one source
}

// idForms are the forms of all faults. gaps are the sources that were not read;
// noRegistry and noClock have those besides that cannot tell a fault.
func idForms(f *facts, gaps, noRegistry, noClock []Gap) []idForm {
	unlisted := func(t *tally) int64 { return t.unlisted }
	above := func(t *tally) int64 { return t.above }
	return []idForm{{
		CodeServerUnlisted, faultUnlisted, "ID", noRegistry,
		func(s *idsRead) string { return s.byServer(unlisted) },
		func(s *idsRead, table, column string) []string {
			return s.queries(unlisted, "SELECT COUNT(*) FROM "+table+" WHERE SUBSTR(HEX("+column+"), 12, 5) = ")
		},
	}, {
		CodeIDAboveMark, faultAboveMark, "ID", noRegistry,
		func(s *idsRead) string { return s.byServer(above) },
		func(s *idsRead, table, column string) []string {
			return s.queries(above, "SELECT MAX(HEX("+column+")) FROM "+table+" WHERE SUBSTR(HEX("+column+"), 12, 5) = ")
		},
	}, {
		CodeIDInvalid, faultInvalid, "value", gaps,
		func(s *idsRead) string { return printable.Number(s.faults[faultInvalid].rows) },
		func(s *idsRead, table, column string) []string {
			return []string{fmt.Sprintf("in %s: SELECT * FROM %s WHERE LENGTH(%s) <> %d OR SUBSTR(HEX(%[3]s), 12, 5) = '00000'",
				s.db.name, table, column, gameid.Size)}
		},
	}, {
		CodeIDFuture, faultFuture, "ID", noClock,
		func(s *idsRead) string {
			return fmt.Sprintf("%s later than %s by more than %s", printable.Number(s.faults[faultFuture].rows), printable.Time(f.now(s.db)), f.opts.Slack)
		},
		func(s *idsRead, _, _ string) []string {
			return []string{fmt.Sprintf("in %s: compare the clock of the database, %s, with the true time", s.db.name, printable.Time(s.db.catalog.Now))}
		},
	}}
}

// byServer writes how many IDs of which servers: "server 12 (300); server 99 (4)".
func (s *idsRead) byServer(count func(*tally) int64) string {
	var parts []string
	for _, server := range slices.Sorted(maps.Keys(s.tallies.byServer)) {
		if n := count(s.tallies.byServer[server]); n > 0 {
			parts = append(parts, fmt.Sprintf("server %s (%s)", server, printable.Number(n)))
		}
	}
	if n := count(&s.tallies.others); n > 0 {
		parts = append(parts, fmt.Sprintf("other servers (%s)", printable.Number(n)))
	}
	return enumerated(parts)
}

// queries completes a query with the digits of each of the first servers that
// have something to count.
func (s *idsRead) queries(count func(*tally) int64, query string) (all []string) {
	const most = 3
	for _, server := range slices.Sorted(maps.Keys(s.tallies.byServer)) {
		if count(s.tallies.byServer[server]) > 0 && len(all) < most {
			all = append(all, fmt.Sprintf("in %s: %s'%05X'", s.db.name, query, uint32(server)))
		}
	}
	return all
}
