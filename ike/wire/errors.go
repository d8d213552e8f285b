package wire

import (
	"errors"
	"fmt"
)

// SyntaxError says where and how a message violates the format. The answer,
// where one is due, is INVALID_SYNTAX (RFC 7296 section 2.21).
type SyntaxError struct {
	Payload PayloadType // PayloadNone: the header or the chain itself
	Offset  int         // octets from the start of the message or decrypted body to the payload
	Problem string
}

// Error names the payload, its place and what is wrong with it.
func (e *SyntaxError) Error() string {
	if e.Payload == PayloadNone {
		return fmt.Sprintf("malformed IKE message at octet %d: %s", e.Offset, e.Problem)
	}
	return fmt.Sprintf("malformed %v payload at octet %d: %s", e.Payload, e.Offset, e.Problem)
}

// malformed is how the decoders of the payloads report a violation of the
// format; the walk of the chain adds which payload it was, and where.
func malformed(format string, args ...any) error {
	return &SyntaxError{Problem: fmt.Sprintf(format, args...)}
}

// inside says in a SyntaxError of which part of a payload it speaks.
func inside(err error, format string, args ...any) error {
	var s *SyntaxError
	if errors.As(err, &s) {
		s.Problem = fmt.Sprintf(format, args...) + s.Problem
	}
	return err
}

// LimitError says which of the Limits a well-formed message surpassed.
type LimitError struct {
	What  string // such as "payloads"
	Limit int
}

// Error names the limit.
func (e *LimitError) Error() string {
	return fmt.Sprintf("IKE message has more than the permitted %d %s", e.Limit, e.What)
}

// UnsupportedVersionError reports a major version other than 2. The answer,
// where one is due, is INVALID_MAJOR_VERSION (RFC 7296 section 2.5).
type UnsupportedVersionError struct {
	Major, Minor uint8
}

// Error names the version.
func (e *UnsupportedVersionError) Error() string {
	return fmt.Sprintf("IKE version %d.%d is not supported, only 2.x", e.Major, e.Minor)
}

// UnsupportedCriticalError reports a payload of unknown type whose critical
// bit is set. The message as a whole must be rejected with
// UNSUPPORTED_CRITICAL_PAYLOAD, whose data is the one octet Type (RFC 7296
// sections 2.5 and 3.10.1).
type UnsupportedCriticalError struct {
	Type PayloadType
}

// Error names the payload type.
func (e *UnsupportedCriticalError) Error() string {
	return fmt.Sprintf("payload type %d is marked critical and not supported", uint8(e.Type))
}

// ErrTooLong reports that something to be appended does not fit its length field.
var ErrTooLong = errors.New("too long for its length field")
