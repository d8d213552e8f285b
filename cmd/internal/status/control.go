package status

import (
	"context"

	"github.com/ipsecd/ipsecd/cmd/internal/config"
	"github.com/ipsecd/ipsecd/ike"
)

// Control is what VICI commands may ask of the daemon. Its methods are safe
// for concurrent use and do not wait for the engine's exchanges.
type Control interface {
	Source
	// Do hands an event to the engine. It returns once the engine has taken it
	// and the status shows its immediate effects.
	Do(ctx context.Context, ev ike.Event) error
	// Refresh makes the next Status current, traffic counts included, or gives
	// up when ctx ends: then the last one serves.
	Refresh(ctx context.Context) error
	// Notes returns a channel of the engine's notes from now on, closed when
	// ctx ends. A reader that is too slow loses notes, never delays anybody.
	Notes(ctx context.Context) <-chan ike.Note
	// Reload reads the configuration again and applies it. With dryRun it
	// only says what it would do. It returns the plan, one change a line.
	Reload(ctx context.Context, dryRun bool) (plan string, err error)
	// Edit changes what VICI clients have loaded beside the files, and applies
	// it. Where that, or what results, is in error, nothing changes.
	Edit(ctx context.Context, change func(*config.Loaded) (*config.Loaded, error)) error
	// Fetched returns what is kept of what was fetched about revoked certificates.
	Fetched() Fetched
	// Flush drops CRLs and OCSP responses that were fetched; they are fetched anew when they are needed.
	Flush(crls, ocsp bool)
}

// Fetched are CRLs and OCSP responses, in DER.
type Fetched struct{ CRLs, OCSP [][]byte }
