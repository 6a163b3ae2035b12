package main

import (
	"context"
	"errors"
	"io"

	"mergesafe/merge"
	"mergesafe/merge/keys"
	"mergesafe/merge/propose"
	"mergesafe/merge/report"
	"mergesafe/merge/rules"
	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/databases"
	"mergesafe/tools/internal/rulefile"
)

// explain prints what is known of one column. It gives no verdict.
func explain(ctx context.Context, s settings, out io.Writer, log *cli.Log) error {
	p := newProgress(log, log.ShowsBars(), databases.Names(s.places))
	defer p.display.Stop()
	sources, closeAll, err := open(ctx, s, p.rests)
	defer closeAll()
	if err != nil {
		return err
	}
	p.begin(phaseSchemas)
	codecs, stop := keys.Commands(ctx, merge.CodecsOf(s.options.Rules))
	defer stop()
	s.options.Codecs = codecs
	e, err := propose.Explain(ctx, sources, s.options, s.explain[0], s.explain[1])
	switch {
	case errors.Is(err, rules.ErrOptions):
		return cli.WithHint(err, rulefile.Hint(err))
	case err != nil:
		return err
	}
	for i := range e.Said {
		e.Said[i].Line = s.line(e.Said[i])
	}
	if s.json {
		return cli.WriteJSON(out, e)
	}
	return report.WriteExplanation(out, e)
}
