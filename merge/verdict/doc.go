// Package verdict is what checks, plans and reports speak of: codes, verdicts, results, the report.
package verdict
