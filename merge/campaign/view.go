package campaign

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/merge"
	"mergesafe/merge/report"
	"mergesafe/merge/verdict"
)

// Said is the view of a campaign, and how the command that prints it ends.
type Said struct {
	*report.View
	Ending report.Ending
}

// Telling is for whom a status is put into words.
type Telling struct {
	File   string   // of the campaign
	Plans  string   // the folder of the plans
	Name   string   // the command that ended, such as "apply -try"; "" is one that only looks
	Merges []string // that it was about; none: all
	Err    error    // with which it ended

	// Command is the command line of a command, to paste: see [Options]. nil: without flags.
	Command func(name string, merges ...string) string
}

// Tally counts merges.
type Tally struct {
	All, Verified, Failed, Refused, Planned, Tried, Active int

	undone, skipped, made, begun, waiting int

	trying     int // begun by a rehearsal, and not completed
	leftOut    int // of those skipped: nothing of them was written
	incomplete int // of those failed or refused: for an error, and no finding
	unproved   int // of those verified: they could not be verified again
}

// Tally counts the merges of the campaign.
func (s *Status) Tally() (c Tally) {
	phases := make(map[Phase]int)
	for _, m := range s.Merges {
		phases[m.Phase]++
		if m.Active {
			c.Active++
		}
		switch {
		case m.Incomplete && (m.Phase == Failed || m.Phase == Refused):
			c.incomplete++
		case m.Phase == Undone && m.Problem != "":
			c.Failed++
		case m.Phase == Skipped && m.Problem == "":
			c.leftOut++
		case m.Phase == Verified && m.Problem != "":
			c.unproved++
		case m.Phase == Trying && m.Problem != "":
			c.Failed++
			if m.Incomplete {
				c.incomplete++
			}
		case m.Phase == Trying:
			c.trying++
		}
	}
	c.All, c.Verified, c.undone = len(s.Merges), phases[Verified], phases[Undone]
	c.Refused, c.skipped = phases[Refused], phases[Skipped]
	c.made, c.Planned, c.Tried = phases[Made], phases[Planned], phases[Tried]
	c.waiting = phases[Waiting] + phases[Planning]
	c.begun = c.All - c.Verified - phases[Failed] - c.undone - c.Refused - c.skipped - c.made - c.Planned -
		c.waiting - c.Tried - phases[Trying] // all others
	c.Failed += phases[Failed]
	return c
}

// fenced are the merges that have not begun and whose worlds may be fenced.
func (s *Status) fenced() []string {
	all := slices.DeleteFunc(slices.Clone(s.Merges), func(m MergeStatus) bool { return !m.Fenced })
	return slice.Map(all, MergeStatus.Name)
}

// Finished reports whether all merges are verified, but those that were left out.
func (c Tally) Finished() bool { return c.Verified > 0 && c.Verified+c.leftOut == c.All }

// found reports whether a merge failed or is refused for what was found, and not for an error alone.
func (c Tally) found() bool { return c.Failed+c.Refused > c.incomplete }

// of says how many of all merges: "2 of 60 merges".
func (c Tally) of(n int) string {
	return fmt.Sprintf("%s of %s", printable.Number(int64(n)), printable.Count(int64(c.All), "merge", "merges"))
}

// Say puts the status into words.
func (s *Status) Say(t Telling) Said {
	if t.Command == nil {
		t.Command = func(name string, merges ...string) string {
			words := slices.Concat([]string{"fleet", name, cmp.Or(t.File, "CAMPAIGN")}, merges)
			return strings.Join(slice.Map(words, printable.Quoted), " ")
		}
	}
	v := saying{Said: Said{View: &report.View{}, Ending: report.Done}, Telling: t, c: s.Tally(), s: s}
	v.say()
	v.Color = map[report.Ending]verdict.Verdict{report.Done: verdict.Pass, report.Refused: verdict.Fail}[v.Ending]
	v.Sentence = s.Name + ": " + v.Sentence
	if s.Paused && s.Doing == "" {
		v.Then("The campaign is paused. To resume:", t.Command("resume"))
	}
	v.Add(s.mergesSection())
	v.Add(s.problemSections(t)...)
	v.Add(s.startSections()...)
	return v.Said
}

