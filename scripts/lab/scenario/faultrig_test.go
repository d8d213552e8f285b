//go:build lab

package scenario

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

// faultRig is a tunnel between sites that has to survive something. Alice keeps
// sending to bob all the time, so that whatever can leave in the clear does.
type faultRig struct {
	*sites
	whole  *testing.T // as long as it runs, the daemons do
	tunnel *link
	clock  *link // rekeyed every few seconds, when somebody sets it up
	junk   *link // that charon sets up
	reboot *link // the same
	routed *link // over an interface
	us     *labtest.Ipsecd
	charon *labtest.Charon
	theirs string // charon's configuration
}

// faultTiming has a peer declared dead after some eight seconds, so that a fault does
// not take minutes to be noticed.
const faultTiming = `
    retransmit_timeout = 0.5
    retransmit_base = 1.4
    retransmit_tries = 5
`

// faultTime is how long anything may take after a fault, on a loaded machine.
const faultTime = 75 * time.Second

// newFaultRig starts both daemons and the tunnel, which ipsecd sets up and protects.
func newFaultRig(t *testing.T) *faultRig {
	t.Helper()
	needIpsecd(t)
	r := &faultRig{sites: newSites(t), whole: t}
	r.tunnel = r.link("tunnel", 1, true)
	r.tunnel.a.conn, r.tunnel.b.conn = "keyingtries = 0\ndpd_delay = 2s", "dpd_delay = 5s"
	r.tunnel.a.child = "start_action = start\ndpd_action = restart"
	r.clock, r.junk = r.link("clock", 2, true), r.link("junk", 3, false)
	r.routed, r.reboot = r.link("routed", 4, true), r.link("reboot", 5, false)
	r.clock.a.child = "rekey_time = 3s\nrand_time = 0s\nlife_time = 5m"
	withInterfaces(t, r.sites, r.routed, nil)
	ours, theirs := r.conf(r.links())
	r.theirs = theirs
	loadESP(t, r.them)
	r.startPeer()
	sections := "metrics { listen = " + metricsListen + " }\ncharon {" + faultTiming + "}\ntiming {\n retry_initial = 0.5s\n retry_max = 2s\n}\n" + interfacesConf(r.interfaces) + "protect = " + bobNet(1) + ", " + bobNet(4) + "\n"
	r.us = labtest.StartIpsecd(t, r.sites.us, "include swanctl.conf\n"+sections, map[string]string{"swanctl.conf": ours})
	for _, l := range r.links() {
		our, their := r.ends(l)
		our.control, their.control = r.us.Vici, r.charon.Vici
	}
	r.awaitUp(t)
	r.tap = r.capture(t)
	labtest.Start(t, r.alice, "ping-alice", nil, "ping", "-n", "-D", "-i", "0.05", "-I", r.tunnel.a.host, r.tunnel.b.host)
	return r
}

// loadESP has the kernel load what the first SA needs, which takes it seconds in emulation: longer than
// a peer with faultTiming waits.
func loadESP(t *testing.T, n *labtest.Netns) {
	t.Helper()
	key := "0x" + strings.Repeat("01", 20)
	n.IP(t, "xfrm state add src 192.0.2.1 dst 192.0.2.2 proto esp spi 0x100 mode tunnel aead rfc4106(gcm(aes)) "+key+" 128", "xfrm state flush")
}

func (r *faultRig) links() []*link { return []*link{r.tunnel, r.clock, r.junk, r.routed, r.reboot} }

// startPeer starts charon, again after it was killed.
func (r *faultRig) startPeer() {
	r.whole.Helper()
	r.charon = labtest.StartCharon(r.whole, r.them, faultTiming)
	r.charon.Load(r.whole, r.theirs)
}

