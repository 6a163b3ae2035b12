package inventory

// grow notes in each world what changed since an earlier inventory, if that could read it.
func grow(inv, earlier *Inventory) {
	if earlier == nil {
		return
	}
	before := make(map[string]*World)
	for i := range earlier.Worlds {
		if w := &earlier.Worlds[i]; w.Problem == "" {
			before[w.Name] = w
		}
	}
	for i := range inv.Worlds {
		w := &inv.Worlds[i]
		was := before[w.Name]
		if was == nil || w.Problem != "" || was.Engine != w.Engine {
			continue
		}
		w.Growth = &Growth{Since: earlier.Made, Rows: w.Rows - was.Rows, Bytes: w.Bytes - was.Bytes, Estimated: w.Estimated || was.Estimated}
		if w.Players != nil && was.Players != nil {
			w.Growth.Active7 = w.Players.Active7 - was.Players.Active7
		}
	}
}
