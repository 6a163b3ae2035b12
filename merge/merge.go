package merge

import (
	"mergesafe/merge/catalog"
	"mergesafe/merge/declare"
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
)

// The verdicts, from good to bad.
const (
	Pass        = verdict.Pass
	NotVerified = verdict.NotVerified
	Fail        = verdict.Fail
)

// The errors of [Check] that callers branch on.
var (
	ErrWorlds  = catalog.ErrWorlds
	ErrOptions = declare.ErrOptions
)
