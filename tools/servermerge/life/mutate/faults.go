package main

import "mergesafe/internal/mutant"

const (
	opens  = "merge/build/open.go"
	undoes = "merge/build/undo.go"
	raises = "merge/build/raise.go"
	ledger = "merge/record/manifest.go"
	states = "merge/record/states.go"
	proves = "merge/prove/verify.go"
	gates  = "merge/build/gate.go"
	fleets = "tools/internal/databases/registry.go"
	begins = "merge/job/begin.go"
	asks   = "merge/build/status.go"
	places = "internal/sqldb/place.go"
	copied = "merge/check/rule_copied.go"
	ours   = "merge/prove/ours.go"
)

// faults are those that attacks found in the life of a merge, put back where the program is right today.
var faults = mutant.Faults([][4]string{
	{"1: open opens after a FAIL", opens, "if proof.Verdict != verdict.Pass {", "if proof.Verdict == verdict.NotVerified {"},
	{"2: a change of the first world is lost", proves, "for _, part := range proof.Verdicts() {", "if slices.ContainsFunc(proof.Tables, func(t evidence.TableProof) bool { return len(t.Worlds) == 1 && t.Worlds[0] == r.Worlds[0].Name }) {\n\t\treturn proof, nil\n\t}\n\tfor _, part := range proof.Verdicts() {"},
	{"3: the record of another merge is taken", ledger, "err != nil || !m.owns(m.Label) {", "err != nil || m.Label.ID == \"\" || m.ID == \"\" {"},
	{"3: two applies make one record", ledger, "case m.Label.ID != l.ID || m.Label.Try != l.Try:\n\t\treturn ErrOther\n\tcase !m.owns(m.Label):\n\t\treturn m.WrongState(\"\", m.Left)", "case m.Label.Try != l.Try:\n\t\treturn ErrOther"},
	{"4: nothing is raised from OPENING", states, "return s == StateOpening || s == StateOpen || s == raised", "return s == StateOpen || s == raised"},
	{"4: an undo leaves the gate", undoes, "refused && state == record.StateOpen && u.Registry {", "refused && state == record.StateOpening && u.Registry {"},
	{"4: open leaves the gate of a killed undo", opens, "} else if err := openGate(ctx, r, record.StateOpen, done); err != nil ||", "} else if err := ctx.Err(); err != nil ||"},
	{"5: a copy of a world starts", fleets, "if i == 0 || !w.Fence {", "if i >= 0 || !w.Fence {"},
	{"5: open opens without a fence", opens, "if err := r.OrBusy(ctx, r.Kept(ctx, \"open\", state)); err != nil {", "if err := ctx.Err(); err != nil {"},
	{"5: open opens without a fence", "merge/build/servers.go", "if err := reg.MarkFence(ctx, s.Server, r.Plan.ID, state); err != nil {", "if err := reg.MarkFence(ctx, s.Server, r.Plan.ID, state); err != nil && !errors.Is(err, worldregistry.ErrNoFence) {"},
	{"6: one database is two worlds", places, "if l.dialect != other.dialect {", "if l.dialect != \"\" {"},
	{"6: one database is two worlds", copied, "result.Gaps = append(result.Gaps, verdict.Gap{World: b.Name, Reason: fmt.Sprintf(\"it seems", "_ = append(result.Gaps, verdict.Gap{World: b.Name, Reason: fmt.Sprintf(\"it seems"},
	{"7: undo drops what the merge did not make", undoes, "case say == \"\":\n", "case say == \"\":\n\t\tworld.Remove(ctx, u.New)\n"},
	{"8: NOT BEGUN after an undo that raised", asks, "err != nil || how != \"\" {", "err != nil {\n\t\t_ = how"},
	{"8: undo compares with the worlds", "merge/prove/written.go", "parts, rows = append(parts, plan.Part{Table: i, World: newDatabase}), rows+t.Merged()", "parts, rows = append(parts, plan.Part{Table: i, World: newDatabase}), rows+t.Merged()\n\t\t\tif n, err := r.Count(ctx, t.Name); err == nil && n > 0 {\n\t\t\t\tif w, err := r.Worlds[1].Number(ctx, \"SELECT COUNT(*) FROM \"+r.Worlds[1].Dialect().Quote(t.Name), false); err == nil && w != t.Worlds[1].Rows && t.Worlds[1].Rows > 0 {\n\t\t\t\t\tnote(t.Name, \"a world has other rows\")\n\t\t\t\t}\n\t\t\t}"},
	{"9: an undo that goes on does not look again", undoes, "if !was.Whole() {\n\t\treturn nil", "if was.Whole() {\n\t\treturn nil"},
	{"9: an undo whose answer is lost keeps the gate", undoes, "if failed != nil { // the refusal would say that nothing was changed\n\t\t\treturn failed\n\t\t}\n", "_ = failed\n"},
	{"10: a server is gone from the registry", ours, "wrong = append(wrong, fmt.Sprintf(\"its registry does not list", "_ = append(wrong, fmt.Sprintf(\"its registry does not list"},
	{"10: the gate was lifted", ours, "!open && (gate.Merge != p.Plan.ID || !gate.Here):", "!open && gate.Merge != p.Plan.ID && gate.Merge != \"\":"},
	{"11: what is beside the rows that come is not proved", "merge/prove/made.go", "proving.Findings = append(proving.Findings, f.Reasons...)", "_ = f.Reasons"},
	{"11: a table more is left behind", "merge/plan/made.go", "for _, t := range was.Tables {", "for _, t := range slices.Concat(was.Tables, now.Tables) {"},
	{"11: a counter may be lowered", "merge/change/counters_prove.go", "is.AutoIncrement.Next >= t.Counter.After {", "is.AutoIncrement.Next >= 0 {"},
	{"12: rows of a table that was empty are lost", "merge/planner/tables.go", "of.None = empty[t.Name]", "of.None = false"},
})
