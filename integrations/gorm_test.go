package integrations

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	gormmysql "gorm.io/driver/mysql"
	gormsqlite "gorm.io/driver/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"mergesafe/gameid"
	"mergesafe/internal/servertest"
)

// No field has a type in its tag.
type gormGuild struct {
	ID      gameid.Of[Clan]
	Name    string
	Players []gormPlayer `gorm:"foreignKey:GuildID"`
}

type gormPlayer struct {
	ID        gameid.Of[Hero]
	Name      string
	GuildID   *gameid.Of[Clan]
	Guild     *gormGuild
	DeletedAt gorm.DeletedAt
}

// gormItem has no soft delete, and an ID without a kind.
type gormItem struct {
	ID    gameid.ID
	Owner gameid.Of[Hero]
}

func openGORM(t *testing.T, d database) *gorm.DB {
	t.Helper()
	var dialector gorm.Dialector = &gormsqlite.Dialector{DriverName: d.driver, DSN: d.dsn, Conn: d.pool}
	if d.driver == "mysql" {
		dialector = gormmysql.New(gormmysql.Config{DSN: d.dsn, Conn: d.pool})
	}
	db, err := gorm.Open(dialector, &gorm.Config{Logger: logger.Discard})
	must(t, err)
	must(t, db.AutoMigrate(&gormGuild{}, &gormPlayer{}, &gormItem{}))
	must(t, db.AutoMigrate(&gormGuild{}, &gormPlayer{}, &gormItem{})) // changes nothing
	must(t, db.Create(&gormGuild{ID: clan(9), Name: "g"}).Error)
	for n := range uint16(3) {
		guild := clan(9)
		must(t, db.Create(&gormPlayer{ID: hero(n), Name: fmt.Sprint(n), GuildID: &guild}).Error)
		must(t, db.Create(&gormItem{ID: made(n), Owner: hero(n)}).Error)
	}
	return db
}

// Every form in which GORM takes a condition finds the one row that it names, or
// the rows, whether it reads, counts or deletes.
func TestGORMConditions(t *testing.T) {
	onEach(t, func(t *testing.T, d database) {
		db := openGORM(t, d)
		id, ids := hero(1), []gameid.Of[Hero]{hero(1), hero(2)}
		for name, c := range map[string]struct {
			conds []any
			want  string
		}{
			"ID":              {[]any{id}, "1"},
			"ID of no kind":   {[]any{id.ID()}, "1"},
			"pointer":         {[]any{&id}, "1"},
			"sql.Null":        {[]any{sql.Null[gameid.Of[Hero]]{V: id, Valid: true}}, "1"},
			"two IDs":         {[]any{hero(1), hero(2)}, "12"},
			"text":            {[]any{"id = ?", id}, "1"},
			"text, not":       {[]any{"id <> ?", id}, "02"},
			"text, IN":        {[]any{"id IN ?", ids}, "12"},
			"text, IN (?)":    {[]any{"id IN (?)", ids}, "12"},
			"text, IN nobody": {[]any{"id IN ?", ids[:0]}, ""},
			"named":           {[]any{"id = @id", sql.Named("id", id)}, "1"},
			"map":             {[]any{map[string]any{"id": id}}, "1"},
			"map of slice":    {[]any{map[string]any{"id": ids}}, "12"},
			"struct":          {[]any{gormPlayer{ID: id}}, "1"},
			"struct pointer":  {[]any{&gormPlayer{ID: id}}, "1"},
			"nobody":          {[]any{hero(77)}, ""},
		} {
			t.Run(name, func(t *testing.T) {
				var found []gormPlayer
				must(t, db.Order("id").Find(&found, c.conds...).Error)
				if got := namesOf(found); got != c.want {
					t.Errorf("Find: %q, want %q", got, c.want)
				}
				must(t, db.Order("id").Where(c.conds[0], c.conds[1:]...).Find(&found).Error)
				if got := namesOf(found); got != c.want {
					t.Errorf("Where: %q, want %q", got, c.want)
				}
				var first gormPlayer
				err := db.First(&first, c.conds...).Error
				if c.want == "" && !errors.Is(err, gorm.ErrRecordNotFound) || c.want != "" && (err != nil || first.Name != c.want[:1]) {
					t.Errorf("First: %q, %v, want of %q", first.Name, err, c.want)
				}
				tx := db.Begin()
				defer tx.Rollback()
				deleted := tx.Unscoped().Delete(&gormPlayer{}, c.conds...)
				if deleted.Error != nil || deleted.RowsAffected != int64(len(c.want)) {
					t.Errorf("Delete: %d rows, %v, want %d", deleted.RowsAffected, deleted.Error, len(c.want))
				}
				must(t, tx.Order("id").Find(&found).Error)
				if got := namesOf(found) + c.want; len(got) != 3 || strings.ContainsAny(namesOf(found), c.want) {
					t.Errorf("after Delete %q are there", namesOf(found))
				}
			})
		}
		// Conditions that are built one after the other.
		var found []gormPlayer
		must(t, db.Order("id").Where(hero(0)).Or(hero(2)).Find(&found).Error)
		if got := namesOf(found); got != "02" {
			t.Errorf("Or: %q", got)
		}
		must(t, db.Order("id").Not(hero(0)).Find(&found).Error)
		if got := namesOf(found); got != "12" {
			t.Errorf("Not: %q", got)
		}
		one, err := gorm.G[gormPlayer](db).Where("id = ?", hero(2)).First(context.Background())
		if err != nil || one.Name != "2" {
			t.Errorf("G: %q, %v", one.Name, err)
		}
	})
}

