// Package catalog describes a database as a merge sees it: tables, columns, keys, conditions,
// counters, and the [Source] that reads them. It knows no rule and no SQL.
package catalog
