package campaign

import (
	"cmp"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"
	"unicode"

	"mergesafe/internal/naming"
	"mergesafe/internal/strict"
)

// Limits of what a campaign file may say.
const (
	maxParallel = 64
	maxRetries  = 100
	MaxNote     = 1000 // characters
)

// Load reads the campaign file at path. See [Parse].
func Load(path string) (*Campaign, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("campaign: %w", err)
	}
	return Parse(path, string(text))
}

// Parse reads the text of a campaign file strictly: a key that is not known is an error. The
// name is for messages. Problems are of type [*strict.Error], joined if there are several, each
// with its line.
func Parse(file, text string) (*Campaign, error) {
	c := &Campaign{Into: DefaultInto}
	if err := strict.Read(file, text, c.readFile); err != nil {
		return nil, err
	}
	c.Parallel = max(c.Parallel, 1)
	c.PerServer = cmp.Or(c.PerServer, c.Parallel)
	return c, nil
}

// Shape returns what a campaign file may have, for schemas.
func Shape() *strict.Shape { return strict.ShapeOf(new(Campaign).readFile) }

func (c *Campaign) readFile(root *strict.Section) {
	if !root.Has("campaign") {
		root.Lacks("campaign", `want a section [campaign] with a name, such as name = "summer"`)
	}
	root.Section("campaign", c.read)
	if !root.Has("merge") {
		root.Lacks("merge", `want a section [[merge]] for each merge, with worlds = ["w1", "w2", "w3"]`)
	}
	in := make(map[string]int)               // worlds, with the lines in which they are
	made := make(map[string]*strict.Section) // new databases, with their merges
	root.Sections("merge", func(s *strict.Section) {
		m := readMerge(s, in)
		if !s.Has("into") {
			m.Into = c.Into
		}
		c.Merges = append(c.Merges, m)
		if len(m.Worlds) == 0 {
			return
		}
		name := folded(strings.ReplaceAll(m.Into, intoFirst, m.Name()))
		if first, taken := made[name]; taken {
			s.Problem("into", "is already the new database of the merge in line %d: want another name", first.Line("worlds"))
		} else {
			made[name] = s
		}
		if problem := intoProblemOf(m.Into, m.Name()); problem != "" && intoProblem(m.Into) == "" {
			s.Problem("into", "with the name of the first world inserted %s", problem) // a name may be a secret
		}
	})
	for name, s := range made {
		if line, world := in[name]; world {
			s.Problem("into", "is the name of the world in line %d: want a new one", line)
		}
	}
	root.Sections("hook", func(s *strict.Section) { c.Hooks = append(c.Hooks, readHook(s)) })
}

func (c *Campaign) read(s *strict.Section) {
	c.Name = s.Text("name", strict.Label)
	if !s.Has("name") {
		s.Lacks("name", `want a name for people, such as name = "summer"`)
	}
	c.Parallel = int(s.Integer("parallel", 1, maxParallel))
	c.PerServer = int(s.Integer("per_server", 1, maxParallel))
	c.Window = readWindow(s)
	c.Continue = s.Boolean("continue")
	c.Retries = int(s.Integer("retries", 0, maxRetries))
	c.Undo = s.Boolean("undo")
	c.Allow = s.List("allow", notEmpty("the code of a finding, such as column-opaque"))
	s.Secret("into")
	if into := s.Text("into", func(text string) string {
		if !strings.Contains(text, intoFirst) && text != "" {
			return `is the same database for all merges: want {first} in it, such as "{first}_2026" or "{first}_m{n}"`
		}
		return intoProblem(text)
	}); s.Has("into") {
		c.Into = into
	}
	c.Stopped = s.Text("stopped", byHand)
	c.Backup = s.Text("backup", byHand)
	c.Room = s.Text("room", byHand)
	for _, key := range []string{"stopped", "backup", "room"} {
		s.Only(key, ByHand)
	}
}

func byHand(text string) string {
	if text != ByHand {
		return fmt.Sprintf("is not known: want %q, or a [[hook]] that checks it", ByHand)
	}
	return ""
}

// readWindow reads window and zone, which belong together.
func readWindow(s *strict.Section) *Window {
	w := new(Window)
	s.Text("window", func(text string) (problem string) {
		w.From, w.To, problem = parseWindow(text)
		return problem
	})
	s.Text("zone", func(text string) string {
		zone, err := time.LoadLocation(text)
		if err != nil || text == "" || text == "Local" {
			return `is no time zone: want one such as zone = "Europe/Berlin", or zone = "UTC"`
		}
		w.Zone = zone
		return ""
	})
	switch {
	case s.Has("window") && !s.Has("zone"):
		s.Lacks("zone", `want the time zone of the window, such as zone = "Europe/Berlin", or zone = "UTC"`)
	case s.Has("zone") && !s.Has("window"):
		s.Problem("zone", `is there without a window: want window = "02:00-06:00" as well, or neither`)
	}
	if w.From == w.To || w.Zone == nil {
		return nil
	}
	return w
}