func namesOf(players []gormPlayer) (names string) {
	for _, p := range players {
		names += p.Name
	}
	return names
}

// What GORM would take for a condition that is always true is refused.
func TestGORMRefuses(t *testing.T) {
	onEach(t, func(t *testing.T, d database) {
		db := openGORM(t, d)
		var p gormPlayer
		var all []gormPlayer
		var id, target gameid.Of[Hero]
		var targets []gameid.Of[Hero]
		ids := []gameid.Of[Hero]{hero(1), hero(2)}
		for name, do := range map[string]func() error{
			"Delete by the zero ID":         func() error { return db.Delete(&gormPlayer{}, id).Error },
			"First by the zero ID":          func() error { return db.First(&p, id).Error },
			"Where with the zero ID":        func() error { return db.Where("id = ?", id).First(&p).Error },
			"Delete of a zero struct":       func() error { return db.Delete(&gormPlayer{}).Error },
			"Create with the zero ID":       func() error { return db.Create(&gormPlayer{Name: "z"}).Error },
			"Save with the zero ID":         func() error { return db.Save(&gormPlayer{Name: "z"}).Error },
			"Update to the zero ID":         func() error { return db.Model(&gormItem{ID: made(1)}).Update("owner", id).Error },
			"Delete by a slice":             func() error { return db.Delete(&gormPlayer{}, ids).Error },
			"First by a slice":              func() error { return db.First(&p, ids).Error },
			"Find by a slice":               func() error { return db.Find(&all, ids).Error },
			"Find by an empty slice":        func() error { return db.Find(&all, ids[:0]).Error },
			"Find by a slice of no kind":    func() error { return db.Find(&all, []gameid.ID{made(1)}).Error },
			"First by a public ID":          func() error { return db.First(&p, gameid.Opaque[Hero]{}).Error },
			"Pluck into IDs":                func() error { return db.Model(&gormPlayer{}).Pluck("id", &targets).Error },
			"Scan into an ID":               func() error { return db.Model(&gormPlayer{}).Select("id").Scan(&target).Error },
			"Scan of raw SQL into an ID":    func() error { return db.Raw("SELECT id FROM gorm_players").Scan(&target).Error },
			"an ID that is no guild's":      func() error { g := clan(1); return db.Create(&gormPlayer{ID: hero(5), GuildID: &g}).Error },
			"a second row of the same ID":   func() error { return db.Create(&gormPlayer{ID: hero(1)}).Error },
			"the text of an ID as it is":    func() error { return db.First(&p, hero(1).String()).Error },
			"an update of a row without ID": func() error { return db.Model(&gormPlayer{}).Update("name", "x").Error },
		} {
			err := recovered(do)
			if err == nil || p.Name != "" || len(all) > 0 {
				t.Errorf("%s: %v, read %q and %q", name, err, p.Name, namesOf(all))
				p, all = gormPlayer{}, nil
			} else if s, ok := strings.CutPrefix(err.Error(), "panic: "); ok && !strings.HasPrefix(s, "gameid: GORM treats") {
				t.Errorf("%s: %v", name, err)
			}
		}
		var n int64
		must(t, db.Model(&gormPlayer{}).Where("name IN ?", []string{"0", "1", "2"}).Count(&n).Error)
		if n != 3 {
			t.Errorf("%d players are left, want 3", n)
		}
	})
}

