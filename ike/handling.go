package ike

// Handling is how the kernel treats the packets of a CHILD_SA. None of it is negotiated but that a
// peer may refuse TFC padding.
type Handling struct {
	CopyECN     bool // keep ECN bits in step between the headers (default yes)
	CopyDSCPIn  bool // from the outer to the inner header of what comes in
	CopyDSCPOut bool // from the inner to the outer header of what goes out (default yes)

	MarkInSA   bool // MarkIn is demanded by the inbound SA too, not by its policies only
	SetMarkIn  Mark // put on packets that were decrypted
	SetMarkOut Mark // put on packets that were encrypted

	// SetMarkInSame and SetMarkOutSame put the CHILD_SA's own mark on packets, under the masks of SetMarkIn and SetMarkOut.
	SetMarkInSame, SetMarkOutSame bool

	ForwardOut      bool   // policies for forwarded packets that leave through the tunnel, too
	ForwardICMP     bool   // ICMP errors about packets of the CHILD_SA belong to it
	PolicyInterface string // of the selectors of all policies; empty: any
	SHA256Trunc96   bool   // HMAC-SHA-256 is cut to 96 bits, against RFC 4868, for broken peers

	// TFCPadding is the length in octets to which packets are padded in tunnel mode (RFC 4303
	// section 2.7); 0: none.
	TFCPadding uint32
}

// TFCPadMTU pads every packet to the path's MTU.
const TFCPadMTU = 1<<32 - 1
