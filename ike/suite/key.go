package suite

import (
	"fmt"
	"io"
	"log/slog"
)

const redacted = "[redacted]"

// Key is secret key material. Copies share the octets. Whatever prints or encodes a Key, or a value that holds one,
// gets "[redacted]" or a bare pointer, never the octets. The zero Key is empty.
type Key struct {
	// fmt looks into unexported fields of the types that hold a Key without asking for methods, and there follows one
	// pointer, but not two.
	p **[]byte
}

// NewKey returns a Key that owns b from now on.
func NewKey(b []byte) Key {
	p := &b
	return Key{&p}
}

// Bytes returns the octets themselves, not a copy.
func (k Key) Bytes() []byte {
	if k.p == nil {
		return nil
	}
	return **k.p
}

// Len returns the number of octets.
func (k Key) Len() int { return len(k.Bytes()) }

// Wipe zeroes the octets; every copy of k is empty afterwards.
func (k Key) Wipe() {
	if k.p == nil {
		return
	}
	clear(**k.p)
	**k.p = nil
}

// String returns "[redacted]".
func (k Key) String() string { return redacted }

// GoString returns "[redacted]".
func (k Key) GoString() string { return redacted }

// Format writes "[redacted]" for every verb.
func (k Key) Format(s fmt.State, _ rune) { io.WriteString(s, redacted) }

// MarshalText returns "[redacted]"; encoding/json uses it too.
func (k Key) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// LogValue returns "[redacted]".
func (k Key) LogValue() slog.Value { return slog.StringValue(redacted) }
