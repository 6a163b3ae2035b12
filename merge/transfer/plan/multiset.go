package plan

// Multiset reports whether a table of the plan has no key.
func (p *Plan) Multiset(table string) bool {
	t := p.Table(table)
	return t != nil && len(t.Key) == 0
}
