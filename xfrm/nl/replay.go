package nl

import (
	"github.com/ipsecd/ipsecd/xfrm"
)

// replay writes the replay window into the xfrm_usersa_info where it fits, or
// appends the extended form: for ESN, for windows above 32 packets (whose bitmap
// the old form has no room for), and to continue sequence numbers.
//
// Kernels that know directions refuse a window on an outbound SA; older ones
// refuse ESN without one in either direction.
func (w *builder) replay(sa *xfrm.SA, dirKnown bool) {
	window := sa.ReplayWindow
	state := seed(sa)
	if sa.ESN && window == 0 && !dirKnown {
		window = 1
	}
	if !sa.ESN && window <= 32 {
		w.b[215] = uint8(window)
		if state != nil {
			b := make([]byte, 0, sizeReplay)
			b = ne.AppendUint32(b, uint32(state.OutSeq))
			b = ne.AppendUint32(b, uint32(state.InSeq))
			var bitmap uint32
			if len(state.Bitmap) > 0 {
				bitmap = state.Bitmap[0]
			}
			w.attr(attrReplayVal, ne.AppendUint32(b, bitmap))
		}
		return
	}
	if sa.ESN {
		w.b[216] |= flagESN
	}
	words := int(window+31) / 32
	b := make([]byte, sizeReplayESN+4*words)
	ne.PutUint32(b[0:], uint32(words))
	ne.PutUint32(b[20:], window)
	if r := state; r != nil {
		ne.PutUint32(b[4:], uint32(r.OutSeq))
		ne.PutUint32(b[8:], uint32(r.InSeq))
		ne.PutUint32(b[12:], uint32(r.OutSeq>>32))
		ne.PutUint32(b[16:], uint32(r.InSeq>>32))
		for i := 0; i < words && i < len(r.Bitmap); i++ {
			ne.PutUint32(b[sizeReplayESN+4*i:], r.Bitmap[i])
		}
	}
	w.attr(attrReplayESN, b)
}

// seed returns the sequence numbers to start from, without those of the other
// direction: the kernel refuses them.
func seed(sa *xfrm.SA) *xfrm.ReplayState {
	switch {
	case sa.Replay == nil:
		return nil
	case sa.Dir == xfrm.DirOut:
		return &xfrm.ReplayState{OutSeq: sa.Replay.OutSeq}
	}
	return &xfrm.ReplayState{InSeq: sa.Replay.InSeq, Bitmap: sa.Replay.Bitmap}
}

// parseReplay reads the old form.
func parseReplay(sa *xfrm.SAInfo, b []byte) {
	sa.Replay = &xfrm.ReplayState{
		OutSeq: uint64(ne.Uint32(b)),
		InSeq:  uint64(ne.Uint32(b[4:])),
		Bitmap: []uint32{ne.Uint32(b[8:])},
	}
}

// parseReplayESN reads the extended form.
func parseReplayESN(sa *xfrm.SAInfo, b []byte) error {
	words := ne.Uint32(b)
	if len(b) == sizeReplayESN {
		words = 0 // a window without its bitmap, as in requests
	}
	if words > maxReplayESNWords || len(b) < sizeReplayESN+4*int(words) {
		return short("replay bitmap", b, sizeReplayESN+4*int(words))
	}
	sa.ReplayWindow = ne.Uint32(b[20:])
	r := &xfrm.ReplayState{
		OutSeq: uint64(ne.Uint32(b[12:]))<<32 | uint64(ne.Uint32(b[4:])),
		InSeq:  uint64(ne.Uint32(b[16:]))<<32 | uint64(ne.Uint32(b[8:])),
	}
	for i := range int(words) {
		r.Bitmap = append(r.Bitmap, ne.Uint32(b[sizeReplayESN+4*i:]))
	}
	sa.Replay = r
	return nil
}
