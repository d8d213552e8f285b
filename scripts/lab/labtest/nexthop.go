package labtest

import (
	"encoding/json"
	"slices"
	"testing"
)

// nexthop is one nexthop object as 'ip -j nexthop' shows it: a path, or a group
// of paths.
type nexthop struct {
	ID    int
	Dev   string
	Flags []string
	Group []struct{ ID int }
}

// devicesOf returns where the members of a nexthop object send packets.
// A kernel with nexthop_compat_mode=0 shows only the object's id in a route.
func devicesOf(t testing.TB, n *Netns, id int) []string {
	t.Helper()
	out := n.Run(t, "ip", "-j", "nexthop", "show")
	var objects []nexthop
	if err := json.Unmarshal([]byte(out), &objects); err != nil {
		t.Fatalf("ip nexthop: %v in %s", err, out)
	}
	return membersOf(objects, id)
}

func membersOf(objects []nexthop, id int) []string {
	i := slices.IndexFunc(objects, func(o nexthop) bool { return o.ID == id })
	if i < 0 {
		return nil
	}
	var devices []string
	if o := objects[i]; o.Dev != "" && !slices.Contains(o.Flags, "dead") && !slices.Contains(o.Flags, "linkdown") {
		devices = append(devices, o.Dev)
	}
	for _, m := range objects[i].Group {
		devices = append(devices, membersOf(objects, m.ID)...)
	}
	return devices
}
