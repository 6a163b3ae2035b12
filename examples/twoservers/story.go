package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/internal/printable"
	"mergesafe/merge"
	"mergesafe/merge/catalog"
	"mergesafe/merge/declare"
	"mergesafe/merge/report"
	"mergesafe/merge/sqlsource"
	"mergesafe/merge/verdict"
)

// story is told once.
type story struct {
	out    io.Writer
	beats  int
	items  gameid.Cipher[entity.Item] // seals their IDs for the public
	failed error                      // the first thing that could not be written
}

// say writes lines of the story.
func (s *story) say(format string, args ...any) {
	if _, err := fmt.Fprintf(s.out, format+"\n", args...); err != nil && s.failed == nil {
		s.failed = err
	}
}

// run returns an error if something did not go as told.
func (s *story) run(ctx context.Context) error {
	s1, s2, s3, merged := newWorld("s1", 1), newWorld("s2", 2), newWorld("s3", 1), newWorld("merged", 1)
	defer func() {
		for _, w := range []*world{s1, s2, s3, merged} {
			w.stop() // if something went wrong in between
		}
	}()
	if err := os.MkdirAll(dataDir, 0o755); err != nil {
		return err
	}
	removed, err := removeOld(ctx, s1, s2, s3, merged, newWorld("new", 1))
	if err != nil {
		return err
	}
	// A game keeps this key: nobody will have this one again.
	key := make([]byte, 16)
	rand.Read(key)
	if s.items, err = gameid.NewCipher[entity.Item](key, "item"); err != nil {
		return err
	}

	s.say("A game runs many small worlds, each with a database of its own. When worlds empty, operators")
	s.say("merge their databases into one. If two rows then have the same primary key, one of them is lost,")
	s.say("or belongs to the wrong player. This is how that is prevented, how it is proven beforehand, and")
	s.say("how the merge is then carried out.")
	if len(removed) > 0 {
		s.say("\n(Removed what an earlier run left: %s.)", strings.Join(removed, ", "))
	}

	s.say("\n1. TWO SERVERS PLAY\n")
	s.say("   Server s1 has the number 1, server s2 the number 2. Each makes the IDs of its players, items")
	s.say("   and guilds by itself: neither knows of the other. For some seconds both let players join,")
	s.say("   monsters drop loot, and guilds be founded and joined.\n")
	if err := s.play(ctx, s1, s2); err != nil {
		return err
	}

	s.say("\n2. ONE ID\n")
	s.say("   The newest item of s1, as it stands in the database, in JSON and in logs:\n")
	s.takeApart(s1.lastItem.ID())
	s.say("\n   Every part has hexadecimal digits of its own. Where s1 writes 00001, s2 writes 00002: whatever")
	s.say("   they do, they cannot make the same ID. And s1 itself makes none twice, not even after a crash")
	s.say("   or with a wrong clock, for it uses only times that it has reserved in its database before.")

	s.say("\n   Players see nothing of this. A game server shows them the ID sealed with a secret key, here")
	s.say("   as %s. Among themselves they go by short numbers: the latest player of s1 is", s.items.Seal(s1.lastItem))
	s.say("   %s, that of s2 is %s. No number is in both, so all keep theirs in a merge.", s1.lastNumber.Spaced(), s2.lastNumber.Spaced())

	s.say("\n3. CAN s1 AND s2 BE MERGED?\n")
	s.say("   The merge check reads every key of both databases, and changes nothing:\n")
	report, err := s.check(ctx, s1, s2)
	if err != nil {
		return err
	}
	if report.Verdict != verdict.Pass {
		return fmt.Errorf("the check of s1 and s2 says %s, and the story wants %s", report.Verdict, verdict.Pass)
	}

	s.say("\n4. A THIRD SERVER HAS THE WRONG NUMBER\n")
	s.say("   For a new world s3 an operator copies the configuration of s1, names another database, and")
	s.say("   forgets the number. Nothing complains: the database of s3 knows nothing of s1. Both play for")
	s.say("   some seconds, as server 1.\n")
	if err := s.play(ctx, s1, s3); err != nil {
		return err
	}
	s.say("\n   In many of these milliseconds both made IDs, and both count within the millisecond from a")
	s.say("   small number. So they made the same IDs, for different things.")

	s.say("\n5. CAN s1 AND s3 BE MERGED?\n")
	report, err = s.check(ctx, s1, s3)
	if err != nil {
		return err
	}
	conflicts, collisions := count(report, verdict.CodeServerConflict), count(report, verdict.CodeKeyCollision)
	if report.Verdict != verdict.Fail || conflicts != 1 || collisions == 0 {
		return fmt.Errorf("the check of s1 and s3 says %s, with %d server numbers and %d keys in conflict, and the story wants %s, 1 and some",
			report.Verdict, conflicts, collisions, verdict.Fail)
	}
	s.say("\n   A merge would have met %s keys twice: one row of each pair is lost, or the merge breaks", printable.Number(collisions))
	s.say("   off half-way. Now it is known beforehand, and why: one number for two worlds.")

	s.say("\n6. THE MERGE\n")
	s.say("   A new database gets the rows of both. s1 and s2 stay as they are. First a plan says what will")
	s.say("   be done. Then exactly that is done. It can be interrupted at any moment, and resumed. Then")
	s.say("   every row is read again, and compared. Until it is opened, no server can start there.\n")
	if err := s.merge(ctx, s1, s2, merged); err != nil {
		return err
	}

	s.say("\n7. PLAY CONTINUES\n")
	s.say("   The server starts on the merged database, with the players of both worlds. No player notices:\n")
	if err := s.nothingChanged(ctx, s2, merged); err != nil {
		return err
	}
	s.say("\n   And for some seconds they play together.\n")
	merged.adopt(s1, s2)
	if err := s.play(ctx, merged); err != nil {
		return err
	}
	if err := s.together(ctx, merged); err != nil {
		return err
	}

	s.say("\n8. CONTINUE FROM HERE\n")
	for _, try := range [][2]string{
		{"./tools/mergecheck s1 s2", "safe: exit code 0"},
		{"./tools/mergecheck s1 s3", "not safe: exit code 1"},
		{"./tools/servermerge plan -into new -o " + planFile + " s1 s2", "what it would do"},
		{"./tools/servermerge apply " + planFile, "makes it; s1 and s2 cannot start"},
		{"./tools/servermerge verify " + planFile, "proves it"},
		{"./tools/servermerge open " + planFile, "lets the game in"},
		{"./tools/servermerge undo " + planFile, "takes it back: drops the new one"},
		{"./tools/gameid inspect " + s1.lastItem.String(), "shows the parts of any ID"},
		{"./tools/gameid servers inspect s3", "which server s3 says it is"},
		{"./examples/gameserver", "lets s1 continue, over HTTP; see -h"},
	} {
		s.say("   go run %-50s  # %s", try[0], try[1])
	}
	s.say("\n   The files in %s stay for that. Running this again replaces it.", dataDir)
	return nil
}

