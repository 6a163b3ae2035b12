package integrations

import (
	"encoding/json"
	"errors"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/labstack/echo/v4"

	"mergesafe/gameid"
)

// webRequest is what all frameworks bind: a part of the path, and the query.
type webRequest struct {
	Player gameid.Of[Hero]    `uri:"player" param:"player" form:"-" query:"-" json:"-"`
	Guild  gameid.Of[Clan]    `form:"guild" query:"guild" json:"guild,omitzero"`
	Items  []gameid.ID        `form:"item" query:"item" json:"items"`
	Boss   *gameid.Of[Hero]   `form:"boss" query:"boss" json:"boss"`
	Public gameid.Opaque[any] `form:"public" query:"public" json:"public,omitzero"`
}

// ask sends requests with good and bad IDs, and looks at what was bound.
func ask(t *testing.T, handler http.Handler, bound *webRequest) {
	t.Helper()
	public := hero(8).String() // any 20 digits will do
	path := "/players/" + hero(1).String()
	query := "?guild=" + clan(2).String() + "&item=" + made(3).String() + "&item=" + made(4).String() + "&boss=" + hero(5).String() + "&public=" + public
	send := func(method, url, body string) int {
		*bound = webRequest{}
		r := httptest.NewRequest(method, url, strings.NewReader(body))
		if body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w.Code
	}
	want := func(what string) {
		t.Helper()
		if b := bound; b.Player != hero(1) || b.Guild != clan(2) || len(b.Items) != 2 || b.Items[1] != made(4) || b.Boss == nil || *b.Boss != hero(5) || b.Public.String() != public {
			t.Errorf("%s: bound %+v", what, *b)
		}
	}
	if code := send("GET", path+query, ""); code != 200 {
		t.Errorf("query: %d", code)
	}
	want("query")
	body := `{"guild":"` + clan(2).String() + `","items":["` + made(3).String() + `","` + made(4).String() + `"],"boss":"` + hero(5).String() + `","public":"` + public + `"}`
	if code := send("POST", path, body); code != 200 {
		t.Errorf("body: %d", code)
	}
	want("body")
	if code := send("GET", path, ""); code != 200 || bound.Player != hero(1) || bound.Guild.IsValid() || bound.Boss != nil {
		t.Errorf("without a query: %d, %+v", code, *bound)
	}
	for _, bad := range []string{"/players/1", "/players/00000000000000000000", path + "?guild=1", path + "?item=" + made(1).String() + "&item=x", path + "?boss=0", path + "?public=1"} {
		if code := send("GET", bad, ""); code != 400 {
			t.Errorf("%s: %d, bound %+v", bad, code, *bound)
		}
	}
	if code := send("POST", path, `{"guild":7}`); code != 400 {
		t.Errorf("a number in a body: %d", code)
	}
}

func TestGin(t *testing.T) {
	gin.SetMode(gin.ReleaseMode)
	var bound webRequest
	engine := gin.New()
	handle := func(c *gin.Context) {
		bind := c.ShouldBindQuery
		if c.Request.Method == "POST" {
			bind = c.ShouldBindJSON
		}
		if err := errors.Join(c.ShouldBindUri(&bound), bind(&bound)); err != nil {
			c.Status(400)
		}
	}
	engine.GET("/players/:player", handle)
	engine.POST("/players/:player", handle)
	ask(t, engine, &bound)

	c, _ := gin.CreateTestContext(httptest.NewRecorder())
	c.Request = httptest.NewRequest("GET", "/", nil)
	var required struct {
		ID *gameid.Of[Hero] `form:"id" binding:"required"` // without the * it is not required
	}
	if err := c.ShouldBindQuery(&required); err == nil {
		t.Error("an ID that is required may be missing")
	}
}

// answer returns what a handler answers to GET /.
func answer(handler http.Handler) (code int, body string) {
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	return w.Code, w.Body.String()
}

// forgotten has an ID that must not be zero and is.
type forgotten struct {
	ID gameid.Of[Hero] `json:"id"`
}

// For a zero ID gin answers 200 without a body, unless the middleware of INTEGRATIONS.md is in use.
func TestGinZeroID(t *testing.T) {
	gin.SetMode(gin.ReleaseMode)
	for code, use := range map[int]gin.HandlerFunc{200: func(*gin.Context) {}, 500: failed} {
		engine := gin.New()
		engine.Use(use)
		engine.GET("/", func(c *gin.Context) { c.JSON(200, forgotten{}) })
		if got, body := answer(engine); got != code || body != "" {
			t.Errorf("answered %d %q, want %d and nothing", got, body, code)
		}
	}
	engine := gin.New()
	engine.Use(failed)
	engine.GET("/", func(c *gin.Context) { c.JSON(200, forgotten{hero(1)}) })
	if code, body := answer(engine); code != 200 || body != `{"id":"`+hero(1).String()+`"}` {
		t.Errorf("answered %d %q", code, body)
	}
}

// failed answers 500 if gin could not write the answer: INTEGRATIONS.md shows it.
func failed(c *gin.Context) {
	c.Next()
	if len(c.Errors) > 0 && !c.Writer.Written() {
		c.AbortWithStatus(http.StatusInternalServerError)
	}
}

func TestEcho(t *testing.T) {
	var bound webRequest
	e := echo.New()
	handle := func(c echo.Context) error {
		if err := c.Bind(&bound); err != nil {
			return err // 400
		}
		return c.NoContent(200)
	}
	e.GET("/players/:player", handle)
	e.POST("/players/:player", handle)
	ask(t, e, &bound)
	e.GET("/", func(c echo.Context) error { return c.JSON(200, forgotten{}) })
	if code, body := answer(e); code != 500 || strings.Contains(body, "id") {
		t.Errorf("the zero ID: answered %d %q", code, body)
	}
}

// net/http alone: PathValue, and the query.
func TestNetHTTP(t *testing.T) {
	var got gameid.Of[Hero]
	mux := http.NewServeMux()
	mux.HandleFunc("GET /players/{id}", func(w http.ResponseWriter, r *http.Request) {
		var err error
		if got, err = gameid.ParseOf[Hero](r.PathValue("id")); err != nil {
			http.Error(w, err.Error(), 400)
		}
	})
	for path, code := range map[string]int{"/players/" + hero(1).String(): 200, "/players/1": 400} {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if w.Code != code || got.IsValid() != (code == 200) {
			t.Errorf("%s: %d, %s", path, w.Code, got)
		}
	}
	// Nothing is written for a zero ID, so the error can still be answered.
	code, body := answer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := json.NewEncoder(w).Encode(forgotten{}); err != nil {
			http.Error(w, "sorry", 500)
		}
	}))
	if code != 500 || body != "sorry\n" {
		t.Errorf("the zero ID: answered %d %q", code, body)
	}
}

func TestFlag(t *testing.T) {
	var id gameid.Of[Hero]
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.TextVar(&id, "player", gameid.Of[Hero]{}, "without a default")
	if id.IsValid() {
		t.Errorf("the default is %s", id)
	}
	flags = flag.NewFlagSet("", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.TextVar(&id, "player", hero(2), "a player")
	must(t, flags.Parse(nil))
	if id != hero(2) {
		t.Errorf("the default is %s", id)
	}
	must(t, flags.Parse([]string{"-player", hero(1).String()}))
	if id != hero(1) {
		t.Errorf("got %s", id)
	}
	if err := flags.Parse([]string{"-player", "1"}); err == nil || id.IsValid() {
		t.Errorf("bad text left %s, %v", id, err)
	}
}
