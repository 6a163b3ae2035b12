// Package campaign carries out many merges: a file lists them, one state says how far each is,
// and one process at a time works on it. Each merge has a plan of its own in package merge,
// and is just as safe as alone. If the process is killed, the same call resumes.
package campaign
