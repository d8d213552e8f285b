package config

import (
	"strings"
	"testing"
)

func TestPPKSecretsAndConnections(t *testing.T) {
	c := load(t, at("ppk_id = fleet\n ppk_required = yes\n proposals = aes256gcm16-prfsha384-x25519-ke1_mlkem768", "esp_proposals = aes256gcm16-x25519-ke1_mlkem768")+
		"\nsecrets { ppk-fleet { id = fleet\n secret = 0x0102 } }")
	if got := warnings(c); len(got) > 0 {
		t.Errorf("warnings %q", got)
	}
	conn := c.IKE.Connections[0]
	if conn.PPKID.String() != "fleet" || !conn.PPKRequired {
		t.Errorf("ppk_id %v, ppk_required %v", conn.PPKID, conn.PPKRequired)
	}
	if len(c.IKE.PPKs) != 1 || string(c.IKE.PPKs[0].Key.Bytes()) != "\x01\x02" || len(c.IKE.Secrets) != 1 {
		t.Errorf("PPKs %v, secrets %v", c.IKE.PPKs, c.IKE.Secrets)
	}
	if got := conn.Proposals[0].String(); got != "aes256gcm16-prfsha384-x25519-ke1_mlkem768" {
		t.Errorf("proposal %s", got)
	}
}

func TestPPKWithoutKeyIsAWarning(t *testing.T) {
	got := warnings(load(t, at("ppk_id = fleet", "")))
	if len(got) != 1 || !strings.Contains(got[0], "connections.hq.ppk_id = fleet has no key, so that none is used") {
		t.Errorf("warnings %q", got)
	}
}
