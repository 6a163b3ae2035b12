package starter

import (
	"context"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/store"
)

// Items is the table of items.
var Items = ItemTable{store.MustTable[gameid.Of[entity.Item], entity.Item]("items")}

// ItemTable is a [store.Table] with the lookups of items.
type ItemTable struct {
	*store.Table[gameid.Of[entity.Item], entity.Item]
}

// OfPlayer returns the items of a player in the order of their making.
func (t ItemTable) OfPlayer(ctx context.Context, s store.Session, player gameid.Of[entity.Player]) ([]entity.Item, error) {
	return t.Where(ctx, s, "owner_id = ? ORDER BY id", player)
}
