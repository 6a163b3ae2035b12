package main

import "testing"

func TestNumbersFromMemory(t *testing.T) {
	sections, err := numbersFromMemory(t.Context(), short(t, "Short numbers"))
	if err != nil {
		t.Fatal(err)
	}
	s := sections[0]
	goals := make(map[string]string)
	for _, r := range s.rows {
		if r.measured == "" {
			t.Errorf("nothing measured: %+v", r)
		}
		goals[r.what] = r.goal
	}
	if len(goals) != 4 || goals["  in absolute terms, from memory"] != "≤ 20.0 ns" {
		t.Errorf("got rows with the goals %v", goals)
	}
	if sections, err := numbersFromMemory(t.Context(), short(t, "MariaDB")); err != nil || sections != nil {
		t.Errorf("not asked for, and got %v, %v", sections, err)
	}
}

func TestNumbersOnMariaDB(t *testing.T) {
	sections, err := numbersOnMariaDB(t.Context(), short(t, "Short numbers"))
	if err != nil {
		t.Fatal(err)
	}
	s := sections[0]
	if len(s.rows) == 1 && s.rows[0].what == "not measured" {
		t.Skip(s.rows[0].note)
	}
	if len(s.rows) != 2 || s.rows[1].what != ourBlocks || s.rows[1].goal != "≥ 0.50" || s.rows[1].holds == "" {
		t.Errorf("got rows %+v", s.rows)
	}
}
