package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/ipsecd/ipsecd/cmd/internal/show"
	"github.com/ipsecd/ipsecd/cmd/internal/status/statustest"
	"github.com/ipsecd/ipsecd/ike"
)

func TestResolve(t *testing.T) {
	r := show.NewReport(statustest.New())
	for name, want := range map[string]target{
		"hq": {"hq", ""}, "lab": {"lab", ""}, "hq/net": {"hq", "net"}, "a": {"lab", "a"}, "lab/b": {"lab", "b"}, "new": {"new", ""},
	} {
		if got, err := resolve(r, name); err != nil || got != want {
			t.Errorf("%s: %v, %v; want %v", name, got, err, want)
		}
	}
	for name, want := range map[string]string{
		"net":    "net is a child of several connections: say which, as in hq/net, branch2/net",
		"hq/x":   "no connection or child is named hq/x; there are hq, branch2, lab, new",
		"lab/":   "no connection or child is named lab/; there are hq, branch2, lab, new",
		"nosuch": "no connection or child is named nosuch; there are hq, branch2, lab, new",
	} {
		if _, err := resolve(r, name); err == nil || err.Error() != want {
			t.Errorf("%s: error %v, want %s", name, err, want)
		}
	}
}

// up shows the progress and ends with the cause.
func TestUpFails(t *testing.T) {
	d := startDaemon(t)
	d.OnDo = func(ike.Event) {
		go func() {
			d.Publish(ike.Note{Connection: "branch2", Group: "IKE", Level: ike.LevelInfo, Text: "initiating IKE_SA branch2 to 198.51.100.9"})
			d.Publish(ike.Note{Connection: "hq", Group: "IKE", Level: ike.LevelInfo, Text: "somebody else's"})
			d.Publish(ike.Note{Connection: "branch2", Group: "IKE", Level: ike.LevelWarn, Kind: ike.NoteFailure, Text: "wrong PSK \x1b[2J"})
		}()
	}
	const log = "[IKE] initiating IKE_SA branch2 to 198.51.100.9\n[IKE] wrong PSK ?[2J\n"
	compare(t, result{exitFailed, log, "ipsecctl: branch2/net: establishing CHILD_SA 'net' failed: wrong PSK ?[2J\n"},
		d.at(t, "sa", "up", "branch2/net"))
}

// All children of a connection are brought up.
func TestUp(t *testing.T) {
	d := startDaemon(t)
	var asked []ike.Event
	d.OnDo = func(ev ike.Event) {
		asked = append(asked, ev)
		st := statustest.New()
		b := st.Engine.IKESAs[1].Children[0]
		sa := *b.SA
		sa.Config = st.Config.IKE.Connections[2].Children[1]
		b.SA = &sa
		st.Engine.IKESAs[1].Children = append(st.Engine.IKESAs[1].Children, b)
		d.Set(st)
	}
	compare(t, result{exitOK, "lab/a: up\nlab/b: up\n", ""}, d.at(t, "sa", "up", "lab"))
	if len(asked) != 2 || asked[1] != (ike.Initiate{Connection: "lab", Child: "b"}) {
		t.Errorf("the daemon was asked for %+v", asked)
	}
}

func TestUpTimesOut(t *testing.T) {
	d := startDaemon(t)
	compare(t, result{exitFailed, "", "ipsecctl: branch2/net: CHILD_SA 'net' not established after 80ms\n"},
		d.at(t, "sa", "up", "branch2", "--timeout", "80ms"))
	compare(t, result{exitOK, "branch2/net: started\n", ""}, d.at(t, "sa", "up", "branch2", "--timeout", "0"))
	want := `[
  {
    "name": "branch2/net",
    "ok": false,
    "error": "CHILD_SA 'net' not established after 80ms",
    "log": []
  }
]
`
	compare(t, result{exitFailed, want, "ipsecctl: branch2/net: CHILD_SA 'net' not established after 80ms\n"},
		d.at(t, "sa", "up", "branch2", "--timeout=80ms", "--json"))
}

func TestDownAndRekey(t *testing.T) {
	d := startDaemon(t)
	var asked []ike.Event
	d.OnDo = func(ev ike.Event) {
		asked = append(asked, ev)
		if _, ok := ev.(ike.Terminate); ok {
			st := statustest.New()
			st.Engine.IKESAs = nil
			d.Set(st)
		}
	}
	compare(t, result{exitOK, "lab/a: rekeying (SAs: 1)\n", ""}, d.at(t, "sa", "rekey", "a"))
	compare(t, result{exitOK, "hq: rekeying (SAs: 1)\n", ""}, d.at(t, "sa", "rekey", "hq"))
	compare(t, result{exitOK, "hq: down (SAs: 1)\n", ""}, d.at(t, "sa", "down", "hq"))
	compare(t, result{exitFailed, "", "ipsecctl: no matching SAs to terminate found\n"}, d.at(t, "sa", "down", "hq"))
	want := []ike.Event{ike.Rekey{Connection: "lab", Child: "a"}, ike.Rekey{Connection: "hq"}, ike.Terminate{Connection: "hq"}}
	if len(asked) != 3 || asked[0] != want[0] || asked[1] != want[1] || asked[2] != want[2] {
		t.Errorf("the daemon was asked for %+v", asked)
	}
}

func TestReload(t *testing.T) {
	d := startDaemon(t)
	d.OnReload = func(dry bool) (string, error) {
		if dry {
			return "stop     connection hq\nstart    connection hq2\n", nil
		}
		return "", errors.New("ipsecd.conf:3: unknown key conections; did you mean connections?\nipsecd.conf:9: no")
	}
	compare(t, result{exitOK, "stop     connection hq\nstart    connection hq2\n", ""}, d.at(t, "reload", "--dry-run"))
	compare(t, result{exitFailed, "", "ipsecctl: not reloaded, the old configuration stays in force:\nipsecd.conf:3: unknown key conections; did you mean connections?\nipsecd.conf:9: no\n"},
		d.at(t, "reload"))
	compare(t, result{exitOK, "{\n  \"dry_run\": true,\n  \"plan\": [\n    \"stop     connection hq\",\n    \"start    connection hq2\"\n  ]\n}\n", ""},
		d.at(t, "reload", "-n", "--json"))
}

func TestVersion(t *testing.T) {
	d := startDaemon(t)
	got := d.at(t, "version")
	if got.status != exitOK || !strings.HasPrefix(got.stdout, "ipsecctl "+buildVersion()+"\nipsecd 1.2.3 (Linux ") {
		t.Errorf("%+v", got)
	}
}
