package mysql

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"mergesafe/internal/sqldb"
)

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
			r.why = fmt.Sprintf("it is not in step with its cluster: wsrep_local_state_comment is %s", state)
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
		return "it is not in step with its group: its MEMBER_STATE is " + state
	case unreachable*2 >= len(members):
		return fmt.Sprintf("it has lost the majority of its group: %d of %d members are unreachable", unreachable, len(members))
	}
	return ""
}
