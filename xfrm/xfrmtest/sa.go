package xfrmtest

import (
	"cmp"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/ipsecd/ipsecd/xfrm"
)

// AddSA installs an SA under the kernel's rules.
func (k *Kernel) AddSA(sa xfrm.SA) error {
	return k.call("add SA", describe(&sa), func() error {
		if err := k.checkSA(&sa); err != nil {
			return err
		}
		if k.sas[sa.ID()] != nil {
			return unix.EEXIST
		}
		info := &xfrm.SAInfo{SA: clone(&sa), Added: k.now}
		if info.Replay == nil {
			info.Replay = &xfrm.ReplayState{}
		}
		if !k.features.Has(xfrm.SADirection) {
			info.Dir = 0
		}
		k.sas[sa.ID()] = info
		return nil
	})
}

// UpdateSA changes what the kernel can change of an SA.
func (k *Kernel) UpdateSA(sa xfrm.SA) error {
	return k.call("update SA", describe(&sa), func() error {
		have := k.sas[sa.ID()]
		if have == nil {
			return unix.ESRCH
		}
		if (sa.Encap == nil) != (have.Encap == nil) || sa.Src != have.Src || sa.Mode != have.Mode || sa.ReqID != have.ReqID {
			return unix.EINVAL
		}
		have.Encap, have.Limits, have.OutputMark = sa.Encap, sa.Limits, sa.OutputMark
		delete(k.expired, sa.ID())
		return nil
	})
}

// DelSA removes an SA.
func (k *Kernel) DelSA(id xfrm.SAID) error {
	return k.call("delete SA", id.String(), func() error {
		if k.sas[id] == nil {
			return unix.ESRCH
		}
		k.remove(id)
		return nil
	})
}

func (k *Kernel) remove(id xfrm.SAID) {
	delete(k.sas, id)
	delete(k.expired, id)
}

// GetSA reads an SA, keys included.
func (k *Kernel) GetSA(id xfrm.SAID) (xfrm.SAInfo, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	have := k.sas[id]
	if have == nil {
		return xfrm.SAInfo{}, wrap("get SA", id.String(), unix.ESRCH)
	}
	return cloneInfo(have), nil
}

// SAs returns every SA, sorted.
func (k *Kernel) SAs() ([]xfrm.SAInfo, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.sortedSAs(), nil
}

func (k *Kernel) sortedSAs() []xfrm.SAInfo {
	out := make([]xfrm.SAInfo, 0, len(k.sas))
	for _, sa := range k.sas {
		out = append(out, cloneInfo(sa))
	}
	slices.SortFunc(out, func(a, b xfrm.SAInfo) int {
		return cmp.Or(a.Dst.Compare(b.Dst), cmp.Compare(a.SPI, b.SPI), cmp.Compare(a.Mark.Value, b.Mark.Value))
	})
	return out
}

// checkSA refuses what the kernel would: what SA.Check finds, unknown algorithms,
// keys of a wrong length, and devices that do not exist.
func (k *Kernel) checkSA(sa *xfrm.SA) error {
	if err := sa.Check(); err != nil {
		return err
	}
	if sa.NATKeepalive != 0 {
		if err := k.features.Require(xfrm.NATKeepalive); err != nil {
			return err
		}
	}
	if sa.MappingThreshold != 0 {
		if err := k.features.Require(xfrm.MappingThreshold); err != nil {
			return err
		}
	}
	if !k.exists(sa.Selector.Interface) {
		return unix.ENODEV
	}
	if a := sa.AEAD; a != nil {
		if err := checkKey(a.Name, a.Key); err != nil {
			return err
		}
	}
	if a := sa.Crypt; a != nil {
		if err := checkKey(a.Name, a.Key); err != nil {
			return err
		}
	}
	if a := sa.Auth; a != nil {
		return checkKey(a.Name, a.Key)
	}
	return nil
}

// keyLengths has the algorithms the fake knows and the key lengths in bytes each
// takes; none listed means any.
var keyLengths = map[string][]int{
	"rfc4106(gcm(aes))":             {20, 28, 36},
	"rfc4543(gcm(aes))":             {20, 28, 36},
	"rfc4309(ccm(aes))":             {19, 27, 35},
	"rfc7539esp(chacha20,poly1305)": {36},
	"cbc(aes)":                      {16, 24, 32},
	"rfc3686(ctr(aes))":             {20, 28, 36},
	"cbc(camellia)":                 {16, 24, 32},
	"cbc(des3_ede)":                 {24},
	"ecb(cipher_null)":              {0},
	"hmac(sha1)":                    {20},
	"hmac(sha256)":                  {32},
	"hmac(sha384)":                  {48},
	"hmac(sha512)":                  {64},
	"hmac(md5)":                     {16},
	"xcbc(aes)":                     {16},
	"cmac(aes)":                     {16},
}

func checkKey(name string, key xfrm.Key) error {
	lengths, ok := keyLengths[name]
	if !ok {
		return unix.ENOSYS
	}
	if !slices.Contains(lengths, len(key)) {
		return refusal(fmt.Sprintf("%s takes keys of %v bytes, not %d", name, lengths, len(key)))
	}
	return nil
}

func describe(sa *xfrm.SA) string {
	return fmt.Sprintf("%v->%v %v spi %v", sa.Src, sa.Dst, sa.Proto, sa.SPI)
}

// clone copies an SA, so that a caller who wipes its keys does not wipe ours.
func clone(sa *xfrm.SA) xfrm.SA {
	c := *sa
	if a := sa.AEAD; a != nil {
		c.AEAD = &xfrm.AEAD{Name: a.Name, Key: slices.Clone(a.Key), ICVBits: a.ICVBits}
	}
	if a := sa.Crypt; a != nil {
		c.Crypt = &xfrm.Crypt{Name: a.Name, Key: slices.Clone(a.Key)}
	}
	if a := sa.Auth; a != nil {
		c.Auth = &xfrm.Auth{Name: a.Name, Key: slices.Clone(a.Key), TruncBits: a.TruncBits}
	}
	if sa.Encap != nil {
		e := *sa.Encap
		c.Encap = &e
	}
	if sa.Replay != nil {
		r := *sa.Replay
		r.Bitmap = slices.Clone(r.Bitmap)
		c.Replay = &r
	}
	return c
}

func cloneInfo(i *xfrm.SAInfo) xfrm.SAInfo {
	c := *i
	c.SA = clone(&i.SA)
	return c
}
