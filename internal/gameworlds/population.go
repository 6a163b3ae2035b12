package gameworlds

import (
	"math/rand/v2"
	"slices"
)

// population is the numbers that things of one kind have and had, without the world's offset.
type population struct {
	alive  []int64 // ascending
	dead   []int64 // numbers that were handed out once, or would come next
	famous []int64 // alive, the most often named first
}

// newPopulation counts from 1 on until alive numbers are left of which the share deleted is gone, one
// by one or in runs of block.
func newPopulation(rng *rand.Rand, alive int, deleted float64, block int) *population {
	n := alive
	if deleted > 0 && deleted < 1 {
		n = int(float64(alive)/(1-deleted) + 0.5)
	}
	gone := make([]bool, n)
	for left := n - alive; left > 0; {
		first := rng.IntN(n)
		for i := first; i < min(n, first+max(block, 1)) && left > 0; i++ {
			if !gone[i] {
				gone[i] = true
				left--
			}
		}
	}
	var living, dead []int64
	for i, g := range gone {
		if g {
			dead = append(dead, int64(i+1))
		} else {
			living = append(living, int64(i+1))
		}
	}
	return populationOf(rng, living, dead)
}

func populationOf(rng *rand.Rand, alive, dead []int64) *population {
	p := &population{alive: alive, dead: dead, famous: slices.Clone(alive)}
	rng.Shuffle(len(p.famous), func(i, j int) { p.famous[i], p.famous[j] = p.famous[j], p.famous[i] })
	if len(p.dead) == 0 && len(alive) > 0 {
		last := slices.Max(alive)
		for i := range int64(len(alive)/10 + 1) {
			p.dead = append(p.dead, last+1+i)
		}
	}
	return p
}

// named returns a source of living numbers: some are named often, most rarely. If evenly, all are named alike.
func (p *population) named(rng *rand.Rand, evenly bool) func() int64 {
	if evenly || len(p.famous) < 2 {
		return func() int64 { return p.alive[rng.IntN(len(p.alive))] }
	}
	zipf := rand.NewZipf(rng, 1.1, 20, uint64(len(p.famous)-1))
	return func() int64 { return p.famous[zipf.Uint64()] }
}

// each returns a source of living numbers that gives all of them before it gives one again.
func (p *population) each(rng *rand.Rand) func() int64 {
	order := slices.Clone(p.alive)
	rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	next := -1
	return func() int64 {
		next++
		return order[next%len(order)]
	}
}
