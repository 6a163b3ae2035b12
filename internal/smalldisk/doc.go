// Package smalldisk gives tests a small file system of their own, to fill it up and free it again. It
// needs Linux and the right to mount; without, the test is skipped.
package smalldisk