// saying is a status that is being put into words.
type saying struct {
	Said
	Telling
	c Tally
	s *Status
}

func (v *saying) set(word string, ending report.Ending, format string, args ...any) {
	v.Word, v.Ending, v.Sentence = word, ending, fmt.Sprintf(format, args...)
}

// say says how the campaign is after a command.
func (v *saying) say() {
	c, s, looks, fenced := v.c, v.s, v.Name == "" || v.Name == "status", v.s.fenced()
	switch {
	case s.Doing != "":
		v.running()
	case s.Lost && looks:
		v.set("NOT KNOWN", report.NotVerified, "the state of the campaign was lost; the databases and plans record which merges have begun")
		v.Then("To find them:", v.Command("plan"))
	case len(s.Missing) > 0:
		v.set("NOT IN THE FILE", report.Refused, "%s begun and changed in %s: see below; %s verified",
			printable.Count(int64(len(s.Missing)), "merge has", "merges have"), v.File, c.of(c.Verified))
	case v.Err != nil:
		v.broken()
	case v.Name == "plan":
		v.planned()
	case v.Name == "undo":
		v.takenBack()
	case v.Name == "apply -try" && c.Failed+c.Refused == 0, c.Tried+c.trying > 0 && (looks || v.Name == "verify"):
		v.tried()
	case c.Failed > 0 || c.Refused > 0 && !looks:
		v.someFailed()
	case c.Tried+c.trying > 0 && v.Name == "apply":
		v.set("FAILED", report.Refused, "%s refused: undo the rehearsal first", c.of(c.Tried+c.trying))
		v.Then("To drop it:", v.Command("undo -all"))
	case c.unproved > 0 && v.Name == "verify":
		v.set("INCOMPLETE", report.Incomplete, "%s could not be verified: see below", c.of(c.unproved))
	case len(fenced) > 0 && c.begun == 0 && looks:
		v.set("FENCED", report.Stopped, "%s verified; %d were not begun, but their worlds may be fenced", c.of(c.Verified), len(fenced))
		v.Then("To resume:", v.Command("apply"))
		v.Then("Or lift the fences:", v.Command("undo", fenced...))
	case c.Finished():
		v.done()
	case c.begun > 0:
		v.set("NOT COMPLETE", report.Stopped, "%s verified; %d were begun but not completed", c.of(c.Verified), c.begun)
		v.Then("To resume:", v.Command("apply"))
	case c.undone == c.All:
		v.set("UNDONE", report.NotVerified, "%s undone", c.of(c.undone))
	case c.Verified+c.made+c.undone+c.skipped == 0:
		v.notBegun()
	default:
		v.inPart()
	}
}

// doings are the words for a process that works on a campaign.
var doings = map[string]string{doingPlan: "PLANNING", doingTry: "TRYING", doingApply: "MERGING", doingVerify: "VERIFYING", doingUndo: "UNDOING"}

// running says what the process does that works on the campaign.
func (v *saying) running() {
	s := v.s
	v.set(doings[s.Doing], report.Stopped, "%s; %s verified", printable.Count(int64(v.c.Active), "merge runs", "merges run"), v.c.of(v.c.Verified))
	switch {
	case s.Paused:
		v.Word, v.Sentence = "PAUSED", "paused by the operator: running merges wait between two batches, and no new merge begins; "+v.Sentence
	case s.Waits != "":
		v.Word, v.Sentence = "WAITING", "waits "+s.Waits+"; "+v.Sentence
	}
}

// broken says how a command ended that ended with an error.
func (v *saying) broken() {
	const nothing = "nothing was written by this command"
	not, notReady := errors.AsType[*NotReadyError](v.Err)
	switch {
	case errors.Is(v.Err, merge.ErrStopped):
		v.set("STOPPED", report.Stopped, "%s verified; nothing is lost", v.c.of(v.c.Verified))
		v.Then("To resume:", v.Command(v.Name, v.Merges...))
	case !notReady:
		v.set("ERROR", report.Incomplete, "%s verified", v.c.of(v.c.Verified))
	case not.Incomplete():
		v.set("INCOMPLETE", report.Incomplete, nothing)
	default:
		v.set("NOT READY", report.Refused, nothing)
	}
}