func recovered(do func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return do()
}

// Columns, foreign keys, Preload, Joins, soft delete, Save and Updates.
func TestGORMModels(t *testing.T) {
	onEach(t, func(t *testing.T, d database) {
		db := openGORM(t, d)
		columns, err := db.Migrator().ColumnTypes(&gormPlayer{})
		must(t, err)
		for _, c := range columns {
			if full, _ := c.ColumnType(); (c.Name() == "id" || c.Name() == "guild_id") && !strings.EqualFold(full, "binary(10)") {
				t.Errorf("the column %s is %s", c.Name(), full)
			}
		}
		var want []string
		for n := range uint16(3) {
			want = append(want, strings.ToUpper(hero(n).String()))
		}
		if got := d.hex(t, "SELECT HEX(id) FROM gorm_players ORDER BY id"); !slices.Equal(got, want) {
			t.Errorf("stored are %q, want %q", got, want)
		}
		if d.driver == "sqlite" {
			if got := d.hex(t, "SELECT DISTINCT typeof(id) || typeof(guild_id) FROM gorm_players"); !slices.Equal(got, []string{"blobblob"}) {
				t.Errorf("SQLite has %q", got)
			}
		}

		var guild gormGuild
		must(t, db.Preload("Players").First(&guild, clan(9)).Error)
		if namesOf(guild.Players) != "012" || guild.Players[1].ID != hero(1) || *guild.Players[1].GuildID != clan(9) {
			t.Errorf("Preload of many: %+v", guild.Players)
		}
		var p gormPlayer
		must(t, db.Joins("Guild").First(&p, hero(1)).Error)
		if p.Name != "1" || p.Guild == nil || p.Guild.ID != clan(9) {
			t.Errorf("Joins: %+v", p)
		}
		p = gormPlayer{}
		must(t, db.Preload("Guild").First(&p, hero(2)).Error)
		if p.Name != "2" || p.Guild == nil || p.Guild.ID != clan(9) {
			t.Errorf("Preload of one: %+v", p)
		}
		if n := db.Model(&guild).Where("name = ?", "1").Association("Players").Count(); n != 1 {
			t.Errorf("Association: %d", n)
		}

		if deleted := db.Delete(&gormPlayer{}, hero(1)); deleted.Error != nil || deleted.RowsAffected != 1 {
			t.Errorf("soft delete: %d rows, %v", deleted.RowsAffected, deleted.Error)
		}
		if deleted := db.Delete(&gormPlayer{ID: hero(2)}); deleted.Error != nil || deleted.RowsAffected != 1 {
			t.Errorf("soft delete of a struct: %d rows, %v", deleted.RowsAffected, deleted.Error)
		}
		var left []gormPlayer
		must(t, db.Find(&left).Error)
		if namesOf(left) != "0" {
			t.Errorf("after a soft delete %q are there", namesOf(left))
		}
		must(t, db.Unscoped().Order("id").Find(&left).Error)
		if namesOf(left) != "012" {
			t.Errorf("without the scope %q are there", namesOf(left))
		}

		must(t, db.Save(&gormPlayer{ID: hero(0), Name: "a"}).Error)
		must(t, db.Model(&gormPlayer{ID: hero(0)}).Updates(map[string]any{"guild_id": clan(9)}).Error)
		p = gormPlayer{}
		must(t, db.First(&p, hero(0)).Error)
		if p.Name != "a" || p.GuildID == nil || *p.GuildID != clan(9) {
			t.Errorf("after Save and Updates: %+v", p)
		}
		var plucked []sql.Null[gameid.Of[Hero]]
		must(t, db.Unscoped().Model(&gormPlayer{}).Order("id").Pluck("id", &plucked).Error)
		if len(plucked) != 3 || plucked[2].V != hero(2) {
			t.Errorf("Pluck: %v", plucked)
		}
		var one sql.Null[gameid.Of[Hero]]
		must(t, db.Raw("SELECT MAX(id) FROM gorm_players").Scan(&one).Error)
		if one.V != hero(2) {
			t.Errorf("Scan: %v", one)
		}
		var rows []struct{ ID gameid.Of[Hero] }
		must(t, db.Model(&gormPlayer{}).Find(&rows).Error)
		if len(rows) != 1 || rows[0].ID != hero(0) {
			t.Errorf("IDs alone: %v", rows)
		}
		if deleted := db.Delete(&gormItem{}, made(1)); deleted.Error != nil || deleted.RowsAffected != 1 {
			t.Errorf("Delete: %d rows, %v", deleted.RowsAffected, deleted.Error)
		}
		if got := d.hex(t, "SELECT HEX(id) FROM gorm_items ORDER BY id"); len(got) != 2 || got[1] != want[2] {
			t.Errorf("items are %q", got)
		}
	})
}

