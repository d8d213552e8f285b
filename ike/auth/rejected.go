package auth

// Rejection is why a peer's certificate was not accepted.
type Rejection uint8

// The reasons.
const (
	RejectedExpired  Rejection = iota + 1 // also: not valid yet
	RejectedNoIssuer                      // no trusted issuer
	RejectedPathLen                       // its path is longer than a CA allows
	RejectedPolicy                        // it is not issued under what the configuration demands
	RejectedRevoked
	RejectedStatus // whether it is revoked could not be found out
)

// Rejected is an error about a peer's certificate.
type Rejected struct {
	Why Rejection
	err error
}

func (r *Rejected) Error() string { return r.err.Error() }

// Unwrap returns the error in words.
func (r *Rejected) Unwrap() error { return r.err }

func rejected(why Rejection, err error) error { return &Rejected{why, err} }
