//go:build lab

package scenario

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

// loss replaces SAs while three in ten packets are lost, and others are duplicated,
// late or damaged.
func loss(t *testing.T, r *faultRig) {
	spoil := "netem loss 30% duplicate 10% delay 20ms 10ms reorder 25% corrupt 2%"
	for _, device := range []string{"us", "them"} {
		r.transit.Run(t, "tc", append([]string{"qdisc", "add", "dev", device, "root"}, strings.Fields(spoil)...)...)
	}
	start := time.Now()
	for _, by := range []labtest.Vici{r.us.Vici, r.charon.Vici} {
		for _, rekey := range []func(string) error{by.RekeyChild, by.RekeyIKE} {
			labtest.WaitFor(t, faultTime, "one tunnel, the same on both sides", r.agree)
			old := r.identity(t)
			// Who is busy with one refuses: the other's request counts as well.
			_ = rekey(r.tunnel.name)
			labtest.WaitFor(t, faultTime, "new SAs", func() error {
				if err := r.agree(); err != nil {
					return err
				}
				if r.identity(t) == old {
					return fmt.Errorf("still %s", old)
				}
				return nil
			})
		}
	}
	t.Logf("four rekeys took %v", time.Since(start).Round(10*time.Millisecond))
	for _, device := range []string{"us", "them"} {
		r.transit.Run(t, "tc", "qdisc", "del", "dev", device, "root")
	}
}

// identity changes with every rekey of the IKE SA and of the CHILD_SA. It is empty
// while there is no single one.
func (r *faultRig) identity(t *testing.T) string {
	t.Helper()
	ike, err := r.us.IKE(r.tunnel.name)
	if err != nil {
		return ""
	}
	child, err := r.us.Child(r.tunnel.name)
	if err != nil {
		return ""
	}
	return ike.SPIInitiator + ike.SPIResponder + child.SPIIn + child.SPIOut
}

// silentRekey has the peer's IKE fall silent when a rekey begins: packets keep flowing
// until the peer is given up, and the tunnel comes back with it.
func silentRekey(t *testing.T, r *faultRig) {
	old := r.spis(t, r.tunnel)
	r.hold(t, anyExchange)
	if err := r.us.RekeyChild(r.tunnel.name); err != nil {
		t.Fatal(err)
	}
	r.awaitHeld(t, 2)
	if _, err := r.alice.Try("ping", "-q", "-c", "1", "-W", "2", "-I", r.tunnel.a.host, r.tunnel.b.host); err != nil {
		t.Errorf("the old SAs no longer serve while the rekey waits: %v", err)
	}
	labtest.WaitFor(t, faultTime, "the end of the silent peer's SAs", func() error {
		if _, err := r.us.Child(r.tunnel.name); err == nil {
			return fmt.Errorf("still there")
		}
		return nil
	})
	start := time.Now()
	r.release(t)
	labtest.WaitFor(t, faultTime, "new SAs", func() error {
		if c, err := r.us.Child(r.tunnel.name); err != nil || c.SPIIn+c.SPIOut == old {
			return fmt.Errorf("none: %v", err)
		}
		return nil
	})
	awaitPing(t, r.tunnel)
	recovered(t, time.Since(start))
}

// addressDeleted takes our outer address away until the peer is given up for dead, and
// gives it back.
func addressDeleted(t *testing.T, r *faultRig) {
	_, policies := labtest.StateCount(t, r.sites.us)
	// The address goes alone, not with all others of its network.
	r.sites.us.Sysctl(t, "net.ipv4.conf.out.promote_secondaries=1")
	r.sites.us.IP(t, "addr del "+r.tunnel.a.addr+"/16 dev out", "route replace default via 10.50.255.254")
	labtest.WaitFor(t, faultTime, "the end of the SAs", func() error {
		if _, err := r.us.Child(r.tunnel.name); err == nil {
			return fmt.Errorf("still there")
		}
		return nil
	})
	if _, now := labtest.StateCount(t, r.sites.us); now == 0 {
		t.Errorf("no policies are left of %d", policies)
	}
	r.sites.us.IP(t, "addr add "+r.tunnel.a.addr+"/16 dev out")
	recovered(t, awaitPing(t, r.tunnel))
}

