package campaign

import (
	"encoding/json"
	"net/http"

	"mergesafe/merge"
)

// maxAsked is how long a name or world may be that is asked for, in bytes.
const maxAsked = 200

// PlayersHandler answers GET requests with ?name= and, to be precise, &world= : see
// [Book.Players]. It reads plans and the state, and no database of a world.
func (b *Book) PlayersHandler(who Who) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Type", "application/json; charset=utf-8")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		query := r.URL.Query()
		world, name := query.Get("world"), query.Get("name")
		answer := func(status int, v any) {
			w.WriteHeader(status)
			_ = json.NewEncoder(w).Encode(v) // whoever asked may be gone
		}
		if name == "" || len(name) > maxAsked || len(world) > maxAsked {
			answer(http.StatusBadRequest, map[string]string{"error": "want ?name=NAME, and &world=WORLD if it is known"})
			return
		}
		players, err := b.Players(r.Context(), who, world, name)
		if err != nil {
			answer(http.StatusServiceUnavailable, map[string]string{"error": "the plans of the campaign cannot be read now"})
			return
		}
		answer(http.StatusOK, map[string]any{"version": 1, "players": append([]merge.Fate{}, players...)})
	})
}
