package vici

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/strongswan/govici/vici"

	"github.com/ipsecd/ipsecd/cmd/internal/status/statustest"
	"github.com/ipsecd/ipsecd/ike"
)

func message(t *testing.T, keyValues ...string) *vici.Message {
	t.Helper()
	m := vici.NewMessage()
	for i := 0; i+1 < len(keyValues); i += 2 {
		if err := m.Set(keyValues[i], keyValues[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// The texts are charon's where it has one: scripts look for them.
func TestControlErrors(t *testing.T) {
	_, s := serve(t, statustest.New())
	for _, tt := range []struct{ command, key, value, want string }{
		{"initiate", "child", "nosuch", "CHILD_SA config 'nosuch' not found"},
		{"initiate", "ike", "nosuch", "IKE_SA config 'nosuch' not found"},
		{"initiate", "timeout", "1", "missing configuration name"},
		{"terminate", "ike", "nosuch", "no matching SAs to terminate found"},
		{"rekey", "ike", "nosuch", "no matching SAs to rekey found"},
		{"terminate", "ike-id", "x1", `ike-id: a number is expected, not "x1"`},
		{"list-sas", "child-id", strings.Repeat("9", 60000), `not "` + strings.Repeat("9", maxQuote) + `..."`},
		{"get-counters", "name", "nosuch", "no counters found for this connection"},
		{"ipsecd-show", "continue", "yes", "no report to continue; send the command without continue first"},
	} {
		_, err := s.Call(testContext(t), tt.command, message(t, tt.key, tt.value))
		if err == nil || !strings.HasSuffix(err.Error(), tt.want) {
			t.Errorf("%s: error %.200v, want %q", tt.command, err, tt.want)
		}
	}
}

// initiate ends with the failure's own words, having sent the connection's log
// and nobody else's.
func TestInitiateFails(t *testing.T) {
	ctl := statustest.NewControl(statustest.New())
	did := make(chan ike.Event, 1)
	ctl.OnDo = func(ev ike.Event) {
		did <- ev
		go func() {
			ctl.Publish(ike.Note{Connection: "hq", Group: "IKE", Text: "not ours", Level: ike.LevelInfo})
			ctl.Publish(ike.Note{Connection: "branch2", Group: "IKE", Text: "too detailed", Level: ike.LevelDebug})
			ctl.Publish(ike.Note{Connection: "branch2", Group: "IKE", Text: "initiating", Level: ike.LevelInfo})
			ctl.Publish(ike.Note{Kind: ike.NoteFailure, Connection: "branch2", Group: "IKE", Text: "no answer", Level: ike.LevelError})
		}()
	}
	c := dial(t, listenOn(t, ctl))
	c.register("control-log")
	log, reply := c.call("initiate", "ike", "branch2", "child", "net")
	if ev := <-did; ev != (ike.Initiate{Connection: "branch2", Child: "net"}) {
		t.Errorf("event %+v", ev)
	}
	want := []string{
		"group=IKE level=1 thread=0 ikesa-name=branch2 msg=initiating",
		"group=IKE level=0 thread=0 ikesa-name=branch2 msg=no answer",
	}
	if d := cmp.Diff(want, log); d != "" {
		t.Errorf("log -want +got:\n%s", d)
	}
	if reply != "success=no errmsg=establishing CHILD_SA 'net' failed: no answer" {
		t.Errorf("reply %s", reply)
	}
}

func TestInitiateTimesOut(t *testing.T) {
	_, s := serve(t, statustest.New())
	_, err := s.Call(testContext(t), "initiate", message(t, "ike", "branch2", "child", "net", "timeout", "60"))
	if err == nil || !strings.HasSuffix(err.Error(), "CHILD_SA 'net' not established after 60ms") {
		t.Errorf("error %v", err)
	}
}

// A child alone is enough, as for charon; what is up already is a success.
func TestInitiateWhatIsUp(t *testing.T) {
	_, s := serve(t, statustest.New())
	if _, err := s.Call(testContext(t), "initiate", message(t, "child", "a", "timeout", "5000")); err != nil {
		t.Error(err)
	}
}

// terminate waits until the SAs are gone and counts them.
func TestTerminateWaits(t *testing.T) {
	ctl, s := serve(t, statustest.New())
	did := make(chan ike.Event, 1)
	ctl.OnDo = func(ev ike.Event) {
		did <- ev
		st := statustest.New()
		st.Engine.IKESAs[0].Children = nil
		ctl.Set(st)
	}
	m, err := s.Call(testContext(t), "terminate", message(t, "ike", "hq", "child", "net"))
	if err != nil {
		t.Fatal(err)
	}
	if ev := <-did; ev != (ike.Terminate{Connection: "hq", Child: "net"}) {
		t.Errorf("event %+v", ev)
	}
	if m.Get("success") != "yes" || m.Get("matches") != "2" || m.Get("terminated") != "2" {
		t.Errorf("reply %v", m)
	}
}

func TestRekey(t *testing.T) {
	ctl, s := serve(t, statustest.New())
	did := make(chan ike.Event, 1)
	ctl.OnDo = func(ev ike.Event) { did <- ev }
	m, err := s.Call(testContext(t), "rekey", message(t, "child-id", "0x9"))
	if err != nil {
		t.Fatal(err)
	}
	if ev := <-did; ev != (ike.Rekey{ChildID: 9}) || m.Get("matches") != "1" {
		t.Errorf("event %+v, reply %v", ev, m)
	}
}

// What the client sees is the plan, or the error with its file and line.
func TestReload(t *testing.T) {
	ctl, s := serve(t, statustest.New())
	var dry []bool
	ctl.OnReload = func(d bool) (string, error) {
		dry = append(dry, d)
		return "start    connection x\n", nil
	}
	for _, want := range []string{"yes", "no"} {
		m, err := s.Call(testContext(t), "ipsecd-reload", message(t, "dry-run", want))
		if err != nil || m.Get("plan") != "start    connection x\n" {
			t.Errorf("reply %v, error %v", m, err)
		}
	}
	if len(dry) != 2 || !dry[0] || dry[1] {
		t.Errorf("dry runs %v", dry)
	}
}

func TestRedirect(t *testing.T) {
	ctl, s := serve(t, statustest.New())
	did := make(chan ike.Event, 9)
	ctl.OnDo = func(ev ike.Event) { did <- ev }
	sa := statustest.New().Engine.IKESAs[0]
	m, err := s.Call(testContext(t), "redirect", message(t, "ike", sa.Connection, "peer-ip", sa.Remote.Addr().String(), "gateway", "192.0.2.99"))
	if err != nil {
		t.Fatal(err)
	}
	if ev := <-did; ev != (ike.Redirect{IKEID: sa.ID, Gateway: "192.0.2.99"}) || m.Get("matches") != "1" {
		t.Errorf("event %+v, reply %v", ev, m)
	}
	for _, other := range [][]string{{"ike", sa.Connection}, {"peer-ip", "198.51.100.99", "gateway", "gw"}, {"peer-id", "nobody", "gateway", "gw"}} {
		if m, err := s.Call(testContext(t), "redirect", message(t, other...)); err == nil {
			t.Errorf("%q: %v", other, m)
		}
	}
}

// A trap without a peer to trap for is refused, as by charon, and not only left out.
func TestInstallWithoutAddress(t *testing.T) {
	st := statustest.New()
	cfg := *st.Config
	cfg.IKE.Connections = slices.Clone(cfg.IKE.Connections)
	conn := *cfg.IKE.Connections[0]
	conn.RemoteAddrs = nil
	cfg.IKE.Connections[0], st.Config = &conn, &cfg
	_, s := serve(t, st)
	child := conn.Children[0].Name
	if _, err := s.Call(testContext(t), "install", message(t, "child", child, "ike", conn.Name)); err == nil || !strings.Contains(err.Error(), "installing policy '"+child+"' failed: a trap in tunnel mode needs a single address") {
		t.Errorf("install: %v", err)
	}
}
