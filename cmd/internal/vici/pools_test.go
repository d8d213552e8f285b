package vici

import (
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ipsecd/ipsecd/cmd/internal/config"
	"github.com/ipsecd/ipsecd/cmd/internal/status"
	"github.com/ipsecd/ipsecd/cmd/internal/status/statustest"
	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/ike/auth"
)

// withPools has a pool of swanctl's with leases, and one of ipsec.conf's.
func withPools() *status.Status {
	st := statustest.New()
	carol, dave := auth.Identity{Type: auth.IDFQDN, Data: "carol"}, auth.Identity{Type: auth.IDFQDN, Data: "dave"}
	first := netip.MustParseAddr("10.3.0.1")
	st.Engine.Pools = []ike.PoolInfo{
		{Config: &ike.Pool{Name: "rw", Source: "/etc/swanctl/swanctl.conf:3", Base: first, Size: 254}, Online: 1, Offline: 1,
			Leases: []ike.LeaseInfo{{Addr: first, ID: carol, Online: true}, {Addr: first.Next(), ID: dave}}},
		{Config: &ike.Pool{Name: "10.4.0.0/24", Source: "/etc/ipsec.conf:9", Base: netip.MustParseAddr("10.4.0.1"), Size: 254}},
	}
	st.Engine.IKESAs[0].RemoteVIPs = []netip.Addr{first, netip.MustParseAddr("fd03::1")}
	st.Engine.IKESAs[0].LocalVIPs = []netip.Addr{netip.MustParseAddr("10.9.0.1")}
	return st
}

// The keys and their order are charon's.
func TestGetPools(t *testing.T) {
	c := dial(t, listenOn(t, statustest.NewControl(withPools())))
	for _, tt := range []struct {
		keyValues []string
		want      string
	}{
		{nil, "rw {base=10.3.0.1 size=254 online=1 offline=1}"},
		{[]string{"leases", "yes"}, "rw {base=10.3.0.1 size=254 online=1 offline=1 leases {0 {address=10.3.0.1 identity=carol status=online} 1 {address=10.3.0.2 identity=dave status=offline}}}"},
		{[]string{"name", "10.4.0.0/24"}, "10.4.0.0/24 {base=10.4.0.1 size=254 online=0 offline=0}"},
		{[]string{"all", "yes"}, "rw {base=10.3.0.1 size=254 online=1 offline=1} 10.4.0.0/24 {base=10.4.0.1 size=254 online=0 offline=0}"},
	} {
		_, got := c.call("get-pools", tt.keyValues...)
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%v: -want +got:\n%s", tt.keyValues, d)
		}
	}
}

// A pool that peers have addresses of cannot be unloaded, nor one of a file that swanctl does not read.
func TestUnloadPoolInUse(t *testing.T) {
	c := dial(t, listenOn(t, statustest.NewControl(withPools())))
	for name, want := range map[string]string{"rw": "rw has online leases, unable to unload", "10.4.0.0/24": "/etc/ipsec.conf:9"} {
		if _, got := c.call("unload-pool", "name", name); !strings.Contains(got, "success=no") || !strings.Contains(got, want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// A pool that peers have addresses of can get other attributes, and no other addresses. Where nobody has one, it can.
func TestLoadPoolInUse(t *testing.T) {
	for _, tt := range []struct {
		addrs  string
		online int
		want   string // of swanctl
	}{
		{"10.3.0.0/24", 1, "loaded pool 'rw'"},
		{"10.3.0.0/25", 1, "loading pool 'rw' failed: vici pool rw has online leases, unable to replace"},
		{"10.3.0.0/25", 0, "loaded pool 'rw'"},
	} {
		st := withPools()
		st.Engine.Pools[0].Online = tt.online
		ctl := statustest.NewControl(st)
		file := filepath.Join(t.TempDir(), "swanctl.conf")
		if err := os.WriteFile(file, []byte("pools {\n rw { addrs = "+tt.addrs+"\n dns = 10.1.0.53\n }\n}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := swanctl(t, ctl, "--load-pools", "--file", file)
		loaded := strings.HasPrefix(tt.want, "loaded")
		if !strings.Contains(got, tt.want) || (err == nil) != loaded {
			t.Errorf("%s with %d leases: %v, %s", tt.addrs, tt.online, err, got)
		}
		if pools := ctl.Status().Config.IKE.Pools; (len(pools) == 1) != loaded {
			t.Errorf("%s with %d leases: %+v", tt.addrs, tt.online, pools)
		}
	}
}

// Virtual addresses are where charon has them: before the tasks and children.
func TestListVirtualIPs(t *testing.T) {
	got := strings.Join(stream(t, withPools(), "list-sas", "list-sa", "ike", "hq"), "")
	if want := "rekey-time=3600 local-vips=[10.9.0.1] remote-vips=[10.3.0.1 fd03::1] child-sas {"; !strings.Contains(got, want) {
		t.Errorf("%s\ndoes not have %s", got, want)
	}
}

// The stock swanctl loads pools with their attributes, and takes away what its file has no more.
func TestSwanctlLoadsPools(t *testing.T) {
	ctl := statustest.NewControl(statustest.New())
	d := newSwanctlDir(t, ctl)
	d.write(t, "swanctl.conf", []byte("pools {\n rw { addrs = 10.3.0.0/24\n dns = 10.1.0.53, 10.1.0.54\n }\n rw6 { addrs = fd03::/120\n }\n}\n"))
	if out := d.loadAll(t); !strings.Contains(out, "loaded pool 'rw'") {
		t.Errorf("swanctl says:\n%s", out)
	}
	pools := ctl.Status().Config.IKE.Pools
	if len(pools) != 2 || pools[0].Size != 254 || len(pools[0].Attributes) != 2 || !config.SwanctlPool(pools[1]) {
		t.Fatalf("loaded: %+v", pools)
	}
	st := *ctl.Status()
	engine := *st.Engine
	for _, p := range pools {
		engine.Pools = append(engine.Pools, ike.PoolInfo{Config: p})
	}
	st.Engine = &engine
	ctl.Set(&st)
	d.write(t, "swanctl.conf", []byte("pools {\n rw { addrs = 10.3.0.0/25\n }\n}\n"))
	if out := d.loadAll(t); !strings.Contains(out, "1 unloaded") {
		t.Errorf("swanctl says:\n%s", out)
	}
	if pools := ctl.Status().Config.IKE.Pools; len(pools) != 1 || pools[0].Size != 126 {
		t.Errorf("loaded: %+v", pools)
	}
}
