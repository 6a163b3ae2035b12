package plan

// Next says what comes next when the cause of a refusal is gone.
type Next string

// The values of Next.
const (
	NextAgain    Next = ""           // the same command
	NextPlan     Next = "plan"       // a new plan
	NextUndoPlan Next = "undo, plan" // an undo, because the merge has begun, and then a new plan
	NextUndo     Next = "undo"
	NextApply    Next = "apply"
	NextOpen     Next = "open"
	NextNone     Next = "none" // none of these: the reason says what can be done
)

// advice is the next step in words; "" if there is none to be named.
func (n Next) advice() string {
	switch n {
	case NextPlan:
		return "plan again"
	case NextUndoPlan:
		return "undo the merge, then plan again"
	case NextUndo:
		return "run undo, which drops it"
	case NextApply:
		return "run apply until it is done"
	case NextOpen:
		return "run open again until it is done, or undo"
	}
	return ""
}

// AfterUndo lets an undo come before each new plan, because the merge has begun.
func AfterUndo(all []Refusal) {
	for i := range all {
		if all[i].Next == NextPlan {
			all[i].Next = NextUndoPlan
		}
	}
}
