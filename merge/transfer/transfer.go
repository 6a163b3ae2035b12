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
	ChangedError = ledger.ChangedError
	Changed      = job.Changed
	Checked      = plan.Checked
	ColumnProof  = evidence.ColumnProof
	Combine      = plan.Combine
	CombineProof = evidence.CombineProof
	CombinedSum  = plan.CombinedSum
	Content      = rowio.Content
	Counter      = plan.Counter
	Database     = rowio.Database
	Difference   = evidence.Difference
	FenceStatus  = apply.FenceStatus
	Keep         = plan.Keep
	KeyProof     = evidence.KeyProof
	Left         = plan.Left
	Lifted       = job.Lifted
	Fate         = apply.Fate
	NameCopy     = plan.NameCopy
	NamePolicy   = plan.NamePolicy
	Next         = plan.Next
	Opened       = open.Opened
	OpenOptions  = open.Options
	Options      = job.Options
	Origin       = ledger.Origin
	Plan         = plan.Plan
	PlanOptions  = planner.PlanOptions
	Progress     = job.Progress
	Proof        = evidence.Proof
	Recorded     = ledger.Recorded
	Refusal      = plan.Refusal
	RefusedError = ledger.RefusedError
	Rename       = plan.Rename
	ResetProof   = evidence.ResetProof
	Result       = apply.Result
	State        = ledger.State
	Status       = apply.Status
	Planned      = ledger.Planned
	StoppedError = ledger.StoppedError
	SumProof     = evidence.SumProof
	Table        = plan.Table
	TableProof   = evidence.TableProof
	TableStatus  = apply.TableStatus
	UndoOptions  = undo.UndoOptions
	Twin         = rowio.Twin
	Undone       = undo.Undone
	World        = plan.World
)

// The constants of these types.
const (
	DefaultParallel = job.DefaultParallel
	DefaultRetryFor = job.DefaultRetryFor
	DefaultTemplate = plan.DefaultTemplate
	KeepActive      = plan.KeepActive
	KeepOlder       = plan.KeepOlder
	NextApply       = plan.NextApply
	NextNone        = plan.NextNone
	NextOpen        = plan.NextOpen
	NextPlan        = plan.NextPlan
	NextUndo        = plan.NextUndo
	NextUndoPlan    = plan.NextUndoPlan
	PartSums        = evidence.PartSums
	PlaceRunning    = plan.PlaceRunning
	PlaceServers    = plan.PlaceServers
	PlanVersion     = plan.PlanVersion
	StateOpen       = ledger.StateOpen
	StateMade       = ledger.StateMade
	StateOpening    = ledger.StateOpening
	StatePlanAgain  = ledger.StatePlanAgain
	StateNone       = ledger.StateNone
	StateTried      = ledger.StateTried
	StateUndoing    = ledger.StateUndoing
	StepCheck       = ledger.StepCheck
	StepCopy        = ledger.StepCopy
	StepFinish      = ledger.StepFinish
	StepIndex       = ledger.StepIndex
	StepMeasure     = ledger.StepMeasure
	StepResult      = ledger.StepResult
	StepVerify      = ledger.StepVerify
)

// The errors that callers branch on.
var (
	ErrBusy       = ledger.ErrBusy
	ErrNoMerge    = ledger.ErrNoMerge
	ErrNotProved  = open.ErrNotProved
	ErrPartOfPlan = ledger.ErrPartOfPlan
	ErrStopped    = ledger.ErrStopped
)

// AfterUndo is [plan.AfterUndo].
func AfterUndo(all []Refusal) { plan.AfterUndo(all) }

// Apply is [apply.Apply].
func Apply(ctx context.Context, plan *Plan, into Database, worlds []Database, opts Options) (*Result, error) {
	return apply.Apply(ctx, plan, into, worlds, opts)
}

// CodecsOf is [plan.CodecsOf].
func CodecsOf(rules []declare.Declarations) (all []string) {
	return plan.CodecsOf(rules)
}

// Elsewhere is [apply.Elsewhere].
func Elsewhere(ctx context.Context, plan *Plan, into Database) (*Refusal, error) {
	return apply.Elsewhere(ctx, plan, into)
}

// EachKey is [ledger.EachKey].
func EachKey(ctx context.Context, merged Database, source string, table string, use func(Origin) error) error {
	return ledger.EachKey(ctx, merged, source, table, use)
}

// ByPlan is [ledger.ByPlan].
func ByPlan(ctx context.Context, merged Database, source, table, key string) (*Planned, error) {
	return ledger.ByPlan(ctx, merged, source, table, key)
}

