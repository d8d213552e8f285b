package labtest

import (
	"testing"
	"time"
)

// As 'ip -ts monitor' of Debian 12 prints it.
const monitorLog = `[2026-11-30T20:21:28.900000] id 3 group 1/2 proto bgp 
[2026-11-30T20:21:28.947483] 3: oci1@lo: <NOARP> mtu 1400 qdisc noqueue state DOWN group default 
    link/none 
[2026-11-30T20:21:28.950000] Deleted local fe80::84b1:16ff:fec1:1046 dev oci1 table local proto kernel metric 0 pref medium
[2026-11-30T20:21:28.951000] 4: oci2@lo: <NOARP,UP,LOWER_UP> mtu 1400 qdisc noqueue state UNKNOWN group default 
[2026-11-30T20:21:28.957483] id 3 group 2 proto bgp 
[2026-11-30T20:21:30.599325] id 1 via 10.1.0.2 dev oci1 scope link proto bgp 
`

func TestGroupDelay(t *testing.T) {
	if got, err := groupDelay(monitorLog, "oci1"); err != nil || got != 10*time.Millisecond {
		t.Errorf("oci1: %v, %v; want 10ms", got, err)
	}
	if got, err := groupDelay(monitorLog, "oci2"); err == nil {
		t.Errorf("oci2 never went down: %v", got)
	}
}
