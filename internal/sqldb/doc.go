// Package sqldb is the one place that knows the databases and their drivers:
// dialects, DSNs, connections, transactions, error numbers, session settings,
// and the names of all tables that belong to this project.
package sqldb
