package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"mergesafe/internal/columns"
	"mergesafe/internal/printable"
	"mergesafe/merge/campaign"

	"mergesafe/merge"
	"mergesafe/tools/internal/cli"
)

// conclude prints how the campaign is after a command that ended with err, and returns how the
// command ends; nil if the error says so.
func (n *night) conclude(name string, s *campaign.Status, err error) error {
	v := n.verdict(name, s, err)
	out := n.cmd.Root().Writer
	if n.cmd.Bool("json") {
		if err := cli.WriteJSON(out, s); err != nil {
			return err
		}
	} else if err := n.write(out, s, v); err != nil {
		return err
	}
	if err != nil || v.code == cli.OK {
		return nil // the error has a code of its own
	}
	return v.code
}

// verdict is how a campaign is, in a word and a sentence.
type verdict struct {
	word, sentence string
	code           cli.Code
	next           []string // sentences, each with commands
}

// tally counts merges.
type tally struct {
	all, verified, failed, undone, refused, skipped, made, begun, planned, waiting, active, tried int

	trying     int // begun by a rehearsal, and not completed
	leftOut    int // of those skipped: nothing of them was written
	incomplete int // of those failed or refused: for an error, and no finding
}

func count(s *campaign.Status) (c tally) {
	phases := make(map[campaign.Phase]int)
	for _, m := range s.Merges {
		phases[m.Phase]++
		if m.Active {
			c.active++
		}
		switch {
		case m.Incomplete && (m.Phase == campaign.Failed || m.Phase == campaign.Refused):
			c.incomplete++
		case m.Phase == campaign.Undone && m.Problem != "":
			c.failed++
		case m.Phase == campaign.Skipped && m.Problem == "":
			c.leftOut++
		case m.Phase == campaign.Trying && m.Problem != "":
			c.failed++
			if m.Incomplete {
				c.incomplete++
			}
		case m.Phase == campaign.Trying:
			c.trying++
		}
	}
	c.all, c.verified, c.undone = len(s.Merges), phases[campaign.Verified], phases[campaign.Undone]
	c.refused, c.skipped = phases[campaign.Refused], phases[campaign.Skipped]
	c.made, c.planned, c.tried = phases[campaign.Made], phases[campaign.Planned], phases[campaign.Tried]
	c.waiting = phases[campaign.Waiting] + phases[campaign.Planning]
	c.begun = c.all - c.verified - phases[campaign.Failed] - c.undone - c.refused - c.skipped - c.made - c.planned -
		c.waiting - c.tried - phases[campaign.Trying] // all others
	c.failed += phases[campaign.Failed]
	return c
}

// found reports whether a merge failed or is refused for what was found, and not for an error alone.
func (c tally) found() bool { return c.failed+c.refused > c.incomplete }

// of says how many of all merges: "2 of 60 merges".
func (c tally) of(n int) string {
	return fmt.Sprintf("%s of %s", printable.Number(int64(n)), printable.Count(int64(c.all), "merge", "merges"))
}

// then adds a next step.
func (v *verdict) then(text, command string) { v.next = append(v.next, text+" "+command) }

// verdict says how the campaign is after a command.
func (n *night) verdict(name string, s *campaign.Status, err error) (v verdict) {
	c := count(s)
	switch {
	case s.Doing != "":
		v = c.running(s)
	case s.Lost && name == "status":
		v.word, v.sentence, v.code = "NOT KNOWN", "the state of the campaign was lost; the databases and the plans know the merges that have begun", cli.NotVerified
		v.then("To find them:", n.command("plan"))
	case len(s.Missing) > 0:
		v = c.missing(s, n.book.File())
	case err != nil:
		v = n.broken(name, c, err)
	case name == "plan":
		v = n.planned(c)
	case name == "undo":
		v = c.takenBack(stuck(s))
	case name == "apply -try" && c.failed+c.refused == 0, c.tried+c.trying > 0 && (name == "status" || name == "verify"):
		v = n.tried(s, c)
	case c.failed > 0 || c.refused > 0 && name != "status":
		v = n.someFailed(name, c)
	case c.tried+c.trying > 0 && name == "apply":
		v.word, v.sentence, v.code = "FAILED", c.of(c.tried+c.trying)+" refused: undo the rehearsal first", cli.Conflicts
		v.then("To drop it:", n.command("undo"))
	case c.verified > 0 && c.verified+c.leftOut == c.all:
		v = c.done(s)
	case c.begun > 0:
		v.word, v.sentence, v.code = "NOT COMPLETE", fmt.Sprintf("%s verified, and %d were begun and are not completed", c.of(c.verified), c.begun), cli.Stopped
		v.then("To resume:", n.command("apply"))
	case c.undone == c.all:
		v.word, v.sentence, v.code = "UNDONE", c.of(c.undone)+" undone", cli.NotVerified
	case c.verified+c.made+c.undone+c.skipped == 0:
		v = n.notBegun(c)
	default:
		v = n.inPart(c)
	}
	if s.Paused {
		v.then("The campaign is paused. To resume:", n.command("resume"))
	}
	return v
}

