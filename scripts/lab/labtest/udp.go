package labtest

import (
	"context"
	"net"
	"testing"
)

// ListenUDP opens a socket at an IPv4 address and port of the namespace, until t ends.
func ListenUDP(t testing.TB, n *Netns, address string) net.PacketConn {
	t.Helper()
	conn, err := inside(n, func() (net.PacketConn, error) { return net.ListenPacket("udp4", address) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// SendUDP sends one datagram from the namespace, from any port of its.
func SendUDP(t testing.TB, n *Netns, to string, data []byte) {
	t.Helper()
	conn, err := n.dial(context.Background(), "udp", to)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write(data); err != nil {
		t.Fatalf("datagram from %s to %s: %v", n.Role, to, err)
	}
}
