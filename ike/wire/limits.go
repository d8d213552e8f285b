package wire

// Limits bound what a parser and a Reassembler accept before anything of the
// peer is authenticated. A zero field means the default.
type Limits struct {
	MaxPayloads    int // payloads in one chain
	MaxProposals   int // proposals in one SA payload
	MaxTransforms  int // transforms in one proposal
	MaxAttributes  int // attributes in one transform or in one CP payload
	MaxSelectors   int // traffic selectors in one TS payload
	MaxFragments   int // fragments of one message (RFC 7383)
	MaxReassembled int // octets of plaintext of one fragmented message
}

// Default limits. They are far above what peers send. With them, what one
// datagram makes ParseMessage allocate stays below 50 times its own size.
const (
	DefaultMaxPayloads    = 64
	DefaultMaxProposals   = 64
	DefaultMaxTransforms  = 128
	DefaultMaxAttributes  = 64
	DefaultMaxSelectors   = 255
	DefaultMaxFragments   = 255
	DefaultMaxReassembled = 65535
)

// withDefaults replaces the fields that are zero.
func (l Limits) withDefaults() Limits {
	for _, f := range []struct {
		field *int
		value int
	}{
		{&l.MaxPayloads, DefaultMaxPayloads},
		{&l.MaxProposals, DefaultMaxProposals},
		{&l.MaxTransforms, DefaultMaxTransforms},
		{&l.MaxAttributes, DefaultMaxAttributes},
		{&l.MaxSelectors, DefaultMaxSelectors},
		{&l.MaxFragments, DefaultMaxFragments},
		{&l.MaxReassembled, DefaultMaxReassembled},
	} {
		if *f.field == 0 {
			*f.field = f.value
		}
	}
	return l
}
