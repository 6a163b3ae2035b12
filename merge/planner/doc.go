// Package planner makes the plan of a merge. It only reads.
package planner
