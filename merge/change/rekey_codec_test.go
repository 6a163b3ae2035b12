package change_test

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"mergesafe/internal/inventory"
	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/keys"
	"mergesafe/merge/plan"
	"mergesafe/merge/planner"
	"mergesafe/merge/prove"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// bags is a codec of a program that has one.
type bags struct {
	inventory.Codec
	left *atomic.Int64 // how many cells it reads before it cannot, once; nil: it always can
}

func (b bags) Keys(c []byte) (all []keys.Integer, err error) {
	if b.left != nil && b.left.Add(-1) == -1 {
		return nil, &keys.CodecError{Codec: "codec bags", Err: errors.New("out of order")}
	}
	keyed, err := b.Codec.Keys(c)
	for _, k := range keyed {
		all = append(all, keys.Integer{Bits: k})
	}
	return all, err
}

func (b bags) Splice(c []byte, keys []keys.Integer) ([]byte, error) {
	var all []uint64
	for _, k := range keys {
		all = append(all, k.Bits)
	}
	return b.Codec.Splice(c, all)
}

// onBothCodecs runs a test with a codec as a function, and with the same one as a command.
func onBothCodecs(t *testing.T, lie string, test func(t *testing.T, format string, codecs keys.Codecs)) {
	t.Run("function", func(t *testing.T) {
		test(t, "codec bags", keys.Codecs{"codec bags": bags{Codec: inventory.Codec{Lie: lie}}})
	})
	if worldtest.WithRace && lie != "" {
		return // package codec tries commands that lie, and a process takes long to end then
	}
	t.Run("command", func(t *testing.T) {
		program, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		format := fmt.Sprintf("exec '%s' codec '%s'", program, lie)
		codecs, stop := keys.Commands(t.Context(), []string{format})
		defer stop()
		test(t, format, codecs)
	})
}

// bagWorlds are worlds with three bags each, and what is declared of them.
func bagWorlds(t *testing.T, e worldtest.Engine, format string, codecs keys.Codecs) ([]world.Database, planner.PlanOptions) {
	t.Helper()
	blob := "VARBINARY(60)"
	if e.Name == "sqlite" {
		blob = "BLOB"
	}
	all := worldtest.KeyWorlds(t, e, 2, "CREATE TABLE bags (id INTEGER NOT NULL PRIMARY KEY, bag "+blob+")",
		fmt.Sprintf("INSERT INTO bags VALUES (1, X'%x'), (2, X'%x'), (3, NULL)", inventory.Bag("", 1, 2, 1), inventory.Bag("", 2, 99)))
	return all, worldtest.KeyOptions(func(o *rules.Options, d *rules.Declarations) {
		o.Rekey.Spaces[0].Step = 1000
		o.Rekey.Spaces = append(o.Rekey.Spaces, rules.Space{Keys: []string{"bags.id"}})
		o.Codecs = codecs
		d.References = append(d.References, rules.DeclaredReference{At: []string{"bags.bag"}, To: []string{"items.id"}, Format: format})
	})
}

// bag is a bag as asked prints it.
func bag(items ...uint64) string {
	return strings.ToUpper(hex.EncodeToString(inventory.Bag("", items...)))
}

// A codec of the game finds the keys that no format covers, from the plan to the undo.
func TestRekeyByCodec(t *testing.T) {
	e := worldtest.OnSQLite(t)
	onBothCodecs(t, "", func(t *testing.T, format string, codecs keys.Codecs) {
		all, planOptions := bagWorlds(t, e, format, codecs)
		p, into := worldtest.PlanOf(t, e, all, planOptions)
		o := job.Options{Codecs: codecs}
		if got := p.Codecs(); len(got) != 1 || got[0] != format {
			t.Error(got)
		}
		if _, err := build.Apply(t.Context(), p, into, all, o); err != nil {
			t.Fatal(err)
		}
		worldtest.Asked(t, into, "SELECT id, HEX(bag) FROM bags WHERE bag IS NOT NULL ORDER BY id",
			"1|"+bag(1, 2, 1), "2|"+bag(2, 99), "1001|"+bag(1001, 1002, 1001), "1002|"+bag(1002, 1099))
		judged := func() verdict.Verdict {
			proof, err := prove.Verify(t.Context(), p, into, all, o)
			if err != nil {
				t.Fatal(err)
			}
			return proof.Verdict
		}
		if v := judged(); v != verdict.Pass {
			t.Error(v)
		}
		worldtest.Exec(t, into, "UPDATE bags SET bag = X'"+bag(1001, 1001, 1001)+"' WHERE id = 1001")
		if v := judged(); v != verdict.Fail {
			t.Errorf("%s, though a bag has another item", v)
		}
	})
}

