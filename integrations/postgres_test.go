package integrations

import (
	"errors"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
	gormpostgres "gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"mergesafe/gameid"
	"mergesafe/internal/servertest"
)

// postgres is a database with a table of players, three of which are there.
func postgres(t *testing.T) database {
	t.Helper()
	d := open(t, "pgx", servertest.PostgresDSN(t))
	d.exec(t, `CREATE TABLE players (id BYTEA PRIMARY KEY CHECK (octet_length(id) = 10), name TEXT NOT NULL,
		guild_id BYTEA CHECK (octet_length(guild_id) = 10))`)
	return d
}

// stored are the names of the players, and their IDs as the server prints them.
func (d database) stored(t *testing.T) []string {
	return d.hex(t, "SELECT name || ' ' || encode(id, 'hex') || COALESCE(' ' || encode(guild_id, 'hex'), '') FROM players ORDER BY id")
}

var threePlayers = []string{"0 " + made(0).String(), "1 " + made(1).String() + " " + made(9).String(), "2 " + made(2).String()}

func TestPostgresPGX(t *testing.T) {
	d := postgres(t)
	ctx := t.Context()
	conn, err := pgx.Connect(ctx, d.dsn)
	must(t, err)
	defer conn.Close(ctx)
	guild := clan(9)
	_, err = conn.Exec(ctx, "INSERT INTO players VALUES ($1, '0', $2)", hero(0), (*gameid.Of[Clan])(nil))
	must(t, err)
	_, err = conn.Exec(ctx, "INSERT INTO players VALUES ($1, '1', $2)", hero(1), &guild)
	must(t, err)
	copied, err := conn.CopyFrom(ctx, pgx.Identifier{"players"}, []string{"id", "name"}, pgx.CopyFromRows([][]any{{hero(2), "2"}}))
	if err != nil || copied != 1 {
		t.Errorf("COPY: %d rows, %v", copied, err)
	}
	if got := d.stored(t); !slices.Equal(got, threePlayers) {
		t.Errorf("stored are %q", got)
	}
	rows, err := conn.Query(ctx, "SELECT id, name, guild_id FROM players WHERE id = ANY($1) ORDER BY id", []gameid.Of[Hero]{hero(1), hero(2)})
	must(t, err)
	type player struct {
		ID    gameid.Of[Hero]
		Name  string
		Guild *gameid.Of[Clan]
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[player])
	if err != nil || len(found) != 2 || found[0].ID != hero(1) || *found[0].Guild != guild || found[1].Guild != nil {
		t.Errorf("ANY: %+v, %v", found, err)
	}
	rows, err = conn.Query(ctx, "SELECT id FROM players ORDER BY id")
	must(t, err)
	ids, err := pgx.CollectRows(rows, pgx.RowTo[gameid.Of[Hero]])
	if err != nil || !slices.Equal(ids, []gameid.Of[Hero]{hero(0), hero(1), hero(2)}) {
		t.Errorf("IDs alone: %v, %v", ids, err)
	}
	_, err = conn.Exec(ctx, "DELETE FROM players WHERE id = $1", gameid.Of[Hero]{})
	refused(t, "delete", err)
	_, err = conn.Exec(ctx, "UPDATE players SET guild_id = $1", pgtype.FlatArray[gameid.ID]{made(1)})
	refused(t, "an array for one ID", err)
}

// On PostgreSQL GORM needs the type of the column.
type gormPostgresPlayer struct {
	ID    gameid.Of[Hero] `gorm:"type:bytea"`
	Name  string
	Guild *gameid.Of[Clan] `gorm:"type:bytea;column:guild_id"`
}

func (gormPostgresPlayer) TableName() string { return "players" }

func TestPostgresGORM(t *testing.T) {
	d := postgres(t)
	db, err := gorm.Open(gormpostgres.New(gormpostgres.Config{Conn: d.pool}), &gorm.Config{Logger: logger.Discard})
	must(t, err)
	d.exec(t, "DROP TABLE players")
	must(t, db.AutoMigrate(&gormPostgresPlayer{}))
	must(t, db.AutoMigrate(&gormPostgresPlayer{})) // changes nothing
	guild := clan(9)
	must(t, db.Create([]gormPostgresPlayer{{hero(0), "0", nil}, {hero(1), "1", &guild}, {hero(2), "2", nil}}).Error)
	if got := d.stored(t); !slices.Equal(got, threePlayers) {
		t.Errorf("stored are %q", got)
	}
	var p gormPostgresPlayer
	must(t, db.First(&p, hero(1)).Error)
	if p.ID != hero(1) || *p.Guild != guild {
		t.Errorf("First: %+v", p)
	}
	var found []gormPostgresPlayer
	must(t, db.Find(&found, "id IN ?", []gameid.Of[Hero]{hero(1), hero(2)}).Error)
	if len(found) != 2 {
		t.Errorf("IN: %+v", found)
	}
	if deleted := db.Delete(&gormPostgresPlayer{}, hero(1)); deleted.Error != nil || deleted.RowsAffected != 1 {
		t.Errorf("Delete: %d rows, %v", deleted.RowsAffected, deleted.Error)
	}
	if err := db.First(&p, hero(1)).Error; !errors.Is(err, gorm.ErrRecordNotFound) {
		t.Errorf("after Delete: %v", err)
	}
	refused(t, "insert", db.Create(&gormPostgresPlayer{Name: "zero"}).Error)
	if err := db.AutoMigrate(&gormItem{}); err == nil {
		t.Error("GORM needs no type on PostgreSQL any more: INTEGRATIONS.md says so")
	}
}

type bunPostgresPlayer struct {
	bun.BaseModel `bun:"table:players"`

	ID    gameid.Of[Hero]  `bun:"id,pk,type:bytea"`
	Name  string           `bun:"name"`
	Guild *gameid.Of[Clan] `bun:"guild_id,type:bytea"`
}

func TestPostgresBun(t *testing.T) {
	d := postgres(t)
	ctx := t.Context()
	db := bun.NewDB(d.pool, pgdialect.New())
	d.exec(t, "DROP TABLE players")
	_, err := db.NewCreateTable().Model((*bunPostgresPlayer)(nil)).Exec(ctx)
	must(t, err)
	guild := clan(9)
	players := []bunPostgresPlayer{{ID: hero(0), Name: "0"}, {ID: hero(1), Name: "1", Guild: &guild}, {ID: hero(2), Name: "2"}}
	_, err = db.NewInsert().Model(&players).Exec(ctx)
	must(t, err)
	if got := d.stored(t); !slices.Equal(got, threePlayers) {
		t.Errorf("stored are %q", got)
	}
	var p bunPostgresPlayer
	must(t, db.NewSelect().Model(&p).Where("id = ?", hero(1)).Scan(ctx))
	if p.ID != hero(1) || *p.Guild != guild {
		t.Errorf("read %+v", p)
	}
	var found []bunPostgresPlayer
	must(t, db.NewSelect().Model(&found).Where("id IN (?)", bun.List([]gameid.Of[Hero]{hero(1), hero(2)})).Scan(ctx))
	if len(found) != 2 {
		t.Errorf("IN: %+v", found)
	}
	_, err = db.NewInsert().Model(&bunPostgresPlayer{Name: "zero"}).Exec(ctx)
	refused(t, "insert", err)
}
