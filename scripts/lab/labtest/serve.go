package labtest

import (
	"net"
	"net/http"
	"testing"
)

// ServeHTTP serves HTTP at an address and port inside the namespace until t ends, and returns the
// beginning of its URLs.
func ServeHTTP(t testing.TB, n *Netns, address string, h http.Handler) string {
	t.Helper()
	l, err := inside(n, func() (net.Listener, error) { return net.Listen("tcp", address) })
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: h}
	go server.Serve(l)
	t.Cleanup(func() { server.Close() })
	return "http://" + address
}
