package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"
)

// fragments seals and parses a fragmented message.
func fragments(tb testing.TB, h Header, a AEAD, maxMessage int, payloads ...Payload) []*Message {
	tb.Helper()
	datagrams, err := SealFragments(h, a, testRand{}, maxMessage, payloads...)
	if err != nil {
		tb.Fatal(err)
	}
	var out []*Message
	for _, d := range datagrams {
		if len(d) > maxMessage {
			tb.Fatalf("fragment of %d octets, at most %d asked for", len(d), maxMessage)
		}
		m, err := ParseMessage(d, Limits{})
		if err != nil {
			tb.Fatal(err)
		}
		out = append(out, &m)
	}
	return out
}

// add opens m and gives it to r.
func add(tb testing.TB, r *Reassembler, a AEAD, m *Message) bool {
	tb.Helper()
	plaintext, err := Open(nil, m.Encrypted, a)
	if err != nil {
		tb.Fatal(err)
	}
	done, err := r.Add(m, plaintext)
	if err != nil {
		tb.Fatal(err)
	}
	clear(plaintext) // Add must have copied it
	return done
}

// The layout of RFC 7383 section 2.5, taken apart without the package's parser.
func TestFragmentLayout(t *testing.T) {
	a := newGCM(t)
	plain, err := AppendPayloads(nil, sealedPayloads(100)...)
	if err != nil {
		t.Fatal(err)
	}
	// header 28, SKF header 8, IV 8, content, pad length 1, ICV 16
	const overhead = 28 + 8 + 8 + 1 + 16
	datagrams, err := SealFragments(sealedHeader, a, nil, overhead+50, sealedPayloads(100)...)
	if err != nil {
		t.Fatal(err)
	}
	if len(datagrams) != 3 { // 18 + 105 octets, 50 each
		t.Fatalf("%d fragments of %d octets", len(datagrams), len(plain))
	}
	for i, d := range datagrams {
		want := unhex(t, `1111111111111111 2222222222222222 35 20 23 08 00000001 00000000  00 00 0000 0000 0003`)
		binary.BigEndian.PutUint32(want[24:], uint32(len(d)))
		binary.BigEndian.PutUint16(want[30:], uint16(len(d)-28))
		want[33] = byte(i + 1)
		if i == 0 {
			want[28] = byte(PayloadIDi)
		}
		if !bytes.Equal(d[:36], want) {
			t.Errorf("fragment %d begins %x, want %x", i+1, d[:36], want)
		}
		content, err := a.aead.Open(nil, append(bytes.Clone(a.salt), d[36:44]...), d[44:], d[:36])
		if err != nil {
			t.Fatal(err)
		}
		piece := plain[50*i : min(50*i+50, len(plain))]
		if !bytes.Equal(content, append(bytes.Clone(piece), 0)) {
			t.Errorf("fragment %d contains %x, want %x and a pad length of 0", i+1, content, piece)
		}
	}
}

func TestReassembleInAnyOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(7383, 0))
	payloads := sealedPayloads(3000)
	for name, a := range ciphers(t) {
		for maxMessage := 100; maxMessage < 3000; maxMessage += 197 {
			all := fragments(t, sealedHeader, a, maxMessage, payloads...)
			if len(all) == 1 {
				t.Fatalf("%s: %d octets: not fragmented", name, maxMessage)
			}
			random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			var r Reassembler
			for i, m := range all {
				if !r.Wants(m) {
					t.Fatalf("%s: fragment %d is not wanted", name, m.Encrypted.Fragment)
				}
				if done := add(t, &r, a, m); done != (i == len(all)-1) {
					t.Fatalf("%s: done = %v after %d of %d", name, done, i+1, len(all))
				}
				if r.Wants(m) || add(t, &r, a, m) {
					t.Fatalf("%s: a duplicate is accepted", name)
				}
			}
			first, plaintext, ok := r.Payload()
			if !ok {
				t.Fatal("no payload")
			}
			got, err := ParsePayloads(first, plaintext, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if d := diff(payloads, got); d != "" {
				t.Fatal(d)
			}
		}
	}
}

func TestMessageThatFitsIsNotFragmented(t *testing.T) {
	for name, a := range ciphers(t) {
		whole, err := Seal(nil, sealedHeader, a, testRand{}, sealedPayloads(50)...)
		if err != nil {
			t.Fatal(err)
		}
		if got := fragments(t, sealedHeader, a, len(whole), sealedPayloads(50)...); len(got) != 1 || got[0].Encrypted.IsFragment() {
			t.Errorf("%s: %d messages at exactly the limit", name, len(got))
		}
		if got := fragments(t, sealedHeader, a, len(whole)-1, sealedPayloads(50)...); len(got) < 2 || !got[0].Encrypted.IsFragment() {
			t.Errorf("%s: %d messages one octet below the limit", name, len(got))
		}
	}
}

