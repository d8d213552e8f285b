package routerproto

import "log/slog"

const redacted = "[redacted]"

// Secret is a password. It prints, marshals and logs as "[redacted]".
type Secret string

// String says only that there is a secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return redacted
}

// GoString is String.
func (s Secret) GoString() string { return s.String() }

// MarshalText is String.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue is String.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
