package labtest

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"time"

	"github.com/vishvananda/netns"
)

// httpTimeout of one request.
const httpTimeout = 60 * time.Second

// HTTPGet fetches a URL from inside the namespace.
func HTTPGet(n *Netns, url string) (string, error) {
	client := http.Client{
		Timeout:   httpTimeout,
		Transport: &http.Transport{DisableKeepAlives: true, DialContext: n.dial},
	}
	resp, err := client.Get(url)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: %s", url, resp.Status)
	}
	return string(body), err
}

// dial connects a socket that was made inside the namespace.
func (n *Netns) dial(ctx context.Context, network, address string) (net.Conn, error) {
	return inside(n, func() (net.Conn, error) {
		return (&net.Dialer{FallbackDelay: -1}).DialContext(ctx, network, address)
	})
}

// inside opens something inside the namespace. The thread that does it is given up: it
// stays in the namespace.
func inside[T any](n *Netns, open func() (T, error)) (T, error) {
	type result struct {
		opened T
		err    error
	}
	done := make(chan result, 1)
	go func() {
		// Not unlocked: the runtime ends the thread with the goroutine.
		runtime.LockOSThread()
		h, err := netns.GetFromName(n.Name)
		if err == nil {
			defer h.Close()
			err = netns.Set(h)
		}
		if err != nil {
			done <- result{err: fmt.Errorf("enter namespace %s: %w", n.Name, err)}
			return
		}
		opened, err := open()
		done <- result{opened, err}
	}()
	r := <-done
	return r.opened, r.err
}