// mtuDrop narrows the way: senders learn of it, and the tunnel stays as it is.
func mtuDrop(t *testing.T, r *faultRig) {
	old := r.spis(t, r.tunnel)
	const route = "10.52.0.0/16 dev them proto kernel scope link src 10.52.255.254"
	r.transit.IP(t, "route replace "+route+" mtu lock 1300")
	start := time.Now()
	labtest.IperfServers(t, r.bob, firstPort)
	got := labtest.RunFlows(t, labtest.Flow{From: r.alice, To: r.tunnel.b.host, Port: firstPort, Bytes: 200_000})
	if got[0].Bytes == 0 {
		t.Error("TCP moved nothing")
	}
	t.Logf("200 kB of TCP took %v", time.Since(start).Round(10*time.Millisecond))
	if now := r.spis(t, r.tunnel); now != old {
		t.Error("the SAs were replaced")
	}
	r.transit.IP(t, "route replace "+route)
}

// clockJump sets the clock by an hour, forward and back: no timer of ipsecd minds.
func clockJump(t *testing.T, r *faultRig) {
	if os.Getenv("LAB_GUEST") != "1" {
		t.Skip("only the virtual machine's clock may be set")
	}
	old := r.identity(t)
	r.us.Initiate(t, r.clock.name)
	for _, jump := range []time.Duration{time.Hour, -time.Hour} {
		before, err := r.us.Child(r.clock.name)
		if err != nil {
			t.Fatal(err)
		}
		setClock(t, jump)
		took := labtest.WaitFor(t, faultTime, "the next rekey", func() error {
			now, err := r.us.Child(r.clock.name)
			if err == nil && now.SPIIn == before.SPIIn {
				err = fmt.Errorf("still %s", now.SPIIn)
			}
			return err
		})
		t.Logf("rekeyed %v after a jump of %v", took.Round(10*time.Millisecond), jump)
	}
	if now := r.identity(t); now != old {
		t.Error("the tunnel whose rekey is hours away was replaced")
	}
	if err := r.us.Terminate(r.clock.name); err != nil {
		t.Error(err)
	}
}

func setClock(t *testing.T, by time.Duration) {
	t.Helper()
	tv := syscall.NsecToTimeval(time.Now().Add(by).UnixNano())
	if err := syscall.Settimeofday(&tv); err != nil {
		t.Fatal(err)
	}
}

// junkAuth sends IKE_AUTH messages that nobody with the keys wrote to a half-open IKE
// SA: the real one still gets through.
func junkAuth(t *testing.T, r *faultRig) {
	r.hold(t, "ip saddr "+r.junk.a.addr+" "+ikeAuth)
	if _, err := r.charon.Call("initiate", "child", r.junk.name, "timeout", "-1"); err != nil {
		t.Fatal(err)
	}
	r.awaitHeld(t, 1)
	sas, err := r.charon.SAs("ike", r.junk.name)
	if err != nil || len(sas) != 1 {
		t.Fatalf("charon has %d IKE SAs of %s: %v", len(sas), r.junk.name, err)
	}
	const junk, counted = 5, `ipsec_ike_invalid_messages_total{reason="integrity"}`
	before := metric(t, r.sites.us, counted)
	for i := range junk {
		labtest.SendUDP(t, r.them, r.junk.b.addr+":500", junkMessage(t, sas[0], byte(i)))
	}
	labtest.WaitFor(t, setupTime, "the junk is counted", func() error {
		if n := metric(t, r.sites.us, counted) - before; n < junk {
			return fmt.Errorf("%d of %d", n, junk)
		}
		return nil
	})
	start := time.Now()
	r.release(t)
	awaitChild(t, r.junk.name, r.us.Vici, r.charon.Vici)
	recovered(t, time.Since(start))
	if err := r.charon.Terminate(r.junk.name); err != nil {
		t.Error(err)
	}
}

// junkMessage is an IKE_AUTH request with an Encrypted payload of nothing.
func junkMessage(t *testing.T, sa labtest.IKESA, fill byte) []byte {
	t.Helper()
	const header, body, encrypted, message = 28, 200, 46, 1
	spis, err := hex.DecodeString(sa.SPIInitiator + sa.SPIResponder)
	if err != nil || len(spis) != 16 {
		t.Fatalf("SPIs %s, %s: %v", sa.SPIInitiator, sa.SPIResponder, err)
	}
	m := append(spis, encrypted, 0x20, 35, 0x08, 0, 0, 0, message, 0, 0, 0, header+body)
	m = append(m, 35, 0, 0, body)
	return append(m, bytes.Repeat([]byte{fill}, body-4)...)
}
