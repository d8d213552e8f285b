package labtest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/strongswan/govici/vici"
)

// viciTimeout bounds one command; initiating waits for several exchanges.
const viciTimeout = 120 * time.Second

// viciEvents is more than one listing of any scenario has.
const viciEvents = 1024

// Vici speaks to a daemon's control socket: charon's and ipsecd's are alike.
type Vici struct {
	Path string // of the socket
}

// IKESA is what list-sas says of one IKE SA.
type IKESA struct {
	Name         string
	UniqueID     string             `vici:"uniqueid"`
	State        string             `vici:"state"`
	Initiator    string             `vici:"initiator"` // "yes" or empty
	SPIInitiator string             `vici:"initiator-spi"`
	SPIResponder string             `vici:"responder-spi"`
	LocalHost    string             `vici:"local-host"`
	LocalPort    string             `vici:"local-port"`
	RemoteHost   string             `vici:"remote-host"`
	Encryption   string             `vici:"encr-alg"`
	Group        string             `vici:"dh-group"`
	More1        string             `vici:"ake1"` // additional key exchanges; empty without
	More2        string             `vici:"ake2"`
	PPK          string             `vici:"ppk"` // "yes" or empty
	LocalVIPs    []string           `vici:"local-vips"`
	RemoteVIPs   []string           `vici:"remote-vips"`
	IfIDIn       string             `vici:"if-id-in"`
	IfIDOut      string             `vici:"if-id-out"`
	Children     map[string]ChildSA `vici:"child-sas"`
}

// ChildSA is what list-sas says of one CHILD_SA.
type ChildSA struct {
	Name       string `vici:"name"`
	UniqueID   string `vici:"uniqueid"`
	State      string `vici:"state"`
	Mode       string `vici:"mode"`  // TUNNEL or TRANSPORT
	ESN        string `vici:"esn"`   // "1" or empty
	Encap      string `vici:"encap"` // "yes" when in UDP
	SPIIn      string `vici:"spi-in"`
	SPIOut     string `vici:"spi-out"`
	Encryption string `vici:"encr-alg"`
	KeySize    string `vici:"encr-keysize"`
	Group      string `vici:"dh-group"` // empty: no key exchange of its own
	More1      string `vici:"ake1"`     // additional ones
	More2      string `vici:"ake2"`
	BytesIn    uint64 `vici:"bytes-in"`
	BytesOut   uint64 `vici:"bytes-out"`
	PacketsIn  uint64 `vici:"packets-in"`
	PacketsOut uint64 `vici:"packets-out"`

	PerCPU      string `vici:"per-cpu-sas"` // "yes" or empty
	CPU         string `vici:"cpu"`         // empty: for all
	IfIDIn      string `vici:"if-id-in"`
	IfIDOut     string `vici:"if-id-out"`
	MarkIn      string `vici:"mark-in"`
	MarkMaskIn  string `vici:"mark-mask-in"`
	MarkOut     string `vici:"mark-out"`
	MarkMaskOut string `vici:"mark-mask-out"`

	LocalTS  []string `vici:"local-ts"`
	RemoteTS []string `vici:"remote-ts"`
}

// Call runs one command.
func (v Vici) Call(command string, keys ...string) (*vici.Message, error) {
	s, err := vici.NewSession(vici.WithAddr("unix", v.Path))
	if err != nil {
		return nil, err
	}
	defer s.Close()
	m, err := message(keys)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), viciTimeout)
	defer cancel()
	return s.Call(ctx, command, m)
}

