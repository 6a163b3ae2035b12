package integrations

import (
	"database/sql"
	"slices"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"xorm.io/xorm"
	"xorm.io/xorm/schemas"

	"mergesafe/gameid"
)

const createPlayers = "CREATE TABLE players (id BINARY(10) NOT NULL PRIMARY KEY, name VARCHAR(60) NOT NULL, guild_id BINARY(10))"

func TestDatabaseSQL(t *testing.T) {
	onEach(t, func(t *testing.T, d database) {
		ctx := t.Context()
		d.exec(t, createPlayers)
		guild := clan(9)
		for n, g := range []any{nil, clan(9), &guild, sql.Null[gameid.Of[Clan]]{}, sql.Null[gameid.Of[Clan]]{V: guild, Valid: true}, (*gameid.Of[Clan])(nil)} {
			d.exec(t, "INSERT INTO players (id, name, guild_id) VALUES (?, ?, ?)", hero(uint16(n)), "x", g)
			var id gameid.Of[Hero]
			var null sql.Null[gameid.Of[Clan]]
			var pointer *gameid.Of[Clan]
			must(t, d.pool.QueryRowContext(ctx, "SELECT id, guild_id, guild_id FROM players WHERE id = ?", hero(uint16(n))).Scan(&id, &null, &pointer))
			if want := n == 1 || n == 2 || n == 4; id != hero(uint16(n)) || null.Valid != want || (pointer != nil) != want || want && (null.V != guild || *pointer != guild) {
				t.Errorf("%d: read %s, %v, %v", n, id, null, pointer)
			}
		}
		want := []string{strings.ToUpper(hero(3).String())}
		if got := d.hex(t, "SELECT HEX(id) FROM players WHERE id = ?", hero(3)); !slices.Equal(got, want) {
			t.Errorf("stored is %q, want %q", got, want)
		}
		var id gameid.Of[Hero]
		must(t, d.pool.QueryRowContext(ctx, "SELECT HEX(id) FROM players WHERE id = ?", hero(3)).Scan(&id))
		if id != hero(3) {
			t.Errorf("HEX(id) was read as %s", id)
		}
		if _, err := d.pool.ExecContext(ctx, "DELETE FROM players WHERE id = ?", gameid.Of[Hero]{}); err == nil {
			t.Error("the zero ID was sent")
		}
		if err := d.pool.QueryRowContext(ctx, "SELECT guild_id FROM players WHERE id = ?", hero(0)).Scan(&id); err == nil || id.IsValid() {
			t.Errorf("NULL was read as %s, %v", id, err)
		}
	})
}

func TestSqlx(t *testing.T) {
	type player struct {
		ID    gameid.Of[Hero]  `db:"id"`
		Name  string           `db:"name"`
		Guild *gameid.Of[Clan] `db:"guild_id"`
	}
	onEach(t, func(t *testing.T, d database) {
		ctx := t.Context()
		d.exec(t, createPlayers)
		db := sqlx.NewDb(d.pool, d.driver)
		if d.driver == "sqlite" {
			db = sqlx.NewDb(d.pool, "sqlite3") // sqlx knows no driver of the name sqlite
		}
		guild := clan(9)
		players := []player{{hero(0), "0", nil}, {hero(1), "1", &guild}, {hero(2), "2", nil}}
		_, err := db.NamedExecContext(ctx, "INSERT INTO players (id, name, guild_id) VALUES (:id, :name, :guild_id)", players)
		must(t, err)
		var p player
		must(t, db.GetContext(ctx, &p, "SELECT * FROM players WHERE id = ?", hero(1)))
		if p.ID != hero(1) || *p.Guild != guild {
			t.Errorf("read %+v", p)
		}
		query, args, err := sqlx.In("SELECT id FROM players WHERE id IN (?) AND name <> ? ORDER BY id", []gameid.Of[Hero]{hero(1), hero(2)}, "1")
		must(t, err)
		var ids []gameid.Of[Hero]
		must(t, db.SelectContext(ctx, &ids, db.Rebind(query), args...))
		if !slices.Equal(ids, []gameid.Of[Hero]{hero(2)}) {
			t.Errorf("IN: %v", ids)
		}
		if _, err := db.NamedExecContext(ctx, "INSERT INTO players (id, name, guild_id) VALUES (:id, :name, :guild_id)", player{}); err == nil {
			t.Error("the zero ID was stored")
		}
	})
}

// queries is what sqlc makes of three queries, with an override of the column's
// type: see INTEGRATIONS.md.
type queries struct{ db *sql.DB }

