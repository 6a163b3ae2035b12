package integrations

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"mergesafe/gameid"
)

// webRequest is bound to a part of the path, and to the query or a body.
type webRequest struct {
	Player gameid.Of[Hero]    `uri:"player" form:"-" json:"-"`
	Guild  gameid.Of[Clan]    `form:"guild" json:"guild,omitzero"`
	Items  []gameid.ID        `form:"item" json:"items"`
	Boss   *gameid.Of[Hero]   `form:"boss" json:"boss"`
	Public gameid.Opaque[any] `form:"public" json:"public,omitzero"`
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
