package statustest

import (
	"context"
	"slices"
	"sync"
	"testing/fstest"

	"github.com/ipsecd/ipsecd/cmd/internal/config"
	"github.com/ipsecd/ipsecd/cmd/internal/status"
	"github.com/ipsecd/ipsecd/ike"
)

// Control is a daemon with a given status. Its zero fields do nothing.
type Control struct {
	OnDo     func(ike.Event)
	OnReload func(dryRun bool) (string, error)
	// Refreshes counts the calls of Refresh.
	Refreshes int
	// FetchedData is what was fetched about revoked certificates.
	FetchedData status.Fetched

	editing sync.Mutex // held by one Edit at a time

	mu   sync.Mutex
	st   *status.Status
	subs []chan ike.Note
}

var _ status.Control = (*Control)(nil)

// NewControl returns a daemon in the given state.
func NewControl(st *status.Status) *Control { return &Control{st: st} }

// Status returns the present status.
func (c *Control) Status() *status.Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.st
}

// Set replaces the status.
func (c *Control) Set(st *status.Status) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.st = st
}

// Refresh counts.
func (c *Control) Refresh(context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Refreshes++
	return nil
}

// Do calls OnDo.
func (c *Control) Do(_ context.Context, ev ike.Event) error {
	if c.OnDo != nil {
		c.OnDo(ev)
	}
	return nil
}

// Reload calls OnReload.
func (c *Control) Reload(_ context.Context, dryRun bool) (string, error) {
	if c.OnReload == nil {
		return "", nil
	}
	return c.OnReload(dryRun)
}

// Edit applies the change to the present status, over a configuration without files.
func (c *Control) Edit(_ context.Context, change func(*config.Loaded) (*config.Loaded, error)) error {
	c.editing.Lock()
	defer c.editing.Unlock()
	was := c.Status() // change may look at it, too
	next, err := change(was.Loaded)
	if err != nil {
		return err
	}
	files, err := config.ReadFS(fstest.MapFS{"empty.conf": &fstest.MapFile{}}, "/empty.conf")
	if err != nil {
		return err
	}
	conf, err := files.Beside(next)
	if err != nil {
		return err
	}
	st := *was
	st.Config, st.Loaded = conf, next
	c.Set(&st)
	return nil
}

// Fetched returns FetchedData.
func (c *Control) Fetched() status.Fetched {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.FetchedData
}

// Flush takes it away from FetchedData.
func (c *Control) Flush(crls, ocsp bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if crls {
		c.FetchedData.CRLs = nil
	}
	if ocsp {
		c.FetchedData.OCSP = nil
	}
}

// Notes returns what Publish is given from now on, until ctx ends.
func (c *Control) Notes(ctx context.Context) <-chan ike.Note {
	ch := make(chan ike.Note, 64)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.subs = append(c.subs, ch)
	context.AfterFunc(ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.subs = slices.DeleteFunc(c.subs, func(x chan ike.Note) bool { return x == ch })
		close(ch)
	})
	return ch
}

// Publish hands a note to every subscriber and waits for those who are slow.
func (c *Control) Publish(n ike.Note) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, ch := range c.subs {
		ch <- n
	}
}
