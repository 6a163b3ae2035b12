// Package starter is what a new game can start from: ready-made tables of
// players, items, guilds and their members.
package starter
