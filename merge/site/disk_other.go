//go:build !(linux || darwin || freebsd)

package site

func Disk(string) (id string, free int64, ok bool) { return "", 0, false }
