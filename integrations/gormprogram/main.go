// Gormprogram deletes one of three players by its ID, and prints how many are
// left. Unlike a test, a program knows of which modules it is built.
package main

import (
	"fmt"
	"log"
	"runtime/debug"

	gormsqlite "gorm.io/driver/sqlite"
	"gorm.io/gorm"
	_ "modernc.org/sqlite" // "sqlite"

	"mergesafe/gameid"
)

type player struct{ ID gameid.Of[player] }

func main() {
	db, err := gorm.Open(&gormsqlite.Dialector{DriverName: "sqlite", DSN: "file::memory:?cache=shared"})
	if err == nil {
		err = db.AutoMigrate(&player{})
	}
	if err != nil {
		log.Fatal(err)
	}
	var ids []gameid.Of[player]
	for n := range uint16(3) {
		id, err := gameid.Make(gameid.Epoch(), 7, n)
		if err != nil {
			log.Fatal(err)
		}
		ids = append(ids, gameid.As[player](id))
		if err := db.Create(&player{ids[n]}).Error; err != nil {
			log.Fatal(err)
		}
	}
	deleted := db.Delete(&player{}, ids[1])
	var left int64
	if err := db.Model(&player{}).Count(&left).Error; err != nil || deleted.Error != nil {
		log.Fatal(err, deleted.Error)
	}
	info, _ := debug.ReadBuildInfo()
	fmt.Printf("%d deleted, %d left, modules known: %t\n", deleted.RowsAffected, left, len(info.Deps) > 0)
}
