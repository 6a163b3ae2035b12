package check

import (
	"fmt"
	"maps"
	"slices"

	"mergesafe/gameid"
	"mergesafe/internal/printable"
	"mergesafe/merge/catalog"

	"mergesafe/merge/verdict"
)

// idRule judges the IDs in keys, and in the columns beside them.
var idRule = Rule{
	Codes:  []string{verdict.CodeServerUnlisted, verdict.CodeIDAboveMark, verdict.CodeIDInvalid, verdict.CodeIDFuture},
	Single: true,
	Key:    judgeIDs,
}

// judgeIDs reports what is wrong about the IDs in a table. The gaps are the
// sources that were not read.
func judgeIDs(f *Facts, k *keyReading) (o Outcome) {
	for _, c := range k.IDs {
		gaps := slices.Clip(append(slices.Clip(k.Gaps), notIDs(f, k, c)...))
		noRegistry, noClock := gaps, gaps
		for _, s := range c.Worlds {
			if !s.DB.Catalog.HasRegistry {
				noRegistry = append(noRegistry, verdict.Gap{World: s.DB.Name, Reason: "has no registry of server numbers"})
			}
			if f.Now(s.DB).IsZero() {
				noClock = append(noClock, verdict.Gap{World: s.DB.Name, Reason: "has no clock to compare IDs with"})
			}
		}
		for _, form := range idForms(f, gaps, noRegistry, noClock) {
			o.Add(Found(form.judge(k.Table, c)))
		}
	}
	return o
}

// notIDs are the sources in which a column of IDs holds none.
func notIDs(f *Facts, k *keyReading, c idColumn) (gaps []verdict.Gap) {
	for db, t := range f.Having(k.Table) {
		judged := slices.ContainsFunc(c.Worlds, func(s *idsRead) bool { return s.DB == db })
		missed := slices.ContainsFunc(k.Gaps, func(g verdict.Gap) bool { return g.World == db.Name })
		if col := t.Column(c.Name); col != nil && !judged && !missed {
			gaps = append(gaps, verdict.Gap{World: db.Name, Reason: "column " + c.Name + " is " + col.Type + " and holds no IDs there"})
		}
	}
	return gaps
}

// judge reports one fault of the IDs in a column.
func (form idForm) judge(table string, c idColumn) verdict.Result {
	result := verdict.Result{Code: form.code, Table: table, Subject: c.Name, Columns: []string{c.Name}, Gaps: form.gaps}
	var details []string
	for _, s := range c.Worlds {
		result.Read += s.Read
		rows := s.Faults[form.fault].Rows
		if rows == 0 {
			continue
		}
		result.Count += rows
		details = append(details, s.DB.Name+": "+form.detail(s))
		result.Next = append(result.Next, form.next(s, catalog.SQLName(table), catalog.SQLName(c.Name))...)
	}
	result.Rows = result.Count
	if result.Count == 0 {
		if result.Message = "nothing could be compared"; result.Read > 0 || len(result.Gaps) == 0 {
			result.Message = printable.Count(result.Read, form.noun, form.noun+"s") + " checked"
		}
	} else {
		result.Message = printable.Count(result.Count, form.noun, form.noun+"s") + ": " + catalog.Few(details)
		result.Samples = c.Samples[form.fault]
	}
	return result
}

// idForm is how a fault of IDs is reported.
type idForm struct {
	code   string
	fault  idFault
	noun   string // for what is counted
	gaps   []verdict.Gap
	detail func(*idsRead) string                           // of one world
	next   func(s *idsRead, table, column string) []string // in one world
}

// idForms are the forms of all faults. gaps are the sources that were not read;
// noRegistry and noClock have those besides that cannot tell a fault.
func idForms(f *Facts, gaps, noRegistry, noClock []verdict.Gap) []idForm {
	unlisted := func(t *tally) int64 { return t.Unlisted }
	above := func(t *tally) int64 { return t.Above }
	return []idForm{{
		verdict.CodeServerUnlisted, FaultUnlisted, "ID", noRegistry,
		func(s *idsRead) string { return byServer(s, unlisted) },
		func(s *idsRead, table, column string) []string {
			return queries(s, unlisted, "SELECT COUNT(*) FROM "+table+" WHERE SUBSTR(HEX("+column+"), 12, 5) = ")
		},
	}, {
		verdict.CodeIDAboveMark, FaultAboveMark, "ID", noRegistry,
		func(s *idsRead) string { return byServer(s, above) },
		func(s *idsRead, table, column string) []string {
			return queries(s, above, "SELECT MAX(HEX("+column+")) FROM "+table+" WHERE SUBSTR(HEX("+column+"), 12, 5) = ")
		},
	}, {
		verdict.CodeIDInvalid, FaultInvalid, "value", gaps,
		func(s *idsRead) string { return printable.Number(s.Faults[FaultInvalid].Rows) },
		func(s *idsRead, table, column string) []string {
			return []string{fmt.Sprintf("in %s: SELECT * FROM %s WHERE LENGTH(%s) <> %d OR SUBSTR(HEX(%[3]s), 12, 5) = '00000'",
				s.DB.Name, table, column, gameid.Size)}
		},
	}, {
		verdict.CodeIDFuture, FaultFuture, "ID", noClock,
		func(s *idsRead) string {
			return fmt.Sprintf("%s later than %s by more than %s", printable.Number(s.Faults[FaultFuture].Rows), printable.Time(f.Now(s.DB)), f.Opts.Slack)
		},
		func(s *idsRead, _, _ string) []string {
			return []string{fmt.Sprintf("in %s: compare the clock of the database, %s, with the true time", s.DB.Name, printable.Time(s.DB.Catalog.Now))}
		},
	}}
}

// byServer writes how many IDs of which servers: "server 12 (300); server 99 (4)".
func byServer(s *idsRead, count func(*tally) int64) string {
	var parts []string
	for _, server := range slices.Sorted(maps.Keys(s.tallies.ByServer)) {
		if n := count(s.tallies.ByServer[server]); n > 0 {
			parts = append(parts, fmt.Sprintf("server %s (%s)", server, printable.Number(n)))
		}
	}
	if n := count(&s.tallies.Others); n > 0 {
		parts = append(parts, fmt.Sprintf("other servers (%s)", printable.Number(n)))
	}
	return catalog.Enumerated(parts)
}

// queries completes a query with the digits of each of the first servers that
// have something to count.
func queries(s *idsRead, count func(*tally) int64, query string) (all []string) {
	const most = 3
	for _, server := range slices.Sorted(maps.Keys(s.tallies.ByServer)) {
		if count(s.tallies.ByServer[server]) > 0 && len(all) < most {
			all = append(all, fmt.Sprintf("in %s: %s'%05X'", s.DB.Name, query, uint32(server)))
		}
	}
	return all
}
