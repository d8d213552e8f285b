package iketest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/ike"
)

// TestUpDown runs scripts when CHILD_SAs come up and go down, not on a rekey; reauthentication has the new one up before the
// old one goes, as in strongSwan. Who has no script hears nothing.
func TestUpDown(t *testing.T) {
	p := established(t, 1, func(a, b *ike.Config) {
		persist(a, b)
		a.Connections[0].Children[0].Updown = "script"
	})
	for _, ev := range []ike.Event{rekeyChild, rekeyIKE, reauthenticate, deleteIKE} {
		p.A.Do(ev)
		p.RunFor(time.Minute)
	}
	empty(t, p.Net)
	var got []string
	for _, ev := range p.A.UpDowns {
		got = append(got, fmt.Sprintf("%v-%d %v", ev.Up, ev.SA.ID, ev.SA.RemoteID))
	}
	if want := "true-1 b.example, true-3 b.example, false-2 b.example, false-3 b.example"; strings.Join(got, ", ") != want {
		failRun(t, p.Net, "%v, expected %s", got, want)
	}
	if len(p.B.UpDowns) > 0 {
		t.Errorf("B runs scripts: %v", p.B.UpDowns)
	}
}