// takenBack says what undo did.
func (v *saying) takenBack() {
	c, did, incomplete, stillOpen := v.c, make(map[Undid]int), 0, 0
	for _, m := range v.s.Merges {
		did[m.Undo]++
		switch {
		case m.Undo != UndidNothing:
		case m.Incomplete:
			incomplete++
		case m.Phase == Verified:
			stillOpen++
		}
	}
	var parts []string
	for _, p := range []struct {
		n    int
		text string
	}{{c.undone, "%s undone"}, {did[UndidRehearsal], "the rehearsals of %s dropped"}, {did[UndidFences], "the fences of %s lifted"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf(p.text, c.of(p.n)))
		}
	}
	switch stuck := did[UndidNothing]; {
	case stuck > 0 && stuck == incomplete:
		v.set("INCOMPLETE", report.Incomplete, "%s not undone: see below", c.of(stuck))
	case stuck > 0 && stuck == stillOpen:
		v.set("REFUSED", report.Refused, "%s not undone, and still open: see below", c.of(stuck))
	case stuck > 0:
		v.set("FAILED", report.Refused, "%s not undone: see below", c.of(stuck))
	case len(parts) > 0:
		v.set("UNDONE", report.Done, "%s", strings.Join(parts, "; "))
	case c.Planned+c.waiting+c.Refused+c.skipped == c.All:
		v.set("UNDONE", report.Done, "no merge has begun")
	default:
		v.set("UNDONE", report.Done, "%s undone", c.of(0))
	}
}

// someFailed says that merges failed, or were refused by a command.
func (v *saying) someFailed() {
	c, verified := v.c, "see below; "+v.c.of(v.c.Verified)+" verified"
	again := "apply"
	if !c.found() {
		v.set("INCOMPLETE", report.Incomplete, "%s could not be carried out: %s", c.of(c.incomplete), verified)
		if v.Name == "apply -try" {
			again = v.Name
		}
		v.Then("To continue when it is fixed:", v.Command(again))
		return
	}
	v.set("FAILED", report.Refused, "%s failed or refused: %s", c.of(c.Failed+c.Refused), verified)
	if left := c.begun + c.Planned; left > 0 && v.Name == again {
		v.Sentence += fmt.Sprintf("; %d were not begun or not completed", left)
		v.Then("To continue when it is fixed:", v.Command(again))
	}
}

// done says that all merges are verified but those that were left out.
func (v *saying) done() {
	c := v.c
	c.All -= c.leftOut
	v.set("DONE", report.Done, "%s verified", c.of(c.Verified))
	if c.leftOut > 0 {
		v.Sentence += fmt.Sprintf("; %s skipped", printable.Number(int64(c.leftOut)))
	}
	if v.s.Worked > 0 {
		v.Sentence += ", in " + printable.Seconds(v.s.Worked)
	}
}

// notBegun says that nothing was written.
func (v *saying) notBegun() {
	c, ending := v.c, report.Done
	if v.Name == "apply" || v.Name == "verify" { // which were to come further
		ending = report.NotVerified
	}
	v.set("NOT BEGUN", ending, "%s planned", c.of(c.Planned))
	switch {
	case c.Refused > 0 && c.found():
		v.set(v.Word, report.Refused, "%s, %d refused: see below", v.Sentence, c.Refused)
	case c.Refused > 0:
		v.set(v.Word, report.Incomplete, "%s, %d could not be: see below", v.Sentence, c.Refused)
	}
	if c.waiting > 0 && ending == report.Done { // no database was asked: the state and the plan of one that has begun may be lost
		v.Word = "NOT PLANNED"
		v.Sentence += "; plan looks whether the others have begun"
	}
	switch {
	case c.waiting > 0:
		v.Then("To plan:", v.Command("plan"))
	case c.Planned > 0:
		v.Then("To carry it out:", v.Command("apply"))
	}
}

