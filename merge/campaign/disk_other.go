//go:build !(linux || darwin || freebsd)

package campaign

func diskOf(string) (id string, free int64, ok bool) { return "", 0, false }
