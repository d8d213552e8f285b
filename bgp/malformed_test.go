package bgp

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"io"
	"net"
	"net/netip"
	"testing"
	"time"
)

// message frames a body (RFC 4271 section 4.1).
func message(kind byte, body ...byte) []byte {
	m := bytes.Repeat([]byte{0xff}, 16)
	m = binary.BigEndian.AppendUint16(m, uint16(19+len(body)))
	return append(append(m, kind), body...)
}

const (
	kindOpen      = 1
	kindUpdate    = 2
	kindKeepalive = 4
)

// open has the neighbour's AS and the given optional parameters.
func open(params ...byte) []byte {
	body := []byte{4, theirAS >> 8, theirAS & 0xff, 0, 90, 192, 0, 2, 99, byte(len(params))}
	return message(kindOpen, append(body, params...)...)
}

// update has attributes and NLRI, each as hexadecimal, with lengths to match.
func update(attrs, nlri string) []byte {
	a, n := unhex(attrs), unhex(nlri)
	body := []byte{0, 0}
	body = binary.BigEndian.AppendUint16(body, uint16(len(a)))
	return message(kindUpdate, append(append(body, a...), n...)...)
}

func unhex(s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return b
}

const (
	origin  = "40010100"
	asPath  = "40020602010000" + "7c9a"
	nextHop = "400304c0000263"
	prefix  = "10ac10" // 172.16.0.0/16
)

