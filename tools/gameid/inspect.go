package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	ucli "github.com/urfave/cli/v3"

	"mergesafe/gameid"
	"mergesafe/internal/printable"
	"mergesafe/tools/internal/cli"
)

// The digits of an ID: time, then server, then sequence.
const (
	timeDigits   = (gameid.EraBits + gameid.TimeBits) / 4
	serverDigits = gameid.ServerBits / 4
)

func inspectCommand() *ucli.Command {
	return &ucli.Command{
		Name: "inspect",
		Description: `
Usage: gameid inspect [-json] ID...

Shows what each ID says. An ID may be written as its 20 hexadecimal digits, in
the same with dashes between time, server and sequence, or as the database
shows it: with 0x in front, or as X'...'.

An integer of up to 19 digits is a key of the package numbers: its server and
its counter are shown. The key does not say which of the two forms it has,
20 + 43 bits or 20 + 33, so both may be shown.

Flags:
  -json   print a JSON array instead, one object for each ID

Examples:
  gameid inspect 00ddcdf82a000007002f
  gameid inspect 00ddcdf82a0-00007-002f 0x00DDCDF82A000007002F
  gameid inspect -json 00ddcdf82a000007002f
  gameid inspect 61572651155457`,
		Flags: []ucli.Flag{cli.JSONFlag()},
		Action: func(_ context.Context, cmd *ucli.Command) error {
			if cmd.Args().Len() == 0 {
				return cli.Usage("no ID given: want one or more")
			}
			var ids []gameid.ID
			var keys []int64
			for _, arg := range cmd.Args().Slice() {
				if key, is := parseKey(arg); is {
					keys = append(keys, key)
					continue
				}
				id, err := parseID(arg)
				if err != nil {
					return err
				}
				ids = append(ids, id)
			}
			if len(keys) == 0 {
				return printIDs(cmd.Root().Writer, ids, cmd.Bool("json"))
			}
			if len(ids) > 0 {
				return cli.Usage("give IDs and integer keys in separate commands")
			}
			return printKeys(cmd.Root().Writer, keys, cmd.Bool("json"))
		},
	}
}

// parseID reads an ID in any of the ways in which people and databases write
// one.
func parseID(s string) (gameid.ID, error) {
	text := s
	switch {
	case strings.HasPrefix(s, "0x"), strings.HasPrefix(s, "0X"):
		text = s[2:]
	case strings.HasPrefix(s, "x'"), strings.HasPrefix(s, "X'"):
		text = strings.TrimSuffix(s[2:], "'")
	case strings.Contains(s, "-"):
		parts := strings.Split(s, "-")
		if len(parts) != 3 || len(parts[0]) != timeDigits || len(parts[1]) != serverDigits {
			return gameid.ID{}, fmt.Errorf("%q is not an ID: with dashes want %d digits of time, %d of server and %d of sequence",
				s, timeDigits, serverDigits, gameid.TextSize-timeDigits-serverDigits)
		}
		text = strings.Join(parts, "")
	}
	return gameid.Parse(text)
}

// parts returns the digits of time, server and sequence.
func parts(id gameid.ID) (time, server, sequence string) {
	s := id.String()
	return s[:timeDigits], s[timeDigits : timeDigits+serverDigits], s[timeDigits+serverDigits:]
}

func dashed(id gameid.ID) string {
	t, server, sequence := parts(id)
	return t + "-" + server + "-" + sequence
}

// literal returns the ID for SQL. This form works in MySQL, MariaDB and SQLite.
func literal(id gameid.ID) string { return "X'" + strings.ToUpper(id.String()) + "'" }

func printIDs(w io.Writer, ids []gameid.ID, asJSON bool) error {
	if asJSON {
		type object struct {
			ID       gameid.ID       `json:"id"`
			Time     time.Time       `json:"time"`
			Millis   int64           `json:"millis_since_epoch"`
			Era      int             `json:"era"`
			Server   gameid.ServerID `json:"server"`
			Sequence uint16          `json:"sequence"`
			Dashed   string          `json:"dashed"`
			SQL      string          `json:"sql"`
		}
		objects := make([]object, 0, len(ids))
		for _, id := range ids {
			objects = append(objects, object{id, id.Time(), id.Millis(), era(id), id.Server(), id.Sequence(), dashed(id), literal(id)})
		}
		return cli.WriteJSON(w, objects)
	}
	for i, id := range ids {
		if i > 0 {
			fmt.Fprintln(w)
		}
		printID(w, id)
	}
	return nil
}

// printID draws an ID with a line from each group of digits to what it means.
func printID(w io.Writer, id gameid.ID) {
	t, server, sequence := parts(id)
	fmt.Fprintf(w, `%s

  %s %s %s
  |           |     |
  |           |     sequence  %d: one of up to %s in this millisecond
  |           server          %d
  time                        %s ms after %s
                              = %s
                              (era %d: the 37 bits of time have %s)

  dashed   %s
  in SQL   %s
`,
		id,
		t, server, sequence,
		id.Sequence(), printable.Number(1<<gameid.SequenceBits),
		id.Server(),
		printable.Number(id.Millis()), printable.Time(gameid.Epoch()),
		printable.Time(id.Time()),
		era(id), wrapped(era(id)),
		dashed(id), literal(id))
}

// era returns how often the time field of an ID had wrapped.
func era(id gameid.ID) int { return int(id.Millis() >> gameid.TimeBits) }

func wrapped(era int) string {
	switch era {
	case 0:
		return "not wrapped yet"
	case 1:
		return "wrapped once"
	default:
		return fmt.Sprintf("wrapped %d times", era)
	}
}
