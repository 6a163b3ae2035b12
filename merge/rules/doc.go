// Package rules is what the operator says of the databases, resolved against their catalogues:
// policies of tables, roles of columns, spaces of keys, names.
package rules
