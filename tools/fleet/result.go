package main

import (
	"bytes"
	"cmp"
	"slices"

	"mergesafe/internal/printable"
	"mergesafe/merge/campaign"
	"mergesafe/merge/report"
	"mergesafe/tools/internal/cli"
)

// conclude prints how the campaign is after a command that ended with err, and returns how the
// command ends; nil if the error says so.
func (n *night) conclude(name string, s *campaign.Status, err error) error {
	said := s.Say(n.telling(name, err))
	out := n.cmd.Root().Writer
	if n.cmd.Bool("json") {
		if err := cli.WriteJSON(out, s.WithView(said)); err != nil {
			return err
		}
	} else {
		screen := cli.ScreenOf(n.cmd, n.stdout, n.env)
		var b bytes.Buffer
		if err := said.WriteText(&b, report.TextOptions{Width: cmp.Or(screen.Width, mostWidth)}); err != nil {
			return err
		}
		for _, note := range n.secrets(b.String()) {
			b.WriteString(printable.Text(note) + "\n")
		}
		if _, err := out.Write(b.Bytes()); err != nil {
			return err
		}
	}
	if code := endings[said.Ending]; err == nil && code != cli.OK {
		return code
	}
	return nil // the error has a code of its own
}

// mostWidth is how wide a result is where it is not known.
const mostWidth = 80

// endings are the exit codes.
var endings = map[report.Ending]cli.Code{
	report.Done: cli.OK, report.Refused: cli.Conflicts, report.Incomplete: cli.Incomplete, report.NotVerified: cli.NotVerified, report.Stopped: cli.Stopped,
}

// telling is for the operator of this command.
func (n *night) telling(name string, err error) campaign.Telling {
	return campaign.Telling{File: n.book.File(), Plans: n.book.Plans(), Name: name, Merges: n.merges, Err: err, Command: func(name string, merges ...string) string {
		if name == "undo -all" { // of what a rehearsal made
			return commandWith(n.cmd, name, n.book.File(), func(flag string) bool { return slices.Contains(lasting, flag) })
		}
		return n.command(name, merges...)
	}}
}
