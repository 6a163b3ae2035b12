package transfer

import (
	"context"
	"io"

	"mergesafe/merge/cell"
	"mergesafe/merge/declare"
	"mergesafe/merge/rekey"
	"mergesafe/merge/transfer/apply"
	"mergesafe/merge/transfer/change/keys"
	"mergesafe/merge/transfer/evidence"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/open"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/planner"
	"mergesafe/merge/transfer/prove"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/undo"
)

// The types of the steps, which their rooms document.
type (
	ChangedError   = ledger.ChangedError
	Checked        = plan.Checked
	ColumnProof    = evidence.ColumnProof
	Combine        = plan.Combine
	CombineProof   = evidence.CombineProof
	CombinedSum    = plan.CombinedSum
	Content        = rowio.Content
	Counter        = plan.Counter
	Database       = rowio.Database
	Difference     = evidence.Difference
	FenceStatus    = apply.FenceStatus
	Keep           = plan.Keep
	KeyProof       = evidence.KeyProof
	Left           = plan.Left
	Lifted         = job.Lifted
	Made           = apply.Made
	Moved          = apply.Moved
	NameCopy       = plan.NameCopy
	NamePolicy     = plan.NamePolicy
	NotUndoneError = evidence.NotUndoneError
	Opened         = open.Opened
	OpenOptions    = open.Options
	Options        = job.Options
	Origin         = ledger.Origin
	Plan           = plan.Plan
	PlanOptions    = planner.PlanOptions
	Progress       = job.Progress
	Proof          = evidence.Proof
	Recorded       = ledger.Recorded
	Refusal        = plan.Refusal
	RefusedError   = ledger.RefusedError
	Rename         = plan.Rename
	Reset          = plan.Reset
	ResetProof     = evidence.ResetProof
	Result         = apply.Result
	State          = ledger.State
	Status         = apply.Status
	Planned        = ledger.Planned
	StoppedError   = ledger.StoppedError
	SumProof       = evidence.SumProof
	Table          = plan.Table
	TableProof     = evidence.TableProof
	TableStatus    = apply.TableStatus
	UndoOptions    = undo.UndoOptions
	Undone         = undo.Undone
	UndoneTable    = evidence.UndoneTable
	World          = plan.World
)

// The constants of these types.
const (
	DefaultParallel = job.DefaultParallel
	DefaultRetryFor = job.DefaultRetryFor
	DefaultTemplate = plan.DefaultTemplate
	KeepActive      = plan.KeepActive
	KeepOlder       = plan.KeepOlder
	PartSums        = evidence.PartSums
	PlanVersion     = plan.PlanVersion
	StateCopied     = ledger.StateCopied
	StateMade       = ledger.StateMade
	StateProved     = ledger.StateProved
	StateNone       = ledger.StateNone
	StateUndoing    = ledger.StateUndoing
	StepCheck       = ledger.StepCheck
	StepCompare     = ledger.StepCompare
	StepCopy        = ledger.StepCopy
	StepFinish      = ledger.StepFinish
	StepIndex       = ledger.StepIndex
	StepMeasure     = ledger.StepMeasure
	StepRename      = ledger.StepRename
	StepReset       = ledger.StepReset
	StepResult      = ledger.StepResult
	StepRestore     = ledger.StepRestore
	StepUndo        = ledger.StepUndo
	StepVerify      = ledger.StepVerify
)

// The errors that callers branch on.
var (
	ErrBusy       = ledger.ErrBusy
	ErrNoMerge    = ledger.ErrNoMerge
	ErrPartOfPlan = ledger.ErrPartOfPlan
	ErrStopped    = ledger.ErrStopped
)

// Apply is [apply.Apply].
func Apply(ctx context.Context, plan *Plan, target Database, sources []Database, opts Options) (*Result, error) {
	return apply.Apply(ctx, plan, target, sources, opts)
}

// Clone is [apply.Clone].
func Clone(ctx context.Context, from Database, to Database) (left []string, err error) {
	return apply.Clone(ctx, from, to)
}

// CodecsOf is [plan.CodecsOf].
func CodecsOf(rules []declare.Declarations) (all []string) {
	return plan.CodecsOf(rules)
}

// EachKey is [ledger.EachKey].
func EachKey(ctx context.Context, target Database, source string, table string, use func(Origin) error) error {
	return ledger.EachKey(ctx, target, source, table, use)
}

// ByPlan is [ledger.ByPlan].
func ByPlan(ctx context.Context, target Database, source, table, key string) (*Planned, error) {
	return ledger.ByPlan(ctx, target, source, table, key)
}

