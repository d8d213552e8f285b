package nl

import (
	"fmt"

	"github.com/mdlayher/netlink"

	"github.com/ipsecd/ipsecd/xfrm"
)

// builder appends attributes to a fixed structure.
type builder struct{ b []byte }

// attr appends one attribute, padded to 4 bytes.
func (w *builder) attr(typ uint16, data []byte) {
	var h [4]byte
	ne.PutUint16(h[0:], uint16(4+len(data)))
	ne.PutUint16(h[2:], typ)
	w.b = append(append(w.b, h[:]...), data...)
	for len(w.b)%4 != 0 {
		w.b = append(w.b, 0)
	}
}

func (w *builder) u32(typ uint16, v uint32) {
	w.attr(typ, ne.AppendUint32(nil, v))
}

func (w *builder) mark(m xfrm.Mark) {
	if !m.IsZero() {
		var b [sizeMark]byte
		putMark(b[:], m)
		w.attr(attrMark, b[:])
	}
}

// ifID appends the interface ID; the kernel refuses an explicit 0.
func (w *builder) ifID(id uint32) {
	if id != 0 {
		w.u32(attrIfID, id)
	}
}

// attrs calls f for each attribute of b. f gets the data only if it is at least
// as long as minLen says for its type; a shorter one is an error.
func attrs(b []byte, f func(typ uint16, data []byte) error) error {
	d, err := netlink.NewAttributeDecoder(b)
	if err != nil {
		return fmt.Errorf("xfrm: malformed attributes: %w", err)
	}
	for d.Next() {
		data := d.Bytes()
		if len(data) < minLen[d.Type()] {
			return fmt.Errorf("xfrm: attribute %d has %d bytes, expected at least %d", d.Type(), len(data), minLen[d.Type()])
		}
		if err := f(d.Type(), data); err != nil {
			return err
		}
	}
	if err := d.Err(); err != nil {
		return fmt.Errorf("xfrm: malformed attributes: %w", err)
	}
	return nil
}

// plainAttrs is attrs for a family whose lengths f checks itself.
func plainAttrs(b []byte, f func(typ uint16, data []byte)) error {
	d, err := netlink.NewAttributeDecoder(b)
	if err != nil {
		return fmt.Errorf("xfrm: malformed attributes: %w", err)
	}
	for d.Next() {
		f(d.Type(), d.Bytes())
	}
	if err := d.Err(); err != nil {
		return fmt.Errorf("xfrm: malformed attributes: %w", err)
	}
	return nil
}

// minLen has the shortest legal data of the attributes we read.
var minLen = map[uint16]int{
	attrAlgAuth:      sizeAlgo,
	attrAlgCrypt:     sizeAlgo,
	attrEncap:        sizeEncap,
	attrReplayVal:    sizeReplay,
	attrLastUsed:     8,
	attrPolicyType:   sizePolicyType,
	attrAlgAEAD:      sizeAlgoAuth,
	attrAlgAuthTrunc: sizeAlgoAuth,
	attrMark:         sizeMark,
	attrTFCPad:       4,
	attrReplayESN:    sizeReplayESN,
	attrOffloadDev:   sizeOffload,
	attrExtraFlags:   4,
	attrSetMark:      4,
	attrSetMarkMask:  4,
	attrIfID:         4,
	attrMTimerThresh: 4,
	attrSADir:        1,
	attrNATKeepalive: 4,
	attrSAPCPU:       4,
}

// short reports a fixed structure that is cut off.
func short(what string, b []byte, want int) error {
	return fmt.Errorf("xfrm: %s of %d bytes, expected at least %d", what, len(b), want)
}
