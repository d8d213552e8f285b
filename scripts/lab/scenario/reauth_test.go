//go:build lab

package scenario

import (
	"fmt"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

// reauthEnds are both daemons, which authenticate again in one of the two ways.
type reauthEnds struct {
	pair *pair
	us   *labtest.Ipsecd
	them *labtest.Charon
}

// startReauth starts both with the connections of our side; their further keys are ours alone.
func startReauth(t *testing.T, makeBeforeBreak string, conns []connection, theirOptions map[string]string) reauthEnds {
	t.Helper()
	needIpsecd(t)
	p := newPair(t)
	var ours, theirs []connection
	var ourInterfaces, theirInterfaces []tunnelInterface
	for i, c := range conns {
		tunnel := p.tunnel(c.name, i+1, suite{"reauth", "aes128gcm16-prfsha256-x25519", "aes128gcm16", "", "", ""})
		tunnel.childOptions = "replay_window = 4096"
		reversed := tunnel.reversed()
		tunnel.options, reversed.options = c.options, theirOptions[c.name]
		ours, theirs = append(ours, tunnel), append(theirs, reversed)
		ourInterfaces, theirInterfaces = append(ourInterfaces, p.usInterface(i+1)), append(theirInterfaces, p.themInterface(i+1))
	}
	addInterfaces(t, p.them, theirInterfaces)
	t.Cleanup(func() { removeInterfaces(t, p.them, theirInterfaces) })
	e := reauthEnds{pair: p, them: labtest.StartCharon(t, p.them, "make_before_break = "+makeBeforeBreak)}
	e.them.Load(t, swanctlConf(theirs))
	e.us = startIpsecd(t, p.us, ours, ourInterfaces, "charon {\n make_before_break = "+makeBeforeBreak+"\n}\n")
	return e
}

// once authenticates again by what do does, and waits until both sides have settled on the new IKE SA.
func (e reauthEnds) once(t *testing.T, name string, do func() error) {
	t.Helper()
	r := rekeyer{conn: name, pair: e.pair, us: e.us.Vici, them: e.them.Vici}
	old := ""
	labtest.WaitFor(t, setupTime, "one IKE SA", func() (err error) {
		old, err = r.ikeID()
		return err
	})
	if err := do(); err != nil {
		t.Fatal(err)
	}
	labtest.WaitFor(t, setupTime, "another IKE SA, the same on both sides", func() error {
		now, err := r.ikeID()
		if err == nil && now == old {
			err = fmt.Errorf("still the old one, %s", now)
		}
		return err
	})
}

// command is the operator's.
func reauthCommand(v labtest.Vici, name string) func() error {
	return func() error {
		_, err := v.Call("rekey", "ike", name, "reauth", "yes")
		return err
	}
}

func (e reauthEnds) setUp(t *testing.T, by labtest.Vici, name string) {
	t.Helper()
	by.Initiate(t, name)
	awaitChild(t, name, e.us.Vici, e.them.Vici)
}

// TestReauthMakeBeforeBreak authenticates again under a ping: by us, by charon, by charon's clock, and by
// ours, which charon as initiator learns by AUTH_LIFETIME (RFC 4478).
func TestReauthMakeBeforeBreak(t *testing.T) {
	const command, theirs, ours = "command", "their-time", "our-time"
	e := startReauth(t, "yes", []connection{{name: command}, {name: theirs}, {name: ours, options: "reauth_time = 10s"}},
		map[string]string{theirs: "reauth_time = 10s", ours: "over_time = 2s"})
	e.setUp(t, e.us.Vici, command)
	t.Run("by-us", func(t *testing.T) {
		ping := labtest.StartPing(t, e.pair.us, rekeyPing, e.pair.themInner(1))
		e.once(t, command, reauthCommand(e.us.Vici, command))
		// charon, as responder, may send before its answer is here.
		if result := ping.Stop(t); result.LongestGap > 2*time.Second {
			t.Errorf("ping: %v", result)
		}
	})
	t.Run("by-charon", func(t *testing.T) {
		ping := labtest.StartPing(t, e.pair.us, rekeyPing, e.pair.themInner(1))
		e.once(t, command, reauthCommand(e.them.Vici, command))
		if result := ping.Stop(t); result.Lost > 0 {
			t.Errorf("ping: %v\nus: %v\nthem: %v", result, labtest.XfrmErrors(t, e.pair.us), labtest.XfrmErrors(t, e.pair.them))
		}
	})
	// charon tells its lifetime to clients with virtual addresses only, and does it by itself with others.
	t.Run("reauth-time-of-charon", func(t *testing.T) {
		e.setUp(t, e.us.Vici, theirs)
		e.once(t, theirs, func() error { return nil })
		labtest.Ping(t, e.pair.us, 2, e.pair.themInner(2))
		if err := e.us.Terminate(theirs); err != nil {
			t.Error(err)
		}
	})
	t.Run("our-reauth-time", func(t *testing.T) {
		e.setUp(t, e.them.Vici, ours)
		e.once(t, ours, func() error { return nil })
		e.them.WaitLog(t, time.Minute, "received AUTH_LIFETIME of 10s, scheduling reauthentication in 8s")
	})
}

// TestReauthBreakBeforeMake does so with peers that want one IKE SA only.
func TestReauthBreakBeforeMake(t *testing.T) {
	e := startReauth(t, "no", []connection{{name: "break"}}, nil)
	e.setUp(t, e.us.Vici, "break")
	for name, by := range map[string]labtest.Vici{"by-us": e.us.Vici, "by-charon": e.them.Vici} {
		t.Run(name, func(t *testing.T) {
			e.once(t, "break", reauthCommand(by, "break"))
			labtest.Ping(t, e.pair.us, 2, e.pair.themInner(1))
		})
	}
}