// A codec that does something else than it says refuses the plan, by the row. One that cannot
// work ends it, and names table, column and row.
func TestCodecsThatLie(t *testing.T) {
	e := worldtest.Engines()[0]
	for lie, want := range map[string]string{
		"identity": "row 1: ", "swap": "row 2: ", "drop": "row 1: ",
	} {
		t.Run(lie, func(t *testing.T) {
			onBothCodecs(t, lie, func(t *testing.T, format string, codecs keys.Codecs) {
				all, planOptions := bagWorlds(t, e, format, codecs)
				p := worldtest.Planned(t, e.Fresh(t, "new"), all, planOptions)
				worldtest.RefusedWith(t, p, verdict.CodeCellFormat, want)
			})
		})
	}
	for _, lie := range []string{"die", "garbage"} {
		t.Run(lie, func(t *testing.T) {
			onBothCodecs(t, lie, func(t *testing.T, format string, codecs keys.Codecs) {
				if format == "codec bags" {
					codecs[format] = bags{left: new(atomic.Int64)}
				}
				all, planOptions := bagWorlds(t, e, format, codecs)
				_, err := planner.NewPlan(t.Context(), e.Fresh(t, "new"), all, planOptions)
				if err == nil || !strings.Contains(err.Error(), `column "bag", row 1: codec "`) || !strings.Contains(err.Error(), `"bags"`) {
					t.Error(err)
				}
			})
		})
	}
}

// A codec that once cannot work, at any cell, ends what is under way: neither a plan, nor a proof,
// nor an undo takes that for cells without keys. With a codec that works it is resumed.
func TestCodecThatStops(t *testing.T) {
	e, format := worldtest.Engines()[0], "codec bags"
	left := new(atomic.Int64)
	codecs := keys.Codecs{format: bags{left: left}}
	left.Store(1 << 40)
	all, planOptions := bagWorlds(t, e, format, codecs)
	var p *plan.Plan
	into := e.Fresh(t, "new")
	for what, do := range []func(ctx context.Context, o job.Options) error{
		func(ctx context.Context, _ job.Options) (err error) {
			p, err = planner.NewPlan(ctx, into, all, planOptions)
			return err
		},
		func(ctx context.Context, o job.Options) error {
			_, err := build.Apply(ctx, p, into, all, o)
			return err
		},
		func(ctx context.Context, o job.Options) error {
			proof, err := prove.Verify(ctx, p, into, all, o)
			if err == nil && proof.Verdict != verdict.Pass {
				t.Errorf("%s %+v", proof.Verdict, proof.Keys)
			}
			return err
		},
	} {
		o := job.Options{Codecs: codecs}
		stops, step := int64(0), int64(1)
		if worldtest.WithRace {
			step = 5
		}
		for ; ; stops += step {
			left.Store(stops)
			err := do(t.Context(), o)
			if err == nil {
				break
			}
			if failed := new(keys.CodecError); !errors.As(err, &failed) || !strings.Contains(err.Error(), "bag") {
				t.Fatalf("step %d, after %d cells: %v", what, stops, err)
			}
			if stops > 1000 {
				t.Fatal("it never works")
			}
		}
		if stops < 2 {
			t.Errorf("step %d: it stopped %d times", what, stops)
		}
		if what > 0 {
			missing := new(keys.NoCodecError)
			if err := do(t.Context(), job.Options{}); !errors.As(err, &missing) || !strings.Contains(err.Error(), `"codec bags"`) {
				t.Errorf("step %d without a codec: %v", what, err)
			}
		}
	}
	planOptions.Check.Codecs = nil
	if _, err := planner.NewPlan(t.Context(), e.Fresh(t, "new"), all, planOptions); !errors.Is(err, rules.ErrOptions) || !strings.Contains(err.Error(), `"codec bags"`) {
		t.Error(err)
	}
}

// runCodec is the test binary as a command that finds keys in bags.
func runCodec(lie string) int {
	if err := (inventory.Codec{Lie: lie}).Serve(os.Stdin, os.Stdout); err != nil {
		return 1
	}
	return 0
}

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "codec" {
		os.Exit(runCodec(os.Args[2]))
	}
	os.Exit(m.Run())
}
