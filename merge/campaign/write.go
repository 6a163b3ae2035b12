package campaign

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"time"

	"mergesafe/internal/printable"
)

// WriteTo writes the campaign as a campaign file, with comments for the person who edits it.
// [Parse] reads the same campaign from it. What the operator has to choose and is not in the
// campaign stands there commented out.
func (c *Campaign) WriteTo(w io.Writer) (int64, error) {
	var b bytes.Buffer
	b.WriteString("# A campaign of merges. Read it, change it, then: fleet plan, fleet apply.\n\n[campaign]\n")
	line := func(key, value, comment string) {
		text := key + " = " + value
		if comment != "" {
			text = fmt.Sprintf("%-28s # %s", text, comment)
		}
		b.WriteString(text + "\n")
	}
	number := func(n int) string { return fmt.Sprint(n) }
	line("name", printable.TOML(c.Name), "")
	line("parallel", number(max(c.Parallel, 1)), "merges at a time in total")
	if c.PerServer != 0 && c.PerServer != c.Parallel {
		line("per_server", number(c.PerServer), "merges at a time on one database server")
	}
	if c.Window != nil {
		line("window", printable.TOML(c.Window.String()), "begins no merge predicted to end later")
		line("zone", printable.TOML(c.Window.Zone.String()), "of the window")
	}
	into := cmp.Or(c.Into, DefaultInto)
	line("into", printable.TOML(into), "the new database of a merge: {first} is its first world, {n} the next number")
	line("continue", fmt.Sprint(c.Continue), "after a failure continue with the other merges; false: start no others")
	line("retries", number(c.Retries), "how often a merge that stopped is retried")
	line("undo", fmt.Sprint(c.Undo), "undo a merge that failed permanently")
	if len(c.Allow) > 0 {
		line("allow", printable.TOMLList(c.Allow), "findings that do not block a merge")
	}
	choice := func(key, value string, chosen bool, comment string) {
		if !chosen {
			key = "# " + key
		}
		line(key, value, comment)
	}
	b.WriteString("\n# Options: remove the # to set one.\n")
	if c.Backup != "" || len(c.hooksOn(AskBackedUp)) == 0 {
		choice("backup", printable.TOML(ByHand), c.Backup != "", `each world has a backup; or a [[hook]] on "backed-up" says so`)
	}
	if c.Stopped != "" || len(c.hooksOn(AskStopped)) == 0 {
		choice("stopped", printable.TOML(ByHand), c.Stopped != "", `worlds without a registry are stopped; or a [[hook]] on "stopped" says so`)
	}
	if c.Room != "" {
		line("room", printable.TOML(c.Room), "the disks have enough space")
	}
	for _, m := range c.Merges {
		b.WriteString("\n[[merge]]\n")
		line("worlds", printable.TOMLList(m.Worlds), "")
		if m.Into != "" && m.Into != into {
			line("into", printable.TOML(m.Into), "")
		}
		if m.Note != "" {
			line("note", printable.TOML(m.Note), "")
		}
	}
	for _, h := range c.Hooks {
		b.WriteString("\n[[hook]]\n")
		line("on", printable.TOMLList(h.On), "")
		if h.URL != "" {
			line("url", printable.TOML(h.URL), "")
		} else {
			line("run", printable.TOMLList(h.Run), "")
		}
		if h.Timeout != 0 && h.Timeout != HookTimeout {
			line("timeout", printable.TOML(h.Timeout.String()), "")
		}
	}
	return b.WriteTo(w)
}

// String is the window as a campaign file has it: "02:00-06:00".
func (w *Window) String() string { return daytime(w.From) + "-" + daytime(w.To) }

func daytime(d time.Duration) string {
	return fmt.Sprintf("%02d:%02d", int(d.Hours()), int(d.Minutes())%60)
}