// TestMalformedMessages lets one neighbour each send something broken, and
// checks that the session with a sound one and its routes are not touched. A
// message of an unknown type is not among them: see the package comment.
func TestMalformedMessages(t *testing.T) {
	header := message(kindKeepalive)
	badMarker := bytes.Clone(header)
	badMarker[3] = 0
	cases := map[string]struct {
		open bool // a sound OPEN and KEEPALIVE come first
		send []byte
	}{
		"nothing":                       {false, nil},
		"noise":                         {false, bytes.Repeat([]byte{0xa5}, 200)},
		"marker":                        {false, badMarker},
		"length below a header":         {false, append(bytes.Repeat([]byte{0xff}, 16), 0, 1, 1)},
		"length beyond the limit":       {false, append(bytes.Repeat([]byte{0xff}, 16), 0xff, 0xff, 1)},
		"update instead of open":        {false, update(origin+asPath+nextHop, prefix)},
		"empty open":                    {false, message(kindOpen)},
		"open of version 3":             {false, message(kindOpen, 3, 0x7c, 0x9a, 0, 90, 192, 0, 2, 99, 0)},
		"open, hold time 1":             {false, message(kindOpen, 4, 0x7c, 0x9a, 0, 1, 192, 0, 2, 99, 0)},
		"open, router id 0":             {false, message(kindOpen, 4, 0x7c, 0x9a, 0, 90, 0, 0, 0, 0, 0)},
		"open, parameters overrun":      {false, message(kindOpen, 4, 0x7c, 0x9a, 0, 90, 192, 0, 2, 99, 200, 2, 6)},
		"open, empty parameter":         {false, open(2, 0)},
		"open, capability overrun":      {false, open(2, 4, 1, 200, 0, 1)},
		"open, short multiprotocol":     {false, open(2, 3, 1, 1, 0)},
		"open, short graceful restart":  {false, open(2, 3, 64, 1, 0)},
		"open, odd graceful restart":    {false, open(2, 7, 64, 5, 0, 90, 0, 1, 1)},
		"open, short as4":               {false, open(2, 4, 65, 2, 0, 1)},
		"open, short add-path":          {false, open(2, 5, 69, 3, 0, 1, 1)},
		"open, short extended next hop": {false, open(2, 7, 5, 5, 0, 1, 0, 1, 0)},
		"open, long fqdn":               {false, open(2, 4, 73, 2, 255, 'a')},
		"open, long software version":   {false, open(2, 4, 75, 2, 255, 'a')},
		"empty update body":             {true, message(kindUpdate)},
		"withdrawn overrun":             {true, message(kindUpdate, 0xff, 0xff, 0, 0)},
		"attributes overrun":            {true, message(kindUpdate, 0, 0, 0xff, 0xff)},
		"attribute without length":      {true, update("4001", prefix)},
		"attribute length overrun":      {true, update("4001ff00", prefix)},
		"unknown well-known attribute":  {true, update(origin+asPath+nextHop+"40630100", prefix)},
		"origin flags":                  {true, update("c0010100"+asPath+nextHop, prefix)},
		"origin 7":                      {true, update("40010107"+asPath+nextHop, prefix)},
		"origin of no bytes":            {true, update("400100"+asPath+nextHop, prefix)},
		"as path overrun":               {true, update(origin+"400204020aff00"+nextHop, prefix)},
		"as path segment of type 9":     {true, update(origin+"4002060901000"+"07c9a"+nextHop, prefix)},
		"as path of zero segments":      {true, update(origin+"40020202"+"00"+nextHop, prefix)},
		"next hop of 3 bytes":           {true, update(origin+asPath+"400303c00002", prefix)},
		"next hop missing":              {true, update(origin+asPath, prefix)},
		"all attributes missing":        {true, update("", prefix)},
		"attribute twice":               {true, update(origin+origin+asPath+nextHop, prefix)},
		"prefix of 33 bits":             {true, update(origin+asPath+nextHop, "21ac10000000")},
		"prefix cut off":                {true, update(origin+asPath+nextHop, "18ac")},
		"med of 3 bytes":                {true, update(origin+asPath+nextHop+"800403000000", prefix)},
		"local preference of 1 byte":    {true, update(origin+asPath+nextHop+"40050100", prefix)},
		"aggregator of 3 bytes":         {true, update(origin+asPath+nextHop+"c00703000000", prefix)},
		"communities of 3 bytes":        {true, update(origin+asPath+nextHop+"c00803000000", prefix)},
		"cluster list of 3 bytes":       {true, update(origin+asPath+nextHop+"800a03000000", prefix)},
		"mp reach of 1 byte":            {true, update(origin+asPath+"800e0100", "")},
		"mp reach, next hop overrun":    {true, update(origin+asPath+"800e05000201ff00", "")},
		"mp reach, unknown family":      {true, update(origin+asPath+"800e0942424204c000026300", "")},
		"mp reach, prefix overrun":      {true, update(origin+asPath+"800e0b00010104c000026300"+"20ac", "")},
		"mp unreach of 2 bytes":         {true, update("800f020001", "")},
		"extended community of 1 byte":  {true, update(origin+asPath+nextHop+"c0100100", prefix)},
		"large community of 1 byte":     {true, update(origin+asPath+nextHop+"c0200100", prefix)},
		"as4 path of 1 byte":            {true, update(origin+asPath+nextHop+"c0110102", prefix)},
		"tunnel encapsulation of 1":     {true, update(origin+asPath+nextHop+"c0170100", prefix)},
		"aigp of 1 byte":                {true, update(origin+asPath+nextHop+"801a0101", prefix)},
		"prefix sid of 2 bytes":         {true, update(origin+asPath+nextHop+"c028020101", prefix)},
		"route refresh of 1 byte":       {true, message(5, 0)},
		"notification of 1 byte":        {true, message(3, 6)},
	}

	good := newSpeaker(t, 200, ourAS)
	good.announce("10.2.0.0/16", "192.0.2.200", 0)
	cfg := config(good.neighbor("good"))
	host := byte(1)
	done := make(chan string)
	for name, c := range cases {
		addr := netip.AddrFrom4([4]byte{127, 0, 9, host})
		host++
		l, err := net.Listen("tcp", netip.AddrPortFrom(addr, 0).String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		cfg.Neighbors = append(cfg.Neighbors, Neighbor{
			Name: name, Address: addr, LocalAddress: netip.MustParseAddr("127.0.0.1"), AS: theirAS,
			RemotePort: l.Addr().(*net.TCPAddr).AddrPort().Port(),
		})
		go func() {
			sendMalformed(l, c.open, c.send)
			done <- name
		}()
	}
	w := start(t, cfg, good)
	w.until("the sound session", func() bool { return w.routes["10.2.0.0/16"] == "good>192.0.2.200 " })
	deadline := time.After(2 * patience)
	for range cases {
		select {
		case <-done:
		case <-deadline:
			t.Fatal("not every neighbour was connected to")
		}
	}

	// The speaker still works, and still selects.
	good.announce("10.3.0.0/16", "192.0.2.200", 0)
	w.until("another route", func() bool { return w.routes["10.3.0.0/16"] != "" })
	if st := w.peer("good"); st.Flaps != 0 {
		t.Errorf("the sound session was lost: %+v", st)
	}
	if got := w.routes["10.2.0.0/16"]; got != "good>192.0.2.200 " {
		t.Errorf("10.2.0.0/16 goes to %q", got)
	}
}

// sendMalformed answers the first connection, then reads until it is closed or
// silent.
func sendMalformed(l net.Listener, handshake bool, data []byte) {
	c, err := l.Accept()
	if err != nil {
		return
	}
	defer c.Close()
	if handshake {
		// 4-octet AS, so that AS paths have four bytes for each.
		as4 := []byte{2, 6, 65, 4, 0, 0, theirAS >> 8, theirAS & 0xff}
		c.Write(append(open(as4...), message(kindKeepalive)...))
		// Established once both have sent their KEEPALIVE: ours comes second.
		for range 2 {
			head := make([]byte, 19)
			if _, err := io.ReadFull(c, head); err != nil {
				return
			}
			io.CopyN(io.Discard, c, int64(binary.BigEndian.Uint16(head[16:]))-19)
		}
	}
	c.Write(data)
	c.SetReadDeadline(time.Now().Add(time.Second))
	io.Copy(io.Discard, c)
}
