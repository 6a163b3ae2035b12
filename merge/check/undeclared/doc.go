// Package undeclared finds columns that are not declared and of which values, if they are keys,
// would name other rows after the merge.
package undeclared
