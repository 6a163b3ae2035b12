package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strings"
)

// machine says what the numbers were measured on.
func machine() string {
	cpu := field("/proc/cpuinfo", ":", "model name")
	if cpu == "" {
		cpu = "unknown CPU"
	}
	system := strings.Trim(field("/etc/os-release", "=", "PRETTY_NAME"), `"`)
	if system == "" {
		system = runtime.GOOS
	}
	cores := fmt.Sprintf("%d cores", runtime.NumCPU())
	if n := runtime.GOMAXPROCS(0); n != runtime.NumCPU() {
		cores += fmt.Sprintf(" (%d used)", n)
	}
	return fmt.Sprintf("%s, %s, %s, %s, %s/%s", cpu, cores, system, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// field returns the first value of a key in a file of lines, or nothing.
func field(file, separator, key string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if name, value, ok := strings.Cut(lines.Text(), separator); ok && strings.TrimSpace(name) == key {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