// running is the verdict while a command works on the campaign.
func (c tally) running(s *campaign.Status) verdict {
	v := verdict{word: "RUNNING", sentence: fmt.Sprintf("%s; %s verified", s.Doing, c.of(c.verified)), code: cli.Stopped}
	if s.Waits != "" {
		v.sentence += "; waits " + s.Waits
	}
	return v
}

// missing is the verdict if merges have begun that the file does not have.
func (c tally) missing(s *campaign.Status, file string) verdict {
	n, are := len(s.Missing), "are"
	if n == 1 {
		are = "is"
	}
	return verdict{word: "NOT IN THE FILE", code: cli.Conflicts, sentence: fmt.Sprintf("%s begun and %s not in %s as it was: see below; %s verified",
		printable.Count(int64(n), "merge has", "merges have"), are, file, c.of(c.verified))}
}

// broken is the verdict of a command that ended with an error.
func (n *night) broken(name string, c tally, err error) verdict {
	if errors.Is(err, merge.ErrStopped) {
		v := verdict{word: "STOPPED", sentence: c.of(c.verified) + " verified; nothing is lost", code: cli.Stopped}
		v.then("To resume:", n.command(name, n.merges...))
		return v
	}
	not, notReady := errors.AsType[*campaign.NotReadyError](err)
	switch {
	case !notReady:
		return verdict{word: "ERROR", sentence: c.of(c.verified) + " verified", code: cli.Incomplete}
	case not.Incomplete():
		return verdict{word: "INCOMPLETE", sentence: "nothing was written by this command", code: cli.Incomplete}
	}
	return verdict{word: "NOT READY", sentence: "nothing was written by this command", code: cli.Conflicts}
}

// takenBack is the verdict of undo.
func (c tally) takenBack(stuck int) verdict {
	switch {
	case stuck > 0 && stuck == c.incomplete:
		return verdict{word: "INCOMPLETE", sentence: c.of(stuck) + " not undone: see below", code: cli.Incomplete}
	case stuck > 0:
		return verdict{word: "FAILED", sentence: c.of(stuck) + " not undone: see below", code: cli.Conflicts}
	case c.undone == 0 && c.planned+c.waiting+c.refused+c.skipped == c.all:
		return verdict{word: "UNDONE", sentence: "no merge has begun"}
	}
	return verdict{word: "UNDONE", sentence: c.of(c.undone) + " undone"}
}

// someFailed is the verdict if merges failed, or were refused by a command.
func (n *night) someFailed(name string, c tally) verdict {
	verified, left := "see below; "+c.of(c.verified)+" verified", c.begun+c.planned
	if !c.found() {
		v := verdict{word: "INCOMPLETE", sentence: c.of(c.incomplete) + " could not be carried out: " + verified, code: cli.Incomplete}
		if name != "apply -try" {
			name = "apply"
		}
		v.then("To continue when it is fixed:", n.command(name))
		return v
	}
	v := verdict{word: "FAILED", sentence: c.of(c.failed+c.refused) + " failed or refused: " + verified, code: cli.Conflicts}
	if left > 0 && name == "apply" {
		v.sentence += fmt.Sprintf("; %d were not begun any more, or not completed", left)
		v.then("To continue when it is fixed:", n.command(name))
	}
	return v
}

// done is the verdict if all merges are verified but those that were left out.
func (c tally) done(s *campaign.Status) verdict {
	c.all -= c.leftOut
	v := verdict{word: "DONE", sentence: c.of(c.verified) + " verified"}
	if c.leftOut > 0 {
		v.sentence += fmt.Sprintf("; %s skipped", printable.Number(int64(c.leftOut)))
	}
	if s.Worked > 0 {
		v.sentence += ", in " + printable.Seconds(s.Worked)
	}
	return v
}

