//go:build lab

package scenario

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

const (
	// rekeyPing is the interval of the ping that must not lose a packet.
	rekeyPing = 10 * time.Millisecond
	// rekeyRounds of each kind: rekeys by both at once meet in different ways.
	rekeyRounds = 3
)

// TestRekey replaces CHILD_SAs and IKE SAs, from either side and from both at
// once, under a ping and a TCP flow: no packet is lost, and one SA remains.
func TestRekey(t *testing.T) {
	p := newPair(t)
	// x25519 is the least work in emulation, and no less of a rekey.
	s := suite{"rekey", "aes256gcm16-prfsha384-x25519", "aes256gcm16-x25519", "", "", "rfc4106(gcm(aes))"}
	conn := p.tunnel("rekey", 1, s)
	// Two emulated processors, either of which may stand still for a while, reorder by
	// more than the default window of 32: that loss would not be the rekey's.
	conn.childOptions = "replay_window = 4096"
	conn.start = false
	r := rekeyer{conn: conn.name, pair: p}
	theirs := conn.reversed()
	r.them = startCharon(t, p.them, []connection{theirs}, []tunnelInterface{p.themInterface(1)}).Vici
	r.us = startUs(t, p.us, []connection{conn}, []tunnelInterface{p.usInterface(1)})
	labtest.IperfServers(t, p.them, firstPort)
	r.us.Initiate(t, conn.name)
	awaitChild(t, conn.name, r.us, r.them)

	child := func(v labtest.Vici) error { return v.RekeyChild(conn.name) }
	ike := func(v labtest.Vici) error { return v.RekeyIKE(conn.name) }
	both := []labtest.Vici{r.us, r.them}
	tests := []struct {
		name  string
		rekey func(labtest.Vici) error
		by    []labtest.Vici
		spi   func() (string, error) // of what is replaced
	}{
		{"child-by-us", child, both[:1], r.childSPI},
		{"child-by-charon", child, both[1:], r.childSPI},
		{"child-by-both", child, both, r.childSPI},
		{"ike-by-us", ike, both[:1], r.ikeID},
		{"ike-by-charon", ike, both[1:], r.ikeID},
		{"ike-by-both", ike, both, r.ikeID},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			flow := labtest.StartFlow(t, labtest.Flow{From: p.us, To: p.themInner(1), Port: firstPort, Seconds: 3600, Rate: "5M"})
			ping := labtest.StartPing(t, p.us, rekeyPing, p.themInner(1))
			for range rekeyRounds {
				r.once(t, tt.rekey, tt.by, tt.spi)
			}
			result := ping.Stop(t)
			if result.Lost > 0 {
				t.Errorf("ping: %v\nus: %v\nthem: %v", result, labtest.XfrmErrors(t, p.us), labtest.XfrmErrors(t, p.them))
			}
			t.Logf("ping: %v", result)
			if !flow.Running() {
				t.Errorf("the TCP flow ended: %s", flow.Log())
			}
			flow.Stop(t)
		})
	}
}

// rekeyer has the two ends of a tunnel.
type rekeyer struct {
	conn     string
	pair     *pair
	ping     func(*testing.T) // instead of one from us to them
	us, them labtest.Vici
}

// once starts one rekey, from several sides at the same time if asked to, and
// waits until both sides have settled on one new SA.
func (r rekeyer) once(t *testing.T, rekey func(labtest.Vici) error, by []labtest.Vici, spi func() (string, error)) {
	t.Helper()
	var old string
	labtest.WaitFor(t, setupTime, "one SA, the same on both sides", func() (err error) {
		old, err = spi()
		return err
	})
	var wg sync.WaitGroup
	errs := make([]error, len(by))
	for i, side := range by {
		wg.Go(func() { errs[i] = rekey(side) })
	}
	wg.Wait()
	for _, err := range errs {
		// Who comes second may find that the other has begun.
		if err != nil && len(by) == 1 {
			t.Fatal(err)
		}
	}
	labtest.WaitFor(t, setupTime, "one new SA, the same on both sides", func() error {
		now, err := spi()
		if err == nil && now == old {
			err = fmt.Errorf("still the old one, %s", now)
		}
		return err
	})
	if r.ping != nil {
		r.ping(t)
		return
	}
	labtest.Ping(t, r.pair.us, 2, r.pair.themInner(1))
}

// childSPI names the CHILD_SA on which both sides agree.
func (r rekeyer) childSPI() (string, error) {
	ours, err := r.us.Child(r.conn)
	if err != nil {
		return "", fmt.Errorf("we: %w", err)
	}
	theirs, err := r.them.Child(r.conn)
	if err != nil {
		return "", fmt.Errorf("they: %w", err)
	}
	if ours.SPIIn != theirs.SPIOut || ours.SPIOut != theirs.SPIIn {
		return "", fmt.Errorf("we have %s in, %s out; they have %s in, %s out", ours.SPIIn, ours.SPIOut, theirs.SPIIn, theirs.SPIOut)
	}
	return ours.SPIIn + ours.SPIOut, nil
}

// ikeID names the IKE SA on which both sides agree; its CHILD_SA must be there too.
func (r rekeyer) ikeID() (string, error) {
	ours, err := r.us.IKE(r.conn)
	if err != nil {
		return "", fmt.Errorf("we: %w", err)
	}
	theirs, err := r.them.IKE(r.conn)
	if err != nil {
		return "", fmt.Errorf("they: %w", err)
	}
	if ours.SPIInitiator != theirs.SPIInitiator || ours.SPIResponder != theirs.SPIResponder {
		return "", fmt.Errorf("we have %s and %s, they have %s and %s", ours.SPIInitiator, ours.SPIResponder, theirs.SPIInitiator, theirs.SPIResponder)
	}
	if _, err := r.childSPI(); err != nil {
		return "", err
	}
	return ours.SPIInitiator + ours.SPIResponder, nil
}
