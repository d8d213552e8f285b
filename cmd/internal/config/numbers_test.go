package config

import (
	"slices"
	"testing"

	"github.com/ipsecd/ipsecd/ike"
)

func TestGeneratedNumbers(t *testing.T) {
	c, ch := loadMinimal(t, "if_id_in = %unique\nif_id_out = 7", `
		if_id_in = 9
		if_id_out = %unique-dir
		mark_in = %unique/0xff
		mark_out = %unique-dir
		set_mark_in = %same
		set_mark_out = %same/0x0f`)
	if c.IfIDInBy != ike.NumberEach || c.IfIDOutBy != ike.NumberConfigured || c.IfIDIn != 0 || c.IfIDOut != 7 {
		t.Errorf("%+v", c)
	}
	if ch.IfIDInBy != ike.NumberConfigured || ch.IfIDOutBy != ike.NumberEachDir || ch.IfIDIn != 9 || ch.IfIDOut != 0 {
		t.Errorf("the child does not choose for itself: %+v", ch)
	}
	if ch.MarkInBy != ike.NumberEach || ch.MarkOutBy != ike.NumberEachDir || ch.MarkIn != (ike.Mark{Mask: 0xff}) || ch.MarkOut != (ike.Mark{Mask: 0xffffffff}) {
		t.Errorf("marks: %+v", ch)
	}
	if !ch.SetMarkInSame || !ch.SetMarkOutSame || ch.SetMarkIn != (ike.Mark{Mask: 0xffffffff}) || ch.SetMarkOut != (ike.Mark{Mask: 0xf}) {
		t.Errorf("marks to set: %+v", ch.Handling)
	}
}

// A trap that no packet can meet is pointed out; two children whose SAs have numbers of their own are not in each other's way.
func TestGeneratedNumbersWarnings(t *testing.T) {
	for _, c := range []struct {
		conn, child string
		want        []string
	}{
		{"", "mark_out = %unique\nstart_action = trap|start", []string{"9: connections.hq.children.net.start_action = trap is without effect: packets must have a number that only a CHILD_SA gets (%unique in mark_out or if_id_out); expected start"}},
		{"if_id_out = %unique", "dpd_action = trap", []string{"8: connections.hq.children.net.dpd_action = trap is without effect: packets must have a number that only a CHILD_SA gets (%unique in mark_out or if_id_out); expected start"}},
		{"if_id_out = %unique", "if_id_out = 4\nstart_action = trap", nil},
		{"", "mark_in = %unique\nstart_action = trap", nil},
		{"", "mark_out = %unique\nremote_ts = 0.0.0.0/0\nlocal_ts = 0.0.0.0/0 }\n other {\nmark_out = %unique\nremote_ts = 0.0.0.0/0\nlocal_ts = 0.0.0.0/0", nil},
	} {
		got, err := LoadFS(etc(at(c.conn, c.child)), DefaultPath)
		if err != nil {
			t.Fatal(err)
		}
		if w := warnings(got); !slices.Equal(w, c.want) {
			t.Errorf("%s %s:\n got %q\nwant %q", c.conn, c.child, w, c.want)
		}
	}
}
