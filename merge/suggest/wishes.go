package suggest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mergesafe/merge/campaign"
)

// Wishes describe the merged fleet. The zero value of a bound is no bound.
type Wishes struct {
	// Players are the active players that a world is to have. Active are those of the last
	// 7 days. PlayersMost is how many it may have at most; the default is a tenth more.
	Players     int64 `json:"players,omitempty"`
	PlayersMost int64 `json:"players_most,omitempty"`

	Most  int        `json:"most,omitempty"`  // worlds that become one
	Apart [][]string `json:"apart,omitempty"` // worlds of which no two become one
	Same  []string   `json:"same,omitempty"`  // labels that are equal in worlds that become one

	Disk   int64            `json:"disk,omitempty"`    // bytes of a merged world
	Room   int64            `json:"room,omitempty"`    // bytes of new databases on each database server
	RoomOf map[string]int64 `json:"room_of,omitempty"` // the same, for some servers by name

	Seconds  int64 `json:"seconds,omitempty"`  // that all merges may take together, by the slowest rate
	Parallel int   `json:"parallel,omitempty"` // merges at a time; the default is 1

	Rate campaign.Rate `json:"rate"` // the default is [campaign.DefaultRate]
}

// complete returns the wishes with their defaults, or what is wrong with them.
func (w Wishes) complete() (Wishes, error) {
	if w.Players < 0 || w.PlayersMost < 0 || w.Most < 0 || w.Disk < 0 || w.Room < 0 || w.Seconds < 0 || w.Parallel < 0 {
		return w, errors.New("a wish is negative: want numbers of 0 or more")
	}
	if max(w.Players, w.PlayersMost) > largest {
		return w, errors.New("more players are wanted than there can be: want at most 10^15")
	}
	if w.Players == 0 && w.PlayersMost != 0 {
		return w, errors.New("a maximum of players without a wanted number")
	}
	if w.Players == 0 && w.Most == 0 {
		return w, errors.New("neither wanted players nor a maximum of worlds is given: all worlds would become one")
	}
	w.PlayersMost = cmp.Or(w.PlayersMost, w.Players+w.Players/10)
	if w.PlayersMost < w.Players {
		return w, fmt.Errorf("the maximum of %d players is below the %d wanted", w.PlayersMost, w.Players)
	}
	if w.Most == 1 {
		return w, errors.New("at most 1 world per merge: want 2 or more")
	}
	w.Parallel = max(w.Parallel, 1)
	w.Rate = cmp.Or(w.Rate, campaign.DefaultRate)
	if w.Rate.Slowest <= 0 || w.Rate.Fastest < w.Rate.Slowest {
		return w, fmt.Errorf("a rate from %d to %d rows a second: want the slowest first, above 0", w.Rate.Slowest, w.Rate.Fastest)
	}
	for _, names := range w.Apart {
		if len(names) < 2 {
			return w, fmt.Errorf("%q is the only world to keep apart: want two or more", strings.Join(names, ","))
		}
	}
	w.Same = slices.Compact(slices.Sorted(slices.Values(w.Same)))
	return w, nil
}