// GORM takes bytes apart: INTEGRATIONS.md says what comes of it on each database, in strict mode, which is
// the default, and without. The ID itself names its row.
func TestGORMBytes(t *testing.T) {
	onEach(t, func(t *testing.T, d database) {
		db := openGORM(t, d)
		d.pool.SetMaxOpenConns(1) // which has the mode
		modes := []string{""}
		if d.driver == "mysql" {
			modes = append(modes, d.hex(t, "SELECT @@sql_mode")...)
		}
		raw := made(1).Bytes()
		for i, mode := range modes {
			var want int64 // of three
			var fails bool
			if d.driver == "mysql" {
				d.exec(t, "SET sql_mode = ?", mode)
				if strict := strings.Contains(mode, "STRICT_TRANS_TABLES"); strict != (i == 1) {
					t.Fatalf("the server's sql_mode is %q", mode)
				}
				if want, fails = 3, i == 1 && !servertest.OnMariaDB(t); fails {
					want = 0
				}
			}
			for name, id := range map[string]any{"array": raw, "slice": raw[:]} {
				tx := db.Begin()
				deleted := tx.Delete(&gormItem{}, id)
				if deleted.RowsAffected != want || (deleted.Error != nil) != fails {
					t.Errorf("%s, %q: %d rows deleted, %v, want %d", name, mode, deleted.RowsAffected, deleted.Error, want)
				}
				must(t, tx.Rollback().Error)
				var item gormItem
				err := db.First(&item, id).Error
				if d.driver == "mysql" && item.ID != made(0) || d.driver == "sqlite" && err == nil {
					t.Errorf("%s, %q: First read %s, %v", name, mode, item.ID, err)
				}
			}
		}
		if deleted := db.Delete(&gormItem{}, made(1)); deleted.RowsAffected != 1 {
			t.Errorf("the ID: %d rows deleted, %v", deleted.RowsAffected, deleted.Error)
		}
	})
}

// In a program, not a test, GORM is found by the modules that it is built of.
func TestGORMInAProgram(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "run", "./gormprogram").CombinedOutput()
	if want := "1 deleted, 2 left, modules known: true\n"; err != nil || string(out) != want {
		t.Errorf("%v, %q, want %q", err, out, want)
	}
}

// A nil pointer alone is no condition: GORM calls its Value, and Go panics, naming the type,
// before any row is found. As the value of a column it is NULL.
func TestGORMNilPointer(t *testing.T) {
	onEach(t, func(t *testing.T, d database) {
		db := openGORM(t, d)
		var none *gameid.Of[Hero]
		for name, use := range map[string]func() *gorm.DB{
			"First":  func() *gorm.DB { return db.First(&gormPlayer{}, none) },
			"Delete": func() *gorm.DB { return db.Delete(&gormPlayer{}, none) },
		} {
			func() {
				defer func() {
					if why := fmt.Sprint(recover()); !strings.Contains(why, "gameid.Of[") || !strings.Contains(why, "Value called using nil *Of") {
						t.Errorf("%s: %s", name, why)
					}
				}()
				t.Errorf("%s: %d rows, %v", name, use().RowsAffected, db.Error)
			}()
		}
		var n int64
		if must(t, db.Model(&gormPlayer{}).Where("id = ?", none).Count(&n).Error); n != 0 {
			t.Errorf("%d rows have no ID", n)
		}
		if must(t, db.Model(&gormPlayer{}).Count(&n).Error); n != 3 {
			t.Errorf("%d rows are left", n)
		}
	})
}

// With PrepareStmt the transaction is one deeper.
func TestGORMPreparedTransaction(t *testing.T) {
	onEach(t, func(t *testing.T, d database) {
		db := openGORM(t, d).Session(&gorm.Session{PrepareStmt: true})
		must(t, db.Transaction(func(tx *gorm.DB) error {
			if _, ok := tx.Statement.ConnPool.(*gorm.PreparedStmtTX).Tx.(*sql.Tx); !ok {
				t.Errorf("the transaction is a %T", tx.Statement.ConnPool)
			}
			return nil
		}))
	})
}