// inPart says that some merges are done, none failed, and others are still to be done or are left.
func (v *saying) inPart() {
	c := v.c
	v.set("NOT VERIFIED", report.NotVerified, "%s verified; nothing failed", c.of(c.Verified))
	switch {
	case c.Refused > 0 && c.found():
		v.set("REFUSED", report.Refused, "%s verified; %d refused: see below", c.of(c.Verified), c.Refused)
	case c.Refused > 0:
		v.set("INCOMPLETE", report.Incomplete, "%s verified; %d refused: see below", c.of(c.Verified), c.Refused)
	}
	if c.undone > 0 {
		v.Sentence += fmt.Sprintf("; %d undone", c.undone)
	}
	if c.Planned+c.waiting > 0 {
		v.Then("To continue:", v.Command("apply"))
	}
}

// planned says what plan did.
func (v *saying) planned() {
	c := v.c
	text := c.of(c.Planned) + " planned"
	if tried := c.Tried + c.trying; tried > 0 {
		text += fmt.Sprintf(", %d have the database of a rehearsal", tried)
	}
	if begun := c.All - c.Planned - c.Refused - c.waiting - c.skipped - c.undone - c.Tried - c.trying; begun > 0 {
		text += fmt.Sprintf(", %d have begun or are done", begun)
	}
	if left := c.skipped + c.undone; left > 0 {
		text += fmt.Sprintf(", %d are left out (to plan these, give their first worlds)", left)
	}
	switch {
	case c.Failed > 0 && c.found():
		v.set("FAILED", report.Refused, "%s failed or refused: see below; %s", c.of(c.Failed+c.Refused), text)
	case c.found():
		v.set("REFUSED", report.Refused, "%s refused: see below; %s", c.of(c.Refused), text)
	case c.incomplete > 0:
		v.set("INCOMPLETE", report.Incomplete, "%s could not be planned: see below; %s", c.of(c.incomplete), text)
	default:
		v.set("PLANNED", report.Done, "%s", text)
		if c.Planned > 0 {
			v.Then("Read the plans in "+v.Plans+", then:", v.Command("apply"))
		}
	}
}

// tried says what a rehearsal came to.
func (v *saying) tried() {
	c, changed := v.c, 0
	for _, m := range v.s.Merges {
		changed += len(m.Changed)
	}
	v.set("TRIED", report.Done, "%s tried", c.of(c.Tried))
	if changed > 0 {
		v.Sentence += fmt.Sprintf("; %s since the plan: plan again before apply", printable.Count(int64(changed), "table was changed", "tables were changed"))
	}
	if c.trying > 0 {
		v.Ending = report.Stopped
		v.Sentence += fmt.Sprintf(", %d not completed", c.trying)
		v.Then("To resume:", v.Command("apply -try"))
	}
	if c.Verified > 0 {
		v.Sentence += fmt.Sprintf("; %d verified", c.Verified)
	}
	v.Then("What a rehearsal made is never opened. To drop it:", v.Command("undo -all"))
}

// startSections say which game servers are to be started where, and what rights their accounts need there.
func (s *Status) startSections() []report.Section {
	start := report.Section{ID: "start", Title: "Start these game servers on the new databases", Head: []string{"game server of", "was on", "start it on"}}
	grants := report.Section{ID: "grants", Title: "Rights that the game's accounts need there"}
	later := report.Section{ID: "later", Title: "These became worlds of later merges: start no game server there"}
	for _, m := range s.Merges {
		if !m.Open || m.Phase != Verified {
			continue
		}
		if m.Later != "" {
			later.Items = append(later.Items, m.New+": "+m.Later)
			continue
		}
		start.Rows = append(start.Rows, []string{m.Name(), m.Was, m.Address})
		grants.Commands = append(grants.Commands, m.Grants...)
	}
	if len(start.Rows) > 0 {
		start.Words = []string{"The other worlds of these merges no longer exist on their own: do not start their game servers."}
	}
	return []report.Section{start, grants, later}
}