// EachFate is [apply.EachFate].
func EachFate(plan *Plan, each func(Fate) error) error {
	return apply.EachFate(plan, each)
}

// EachFateOf is [apply.EachFateOf].
func EachFateOf(ctx context.Context, plan *Plan, into Database, worlds []Database, table, column string, codecs cell.Codecs, each func(Fate) error) error {
	return apply.EachFateOf(ctx, plan, into, worlds, table, column, codecs, each)
}

// Fence is [apply.Fence].
func Fence(ctx context.Context, plan *Plan, into Database, worlds []Database, opts Options) error {
	return apply.Fence(ctx, plan, into, worlds, opts)
}

// Fresh is [apply.Fresh].
func Fresh(ctx context.Context, plan *Plan, into Database, worlds []Database, opts Options) ([]Refusal, error) {
	return apply.Fresh(ctx, plan, into, worlds, opts)
}

// InUse is [apply.InUse].
func InUse(ctx context.Context, d Database, merge string) (refusals []Refusal, known bool, err error) {
	return apply.InUse(ctx, d, merge)
}

// KeyText is [rowio.KeyText].
func KeyText(key string) string {
	return rowio.KeyText(key)
}

// LastMerge is [ledger.LastMerge].
func LastMerge(ctx context.Context, merged Database) (*Recorded, error) {
	return ledger.LastMerge(ctx, merged)
}

// LookUp is [apply.LookUp].
func LookUp(ctx context.Context, plan *Plan, into Database, worlds []Database) (*Status, error) {
	return apply.LookUp(ctx, plan, into, worlds)
}

// MapFromPlan is [keys.MapFromPlan].
func MapFromPlan(file string, space string) (*declare.MapFrom, error) {
	return keys.MapFromPlan(file, space)
}

// NewPlan is [planner.NewPlan].
func NewPlan(ctx context.Context, into Database, worlds []Database, opts PlanOptions) (*Plan, error) {
	return planner.NewPlan(ctx, into, worlds, opts)
}

// Open is [open.Open].
func Open(ctx context.Context, plan *Plan, into Database, worlds []Database, opts OpenOptions) (*Opened, error) {
	return open.Open(ctx, plan, into, worlds, opts)
}

// ReadPlan is [plan.ReadPlan].
func ReadPlan(r io.Reader) (*Plan, error) {
	return plan.ReadPlan(r)
}

// Ready is [apply.Ready].
func Ready(ctx context.Context, plan *Plan, into Database, worlds []Database, opts Options) ([]Refusal, error) {
	return apply.Ready(ctx, plan, into, worlds, opts)
}

// RecordedPlan is [ledger.RecordedPlan].
func RecordedPlan(ctx context.Context, merged Database, id string) (*Plan, error) {
	return ledger.RecordedPlan(ctx, merged, id)
}

// TemplateProblem says what is wrong with a [NamePolicy.Template]; "" if nothing is.
func TemplateProblem(template string) string { return plan.TemplateProblem(template) }

// Renamed is [plan.Renamed].
func Renamed(policies []NamePolicy) (all []declare.RenamedColumn) {
	return plan.Renamed(policies)
}

// Twins is [rowio.Twins].
func Twins(ctx context.Context, all []Database) ([]Twin, error) { return rowio.Twins(ctx, all) }

// Undo is [undo.Undo].
func Undo(ctx context.Context, plan *Plan, into Database, worlds []Database, opts UndoOptions) (*Undone, error) {
	return undo.Undo(ctx, plan, into, worlds, opts)
}

// Unfence is [apply.Unfence].
func Unfence(ctx context.Context, plan *Plan, into Database, worlds []Database, opts Options) ([]Lifted, error) {
	return apply.Unfence(ctx, plan, into, worlds, opts)
}

// Verify is [prove.Verify].
func Verify(ctx context.Context, plan *Plan, into Database, worlds []Database, opts Options) (*Proof, error) {
	return prove.Verify(ctx, plan, into, worlds, opts)
}

// Whereis is [ledger.Whereis].
func Whereis(ctx context.Context, merged Database, source string, table string, key rekey.Integer) ([]Origin, error) {
	return ledger.Whereis(ctx, merged, source, table, key)
}

// Whois is [ledger.Whois].
func Whois(ctx context.Context, merged Database, table string, key rekey.Integer) ([]Origin, error) {
	return ledger.Whois(ctx, merged, table, key)
}
