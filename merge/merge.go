package merge

import (
	"context"

	"mergesafe/merge/catalog"
	"mergesafe/merge/declare"
	"mergesafe/merge/propose"
	"mergesafe/merge/verdict"
)

// What a database is: see package catalog.
type (
	Source           = catalog.Source
	Catalog          = catalog.Catalog
	Table            = catalog.Table
	Column           = catalog.Column
	Kind             = catalog.Kind
	Unique           = catalog.Unique
	Reference        = catalog.Reference
	Server           = catalog.Server
	Scan             = catalog.Scan
	Order            = catalog.Order
	Batch            = catalog.Batch
	Vector           = catalog.Vector
	Field            = catalog.Field
	ReadError        = catalog.ReadError
	UnsupportedError = catalog.UnsupportedError
)

// What the operator says: see package declare.
type (
	Options           = declare.Options
	Declarations      = declare.Declarations
	DeclaredReference = declare.DeclaredReference
	DeclaredUnique    = declare.DeclaredUnique
	When              = declare.When
	Leave             = declare.Leave
	LeaveBest         = declare.Best
	LeaveFewer        = declare.Fewer
	TablePolicy       = declare.TablePolicy
	RenamedColumn     = declare.RenamedColumn
	NameCopy          = declare.NameCopy
	WorldKey          = declare.WorldKey
	Rekey             = declare.Rekey
	Space             = declare.Space
	CounterRow        = declare.CounterRow
	Progress          = declare.Progress
)

// What a check says: see package verdict.
type (
	Report  = verdict.Report
	Result  = verdict.Result
	Verdict = verdict.Verdict
	Gap     = verdict.Gap
	Sample  = verdict.Sample
	Code    = verdict.Code
)

// What else may be asked: see packages check and propose.
type (
	Explanation = propose.Explanation
)

// The verdicts, from good to bad.
const (
	Pass        = verdict.Pass
	NotVerified = verdict.NotVerified
	Fail        = verdict.Fail
)

// The errors of [Check] and [Explain] that callers branch on.
var (
	ErrWorlds  = catalog.ErrWorlds
	ErrOptions = declare.ErrOptions
)

// Codes lists all codes, most serious first. It is the order of the results of a report.
func Codes() []Code { return verdict.Codes() }

// Explain describes a column. It only reads. Its errors are those of [Check].
func Explain(ctx context.Context, sources []Source, opts Options, table, column string) (*Explanation, error) {
	return propose.Explain(ctx, sources, opts, table, column)
}
