package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mergesafe/internal/servertest"
)

// What one platform alone refuses is found there, in tests as well, and nowhere else.
func TestPlatforms(t *testing.T) {
	servertest.NotShort(t)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":          "module m\n\ngo 1.26\n",
		"m.go":            "package m\n\nimport \"io\"\n\nvar _ = io.EOF\n",
		"m_freebsd.go":    "package m\n\nvar shift int32 = 1 << 40\n",
		"m_arm64.go":      "package m\n\nfunc f() { unused := 1 }\n",
		"m_linux_test.go": "package m\n\nfunc helper() {}\n",
		"m_test.go":       "package m\n\nfunc g() { helper() }\n",
		"x_linux_test.go": "package m_test\n\nimport _ \"m/linux\"\n",
		"x_test.go":       "package m_test\n\nimport _ \"m/sub\"\n",
		"linux/l.go":      "//go:build linux\n\npackage linux\n",
		"sub/s.go":        "package sub\n\nimport \"m/linux\"\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	const overflow, unused, undefined = "m_freebsd.go:3:19: cannot use 1 << 40", "m_arm64.go:3:12: declared and not used", "m_test.go:3:12: undefined: helper"
	const unusedImport, excluded = "s.go:3:8: \"m/linux\" imported and not used", "build constraints exclude all Go files"
	for platform, want := range map[string][]string{
		"linux/amd64":   {unusedImport},
		"linux/arm64":   {unusedImport, unused},
		"windows/amd64": {undefined, excluded},
		"freebsd/arm64": {undefined, excluded, overflow, unused},
	} {
		var stderr strings.Builder
		if code := run(t.Context(), []string{"-on", platform, dir}, &stderr); code != 1 {
			t.Errorf("%s: exit code %d, want 1", platform, code)
		}
		for _, message := range []string{overflow, unused, undefined, unusedImport, excluded} {
			expected := false
			for _, w := range want {
				expected = expected || w == message
			}
			if strings.Contains(stderr.String(), message) != expected {
				t.Errorf("%s: %q: want %t, in:\n%s", platform, message, expected, stderr.String())
			}
		}
	}
	if err := os.Remove(filepath.Join(dir, "sub/s.go")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "x_test.go")); err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	if code := run(t.Context(), []string{"-on", "linux/amd64", dir}, &stderr); code != 0 || stderr.Len() > 0 {
		t.Errorf("a module without faults: exit code %d: %s", code, stderr.String())
	}
}
