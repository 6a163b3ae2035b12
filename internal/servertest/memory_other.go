//go:build !linux

package servertest

func memoryDir() string { return "" }
