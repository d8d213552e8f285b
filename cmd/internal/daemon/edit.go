package daemon

import (
	"context"
	"log/slog"
	"slices"

	"github.com/ipsecd/ipsecd/cmd/internal/config"
)

// Edit changes what VICI clients have loaded beside the files, and applies it. The files are as they were last read:
// what somebody has edited there since waits for a reload. Where change, or the configuration that results, is in
// error, nothing changes.
func (d *Daemon) Edit(ctx context.Context, change func(*config.Loaded) (*config.Loaded, error)) error {
	d.reloadMu.Lock()
	defer d.reloadMu.Unlock()
	before := d.loaded.Load()
	next, err := change(before)
	if err != nil || next == before {
		return err
	}
	c, err := d.files.Edited(next)
	if err != nil {
		return err
	}
	old := d.config.Load()
	c.Ports = old.Ports // they change with a restart only
	if err := d.apply(ctx, c); err != nil {
		return err
	}
	d.loaded.Store(next)
	logWarnings(d.log, newWarnings(old, c))
	if d.log.Enabled(ctx, slog.LevelDebug) {
		d.log.Debug("configuration changed over VICI", "changes", config.Diff(old, c).String())
	}
	return nil
}

// newWarnings are those of c that old does not have.
func newWarnings(old, c *config.Config) []config.Warning {
	if len(c.Warnings) == 0 {
		return nil
	}
	known := make(map[config.Warning]bool, len(old.Warnings))
	for _, w := range old.Warnings {
		known[w] = true
	}
	return slices.DeleteFunc(slices.Clone(c.Warnings), func(w config.Warning) bool { return known[w] })
}

// readAnew reads the files. What clients have loaded stays where the files do not say
// otherwise.
func (d *Daemon) readAnew() (*config.Files, *config.Config, *config.Loaded, error) {
	files, err := config.ReadFiles(d.opts.ConfigFile)
	if err != nil {
		return nil, nil, nil, err
	}
	c, err := files.Beside(nil)
	loaded := d.loaded.Load()
	if err != nil || loaded == nil {
		return files, c, nil, err
	}
	loaded = loaded.After(c)
	c, err = files.Beside(loaded)
	return files, c, loaded, err
}
