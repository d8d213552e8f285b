package daemon

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"github.com/ipsecd/ipsecd/cmd/internal/handover"
	"github.com/ipsecd/ipsecd/cmd/internal/status"
	"github.com/ipsecd/ipsecd/ike"
)

// A handover to another process, in the main that of a new version: IKE SAs and sockets go to it, and in the kernel
// everything stays as it is.
const (
	handoverPatience = 10 * time.Second      // for exchanges under way: two retransmissions of the peer's
	handoverStep     = 20 * time.Millisecond // between two looks whether they are done
)

// handedOver is the state in the bundle.
type handedOver struct {
	Engine  []byte // of ike.Engine.HandOver
	UpSince []handedUp
}

type handedUp struct {
	Name  status.ChildName
	Since time.Time
}

// handOver prepares a handover. The files are read first, since the next process reads them: in both it is the same
// configuration. On an error this process goes on as before.
func (d *Daemon) handOver(ctx context.Context) (*handover.Bundle, error) {
	if out, err := exec.CommandContext(ctx, d.opts.Program, "--version").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s --version: %w: %s", d.opts.Program, err, bytes.TrimSpace(out))
	}
	if _, err := d.Reload(ctx, false); err != nil {
		return nil, fmt.Errorf("the configuration must be free of errors: %w", err)
	}
	b := &handover.Bundle{}
	if err := d.socks.handOver(b); err != nil {
		b.Close()
		return nil, err
	}
	engine, left, err := d.quiesce(ctx)
	if err == nil {
		b.State, err = d.collect(ctx, engine)
	}
	clear(engine)
	if err != nil {
		b.Close()
		return nil, errors.Join(err, d.loop.call(ctx, func(now time.Time, e *ike.Engine) { e.Resume(now) }))
	}
	d.log.Info("handing over to another process", "left_out", left)
	return b, nil
}

// quiesce stops the engine when its IKE SAs are at rest, or when they take too long, and returns them.
func (d *Daemon) quiesce(ctx context.Context) (data []byte, left int, err error) {
	if err := d.loop.call(ctx, func(_ time.Time, e *ike.Engine) { e.Quiet() }); err != nil {
		return nil, 0, err
	}
	deadline := time.Now().Add(handoverPatience)
	for done := false; ; {
		// In one call, so that nothing comes in between.
		cerr := d.loop.call(ctx, func(now time.Time, e *ike.Engine) {
			if done = e.AtRest() || now.After(deadline); done {
				data, left, err = e.HandOver(now)
			}
		})
		if cerr != nil || done {
			return data, left, errors.Join(err, cerr)
		}
		select {
		case <-ctx.Done():
			return nil, 0, ctx.Err()
		case <-time.After(handoverStep):
		}
	}
}

// collect waits until the kernel has all that the engine wanted of it, and adds what the installer knows.
func (d *Daemon) collect(ctx context.Context, engine []byte) ([]byte, error) {
	for waiting := 1; waiting > 0; {
		if err := d.loop.call(ctx, func(time.Time, *ike.Engine) { waiting = len(d.loop.kernelQueue) }); err != nil {
			return nil, err
		}
	}
	state := handedOver{Engine: engine}
	err := d.kernel.call(ctx, func(in *installer) error {
		d.kernel.finish()
		for name, since := range in.upSince {
			state.UpSince = append(state.UpSince, handedUp{name, since})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	if err := gob.NewEncoder(&buf).Encode(state); err != nil {
		return nil, fmt.Errorf("encoding the state for another process: %w", err)
	}
	return buf.Bytes(), nil
}

// inherit takes up what the process before has left, if there was one. What is no good costs the tunnels a new
// negotiation, not the daemon its start.
func (d *Daemon) inherit(engine *ike.Engine, in *installer) error {
	b := d.opts.Inherited
	if b == nil {
		return nil
	}
	defer b.Close()
	var state handedOver
	err := gob.NewDecoder(bytes.NewReader(b.State)).Decode(&state)
	defer clear(state.Engine)
	var children []*ike.ChildSA
	if err == nil {
		children, err = engine.TakeOver(time.Now(), state.Engine)
	}
	if err != nil {
		d.log.Error("the state of the process before is of no use; tunnels are set up anew", "err", err)
		return nil
	}
	for _, up := range state.UpSince {
		in.upSince[up.Name] = up.Since
	}
	if err := in.adopt(children); err != nil {
		return fmt.Errorf("taking over CHILD_SAs: %w", err)
	}
	for {
		a, ok := engine.NextAction()
		if !ok {
			break
		}
		switch a := a.(type) {
		case ike.Trap: // with the first policies, so that nothing leaves in the clear
			in.armed[status.ChildName{Connection: a.Child.Connection, Child: a.Child.Config.Name}] = newTrap(nil, a.Child)
		case ike.VirtualAddrs:
			in.report("virtual address", in.virtual.set(a))
		case ike.UpDown:
			d.updown.Known(a)
		case ike.Note:
			d.notes.publish(a)
		}
	}
	d.log.Info("took over from the process before", "child_sas", len(children))
	return nil
}

// finish carries out the actions that are in the channel still.
func (k *kernelLoop) finish() {
	for {
		select {
		case a := <-k.actions:
			k.in.perform(a)
		default:
			return
		}
	}
}
