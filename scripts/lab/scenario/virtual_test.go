//go:build lab

package scenario

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

// The roadwarrior's link, and what is behind the gateway.
//
//	client 192.0.2.2 ---- 192.0.2.1 gateway, 10.1.0.1 and fd01::1 on lo
const (
	rwName    = "rw"
	rwPool4   = "10.3.0.1"
	rwPool6   = "fd03::1"
	rwInside4 = "10.1.0.1"
	rwInside6 = "fd01::1"
)

// roadwarrior has a client that gets virtual addresses of both families, and one of the two daemons at each end.
type roadwarrior struct {
	clientNS, gatewayNS *labtest.Netns
	client, gateway     labtest.Vici
	dir                 string // of the updown script and what it writes
}

// rwConf is a connection of either end; its further lines, its child's and other sections differ.
func rwConf(local, remote, conn, child, more string) string {
	return fmt.Sprintf(`connections {
    rw {
        version = 2
        local_addrs = %[1]s
        remote_addrs = %[2]s
        proposals = aes128gcm16-prfsha256-x25519
        %[3]s
        local {
            auth = psk
            id = host-%[1]s
        }
        remote {
            auth = psk
            id = host-%[2]s
        }
        children {
            rw {
                esp_proposals = aes128gcm16
                %[4]s
            }
        }
    }
}
secrets {
    ike-rw {
        id-a = host-%[1]s
        id-b = host-%[2]s
        secret = "psk of the roadwarrior"
    }
}
%[5]s
`, local, remote, conn, child, more)
}

// The two ends' configurations.
var (
	rwClientConf = func(child string) string {
		return rwConf("192.0.2.2", "192.0.2.1", "vips = 0.0.0.0, ::", "remote_ts = 10.1.0.0/16, fd01::/64\n"+child, "")
	}
	rwGatewayConf = func(child string) string {
		return rwConf("192.0.2.1", "192.0.2.2", "pools = rw4, rw6", "local_ts = 10.1.0.0/16, fd01::/64\n"+child,
			"pools {\n    rw4 {\n        addrs = 10.3.0.0/28\n        dns = 10.1.0.53, fd01::53\n    }\n    rw6 {\n        addrs = fd03::/120\n    }\n}\n")
	}
)

// newRoadwarrior makes the two hosts.
func newRoadwarrior(t *testing.T) *roadwarrior {
	t.Helper()
	r := &roadwarrior{clientNS: labtest.NewNetns(t, "client"), gatewayNS: labtest.NewNetns(t, "gateway")}
	labtest.Link(t, labtest.End{Netns: r.clientNS, Device: "wan", Addresses: []string{"192.0.2.2/24", "2001:db8::2/64"}},
		labtest.End{Netns: r.gatewayNS, Device: "wan", Addresses: []string{"192.0.2.1/24", "2001:db8::1/64"}})
	r.gatewayNS.IP(t, "addr add "+rwInside4+"/32 dev lo", "addr add "+rwInside6+"/128 dev lo")
	r.dir = labtest.RunDir(t)
	labtest.WriteFile(t, r.dir+"/updown", "{ env | grep ^PLUTO_ | sort; echo; } >> $1\n")
	return r
}

// updown is the key of a child that has its scripts' environments written down, by the name of its end.
func (r *roadwarrior) updown(end string) string {
	return "updown = /bin/sh " + r.dir + "/updown " + r.dir + "/" + end + "\n"
}

// environments returns what the scripts of an end were told, sorted, without what must differ: the numbers of SAs. Name servers count
// on the way up only: charon has forgotten them when it reauthenticates and tells of the old CHILD_SA's end.
func (r *roadwarrior) environments(end string) (runs []string) {
	text, _ := os.ReadFile(r.dir + "/" + end)
	for run := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n\n") {
		var kept []string
		for line := range strings.SplitSeq(run, "\n") {
			name, value, _ := strings.Cut(line, "=")
			if _, err := strconv.Atoi(value); err == nil && (name == "PLUTO_REQID" || name == "PLUTO_UNIQUEID") {
				line = name + "=a number"
			}
			if down := strings.Contains(run, "PLUTO_VERB=down"); !down || !strings.HasPrefix(name, "PLUTO_DNS") {
				kept = append(kept, line)
			}
		}
		runs = append(runs, strings.Join(kept, "\n"))
	}
	slices.Sort(runs)
	return runs
}

// charonRW are charon's options: it sets routes and addresses as it does by default, and asks for name servers.
var charonRW = []string{"load = " + labtest.CharonPlugins + " updown", "install_routes = yes", "install_virtual_ip = yes",
	"plugins { updown { dns_handler = yes } }"}

// assigned fails t unless both daemons and the client's kernel have just these addresses, and packets get through.
func (r *roadwarrior) assigned(t *testing.T, when string) {
	t.Helper()
	want := rwPool4 + " " + rwPool6
	labtest.WaitFor(t, setupTime, when+": the virtual addresses", func() error {
		c, err := r.client.IKE(rwName)
		if err != nil {
			return err
		}
		g, err := r.gateway.IKE(rwName)
		if err != nil {
			return err
		}
		if got := strings.Join(c.LocalVIPs, " ") + " / " + strings.Join(g.RemoteVIPs, " "); got != want+" / "+want {
			return fmt.Errorf("the client has, and the gateway has given, %s", got)
		}
		if n := r.virtual(t); n != 2 {
			return fmt.Errorf("the client's kernel has %d of them", n)
		}
		return nil
	})
	labtest.Ping(t, r.clientNS, 2, rwInside4)
	labtest.Ping(t, r.clientNS, 2, "-6", rwInside6)
	for _, p := range []string{"rw4", "rw6"} {
		if online, offline, size := r.pool(t, p); online != "1" || offline != "0" || size != map[string]string{"rw4": "14", "rw6": "254"}[p] {
			t.Errorf("%s: pool %s has %s online, %s offline of %s", when, p, online, offline, size)
		}
	}
}

