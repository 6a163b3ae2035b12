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
	server  string // tells it from the others
	cluster string // of which it is a member; "" if it stands alone
	why     string // that it does not serve; "" if it does
	noWrite string // why it accepts no writes; "" if it does
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
	return r.server == other.server || r.cluster != "" && r.cluster == other.cluster
}

const (
	roleVariables = `SHOW GLOBAL VARIABLES WHERE Variable_name IN (
	'read_only', 'super_read_only', 'server_uuid', 'hostname', 'port', 'datadir', 'wsrep_on', 'group_replication_group_name')`
	roleGalera = `SHOW GLOBAL STATUS WHERE Variable_name IN (
	'wsrep_cluster_status', 'wsrep_cluster_state_uuid', 'wsrep_local_state_comment')`
	roleGroup = `SELECT IF(MEMBER_ID = @@server_uuid, 'self', MEMBER_ID), MEMBER_STATE FROM performance_schema.replication_group_members`
)

// readRole asks a server what it is.
func readRole(ctx context.Context, c *watchedConn) (*role, error) {
	has, err := readPairs(ctx, c, roleVariables)
	if err != nil {
		return nil, err
	}
	r := &role{server: strings.Join([]string{has["server_uuid"], has["hostname"], has["port"], has["datadir"]}, " ")}
	for _, name := range []string{"super_read_only", "read_only"} {
		if value := strings.ToUpper(has[name]); value != "" && value != "OFF" && value != "0" {
			r.noWrite = name + " is " + value
		}
	}
	if group := has["group_replication_group_name"]; group != "" {
		r.cluster = "group " + group
		members, err := readPairs(ctx, c, roleGroup)
		if sqldb.IsDenied(err) {
			return nil, fmt.Errorf("the account does not see whether it is a member of its group: GRANT SELECT ON performance_schema.replication_group_members TO it: %w", err)
		}
		if err != nil {
			return nil, err
		}
		r.why = outOfGroup(members)
	}
	if strings.EqualFold(has["wsrep_on"], "ON") {
		status, err := readPairs(ctx, c, roleGalera)
		if err != nil {
			return nil, err
		}
		r.cluster = "galera " + status["wsrep_cluster_state_uuid"]
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