// play lets worlds live through the same seconds, beat by beat, and shows what
// they have come to.
func (s *story) play(ctx context.Context, worlds ...*world) error {
	for _, w := range worlds {
		if err := w.start(ctx); err != nil {
			return err
		}
	}
	for _, w := range worlds {
		if err := w.follow(ctx); err != nil {
			return err
		}
	}
	const saveEvery = 250
	clock := time.NewTicker(time.Millisecond)
	defer clock.Stop()
	for beat := 1; beat <= s.beats; beat++ {
		select {
		case <-clock.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		for _, w := range worlds {
			if err := w.beat(ctx); err != nil {
				return err
			}
		}
		if beat%saveEvery != 0 && beat < s.beats {
			continue
		}
		for _, w := range worlds {
			if err := w.save(ctx); err != nil {
				return err
			}
		}
	}
	s.say("   %-6s %6s %9s %9s %9s %9s   %s", "world", "server", "players", "items", "guilds", "members", "database")
	for _, w := range worlds {
		if err := s.inventory(ctx, w); err != nil {
			return err
		}
		if err := w.stop(); err != nil {
			return err
		}
	}
	return nil
}

// inventory shows the rows of a world.
func (s *story) inventory(ctx context.Context, w *world) error {
	var counts []any
	for _, table := range []string{"players", "items", "guilds", "guild_members"} {
		var n int64
		if err := w.db.Get(ctx, &n, "SELECT COUNT(*) FROM "+table); err != nil {
			return err
		}
		counts = append(counts, printable.Number(n))
	}
	s.say("   %-6s %6d %9s %9s %9s %9s   %s", append(append([]any{w.name, w.number}, counts...), w.path())...)
	return nil
}

func (s *story) takeApart(id gameid.ID) {
	text := id.String()
	const server = (gameid.EraBits + gameid.TimeBits) / 4 // digits before that of the server
	const sequence = server + gameid.ServerBits/4
	s.say("      %s %s %s", text[:server], text[server:sequence], text[sequence:])
	s.say("      |           |     |")
	s.say("      |           |     sequence: %d, one of up to 65,536 in this millisecond", id.Sequence())
	s.say("      |           server: %d, so s1 made it, in whatever database it is later", id.Server())
	s.say("      time: %s ms since 2025-01-01, which is %s", printable.Number(id.Millis()), printable.Time(id.Time()))
}

// check runs the merge check and shows its report.
func (s *story) check(ctx context.Context, worlds ...*world) (_ *verdict.Report, err error) {
	var sources []catalog.Source
	for _, w := range worlds {
		source, err := sqlsource.Open(ctx, w.name, w.dsn())
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, source.Close()) }()
		sources = append(sources, source)
	}
	checked, err := merge.Check(ctx, sources, declare.Options{})
	if err != nil {
		return nil, err
	}
	const indent = "   | "
	var text bytes.Buffer
	if err := report.NewCheck(checked).WriteText(&text, report.TextOptions{Width: 100 - len(indent)}); err != nil {
		return nil, err
	}
	for line := range strings.Lines(text.String()) {
		s.say("%s", strings.TrimRight(indent+line, " \n"))
	}
	return checked, nil
}

// count adds up what a rule found in all tables.
func count(r *verdict.Report, code string) (n int64) {
	for _, result := range r.Results {
		if result.Code == code {
			n += result.Count
		}
	}
	return n
}
