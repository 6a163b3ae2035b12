package mysql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"mergesafe/internal/sqldb"
)

const (
	// hostTimeout is how long one host of several may take to give a connection.
	hostTimeout = 2 * time.Second

	// hostGrace is how long a host is waited for when another one is ready that
	// comes after it, or might be in conflict with it.
	hostGrace = 500 * time.Millisecond
)

// hosts connects to one of several servers that have the same database: the
// first that serves, and takes writes if writes are wanted. It stays with that
// one until it fails.
//
// Two servers that both take writes, and do not agree on them, are refused: a
// pool over both would write to one or the other.
type hosts struct {
	names    []string
	servers  []mysqlConnector
	readOnly bool
	plain    bool                   // without TLS
	chosen   atomic.Pointer[choice] // nil before the first
	doubts   atomic.Uint64          // how often the chosen one became doubtful
	asking   atomic.Bool            // see suspect
}

// choice is the server that was chosen after so many doubts.
type choice struct {
	server int
	made   uint64
}

// doubtful is called when a connection that was made after so many doubts gives
// a reason to look again which server takes writes. Connections from before are
// not used again.
func (h *hosts) doubtful(made uint64) { h.doubts.CompareAndSwap(made, made+1) }

// suspect is called when a context ended before the chosen server answered. Either the server is slow, or the
// context was short. It tries a new connection to find out, in the background.
func (h *hosts) suspect(made uint64) {
	if !h.asking.CompareAndSwap(false, true) {
		return
	}
	go func() {
		defer h.asking.Store(false)
		conn, _, err := h.try(context.Background(), h.chosen.Load().server)
		if err != nil {
			h.doubtful(made)
			return
		}
		conn.Close()
	}()
}

// Driver implements [driver.Connector].
func (h *hosts) Driver() driver.Driver { return h.servers[0].Driver() }

// Connect implements [driver.Connector].
func (h *hosts) Connect(ctx context.Context) (driver.Conn, error) {
	made := h.doubts.Load()
	conn, err := h.connect(ctx, made)
	if err != nil {
		return nil, err
	}
	conn.hosts, conn.made = h, made
	return conn, nil
}

func (h *hosts) connect(ctx context.Context, made uint64) (*watchedConn, error) {
	chosen := h.chosen.Load()
	if chosen == nil || chosen.made != made && !h.readOnly {
		return h.choose(ctx, made)
	}
	conn, _, err := h.try(ctx, chosen.server)
	late := ctx.Err() != nil
	switch {
	case err == nil:
		return conn, nil
	case late:
		h.suspect(made)
	case !h.readOnly:
		h.doubtful(made)
	}
	if late || h.readOnly { // what only reads does not go to another server, which may be in another state
		return nil, &hostsError{h.readOnly, h.plain, h.names[chosen.server : chosen.server+1], []error{err}}
	}
	return h.choose(ctx, made+1)
}

// try connects to one of the servers, and demands that it serves.
func (h *hosts) try(ctx context.Context, i int) (*watchedConn, *role, error) {
	ctx, cancel := context.WithTimeout(ctx, hostTimeout)
	defer cancel()
	conn, err := h.servers[i].connect(ctx)
	if err != nil {
		return nil, nil, err
	}
	r, err := readRole(ctx, conn)
	if err == nil {
		err = r.serves(!h.readOnly)
	}
	if err != nil {
		conn.Close()
		return nil, nil, err
	}
	return conn, r, nil
}

// choose asks all servers at once.
func (h *hosts) choose(ctx context.Context, made uint64) (*watchedConn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	chosen := make(chan struct{})
	defer close(chosen)
	type answer struct {
		i    int
		conn *watchedConn
		role *role
		err  error
	}
	answers := make(chan answer)
	for i := range h.servers {
		go func() {
			conn, role, err := h.try(ctx, i)
			select {
			case answers <- answer{i, conn, role, err}:
			case <-chosen: // without this one
				if err == nil {
					conn.Close()
				}
			}
		}()
	}
	errs := make([]error, len(h.servers))
	ready := make([]*answer, len(h.servers))
	var grace <-chan time.Time
collect:
	for range h.servers {
		select {
		case a := <-answers:
			if errs[a.i] = a.err; a.err == nil {
				ready[a.i] = &a
				if grace == nil {
					grace = time.After(hostGrace)
				}
			}
		case <-grace:
			break collect
		}
	}
	var first *answer
	for _, a := range ready {
		switch {
		case a == nil:
		case first == nil:
			first = a
		default:
			a.conn.Close()
			if !h.readOnly && !first.role.agrees(a.role) {
				first.conn.Close()
				return nil, fmt.Errorf("%s and %s both accept writes but are not one cluster: make the unwanted one read-only (SET GLOBAL read_only = ON), or remove it from the DSN", h.names[first.i], h.names[a.i])
			}
		}
	}
	if first == nil {
		return nil, &hostsError{h.readOnly, h.plain, h.names, errs}
	}
	h.chosen.Store(&choice{first.i, made})
	return first.conn, nil
}

// hostsError says of each host why it cannot be used. Nothing was asked of any.
type hostsError struct {
	readOnly bool
	plain    bool
	names    []string
	errs     []error
}

