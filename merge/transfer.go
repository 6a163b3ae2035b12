package merge

import (
	"context"
	"io"

	"mergesafe/merge/keys"
	"mergesafe/merge/rules"

	"mergesafe/merge/build"
	"mergesafe/merge/change"
	"mergesafe/merge/evidence"
	"mergesafe/merge/job"
	"mergesafe/merge/record"

	"mergesafe/merge/plan"
	"mergesafe/merge/planner"
	"mergesafe/merge/prove"
	"mergesafe/merge/world"
)

// The types of the steps, which their packages document.
type (
	ChangedError = record.ChangedError
	Changed      = job.Changed
	Checked      = plan.Checked
	ColumnProof  = evidence.ColumnProof
	Combine      = plan.Combine
	CombineProof = evidence.CombineProof
	CombinedSum  = plan.CombinedSum
	Content      = world.Content
	Counter      = plan.Counter
	Database     = world.Database
	Difference   = evidence.Difference
	FenceStatus  = build.FenceStatus
	Keep         = plan.Keep
	KeyProof     = evidence.KeyProof
	Left         = plan.Left
	Lifted       = job.Lifted
	Fate         = build.Fate
	NameCopy     = plan.NameCopy
	NamePolicy   = plan.NamePolicy
	Next         = plan.Next
	Opened       = build.Opened
	OpenOptions  = build.Options
	Options      = job.Options
	Origin       = record.Origin
	Plan         = plan.Plan
	PlanOptions  = planner.PlanOptions
	Progress     = job.Progress
	Proof        = evidence.Proof
	Recorded     = record.Recorded
	Refusal      = plan.Refusal
	RefusedError = record.RefusedError
	Rename       = plan.Rename
	ResetProof   = evidence.ResetProof
	Result       = build.Result
	State        = record.State
	Status       = build.Status
	Planned      = record.Planned
	StoppedError = record.StoppedError
	SumProof     = evidence.SumProof
	Table        = plan.Table
	TableProof   = evidence.TableProof
	TableStatus  = build.TableStatus
	UndoOptions  = build.UndoOptions
	Twin         = world.Twin
	Undone       = build.Undone
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
	StateOpen       = record.StateOpen
	StateMade       = record.StateMade
	StateOpening    = record.StateOpening
	StatePlanAgain  = record.StatePlanAgain
	StateNone       = record.StateNone
	StateTried      = record.StateTried
	StateUndoing    = record.StateUndoing
	StepCheck       = record.StepCheck
	StepCopy        = record.StepCopy
	StepFinish      = record.StepFinish
	StepIndex       = record.StepIndex
	StepMeasure     = record.StepMeasure
	StepResult      = record.StepResult
	StepVerify      = record.StepVerify
)

// The errors that callers branch on.
var (
	ErrBusy       = record.ErrBusy
	ErrNoMerge    = record.ErrNoMerge
	ErrNotProved  = build.ErrNotProved
	ErrPartOfPlan = record.ErrPartOfPlan
	ErrStopped    = record.ErrStopped
)

// AfterUndo is [plan.AfterUndo].
func AfterUndo(all []Refusal) { plan.AfterUndo(all) }

// Apply is [build.Apply].
func Apply(ctx context.Context, plan *Plan, into Database, worlds []Database, opts Options) (*Result, error) {
	done, err := build.Apply(ctx, plan, into, worlds, opts)
	return done, Gone(ctx, "apply", plan, into, worlds, err)
}

// CodecsOf is [plan.CodecsOf].
func CodecsOf(rules []rules.Declarations) (all []string) {
	return plan.CodecsOf(rules)
}

// Elsewhere is [build.Elsewhere].
func Elsewhere(ctx context.Context, plan *Plan, into Database) (*Refusal, error) {
	return build.Elsewhere(ctx, plan, into)
}

// Exists is [world.Exists].
func Exists(ctx context.Context, d Database) (bool, error) { return world.Exists(ctx, d) }

// EachKey is [record.EachKey].
func EachKey(ctx context.Context, merged Database, source string, table string, use func(Origin) error) error {
	return record.EachKey(ctx, merged, source, table, use)
}

// ByPlan is [record.ByPlan].
func ByPlan(ctx context.Context, merged Database, source, table, key string, way []Origin) ([]Planned, error) {
	return record.ByPlan(ctx, merged, source, table, key, way)
}

// EachFate is [build.EachFate].
func EachFate(plan *Plan, each func(Fate) error) error {
	return build.EachFate(plan, each)
}

// EachFateOf is [build.EachFateOf].
func EachFateOf(ctx context.Context, plan *Plan, worlds []Database, table, column string, codecs keys.Codecs, each func(Fate) error) error {
	return Gone(ctx, "whois", plan, worlds[0], worlds, build.EachFateOf(ctx, plan, worlds, table, column, codecs, each))
}

