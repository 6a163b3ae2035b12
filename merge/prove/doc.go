// Package prove compares the merged database with its plan and its sources.
package prove
