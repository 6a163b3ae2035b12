// Package sqldb is what the databases have in common: DSNs, connections, transactions, the meaning
// of errors, and the names of all tables that belong to this project. What they do not have in common
// is one folder per dialect below it, an [Engine] that links the driver.
package sqldb
