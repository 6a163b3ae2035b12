// Package kinds finds references whose column names different things in different rows: a hero in most events, and in
// others a rank. Another column of the table, of few values, tells the kinds apart.
package kinds
