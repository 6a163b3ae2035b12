// Package schema describes what a database is made of, object by object and as its server describes it, and makes
// the same in an empty database, in stages.
//
// The stages are MakeTables, MakeIndexes, MakeReferences, MakeRest and EnableEvents, in this order, the rows between
// the first two. Each looks at what there is and makes what is missing: if it is interrupted, it is called again.
package schema
