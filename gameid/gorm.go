package gameid

import (
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// GORM asks a type for what it must know by the names of methods, so it need
// not be imported.

// GormDataType is the type of the column that GORM makes for a field without a
// type in its tag.
func (ID) GormDataType() string { return gormDataType }

// TableName panics. GORM calls it when it takes IDs for rows of a table, and then finds
// no columns in them. Without the panic, First(&player, ids) would read the first of
// all players, and Find(&players, ids) all of them, without an error. GORM also calls
// it, once for a type, for Pluck and Scan into IDs, which would be right; but then it
// knows the type, and does not call it again for the others.
func (ID) TableName() string { panic(noModel) }

const (
	gormDataType = "binary(10)"

	noModel = `gameid: GORM treats an ID as a row here. To look up rows by several IDs write Find(&rows, "id IN ?", ids). ` +
		`To read IDs alone, use Pluck and Scan with sql.Null of an ID`

	noModelOpaque = `gameid: GORM treats a sealed ID as a row here. Open it with its Cipher, and look up the ID`
)

// askedByGORM reports whether GORM calls Value while it builds a condition on
// the primary key, as in Delete(&Player{}, id). Of what it gets there GORM only
// looks at the type: it takes a slice apart, so that id IN (0, 221, 206, ...)
// becomes of the bytes, which is true of every row on MariaDB. Of anything else
// it makes id = ?, and asks again for the value when it sends the statement.
//
// Nothing but the caller tells the two calls apart. A program without GORM pays
// nothing for it.
func askedByGORM() bool { return gorm.Load() != gormAbsent && builtByGORM() }

func builtByGORM() bool {
	if gorm.Load() == gormUnknown {
		if gorm.Store(findGORM()); gorm.Load() == gormAbsent {
			return false
		}
	}
	var callers [8]uintptr // enough for a sql.Null around the ID, and a type of the game around that
	return slices.ContainsFunc(callers[:runtime.Callers(3, callers[:])], buildsCondition)
}

// buildsCondition reports whether pc, which a call returns to, is in a method of
// GORM's Statement: BuildCondition in v1.31, and any other name in another
// version, for none of them sends statements. To look up the name of a function
// takes long, and there are few callers.
func buildsCondition(pc uintptr) bool {
	if known, ok := conditionBuilders.Load(pc); ok {
		return known.(bool)
	}
	f := runtime.FuncForPC(pc - 1)
	is := f != nil && strings.HasPrefix(f.Name(), "gorm.io/gorm.(*Statement).")
	conditionBuilders.Store(pc, is)
	return is
}

var conditionBuilders sync.Map // from uintptr to bool

// gorm is whether GORM is in this program.
var gorm atomic.Int32

const (
	gormUnknown int32 = iota
	gormAbsent
	gormLinked
)

// findGORM returns gormAbsent only if the program says which modules it is built
// of, and GORM is not among them.
func findGORM() int32 {
	info, ok := debug.ReadBuildInfo()
	if !ok || len(info.Deps) == 0 {
		return gormLinked
	}
	for _, module := range info.Deps {
		if strings.HasPrefix(module.Path, "gorm.io/") {
			return gormLinked
		}
	}
	return gormAbsent
}