// notBegun is the verdict while nothing was written.
func (n *night) notBegun(c tally) verdict {
	v := verdict{word: "NOT BEGUN", sentence: c.of(c.planned) + " planned"}
	switch {
	case c.refused > 0 && c.found():
		v.sentence, v.code = fmt.Sprintf("%s, %d refused: see below", v.sentence, c.refused), cli.Conflicts
	case c.refused > 0:
		v.sentence, v.code = fmt.Sprintf("%s, %d could not be: see below", v.sentence, c.refused), cli.Incomplete
	}
	switch {
	case c.waiting > 0:
		v.then("To plan:", n.command("plan"))
	case c.planned > 0:
		v.then("To carry it out:", n.command("apply"))
	}
	return v
}

// inPart is the verdict if some merges are done, none failed, and others are still to be done or are left.
func (n *night) inPart(c tally) verdict {
	v := verdict{word: "NOT VERIFIED", sentence: c.of(c.verified) + " verified; nothing failed", code: cli.NotVerified}
	if c.refused > 0 {
		v = verdict{word: "REFUSED", sentence: fmt.Sprintf("%s verified; %d refused: see below", c.of(c.verified), c.refused), code: cli.Conflicts}
		if !c.found() {
			v.word, v.code = "INCOMPLETE", cli.Incomplete
		}
	}
	if c.undone > 0 {
		v.sentence += fmt.Sprintf("; %d undone", c.undone)
	}
	if c.planned+c.waiting > 0 {
		v.then("To continue:", n.command("apply"))
	}
	return v
}

// planned is the verdict of plan.
func (n *night) planned(c tally) verdict {
	v := verdict{word: "PLANNED", sentence: c.of(c.planned) + " planned"}
	if tried := c.tried + c.trying; tried > 0 {
		v.sentence += fmt.Sprintf(", %d have the database of a rehearsal", tried)
	}
	if begun := c.all - c.planned - c.refused - c.waiting - c.skipped - c.undone - c.tried - c.trying; begun > 0 {
		v.sentence += fmt.Sprintf(", %d have begun or are done", begun)
	}
	if left := c.skipped + c.undone; left > 0 {
		v.sentence += fmt.Sprintf(", %d are left out (plan them by their first worlds)", left)
	}
	switch {
	case c.failed > 0 && c.found():
		v.word, v.code = "FAILED", cli.Conflicts
		v.sentence = c.of(c.failed+c.refused) + " failed or refused: see below; " + v.sentence
	case c.found():
		v.word, v.code = "REFUSED", cli.Conflicts
		v.sentence = c.of(c.refused) + " refused: see below; " + v.sentence
	case c.incomplete > 0:
		v.word, v.code = "INCOMPLETE", cli.Incomplete
		v.sentence = c.of(c.incomplete) + " could not be planned: see below; " + v.sentence
	case c.planned > 0:
		v.then("Read the plans in "+n.book.Plans()+", then:", n.command("apply"))
	}
	return v
}

// tried is the verdict of a rehearsal.
func (n *night) tried(s *campaign.Status, c tally) verdict {
	v := verdict{word: "TRIED", sentence: c.of(c.tried) + " tried"}
	changed := 0
	for _, m := range s.Merges {
		changed += len(m.Changed)
	}
	if changed > 0 {
		v.sentence += fmt.Sprintf("; %s since the plan: plan again before the night", printable.Count(int64(changed), "table was changed", "tables were changed"))
	}
	if c.trying > 0 {
		v.sentence, v.code = v.sentence+fmt.Sprintf(", %d not completed", c.trying), cli.Stopped
		v.then("To resume:", n.command("apply -try"))
	}
	if c.verified > 0 {
		v.sentence += fmt.Sprintf("; %d verified", c.verified)
	}
	v.then("What was made is never opened. To drop it:", commandWith(n.cmd, "undo -all", n.book.File(), func(flag string) bool { return slices.Contains(lasting, flag) }))
	return v
}

// stuck counts merges that undo did not undo.
func stuck(s *campaign.Status) (n int) {
	for _, m := range s.Merges {
		if m.Phase == campaign.Failed || m.Phase == campaign.Undoing || m.Phase.IsTry() && m.Problem != "" {
			n++
		}
	}
	return n
}

// mostWidth is how wide a result is where it is not known.
const mostWidth = 80

