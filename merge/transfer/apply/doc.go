// Package apply carries out a plan: it fences the servers, copies the rows, and resumes if it was interrupted.
package apply
