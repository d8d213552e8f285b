package config

import (
	"errors"
	"strings"

	"github.com/ipsecd/ipsecd/cmd/internal/config/settings"
	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/ike/suite"
)

// childReader reads an entry of children.
type childReader struct{ *reader }

func (l *loader) childConfig(sec *settings.Section, parent string, conn *ike.Connection) *ike.ChildConfig {
	r := &childReader{l.section(sec, "connections.*.children.*", parent+".children."+sec.Name)}
	c := l.child
	c.Name, c.Source = sec.Name, sec.Position.String()
	c.IfIDIn, c.IfIDOut = conn.IfIDIn, conn.IfIDOut

	r.noAH()
	c.Proposals = r.proposals("esp_proposals", suite.ESP)
	c.LocalTS = r.selectors("local_ts")
	c.RemoteTS = r.selectors("remote_ts")
	read(r.reader, "mode", &c.Mode, parseMode)
	read(r.reader, "start_action", &c.StartAction, parseAction)
	read(r.reader, "close_action", &c.CloseAction, parseAction)
	read(r.reader, "dpd_action", &c.DPDAction, parseAction)
	r.lifetimes(&c)
	read(r.reader, "reqid", &c.ReqID, parseUint32)
	read(r.reader, "priority", &c.Priority, parseUint32)
	r.handling(&c)
	read(r.reader, "replay_window", &c.ReplayWindow, number[uint32](0, maxReplayWindow))
	read(r.reader, "policies", &c.Policies, parseBool)
	read(r.reader, "hw_offload", &c.HWOffload, word(offloadWords))
	read(r.reader, "copy_df", &c.CopyDF, parseBool)
	r.perCPU(&c)
	if v, ok := r.value("updown"); ok { // a command has "=" in it
		c.Updown = v.Text
	}
	read(r.reader, "hostaccess", &c.HostAccess, parseBool)
	read(r.reader, "inactivity", &c.Inactivity, parseDuration)
	r.needsWindow(&c)

	r.ifID("if_id_in", &c.IfIDIn, &c.IfIDInBy)
	r.ifID("if_id_out", &c.IfIDOut, &c.IfIDOutBy)
	r.checkNumbers(&c, conn)
	read(r.reader, "interface", &c.Interface, text)
	r.bind(&c)

	r.warnUnsupported(unsupportedChild)
	r.finish()
	c.Lines = lines(sec)
	return &c
}

// noAH refuses a child that is to use AH: ESP in its place would not be what
// was asked for.
func (r *childReader) noAH() {
	if v, ok := r.value("ah_proposals"); ok {
		r.beyond(v.Position, "%s.ah_proposals: AH is not supported", r.path)
	}
}

func (r *childReader) selectors(key string) []ike.TrafficSelector {
	ts := anySelector()
	if read(r.reader, key, &ts, list(parseSelector)) && len(ts) == 0 {
		return anySelector()
	}
	return ts
}

func parseMode(s string) (ike.Mode, error) {
	switch s {
	case "tunnel":
		return ike.ModeTunnel, nil
	case "transport":
		return ike.ModeTransport, nil
	case "pass":
		return ike.ModePass, nil
	case "drop":
		return ike.ModeDrop, nil
	case "beet", "iptfs", "transport_proxy":
		return 0, unsupportedValue("not supported")
	}
	return 0, errors.New("expected tunnel, transport, pass or drop")
}

var actionWords = map[string]ike.ChildAction{
	"none": ike.ActionClear, "clear": ike.ActionClear,
	"trap": ike.ActionTrap, "route": ike.ActionTrap,
	"start": ike.ActionStart, "restart": ike.ActionStart,
}

// parseAction reads an action, or two of them joined by "|".
func parseAction(s string) (ike.ChildAction, error) {
	action := ike.ActionClear
	for w := range strings.SplitSeq(s, "|") {
		a, ok := actionWords[strings.TrimSpace(w)]
		switch {
		case !ok:
			return 0, errors.New("expected none, trap, start or trap|start")
		case a == ike.ActionClear || a == action:
		case action == ike.ActionClear:
			action = a
		default:
			action = ike.ActionTrapStart
		}
	}
	return action, nil
}

// The words for hardware offload, and what the kernel side knows them as.
var offloadWords = map[string]string{
	"no": "", "false": "", "yes": "crypto", "true": "crypto", "crypto": "crypto", "packet": "packet", "auto": "auto",
}
