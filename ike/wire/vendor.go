package wire

// VendorID is a Vendor ID payload (RFC 7296 section 3.12).
type VendorID struct {
	Data []byte
}

// Type returns PayloadVendorID.
func (p *VendorID) Type() PayloadType { return PayloadVendorID }

func (p *VendorID) appendBody(dst []byte) ([]byte, error) { return append(dst, p.Data...), nil }
