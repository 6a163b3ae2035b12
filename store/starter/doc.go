// Package starter has ready-made tables that a new game can start from: players, items,
// guilds and their members.
package starter