// EachStayed is [apply.EachStayed].
func EachStayed(ctx context.Context, plan *Plan, target Database, sources []Database, world int, table, column string, each func(key, value, why string) error) error {
	return apply.EachStayed(ctx, plan, target, sources, world, table, column, each)
}

// EachMoved is [apply.EachMoved].
func EachMoved(ctx context.Context, plan *Plan, target Database, sources []Database, source int, table string, column string, codecs cell.Codecs, each func(Moved) error) error {
	return apply.EachMoved(ctx, plan, target, sources, source, table, column, codecs, each)
}

// Fence is [apply.Fence].
func Fence(ctx context.Context, plan *Plan, target Database, sources []Database, opts Options) error {
	return apply.Fence(ctx, plan, target, sources, opts)
}

// Fresh is [apply.Fresh].
func Fresh(ctx context.Context, plan *Plan, target Database, sources []Database, opts Options) ([]Refusal, error) {
	return apply.Fresh(ctx, plan, target, sources, opts)
}

// InUse is [apply.InUse].
func InUse(ctx context.Context, d Database, merge string) (reasons []string, known bool, err error) {
	return apply.InUse(ctx, d, merge)
}

// KeyText is [rowio.KeyText].
func KeyText(key string) string {
	return rowio.KeyText(key)
}

// KeysViewStatements is [ledger.KeysViewStatements].
func KeysViewStatements(ctx context.Context, d Database) ([]string, error) {
	return ledger.KeysViewStatements(ctx, d)
}

// LastMerge is [ledger.LastMerge].
func LastMerge(ctx context.Context, target Database) (*Recorded, error) {
	return ledger.LastMerge(ctx, target)
}

// LookUp is [apply.LookUp].
func LookUp(ctx context.Context, plan *Plan, target Database, sources []Database) (*Status, error) {
	return apply.LookUp(ctx, plan, target, sources)
}

// MakeSchema is [apply.MakeSchema].
func MakeSchema(ctx context.Context, from Database, to Database) (*Made, error) {
	return apply.MakeSchema(ctx, from, to)
}

// MapFromPlan is [keys.MapFromPlan].
func MapFromPlan(file string, space string) (*declare.MapFrom, error) {
	return keys.MapFromPlan(file, space)
}

// NewPlan is [planner.NewPlan].
func NewPlan(ctx context.Context, target Database, sources []Database, opts PlanOptions) (*Plan, error) {
	return planner.NewPlan(ctx, target, sources, opts)
}

// Open is [open.Open].
func Open(ctx context.Context, plan *Plan, target Database, worlds []Database, opts OpenOptions) (*Opened, error) {
	return open.Open(ctx, plan, target, worlds, opts)
}

// ReadPlan is [plan.ReadPlan].
func ReadPlan(r io.Reader) (*Plan, error) {
	return plan.ReadPlan(r)
}

// Ready is [apply.Ready].
func Ready(ctx context.Context, plan *Plan, target Database, sources []Database, opts Options) ([]Refusal, error) {
	return apply.Ready(ctx, plan, target, sources, opts)
}

// RecordedPlan is [ledger.RecordedPlan].
func RecordedPlan(ctx context.Context, target Database, id string) (*Plan, error) {
	return ledger.RecordedPlan(ctx, target, id)
}

// Renamed is [plan.Renamed].
func Renamed(policies []NamePolicy) (all []declare.RenamedColumn) {
	return plan.Renamed(policies)
}

// Undo is [undo.Undo].
func Undo(ctx context.Context, plan *Plan, target Database, sources []Database, opts UndoOptions) (*Undone, error) {
	return undo.Undo(ctx, plan, target, sources, opts)
}

// Unfence is [apply.Unfence].
func Unfence(ctx context.Context, plan *Plan, target Database, sources []Database, opts Options) ([]Lifted, error) {
	return apply.Unfence(ctx, plan, target, sources, opts)
}

// Verify is [prove.Verify].
func Verify(ctx context.Context, plan *Plan, target Database, sources []Database, opts Options) (*Proof, error) {
	return prove.Verify(ctx, plan, target, sources, opts)
}

// Whereis is [ledger.Whereis].
func Whereis(ctx context.Context, target Database, source string, table string, key rekey.Integer) ([]Origin, error) {
	return ledger.Whereis(ctx, target, source, table, key)
}

// Whois is [ledger.Whois].
func Whois(ctx context.Context, target Database, table string, key rekey.Integer) ([]Origin, error) {
	return ledger.Whois(ctx, target, table, key)
}
