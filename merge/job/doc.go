// Package job is one call of a step: its connections, retries, workers and progress.
package job
