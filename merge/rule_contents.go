package merge

import "context"

// contentsRule sums up the rows of every table, if the operator wants that. It
// judges nothing: [Compare] compares the sums of two reports.
func contentsRule() rule { return rule{tasks: contentsTasks} }

func contentsTasks(f *facts) (tasks []task) {
	if !f.opts.Contents || len(f.opts.Only) > 0 {
		return nil
	}
	for _, table := range f.tables {
		tasks = append(tasks, task{taskID{code: "contents", columns: idOf(table)}, []string{table}, func(ctx context.Context, r *reader) (o outcome, err error) {
			for db := range f.having(table) {
				c := contents{db: db, table: table}
				if c.sum, _, c.unread, err = r.contents(ctx, db, table, nil); err != nil {
					return outcome{}, err
				}
				o.contents = append(o.contents, c)
			}
			return o, nil
		}})
	}
	return tasks
}

// contents are what one source has in one table.
type contents struct {
	db          *database
	table       string
	sum, unread string // unread says why there is no sum
}