// message makes a message of keys and values in turn.
func message(keys []string) (*vici.Message, error) {
	m := vici.NewMessage()
	for i := 0; i+1 < len(keys); i += 2 {
		if err := m.Set(keys[i], keys[i+1]); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Section returns the keys and values of a section of a reply.
func Section(m *vici.Message, name string) (map[string]string, error) {
	s, ok := m.Get(name).(*vici.Message)
	if !ok {
		return nil, fmt.Errorf("no section %s in %v", name, m)
	}
	out := map[string]string{}
	for _, key := range s.Keys() {
		if v, ok := s.Get(key).(string); ok {
			out[key] = v
		}
	}
	return out, nil
}

// SAs lists the IKE SAs, with ("ike", name) those of one connection.
func (v Vici) SAs(filter ...string) ([]IKESA, error) {
	s, err := vici.NewSession(vici.WithAddr("unix", v.Path))
	if err != nil {
		return nil, err
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(context.Background(), viciTimeout)
	defer cancel()
	in, err := message(filter)
	if err != nil {
		return nil, err
	}
	// Not CallStreaming: it may take the reply for the end while events wait.
	events := make(chan vici.Event, viciEvents)
	if err := s.Subscribe("list-sa"); err != nil {
		return nil, err
	}
	s.NotifyEvents(events)
	defer s.StopEvents(events)
	if _, err := s.Call(ctx, "list-sas", in); err != nil {
		return nil, err
	}
	var sas []IKESA
	for range len(events) {
		m := (<-events).Message
		for _, name := range m.Keys() {
			section, ok := m.Get(name).(*vici.Message)
			if !ok {
				continue
			}
			sa := IKESA{Name: name}
			if err := vici.UnmarshalMessage(section, &sa); err != nil {
				return nil, fmt.Errorf("list-sas: %s: %w", name, err)
			}
			sas = append(sas, sa)
		}
	}
	return sas, nil
}

// Child returns the one installed CHILD_SA of a connection whose child has the
// same name, or an error that says what there is instead.
func (v Vici) Child(child string) (ChildSA, error) {
	sas, err := v.SAs("ike", child)
	if err != nil {
		return ChildSA{}, err
	}
	var found []ChildSA
	seen := fmt.Sprintf("%d IKE SAs", len(sas))
	for _, sa := range sas {
		for _, c := range sa.Children {
			if c.Name != child {
				continue
			}
			seen += fmt.Sprintf(", %s in %s %s", c.State, sa.Name, sa.State)
			if c.State == "INSTALLED" && sa.State == "ESTABLISHED" {
				found = append(found, c)
			}
		}
	}
	if len(found) != 1 {
		return ChildSA{}, fmt.Errorf("%d of CHILD_SA %s are installed (%s)", len(found), child, seen)
	}
	return found[0], nil
}

// IKE returns the one established IKE SA of connection name.
func (v Vici) IKE(name string) (IKESA, error) {
	sas, err := v.SAs("ike", name)
	if err != nil {
		return IKESA{}, err
	}
	var found []IKESA
	seen := ""
	for _, sa := range sas {
		if sa.Name == name {
			seen += " " + sa.State
			if sa.State == "ESTABLISHED" {
				found = append(found, sa)
			}
		}
	}
	if len(found) != 1 {
		return IKESA{}, fmt.Errorf("%d of IKE SA %s are established (states:%s)", len(found), name, seen)
	}
	return found[0], nil
}

// Initiate sets up a child and waits until it is there or has failed.
func (v Vici) Initiate(t testing.TB, child string) {
	t.Helper()
	if _, err := v.Call("initiate", "child", child, "timeout", fmt.Sprint(viciTimeout.Milliseconds()/2)); err != nil {
		t.Fatalf("initiate %s: %v", child, err)
	}
}

// RekeyChild replaces a CHILD_SA; the command only starts it.
func (v Vici) RekeyChild(child string) error {
	_, err := v.Call("rekey", "child", child)
	return err
}

// RekeyIKE replaces an IKE SA; the command only starts it.
func (v Vici) RekeyIKE(connection string) error {
	_, err := v.Call("rekey", "ike", connection)
	return err
}

// Terminate ends an IKE SA, waiting for the peer's answer.
func (v Vici) Terminate(connection string) error {
	_, err := v.Call("terminate", "ike", connection, "timeout", "30000")
	return err
}
