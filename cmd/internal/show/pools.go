package show

import (
	"fmt"
	"io"
	"net/netip"
	"strings"

	"github.com/ipsecd/ipsecd/ike"
)

// Pool is one pool of virtual addresses.
type Pool struct {
	Name    string  `json:"name"`
	Base    string  `json:"base,omitempty"` // the first address; left out: peers choose
	Size    uint32  `json:"size"`
	Online  int     `json:"online"`  // addresses in use
	Offline int     `json:"offline"` // kept for who had them
	Leases  []Lease `json:"leases"`
}

// Lease is an address that belongs to an identity.
type Lease struct {
	Address  string `json:"address"`
	Identity string `json:"identity"`
	Online   bool   `json:"online"`
}

func pools(list []ike.PoolInfo) []Pool {
	out := make([]Pool, 0, len(list))
	for _, p := range list {
		pool := Pool{Name: p.Config.Name, Size: p.Config.Size, Online: p.Online, Offline: p.Offline, Leases: make([]Lease, 0, len(p.Leases))}
		if p.Config.Base.IsValid() {
			pool.Base = p.Config.Base.String()
		}
		for _, l := range p.Leases {
			pool.Leases = append(pool.Leases, Lease{l.Addr.String(), l.ID.String(), l.Online})
		}
		out = append(out, pool)
	}
	return out
}

// WritePools writes the pools, each with its leases.
func WritePools(w io.Writer, r *Report) error {
	if len(r.Pools) == 0 {
		_, err := fmt.Fprintln(w, "no pools of virtual addresses are configured")
		return err
	}
	t := table{header: []string{"POOL", "FIRST", "SIZE", "ONLINE", "OFFLINE"}}
	for _, p := range r.Pools {
		t.add(p.Name, dash(p.Base), fmt.Sprint(p.Size), fmt.Sprint(p.Online), fmt.Sprint(p.Offline))
		for _, l := range p.Leases {
			state := "offline"
			if l.Online {
				state = "online"
			}
			t.note(fmt.Sprintf("  └ %s %s %s", l.Address, state, l.Identity))
		}
	}
	return t.write(w)
}

// addrStrings writes addresses.
func addrStrings(list []netip.Addr) []string {
	var out []string
	for _, a := range list {
		out = append(out, a.String())
	}
	return out
}

// virtualText is ", virtual a b", or nothing.
func virtualText(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return ", virtual " + strings.Join(list, " ")
}