// virtual counts the virtual addresses on the client's link.
func (r *roadwarrior) virtual(t *testing.T) int {
	out := r.clientNS.Run(t, "ip", "-o", "addr", "show", "dev", "wan")
	return strings.Count(out, rwPool4+"/32") + strings.Count(out, rwPool6+"/128")
}

// pool returns what the gateway says of one of its pools.
func (r *roadwarrior) pool(t *testing.T, name string) (online, offline, size string) {
	t.Helper()
	m, err := r.gateway.Call("get-pools", "name", name)
	if err != nil {
		t.Fatal(err)
	}
	p, err := labtest.Section(m, name)
	if err != nil {
		t.Fatal(err)
	}
	return p["online"], p["offline"], p["size"]
}

// life plays the life of a client: set up, rekeyed, authenticated anew, gone, and back with the same addresses.
func (r *roadwarrior) life(t *testing.T) {
	r.client.Initiate(t, rwName)
	r.assigned(t, "set up")
	child, err := r.gateway.Child(rwName)
	if want := rwPool4 + "/32 " + rwPool6 + "/128"; err != nil || strings.Join(child.RemoteTS, " ") != want {
		t.Errorf("dynamic is %v at the gateway, %v; expected %s", child.RemoteTS, err, want)
	}
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"rekeyed by the client", func() error { return r.client.RekeyIKE(rwName) }},
		{"rekeyed by the gateway", func() error { return r.gateway.RekeyIKE(rwName) }},
		{"authenticated anew", reauthCommand(r.client, rwName)},
	} {
		old, err := r.client.IKE(rwName)
		if err != nil {
			t.Fatal(err)
		}
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		labtest.WaitFor(t, setupTime, step.name, func() error {
			now, err := r.client.IKE(rwName)
			if err == nil && now.SPIInitiator == old.SPIInitiator {
				err = errors.New("still the old IKE SA")
			}
			return err
		})
		r.assigned(t, step.name)
	}
	if err := r.client.Terminate(rwName); err != nil {
		t.Fatal(err)
	}
	r.gone(t, "terminated")
	for _, p := range []string{"rw4", "rw6"} {
		labtest.WaitFor(t, setupTime, "the lease goes offline", func() error {
			if online, offline, _ := r.pool(t, p); online != "0" || offline != "1" {
				return fmt.Errorf("pool %s has %s online, %s offline", p, online, offline)
			}
			return nil
		})
	}
	r.client.Initiate(t, rwName)
	r.assigned(t, "a second time")
}

func (r *roadwarrior) gone(t *testing.T, when string) {
	t.Helper()
	labtest.WaitFor(t, setupTime, when+": no virtual address", func() error {
		if n := r.virtual(t); n > 0 {
			return fmt.Errorf("%d are left", n)
		}
		return nil
	})
}

// TestVirtualIP has a roadwarrior at a gateway, each of them charon once and us once. Both ends have updown scripts: the
// environments that ours are given are those that charon's are in the same place.
func TestVirtualIP(t *testing.T) {
	needIpsecd(t)
	told := map[string][]string{} // by daemon and end
	t.Run("we are the gateway", func(t *testing.T) {
		r := newRoadwarrior(t)
		us := labtest.StartIpsecd(t, r.gatewayNS, rwGatewayConf(r.updown("gateway")), nil)
		them := labtest.StartCharon(t, r.clientNS, charonRW...)
		them.Load(t, rwClientConf(r.updown("client")))
		r.client, r.gateway = them.Vici, us.Vici
		r.life(t)
		told["our gateway"], told["charon's client"] = r.environments("gateway"), r.environments("client")
	})
	t.Run("we are the client", func(t *testing.T) {
		r := newRoadwarrior(t)
		them := labtest.StartCharon(t, r.gatewayNS, charonRW...)
		them.Load(t, rwGatewayConf(r.updown("gateway")))
		us := labtest.StartIpsecd(t, r.clientNS, rwClientConf(r.updown("client")), nil)
		r.client, r.gateway = us.Vici, them.Vici
		r.life(t)
		told["charon's gateway"], told["our client"] = r.environments("gateway"), r.environments("client")
		killed(t, r, us)
	})
	for _, end := range []string{"gateway", "client"} {
		ours, theirs := told["our "+end], told["charon's "+end]
		if len(theirs) < 4 || !slices.Equal(ours, theirs) {
			t.Errorf("the %s's updown scripts were told, by us %d times:\n\n%s\n\nand by charon %d times:\n\n%s", end,
				len(ours), strings.Join(ours, "\n\n"), len(theirs), strings.Join(theirs, "\n\n"))
		}
	}
}

// killed ends our client without its knowledge: what it leaves goes with the next start, and everything with a stop.
func killed(t *testing.T, r *roadwarrior, us *labtest.Ipsecd) {
	us.Kill(t)
	if r.virtual(t) != 2 {
		t.Error("the addresses went with the process: nothing is tested")
	}
	us.Start(t)
	r.gone(t, "after kill -9 and a new start")
	r.client.Initiate(t, rwName)
	r.assigned(t, "after kill -9")
	us.Stop(t)
	r.gone(t, "stopped")
}