// problemSections say what is wrong, and what to do about it.
func (s *Status) problemSections(t Telling) (all []report.Section) {
	for i, m := range s.Missing {
		all = append(all, report.Section{ID: fmt.Sprintf("missing-%d", i+1), Title: m.Name(), Words: []string{
			fmt.Sprintf("the merge of %s has begun (%s), but the file has another one, or none, with that first world", printable.Names(m.Worlds), m.Phase)},
			Steps: []report.Step{{Text: "Restore its entry in the file. Then complete the merge, or undo it before you change it:",
				Commands: []string{t.Command("apply", m.Name()), t.Command("undo", m.Name())}}}})
	}
	for i, m := range s.Merges {
		if m.Problem == "" {
			continue
		}
		of := report.Section{ID: fmt.Sprintf("problem-%d", i+1), Title: m.Name(), Words: []string{m.Problem}}
		if s.Doing != "" && len(m.Advice) > 0 { // what to do about it needs the lock
			of.Words = append(of.Words, "When "+s.Doing+" has ended, fleet status says what to do about it.")
			all = append(all, of)
			continue
		}
		for _, advice := range m.Advice {
			if n := len(of.Steps); IsCommand(advice) && n > 0 {
				of.Steps[n-1].Commands = append(of.Steps[n-1].Commands, advice)
			} else {
				of.Steps = append(of.Steps, report.Step{Text: advice})
			}
		}
		all = append(all, of)
	}
	return all
}

// mergesSection has a row for each merge.
func (s *Status) mergesSection() report.Section {
	return report.Section{ID: "merges", Title: "Merges", Head: []string{"first", "others", "new", "rows", "state", ""},
		Rows: slice.Map(s.Merges, func(m MergeStatus) []string {
			const some = 4
			state := m.PhaseWord()
			if m.Phase == Refused && m.Incomplete {
				state = "incomplete"
			}
			if s.Doing == "" && slices.Contains([]Phase{Copying, Trying, Verifying, Undoing}, m.Phase) {
				state += ", interrupted"
			}
			return []string{m.Name(), printable.List(m.Worlds[min(1, len(m.Worlds)):], " ", some), m.New, printable.Number(m.Rows), state, m.remark()}
		})}
}

// remark is what else there is to say of a merge in one line.
func (m *MergeStatus) remark() string {
	switch {
	case m.Active && m.Waits != "":
		return "waits"
	case m.Finishing():
		text := "rows are there; makes indexes, keys, views"
		if m.Left > 0 {
			text += ", " + printable.Seconds(m.Left) + " left"
		}
		return text
	case m.Active && m.Total > 0:
		text := fmt.Sprintf("%d %% done", int(100*m.Progress()))
		if m.PerSecond > 0 {
			text += ", " + printable.Short(m.PerSecond) + "/s"
		}
		if m.Left > 0 {
			return text + ", " + printable.Seconds(m.Left) + " left"
		}
		return text + ", time left unknown"
	case m.Phase == Tried && len(m.Changed) > 0:
		return printable.Count(int64(len(m.Changed)), "table was changed", "tables were changed")
	case m.Took > 0 && (m.Phase == Verified || m.Phase == Failed || m.Phase == Undone):
		text := "took " + printable.Seconds(m.Took)
		if m.Renames > 0 && m.Phase == Verified {
			text += ", " + printable.Count(int64(m.Renames), "rename", "renames")
		}
		return text
	case m.Phase == Refused || m.Phase == Skipped || m.Phase == Opening && m.Active:
	case m.Predicted[1] > 0:
		text := "takes " + printable.Span(m.Predicted)
		if m.Stay > 0 {
			text += ", " + printable.Count(m.Stay, "row stays behind", "rows stay behind")
		}
		return text
	}
	return ""
}

// WithView returns the status with its view, for JSON.
func (s *Status) WithView(v Said) any {
	return struct {
		*Status
		View *report.View `json:"view"`
	}{s, v.View}
}
