//go:build lab

package scenario

import (
	"fmt"
	"testing"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

// handoverRounds is how often ipsecd hands over to another process.
const handoverRounds = 2

// TestHandover replaces the process of ipsecd under pings in both directions, as an upgrade does: no packet is lost and no SA is
// another, whoever has set the tunnels up, in UDP too, where ESP comes to a socket of the process. Afterwards both ends can rekey.
func TestHandover(t *testing.T) {
	needIpsecd(t)
	p := newPair(t)
	byUs := p.tunnel("by-us", 1, suite{"aead", "aes256gcm16-prfsha384-x25519", "aes256gcm16-x25519", "", "", ""})
	byCharon := p.tunnel("by-charon", 2, suite{"cbc", "aes128-sha256-x25519", "aes128-sha256", "", "", ""})
	inUDP := p.tunnel("in-udp", 3, suite{"udp", "aes128gcm16-prfsha256-x25519", "aes128gcm16", "", "", ""})
	inUDP.options = "encap = yes"
	conns := []connection{byUs, byCharon, inUDP}
	var ours, theirs []tunnelInterface
	for i := range conns {
		conns[i].childOptions = "replay_window = 4096" // as in TestRekey
		ours, theirs = append(ours, p.usInterface(i+1)), append(theirs, p.themInterface(i+1))
	}
	them := startCharon(t, p.them, reversed(conns), theirs)
	us := startIpsecd(t, p.us, conns, ours, "")
	us.Initiate(t, byUs.name)
	us.Initiate(t, inUDP.name)
	them.Initiate(t, byCharon.name)

	var ends []rekeyer
	var pings []*labtest.Pinger
	for i, c := range conns {
		r := rekeyer{conn: c.name, pair: p, us: us.Vici, them: them.Vici, ping: func(t *testing.T) { labtest.Ping(t, p.us, 2, p.themInner(i+1)) }}
		ends = append(ends, r)
		awaitChild(t, c.name, us.Vici, them.Vici)
		pings = append(pings, labtest.StartPing(t, p.us, rekeyPing, p.themInner(i+1)), labtest.StartPing(t, p.them, rekeyPing, p.usInner(i+1)))
	}
	before := identities(t, ends)
	for range handoverRounds {
		us.HandOver(t)
		if now := identities(t, ends); now != before {
			t.Fatalf("the SAs are others:\nbefore %s\nafter  %s", before, now)
		}
	}
	for _, ping := range pings {
		if result := ping.Stop(t); result.Lost > 0 {
			t.Errorf("%s: %v\nus: %v\nthem: %v", ping.Name, result, labtest.XfrmErrors(t, p.us), labtest.XfrmErrors(t, p.them))
		}
	}
	for _, r := range ends {
		r.once(t, func(v labtest.Vici) error { return v.RekeyChild(r.conn) }, []labtest.Vici{us.Vici}, r.childSPI)
		r.once(t, func(v labtest.Vici) error { return v.RekeyIKE(r.conn) }, []labtest.Vici{them.Vici}, r.ikeID)
	}
	us.Stop(t)
	labtest.WaitFor(t, setupTime, "charon without SAs", func() error { return wantNoSAs(them.Vici) })
}

// identities names all SAs, on which both ends agree.
func identities(t *testing.T, ends []rekeyer) (all string) {
	t.Helper()
	for _, r := range ends {
		id, err := r.ikeID()
		if err != nil {
			t.Fatal(err)
		}
		child, err := r.childSPI()
		if err != nil {
			t.Fatal(err)
		}
		all += r.conn + " " + id + child + " "
	}
	return all
}

func wantNoSAs(v labtest.Vici) error {
	sas, err := v.SAs()
	if err == nil && len(sas) > 0 {
		err = fmt.Errorf("%d IKE SAs are left", len(sas))
	}
	return err
}
