package integrations

import (
	"strings"
	"testing"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/mysqldialect"
	"github.com/uptrace/bun/dialect/sqlitedialect"

	"mergesafe/gameid"
)

type bunPlayer struct {
	bun.BaseModel `bun:"table:players"`

	ID    gameid.Of[Hero]  `bun:"id,pk,type:binary(10)"`
	Name  string           `bun:"name"`
	Guild *gameid.Of[Clan] `bun:"guild_id,type:binary(10)"`
	Boss  *gameid.Of[Hero] `bun:"boss_id,type:binary(10)"`
}

func openBun(d database) *bun.DB {
	if d.driver == "mysql" {
		return bun.NewDB(d.pool, mysqldialect.New())
	}
	return bun.NewDB(d.pool, sqlitedialect.New())
}

func TestBun(t *testing.T) {
	onEach(t, func(t *testing.T, d database) {
		ctx := t.Context()
		db := openBun(d)
		create := db.NewCreateTable().Model((*bunPlayer)(nil))
		if ddl := create.String(); strings.Count(strings.ToLower(ddl), "binary(10)") != 3 {
			t.Errorf("the table is %s", ddl)
		}
		var untyped struct {
			ID gameid.ID `bun:"id,pk"`
		}
		if ddl := db.NewCreateTable().Model(&untyped).ModelTableExpr("x").String(); !strings.Contains(strings.ToLower(ddl), "varchar") {
			t.Errorf("without a type bun knows better now than INTEGRATIONS.md says: %s", ddl)
		}
		_, err := create.Exec(ctx)
		must(t, err)
		boss, guild := hero(0), clan(9)
		players := []bunPlayer{{ID: hero(0), Name: "0"}, {ID: hero(1), Name: "1", Guild: &guild, Boss: &boss}, {ID: hero(2), Name: "2"}}
		_, err = db.NewInsert().Model(&players).Exec(ctx)
		must(t, err)
		if got := d.hex(t, "SELECT HEX(id) FROM players WHERE guild_id IS NOT NULL AND boss_id IS NOT NULL"); len(got) != 1 || got[0] != strings.ToUpper(hero(1).String()) {
			t.Errorf("stored is %q", got)
		}

		var p bunPlayer
		must(t, db.NewSelect().Model(&p).Where("id = ?", hero(1)).Scan(ctx))
		if p.Name != "1" || p.Guild == nil || *p.Guild != guild || p.Boss == nil || *p.Boss != boss {
			t.Errorf("read %+v", p)
		}
		p = bunPlayer{ID: hero(2)}
		must(t, db.NewSelect().Model(&p).WherePK().Scan(ctx))
		if p.Name != "2" || p.Guild != nil || p.Boss != nil {
			t.Errorf("read %+v", p)
		}
		var names []string
		must(t, db.NewSelect().Model((*bunPlayer)(nil)).Column("name").Where("id IN (?)", bun.List([]gameid.Of[Hero]{hero(1), hero(2)})).Order("id").Scan(ctx, &names))
		if strings.Join(names, "") != "12" {
			t.Errorf("IN: %q", names)
		}
		var rows []struct{ ID gameid.Of[Hero] }
		must(t, db.NewSelect().Table("players").Column("id").Order("id").Scan(ctx, &rows))
		if len(rows) != 3 || rows[2].ID != hero(2) {
			t.Errorf("IDs alone: %v", rows)
		}
		var ids []gameid.Of[Hero]
		if err := db.NewSelect().Table("players").Column("id").Scan(ctx, &ids); err == nil {
			t.Errorf("bun reads into a slice of IDs now: %v", ids)
		}
		deleted, err := db.NewDelete().Model((*bunPlayer)(nil)).Where("id = ?", hero(1)).Exec(ctx)
		must(t, err)
		if n, _ := deleted.RowsAffected(); n != 1 {
			t.Errorf("%d rows were deleted", n)
		}

		// bun writes its error into the statement, which no database takes then.
		var zero gameid.Of[Hero]
		_, err = db.NewInsert().Model(&bunPlayer{Name: "zero"}).Exec(ctx)
		refused(t, "insert", err)
		_, err = db.NewUpdate().Model((*bunPlayer)(nil)).Set("boss_id = ?", zero).Where("1 = 1").Exec(ctx)
		refused(t, "update", err)
		_, err = db.NewDelete().Model((*bunPlayer)(nil)).Where("id = ?", zero).Exec(ctx)
		refused(t, "delete", err)
		refused(t, "select", db.NewSelect().Model(&p).Where("id = ?", zero).Scan(ctx))
		if got := d.hex(t, "SELECT name FROM players WHERE boss_id IS NULL ORDER BY id"); strings.Join(got, "") != "02" {
			t.Errorf("after all that %q are there", got)
		}
	})
}

func refused(t *testing.T, what string, err error) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: the zero ID was sent", what)
	}
}
