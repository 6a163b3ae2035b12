package servertest

import (
	"fmt"
	"runtime"
	"testing"
)

// recorder is a testing.TB that notes a failure instead of failing.
type recorder struct {
	testing.TB
	failed, skipped bool
	text            string
}

func (r *recorder) Errorf(format string, args ...any) {
	r.failed = true
	r.text += fmt.Sprintf(format, args...)
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

func (r *recorder) FailNow() {
	r.failed = true
	runtime.Goexit()
}

func (r *recorder) Skipf(string, ...any) {
	r.skipped = true
	runtime.Goexit()
}
