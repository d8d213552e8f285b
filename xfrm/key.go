package xfrm

import (
	"fmt"
	"log/slog"
)

const redacted = "[redacted]"

// Key is key material. It never prints itself: fmt, encoding/json,
// encoding/text and log/slog all see a placeholder. The bytes belong to whoever
// made the Key; [Key.Clear] overwrites them.
type Key []byte

// String returns a placeholder.
func (Key) String() string { return redacted }

// GoString returns a placeholder, for %#v.
func (Key) GoString() string { return redacted }

// Format writes a placeholder whatever the verb, so that %x shows nothing either.
func (Key) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(redacted)) }

// MarshalText returns a placeholder; encoding/json uses it too.
func (Key) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// LogValue returns a placeholder.
func (Key) LogValue() slog.Value { return slog.StringValue(redacted) }

// Clear overwrites the key with zeros.
func (k Key) Clear() { clear(k) }