type listPlayersRow struct {
	ID      gameid.ID
	GuildID *gameid.ID
}

func (q *queries) createPlayer(t *testing.T, id gameid.ID, name string, guildID *gameid.ID) error {
	_, err := q.db.ExecContext(t.Context(), "INSERT INTO players (id, name, guild_id) VALUES (?, ?, ?)", id, name, guildID)
	return err
}

func (q *queries) listPlayers(t *testing.T, ids []gameid.ID) ([]listPlayersRow, error) {
	query := "SELECT id, guild_id FROM players WHERE id IN (/*SLICE:ids*/?)"
	var queryParams []interface{}
	for _, v := range ids {
		queryParams = append(queryParams, v)
	}
	query = strings.Replace(query, "/*SLICE:ids*/?", strings.Repeat(",?", len(ids))[1:], 1)
	rows, err := q.db.QueryContext(t.Context(), query, queryParams...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var items []listPlayersRow
	for rows.Next() {
		var i listPlayersRow
		if err := rows.Scan(&i.ID, &i.GuildID); err != nil {
			return nil, err
		}
		items = append(items, i)
	}
	return items, rows.Err()
}

func TestSqlc(t *testing.T) {
	onEach(t, func(t *testing.T, d database) {
		d.exec(t, createPlayers)
		q := &queries{d.pool}
		guild := made(9)
		must(t, q.createPlayer(t, made(0), "0", nil))
		must(t, q.createPlayer(t, made(1), "1", &guild))
		must(t, q.createPlayer(t, made(2), "2", nil))
		rows, err := q.listPlayers(t, []gameid.ID{made(1)})
		if err != nil || len(rows) != 1 || rows[0].ID != made(1) || *rows[0].GuildID != guild {
			t.Errorf("got %+v, %v", rows, err)
		}
	})
}

type xormPlayer struct {
	ID    gameid.Of[Hero]  `xorm:"'id' binary(10) pk"`
	Name  string           `xorm:"'name'"`
	Guild *gameid.Of[Clan] `xorm:"'guild_id' binary(10) null"`
}

func (*xormPlayer) TableName() string { return "players" }

func TestXorm(t *testing.T) {
	onEach(t, func(t *testing.T, d database) {
		db, err := xorm.NewEngine(d.driver, d.dsn)
		must(t, err)
		t.Cleanup(func() { db.Close() })
		must(t, db.Sync(&xormPlayer{}))
		guild := clan(9)
		_, err = db.Insert([]*xormPlayer{{hero(0), "0", nil}, {hero(1), "1", &guild}, {hero(2), "2", nil}})
		must(t, err)
		want := []string{strings.ToUpper(hero(1).String())}
		if got := d.hex(t, "SELECT HEX(id) FROM players WHERE guild_id IS NOT NULL"); !slices.Equal(got, want) {
			t.Errorf("stored is %q, want %q", got, want)
		}
		var p xormPlayer
		found, err := db.Where("id = ?", hero(1)).Get(&p)
		if err != nil || !found || p.ID != hero(1) || p.Guild == nil || *p.Guild != guild {
			t.Errorf("Get: %+v, %t, %v", p, found, err)
		}
		p = xormPlayer{}
		found, err = db.ID(schemas.NewPK(hero(2))).Get(&p)
		if err != nil || !found || p.ID != hero(2) || p.Guild != nil {
			t.Errorf("Get by ID: %+v, %t, %v", p, found, err)
		}
		var players []xormPlayer
		must(t, db.In("id", []gameid.Of[Hero]{hero(1), hero(2)}).Asc("id").Find(&players))
		if len(players) != 2 || players[1].ID != hero(2) {
			t.Errorf("In: %+v", players)
		}
		n, err := db.Where("id = ?", hero(1)).Delete(&xormPlayer{})
		if err != nil || n != 1 {
			t.Errorf("Delete: %d, %v", n, err)
		}
		n, err = db.ID(schemas.NewPK(hero(2))).Delete(&xormPlayer{})
		if err != nil || n != 1 {
			t.Errorf("Delete by ID: %d, %v", n, err)
		}
		if _, err := db.ID(hero(0)).Delete(&xormPlayer{}); err == nil {
			t.Error("xorm takes an ID without NewPK now")
		}
		if _, err := db.Insert(&xormPlayer{Name: "zero"}); err == nil {
			t.Error("the zero ID was stored")
		}
		if got := d.hex(t, "SELECT name FROM players"); !slices.Equal(got, []string{"0"}) {
			t.Errorf("left are %q", got)
		}
	})
}