// Fence is [build.Fence].
func Fence(ctx context.Context, plan *Plan, into Database, worlds []Database, opts Options) error {
	return Gone(ctx, "apply", plan, into, worlds, build.Fence(ctx, plan, into, worlds, opts))
}

// Fresh is [build.Fresh].
func Fresh(ctx context.Context, plan *Plan, into Database, worlds []Database, opts Options) ([]Refusal, error) {
	refusals, err := build.Fresh(ctx, plan, into, worlds, opts)
	return refusals, Gone(ctx, "apply", plan, into, worlds, err)
}

// InUse is [build.InUse].
func InUse(ctx context.Context, d Database, merge string) (refusals []Refusal, known bool, err error) {
	return build.InUse(ctx, d, merge)
}

// KeyText is [world.KeyText].
func KeyText(key string) string {
	return world.KeyText(key)
}

// LastMerge is [record.LastMerge].
func LastMerge(ctx context.Context, merged Database) (*Recorded, error) {
	return record.LastMerge(ctx, merged)
}

// LookUp is [build.LookUp].
func LookUp(ctx context.Context, plan *Plan, into Database, worlds []Database) (*Status, error) {
	at, err := build.LookUp(ctx, plan, into, worlds)
	return at, Gone(ctx, "status", plan, into, worlds, err)
}

// MapFromPlan is [change.MapFromPlan].
func MapFromPlan(file string, space string) (*rules.MapFrom, error) {
	return change.MapFromPlan(file, space)
}

// NewPlan is [planner.NewPlan].
func NewPlan(ctx context.Context, into Database, worlds []Database, opts PlanOptions) (*Plan, error) {
	plan, err := planner.NewPlan(ctx, into, worlds, opts)
	return plan, goneFromPlan(ctx, worlds, err)
}

// Open is [build.Open].
func Open(ctx context.Context, plan *Plan, into Database, worlds []Database, opts OpenOptions) (*Opened, error) {
	opened, err := build.Open(ctx, plan, into, worlds, opts)
	return opened, Gone(ctx, "open", plan, into, worlds, err)
}

// ReadPlan is [plan.ReadPlan].
func ReadPlan(r io.Reader) (*Plan, error) {
	return plan.ReadPlan(r)
}

// Ready is [build.Ready].
func Ready(ctx context.Context, plan *Plan, into Database, worlds []Database, opts Options) ([]Refusal, error) {
	refusals, err := build.Ready(ctx, plan, into, worlds, opts)
	return refusals, Gone(ctx, "apply", plan, into, worlds, err)
}

// OpenedMissing is [build.OpenedMissing].
func OpenedMissing(into string) string { return build.OpenedMissing(into) }

// OpenedOlder is [build.OpenedOlder].
func OpenedOlder(into string) string { return build.OpenedOlder(into) }

// RecordedPlan is [record.RecordedPlan].
func RecordedPlan(ctx context.Context, merged Database, id string) (*Plan, error) {
	return record.RecordedPlan(ctx, merged, id)
}

// TemplateProblem says what is wrong with a [NamePolicy.Template]; "" if nothing is.
func TemplateProblem(template string) string { return plan.TemplateProblem(template) }

// Renamed is [plan.Renamed].
func Renamed(policies []NamePolicy) (all []rules.RenamedColumn) {
	return plan.Renamed(policies)
}

// Twins is [world.Twins].
func Twins(ctx context.Context, all []Database) ([]Twin, error) { return world.Twins(ctx, all) }

// Undo is [build.Undo].
func Undo(ctx context.Context, plan *Plan, into Database, worlds []Database, opts UndoOptions) (*Undone, error) {
	undone, err := build.Undo(ctx, plan, into, worlds, opts)
	return undone, Gone(ctx, "undo", plan, into, worlds, err)
}

// Unfence is [build.Unfence].
func Unfence(ctx context.Context, plan *Plan, into Database, worlds []Database, opts Options) ([]Lifted, error) {
	return build.Unfence(ctx, plan, into, worlds, opts)
}

// Verify is [prove.Verify].
func Verify(ctx context.Context, plan *Plan, into Database, worlds []Database, opts Options) (*Proof, error) {
	proof, err := prove.Verify(ctx, plan, into, worlds, opts)
	return proof, Gone(ctx, "verify", plan, into, worlds, err)
}

// Whereis is [record.Whereis].
func Whereis(ctx context.Context, merged Database, source string, table string, key keys.Integer) ([]Origin, error) {
	return record.Whereis(ctx, merged, source, table, key)
}

// Whois is [record.Whois].
func Whois(ctx context.Context, merged Database, table string, key keys.Integer) ([]Origin, error) {
	return record.Whois(ctx, merged, table, key)
}
