package vici

import (
	"testing"
	"time"

	"github.com/strongswan/govici/vici"

	"github.com/ipsecd/ipsecd/cmd/internal/status/statustest"
)

// exporterIKE and exporterChild are what public exporters read with govici, with the types that they want.
type exporterIKE struct {
	UniqueID     uint32                   `vici:"uniqueid"`
	Version      uint8                    `vici:"version"`
	State        string                   `vici:"state"`
	LocalHost    string                   `vici:"local-host"`
	LocalPort    uint16                   `vici:"local-port"`
	LocalID      string                   `vici:"local-id"`
	RemoteHost   string                   `vici:"remote-host"`
	RemotePort   uint16                   `vici:"remote-port"`
	RemoteID     string                   `vici:"remote-id"`
	RemoteXAuth  string                   `vici:"remote-xauth-id"`
	RemoteEAP    string                   `vici:"remote-eap-id"`
	LocalVIPs    []string                 `vici:"local-vips"`
	RemoteVIPs   []string                 `vici:"remote-vips"`
	Initiator    bool                     `vici:"initiator"`
	NATRemote    bool                     `vici:"nat-remote"`
	InitiatorSPI string                   `vici:"initiator-spi"`
	Established  *int64                   `vici:"established"`
	RekeyTime    *int64                   `vici:"rekey-time"`
	ReauthTime   *int64                   `vici:"reauth-time"`
	Children     map[string]exporterChild `vici:"child-sas"`
}

type exporterChild struct {
	Name       string   `vici:"name"`
	UniqueID   uint32   `vici:"uniqueid"`
	ReqID      uint32   `vici:"reqid"`
	State      string   `vici:"state"`
	Mode       string   `vici:"mode"`
	Protocol   string   `vici:"protocol"`
	Encap      bool     `vici:"encap"`
	KeySize    int      `vici:"encr-keysize"`
	BytesIn    uint64   `vici:"bytes-in"`
	PacketsIn  uint64   `vici:"packets-in"`
	UseIn      *int64   `vici:"use-in"`
	BytesOut   uint64   `vici:"bytes-out"`
	PacketsOut uint64   `vici:"packets-out"`
	UseOut     *int64   `vici:"use-out"`
	RekeyTime  *int64   `vici:"rekey-time"`
	LifeTime   *int64   `vici:"life-time"`
	Installed  *int64   `vici:"install-time"`
	LocalTS    []string `vici:"local-ts"`
	RemoteTS   []string `vici:"remote-ts"`
}

type exporterStats struct {
	Uptime struct {
		Since string `vici:"since"`
	} `vici:"uptime"`
	Workers struct {
		Total  uint64 `vici:"total"`
		Idle   uint64 `vici:"idle"`
		Active struct {
			Critical uint64 `vici:"critical"`
			Low      uint64 `vici:"low"`
		} `vici:"active"`
	} `vici:"workers"`
	Queues struct {
		High   uint64 `vici:"high"`
		Medium uint64 `vici:"medium"`
	} `vici:"queues"`
	Scheduled uint64 `vici:"scheduled"`
	IKESAs    struct {
		Total    uint64 `vici:"total"`
		HalfOpen uint64 `vici:"half-open"`
	} `vici:"ikesas"`
}

// Public exporters unmarshal what they ask for into numbers, lists and sections, and fail where a value is of another kind.
func TestExporters(t *testing.T) {
	_, s := serve(t, statustest.New())
	m, err := s.Call(testContext(t), "stats", nil)
	if err != nil {
		t.Fatal(err)
	}
	var stats exporterStats
	if err := vici.UnmarshalMessage(m, &stats); err != nil {
		t.Fatal(err)
	}
	if _, err := time.ParseInLocation("Jan _2 15:04:05 2006", stats.Uptime.Since, time.Local); err != nil || stats.IKESAs.Total != 3 || stats.IKESAs.HalfOpen != 1 || stats.Workers.Total == 0 {
		t.Errorf("stats %+v, %v", stats, err)
	}
	sas := map[string]exporterIKE{}
	for m, err := range s.CallStreaming(testContext(t), "list-sas", "list-sa", nil) {
		if err != nil {
			t.Fatal(err)
		}
		if err := vici.UnmarshalMessage(m, sas); err != nil {
			t.Fatal(err)
		}
	}
	hq := sas["hq"]
	net := hq.Children["net-8"]
	if len(sas) != 3 || hq.Version != 2 || hq.State != "ESTABLISHED" || hq.Established == nil || *hq.Established != 10800 || !hq.NATRemote || len(hq.Children) != 2 {
		t.Errorf("%d SAs, hq %+v", len(sas), hq)
	}
	if net.State != "INSTALLED" || net.BytesIn != 1500 || net.PacketsOut != 10 || net.Installed == nil || *net.Installed != 60 || *net.RekeyTime != 1860 || len(net.LocalTS) != 1 {
		t.Errorf("net-8 %+v", net)
	}
}
