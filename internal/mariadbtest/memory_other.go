//go:build !linux

package mariadbtest

func memoryDir() string { return "" }