func (e *hostsError) Error() string {
	does := "takes writes"
	if e.readOnly {
		does = "serves"
	}
	var each []string
	for i, name := range e.names {
		err := e.errs[i]
		if errors.Is(err, context.DeadlineExceeded) {
			err = errors.New("no answer in time")
		}
		each = append(each, fmt.Sprintf("%s: %v", name, sqldb.Explain(err, e.plain)))
	}
	return "no host " + does + ": " + strings.Join(each, "; ")
}

// Unwrap returns [sqldb.ErrUnavailable], and why the hosts did not serve.
func (e *hostsError) Unwrap() []error {
	return append([]error{sqldb.ErrUnavailable}, e.errs...)
}

// role is what a server is among the hosts of a DSN.
type role struct {
	place   sqldb.Place // without a database
	why     string      // that it does not serve; "" if it does
	noWrite string      // why it accepts no writes; "" if it does
}

func (r *role) serves(writes bool) error {
	switch {
	case r.why != "":
		return errors.New(r.why)
	case writes && r.noWrite != "":
		return fmt.Errorf("%w: %s", sqldb.ErrReadOnly, r.noWrite)
	}
	return nil
}

// agrees reports whether two servers that take writes take the same ones.
func (r *role) agrees(other *role) bool {
	a, b := r.place, other.place
	return a.Server == b.Server && a.Address == b.Address || a.Cluster != "" && a.Cluster == b.Cluster
}

const (
	roleVariables = `SHOW GLOBAL VARIABLES WHERE Variable_name IN (
	'read_only', 'super_read_only', 'server_uuid', 'hostname', 'port', 'datadir', 'server_id', 'lower_case_table_names', 'wsrep_on', 'group_replication_group_name')`
	roleGalera = `SHOW GLOBAL STATUS WHERE Variable_name IN (
	'wsrep_cluster_status', 'wsrep_cluster_state_uuid', 'wsrep_local_state_comment')`
	roleGroup = `SELECT IF(MEMBER_ID = @@server_uuid, 'self', MEMBER_ID), MEMBER_STATE FROM performance_schema.replication_group_members`
)

// placeOf says where a server is, by its variables; ask runs a query of names and values.
func placeOf(has map[string]string, ask func(query string) (map[string]string, error)) (sqldb.Place, error) {
	p := sqldb.Place{
		Server:  has["server_uuid"],
		Address: strings.Join([]string{has["hostname"], has["port"], has["datadir"], has["server_id"]}, " "),
		Folds:   has["lower_case_table_names"] != "0",
	}
	if group := has["group_replication_group_name"]; group != "" {
		members, err := ask(roleGroup)
		switch {
		case sqldb.IsDenied(err): // then the settings have to do
		case err != nil:
			return p, err
		case members["self"] != "ONLINE": // it has the settings of a member, such as a copy of one, and is none
			return p, nil
		}
		p.Cluster = group
	}
	if strings.EqualFold(has["wsrep_on"], "ON") {
		status, err := ask(roleGalera)
		if err != nil {
			return p, err
		}
		p.Cluster = status["wsrep_cluster_state_uuid"]
	}
	return p, nil
}

// readRole asks a server what it is.
func readRole(ctx context.Context, c *watchedConn) (*role, error) {
	ask := func(query string) (map[string]string, error) { return readPairs(ctx, c, query) }
	has, err := ask(roleVariables)
	if err != nil {
		return nil, err
	}
	r := new(role)
	if r.place, err = placeOf(has, ask); err != nil {
		return nil, err
	}
	for _, name := range []string{"super_read_only", "read_only"} {
		if value := strings.ToUpper(has[name]); value != "" && value != "OFF" && value != "0" {
			r.noWrite = name + " is " + value
		}
	}
	if has["group_replication_group_name"] != "" {
		members, err := ask(roleGroup)
		if sqldb.IsDenied(err) {
			return nil, fmt.Errorf("the account does not see whether it is a member of its group: GRANT SELECT ON performance_schema.replication_group_members TO it: %w", err)
		}
		if err != nil {
			return nil, err
		}
		r.why = outOfGroup(members)
	}
	if strings.EqualFold(has["wsrep_on"], "ON") {
		status, err := ask(roleGalera)
		if err != nil {
			return nil, err
		}
		if of, state := status["wsrep_cluster_status"], status["wsrep_local_state_comment"]; of != "Primary" {
			r.why = fmt.Sprintf("it has lost its cluster: wsrep_cluster_status is %s", of)
		} else if state != "Synced" {
			r.why = fmt.Sprintf("it is not synchronized with its cluster: wsrep_local_state_comment is %s", state)
		}
	}
	return r, nil
}

// outOfGroup says why a member of a group does not serve: "self" among the
// members, with their states.
func outOfGroup(members map[string]string) string {
	unreachable := 0
	for _, state := range members {
		if state == "UNREACHABLE" {
			unreachable++
		}
	}
	switch state := members["self"]; {
	case state == "":
		return "it has not joined its group"
	case state != "ONLINE":
		return "it is not synchronized with its group: its MEMBER_STATE is " + state
	case unreachable*2 >= len(members):
		return fmt.Sprintf("it has lost the majority of its group: %d of %d members are unreachable", unreachable, len(members))
	}
	return ""
}