// awaitUp waits until the tunnel carries packets and both daemons have one of it,
// and the kernels nothing else. It returns how long the first took.
func (r *faultRig) awaitUp(t *testing.T) time.Duration {
	t.Helper()
	took := awaitPing(t, r.tunnel)
	labtest.WaitFor(t, faultTime, "one tunnel, the same on both sides", func() error {
		if err := r.agree(); err != nil {
			return err
		}
		for _, n := range []*labtest.Netns{r.sites.us, r.them} {
			if states, _ := labtest.StateCount(t, n); states != 2 {
				return fmt.Errorf("%s: the kernel has %d SAs", n.Role, states)
			}
		}
		return nil
	})
	return took
}

// agree says in what the two daemons differ.
func (r *faultRig) agree() error {
	_, err := rekeyer{conn: r.tunnel.name, us: r.us.Vici, them: r.charon.Vici}.ikeID()
	return err
}

// spis of our CHILD_SA of a tunnel.
func (r *faultRig) spis(t *testing.T, l *link) string {
	t.Helper()
	c, err := r.us.Child(l.name)
	if err != nil {
		t.Fatal(err)
	}
	return c.SPIIn + c.SPIOut
}

// checkClear fails t if anything of our site crossed transit in the clear. Bob's answers do, when charon drops
// a tunnel in the middle of a ping.
func (r *faultRig) checkClear(t *testing.T) {
	t.Helper()
	r.tap.Finish(t)
	if n := r.tap.Count(t, clearAlice); n > 0 {
		t.Errorf("%d packets crossed in the clear, the first of them:\n%s", n, r.tap.Print(t, clearAlice, 5))
	}
	if n := r.tap.Count(t, "esp"); n == 0 {
		t.Error("the capture saw no ESP")
	}
}

// Exchange types as a rule of nftables sees them: octet 18 of the IKE header, behind
// eight octets of UDP.
const (
	ikeAuth         = "udp dport 500 @th,208,8 35"
	createChildSA   = "udp dport 500 @th,208,8 36"
	informational   = "udp dport 500 @th,208,8 37"
	anyExchange     = "udp dport 500"
	heldPackets     = "held"
	heldPacketsRule = "counter name " + heldPackets + " drop"
)

// hold has transit drop packets until release.
func (r *faultRig) hold(t *testing.T, matches ...string) {
	t.Helper()
	rules := "table ip hold {\n counter " + heldPackets + " { }\n chain forward {\n  type filter hook forward priority filter\n"
	for _, m := range matches {
		rules += "  " + m + " " + heldPacketsRule + "\n"
	}
	r.transit.Nft(t, rules+" }\n}\n")
}

func (r *faultRig) release(t *testing.T) {
	t.Helper()
	r.transit.Nft(t, "delete table ip hold\n")
}

// undo takes back what a failed fault left, for the next one.
func (r *faultRig) undo(t *testing.T) {
	t.Helper()
	if !t.Failed() {
		return
	}
	_, _ = r.transit.Try("nft", "delete", "table", "ip", "hold")
	for _, device := range []string{"us", "them"} {
		_, _ = r.transit.Try("tc", "qdisc", "del", "dev", device, "root")
	}
}

var counterPackets = regexp.MustCompile(`packets (\d+)`)

// awaitHeld waits until at least count packets have been dropped.
func (r *faultRig) awaitHeld(t *testing.T, count int) {
	t.Helper()
	labtest.WaitFor(t, setupTime, "held packets", func() error {
		out := r.transit.Run(t, "nft", "list", "counter", "ip", "hold", heldPackets)
		m := counterPackets.FindStringSubmatch(out)
		if m == nil {
			return fmt.Errorf("no counter in %s", strings.TrimSpace(out))
		}
		if n, _ := strconv.Atoi(m[1]); n < count {
			return fmt.Errorf("%d of %d", n, count)
		}
		return nil
	})
}

// recovered reports how long a fault kept the sites apart, for docs/faults.md.
func recovered(t *testing.T, took time.Duration) {
	t.Helper()
	t.Logf("recovered after %v", took.Round(10*time.Millisecond))
}