// write prints a status as text: the verdict first and, if it is long, last.
func (n *night) write(w io.Writer, s *campaign.Status, v verdict) error {
	screen := cli.ScreenOf(n.cmd, n.stdout, n.env)
	width := screen.Width
	width = cmp.Or(width, mostWidth)
	var b strings.Builder
	say := func(prefix, text string) {
		b.WriteString(strings.Join(columns.Wrap(prefix, printable.Text(text), width), "\n") + "\n")
	}
	line := func() { say(v.word+": ", s.Name+": "+v.sentence) }
	line()
	b.WriteString("\n")
	for _, row := range table(s, width) {
		b.WriteString(row + "\n")
	}
	for _, m := range s.Missing {
		b.WriteString("\n")
		say(m.Name()+": ", fmt.Sprintf("the merge of %s has begun (%s), and the file has another one, or none, with that first world", printable.Names(m.Worlds), m.Phase))
		say("  ", "Write it into the file again as it was. Then complete it, or undo it before you change it:")
		for _, name := range []string{"apply", "undo"} {
			b.WriteString("    " + n.command(name, m.Name()) + "\n")
		}
	}
	for _, m := range s.Merges {
		if m.Problem == "" {
			continue
		}
		b.WriteString("\n")
		say(m.Name()+": ", m.Problem)
		if s.Doing != "" && len(m.Advice) > 0 { // what to do about it needs the lock
			say("  ", "When "+s.Doing+" has ended, fleet status says what to do about it.")
			continue
		}
		for _, advice := range m.Advice {
			if campaign.IsCommand(advice) {
				b.WriteString("    " + advice + "\n") // to paste: it stays on one line
				continue
			}
			say("  ", advice)
		}
	}
	if len(v.next) > 0 {
		b.WriteString("\n")
	}
	for _, text := range v.next {
		b.WriteString(printable.Text(text) + "\n") // has a command to paste
	}
	for _, note := range n.secrets(b.String()) {
		say("", note)
	}
	const long = 20
	if strings.Count(b.String(), "\n") > long {
		b.WriteString("\n")
		line()
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// table has a line for each merge, as wide as the screen at the most.
func table(s *campaign.Status, width int) []string {
	rows := [][]string{{"first", "other worlds", "rows", "state", ""}}
	for _, m := range s.Merges {
		state := m.PhaseWord()
		if m.Phase == campaign.Refused && m.Incomplete {
			state = "incomplete"
		}
		if s.Doing == "" && (m.Phase == campaign.Copying || m.Phase == campaign.Trying || m.Phase == campaign.Verifying || m.Phase == campaign.Undoing) {
			state += ", interrupted"
		}
		from := printable.Text(strings.Join(m.Worlds[min(1, len(m.Worlds)):], " ") + into(m))
		rows = append(rows, []string{printable.Text(m.Name()), from, printable.Number(m.Rows), state, remark(m)})
	}
	narrow := func(column, most int) {
		for _, row := range rows {
			row[column] = columns.Cut(row[column], most)
		}
	}
	narrow(0, 20)
	widest := func() (n int) {
		for _, line := range columns.Lines(rows, columns.Column{}, columns.Column{}, columns.Column{Right: true}) {
			n = max(n, columns.Width(line))
		}
		return n
	}
	for most := 40; most >= 8 && widest() > width; most -= 4 {
		narrow(1, most)
	}
	lines := columns.Lines(rows, columns.Column{}, columns.Column{}, columns.Column{Right: true})
	for i := range lines {
		lines[i] = columns.Cut(lines[i], width)
	}
	return lines
}

// into is the new database of a merge behind its worlds: " > w1_m2".
func into(m campaign.MergeStatus) string {
	if m.New == "" {
		return ""
	}
	return " > " + m.New
}

// remark is what else there is to say of a merge in one line.
func remark(m campaign.MergeStatus) string {
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
			text += ", " + printable.Seconds(m.Left) + " left"
		} else {
			text += ", time left unknown"
		}
		return text
	case m.Phase == campaign.Tried && len(m.Changed) > 0:
		return printable.Count(int64(len(m.Changed)), "table was changed", "tables were changed")
	case m.Took > 0 && (m.Phase == campaign.Verified || m.Phase == campaign.Failed || m.Phase == campaign.Undone):
		return "took " + printable.Seconds(m.Took)
	case m.Phase == campaign.Refused || m.Phase == campaign.Skipped || m.Phase == campaign.Opening && m.Active:
	case m.Predicted[1] > 0:
		text := "takes " + printable.Span(m.Predicted)
		if m.Stay > 0 {
			text += ", " + printable.Count(m.Stay, "row stays behind", "rows stay behind")
		}
		return text
	}
	return ""
}