// parseWindow reads a window such as "02:00-06:00".
func parseWindow(text string) (from, to time.Duration, problem string) {
	const want = `want two times of the day, such as "02:00-06:00"`
	first, last, ok := strings.Cut(text, "-")
	from, ok1 := parseDaytime(strings.TrimSpace(first))
	to, ok2 := parseDaytime(strings.TrimSpace(last))
	switch {
	case !ok || !ok1 || !ok2:
		return 0, 0, "is no window: " + want
	case to%(24*time.Hour) == from%(24*time.Hour) && to-from != 24*time.Hour:
		return 0, 0, "is empty: " + want + ", or no window if any time is fine"
	}
	return from, to, ""
}

// parseDaytime reads a time of the day: "00:00" to "24:00".
func parseDaytime(text string) (time.Duration, bool) {
	if text == "24:00" {
		return 24 * time.Hour, true
	}
	t, err := time.Parse("15:04", text)
	return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute, err == nil && len(text) == len("15:04")
}

// readMerge reads a [[merge]]. in are the worlds of those before, with their lines.
func readMerge(s *strict.Section, in map[string]int) (m Merge) {
	s.Secret("note", "into")
	m.Worlds = s.Texts("worlds", worldName)
	switch {
	case !s.Has("worlds"):
		s.Lacks("worlds", `want the names of the worlds to merge, beginning with the one that keeps its keys and names, such as worlds = ["w1", "w2", "w3"]`)
	case len(m.Worlds) == 1:
		s.Problem("worlds", "has one world: want two or more")
	}
	m.Note = s.Text("note", func(text string) string {
		if n := len([]rune(text)); n > MaxNote {
			return fmt.Sprintf("has %d characters: want at most %d", n, MaxNote)
		}
		return ""
	})
	m.Into = s.Text("into", intoProblem)
	for i, name := range m.Worlds {
		line := s.LineOf("worlds", name)
		switch first, taken := in[folded(name)]; {
		case name == "":
		case slices.Contains(m.Worlds[:i], name):
			s.ProblemAt(line, "worlds", "has %q twice: want each world once", name)
		case taken:
			s.ProblemAt(line, "worlds", "%q is already in the merge in line %d: a world can be in only one merge of a campaign", name, first)
		default:
			in[folded(name)] = line
		}
	}
	return m
}

// folded is a name as file systems compare it that do not tell capitals from small letters:
// each merge has a plan file of its own.
func folded(name string) string { return strings.ToLower(name) }

// worldName is a check for the name of a world: that of a [[source]] in config.toml.
func worldName(s string) string {
	if problem := strict.Label(s); problem != "" {
		return problem
	}
	if strings.ContainsFunc(s, unicode.IsSpace) || strings.ContainsAny(s, `:/\`) || s[0] == '-' {
		return `is not a valid name of a world: want that of a [[source]], without spaces, colons and slashes, and not beginning with "-"`
	}
	return ""
}

func notEmpty(want string) func(string) string {
	return func(s string) string {
		if s == "" {
			return "is empty: want " + want
		}
		return ""
	}
}

func readHook(s *strict.Section) (h Hook) {
	s.Secret("run", "url")
	h.On = s.OneOrMore("on", func(text string) string {
		if !slices.Contains(Kinds, text) {
			return fmt.Sprintf("contains %q, which is not a kind of event%s: want some of %s", text, naming.Hint(text, Kinds), strings.Join(Kinds, ", "))
		}
		return ""
	})
	s.Only("on", Kinds...)
	if !s.Has("on") {
		s.Lacks("on", `want the events at which the hook is called, such as on = ["verified", "failed"]`)
	}
	h.Run = s.Texts("run", func(text string) string { return "" })
	if len(h.Run) > 0 && h.Run[0] == "" {
		s.Problem("run", "begins with an empty text: want the command")
	}
	h.URL = s.Text("url", func(text string) string {
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return `is no address: want one such as "http://127.0.0.1:8080/merged"`
		}
		return ""
	})
	s.One("run", "url")
	switch {
	case s.Asked():
	case s.Has("run") && s.Has("url"):
		s.Problem("url", "and run are both given: want one of them")
	case !s.Has("run") && !s.Has("url"):
		s.Lacks("run", `want the command, such as run = ["./merged.sh"], or url = "http://127.0.0.1:8080/merged"`)
	}
	h.Timeout = HookTimeout
	s.Text("timeout", func(text string) string {
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 || d > 24*time.Hour {
			return `is no duration: want one from 1ms to 24h, such as timeout = "30s"`
		}
		h.Timeout = d
		return ""
	})
	return h
}