func TestFragmentSizeWithoutRoom(t *testing.T) {
	for _, n := range []int{-1, 0, 28, 61} {
		if _, err := SealFragments(sealedHeader, newGCM(t), nil, n, sealedPayloads(50)...); err == nil {
			t.Errorf("limit of %d octets accepted", n)
		}
	}
	if got := fragments(t, sealedHeader, newGCM(t), 62, sealedPayloads(50)...); len(got) != 18+55 { // ID and CERT payload
		t.Errorf("%d fragments of one octet", len(got))
	}
	if _, err := SealFragments(sealedHeader, newGCM(t), nil, 62, sealedPayloads(40000)[1], sealedPayloads(40000)[1]); err == nil {
		t.Error("80000 fragments accepted")
	}
}

// RFC 7383 section 2.6: the peer tried a smaller size; the larger total wins.
func TestLargerTotalRestarts(t *testing.T) {
	a := newGCM(t)
	payloads := sealedPayloads(1000)
	large := fragments(t, sealedHeader, a, 600, payloads...)
	small := fragments(t, sealedHeader, a, 300, payloads...)
	if len(large) >= len(small) {
		t.Fatal(len(large), len(small))
	}
	var r Reassembler
	add(t, &r, a, large[1])
	if !r.Wants(small[0]) {
		t.Fatal("larger total is not wanted")
	}
	if !r.Wants(large[0]) {
		t.Fatal("asking for an unverified fragment changed the state")
	}
	add(t, &r, a, small[0])
	if r.Wants(large[0]) || add(t, &r, a, large[0]) {
		t.Error("smaller total is accepted")
	}
	for i, m := range small[1:] {
		if done := add(t, &r, a, m); done != (i == len(small)-2) {
			t.Fatalf("done = %v after fragment %d of %d", done, i+2, len(small))
		}
	}
	_, plaintext, _ := r.Payload()
	if want, _ := AppendPayloads(nil, payloads...); !bytes.Equal(plaintext, want) {
		t.Error("pieces of both sizes were mixed")
	}
	more := fragments(t, sealedHeader, a, 200, payloads...)
	if r.Wants(more[0]) {
		t.Error("a complete message is started anew")
	}
}

func TestOtherMessagesAreRefused(t *testing.T) {
	a := newGCM(t)
	all := fragments(t, sealedHeader, a, 300, sealedPayloads(500)...)
	var r Reassembler
	add(t, &r, a, all[0])
	for _, change := range []func(*Header){
		func(h *Header) { h.MessageID++ },
		func(h *Header) { h.Flags ^= FlagResponse },
		func(h *Header) { h.Exchange = ExchangeInformational },
		func(h *Header) { h.InitiatorSPI++ },
	} {
		other := *all[1]
		change(&other.Header)
		if r.Wants(&other) {
			t.Errorf("fragment of another message is wanted: %+v", other.Header)
		}
	}
	r.Reset()
	other := *all[1]
	other.MessageID++
	if !r.Wants(&other) {
		t.Error("after Reset, no other message is wanted")
	}
	whole := fragments(t, sealedHeader, a, 9999, sealedPayloads(500)...)
	if r.Wants(whole[0]) || r.Wants(&Message{}) {
		t.Error("a message that is no fragment is wanted")
	}
	if _, _, ok := r.Payload(); ok {
		t.Error("payload of no message")
	}
}

func TestReassemblerLimits(t *testing.T) {
	a := newGCM(t)
	all := fragments(t, sealedHeader, a, 300, sealedPayloads(1000)...)

	few := Reassembler{Limits: Limits{MaxFragments: len(all) - 1}}
	if few.Wants(all[0]) {
		t.Error("more fragments than permitted are wanted")
	}

	small := Reassembler{Limits: Limits{MaxReassembled: 400}}
	add(t, &small, a, all[0])
	plaintext, err := Open(nil, all[1].Encrypted, a)
	if err != nil {
		t.Fatal(err)
	}
	var limit *LimitError
	if _, err := small.Add(all[1], plaintext); !errors.As(err, &limit) || limit.Limit != 400 {
		t.Errorf("error %v, want a LimitError", err)
	}
	if small.size != 0 || small.pieces != nil {
		t.Error("what was collected is kept")
	}
}
