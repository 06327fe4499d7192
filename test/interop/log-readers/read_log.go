// Reads a published log with golang.org/x/mod, which knows nothing of this project: the signed notes with note.Open, the tiles
// with tlog.TileHashReader, every entry with its inclusion proof, and the proof that the log went on from an older checkpoint.
//
//	read_log FOLDER LOG_VKEY WITNESS_VKEY
//
// FOLDER holds `checkpoint` and `older` (signed notes), `tile/` of the log, `statement` (a leaf of the tree over the statements of
// a release) and `proof` (a tlog-proof of the entry of that release, whose `extra` is that entry and the path of the statement).
package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

const tileHeight = 8

func main() {
	if err := run(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(folder, logKey, witnessKey string) error {
	log, err := note.NewVerifier(logKey)
	if err != nil {
		return err
	}
	witness, err := newCosigner(witnessKey)
	if err != nil {
		return err
	}
	tree, err := openTree(filepath.Join(folder, "checkpoint"), log, witness)
	if err != nil {
		return err
	}
	older, err := openTree(filepath.Join(folder, "older"), log)
	if err != nil {
		return err
	}
	reader := tlog.TileHashReader(tree, tiles(folder))
	proven, err := proveEntries(folder, tree, reader)
	if err != nil {
		return err
	}
	growth, err := tlog.ProveTree(tree.N, older.N, reader)
	if err != nil {
		return err
	}
	if err := tlog.CheckTree(growth, tree.N, tree.Hash, older.N, older.Hash); err != nil {
		return err
	}
	fmt.Printf("%d of %d entries proven; grown from %d; ", proven, tree.N, older.N)
	return checkProof(folder, tree)
}

// openTree demands a signature of each of these keys, and returns what the note states.
func openTree(path string, verifiers ...note.Verifier) (tlog.Tree, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return tlog.Tree{}, err
	}
	return treeIn(text, verifiers...)
}

func treeIn(text []byte, verifiers ...note.Verifier) (tlog.Tree, error) {
	opened, err := note.Open(text, note.VerifierList(verifiers...))
	if err != nil {
		return tlog.Tree{}, err
	}
	if len(opened.Sigs) != len(verifiers) {
		return tlog.Tree{}, fmt.Errorf("%d of %d keys signed", len(opened.Sigs), len(verifiers))
	}
	lines := strings.Split(opened.Text, "\n")
	if len(lines) != 4 || lines[0] != verifiers[0].Name() {
		return tlog.Tree{}, errors.New("not a checkpoint of that log")
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	if err != nil {
		return tlog.Tree{}, err
	}
	root, err := tlog.ParseHash(lines[2])
	return tlog.Tree{N: size, Hash: root}, err
}

// proveEntries proves each entry of the bundles by the tiles.
func proveEntries(folder string, tree tlog.Tree, reader tlog.HashReader) (int64, error) {
	var at int64
	for at < tree.N {
		bundle, err := readBundle(folder, at, tree.N)
		if err != nil {
			return at, err
		}
		for len(bundle) > 0 {
			length := int(binary.BigEndian.Uint16(bundle))
			entry := bundle[2 : 2+length]
			bundle = bundle[2+length:]
			proof, err := tlog.ProveRecord(tree.N, at, reader)
			if err != nil {
				return at, err
			}
			if err := tlog.CheckRecord(proof, tree.N, tree.Hash, at, tlog.RecordHash(entry)); err != nil {
				return at, fmt.Errorf("entry %d: %w", at, err)
			}
			at++
		}
	}
	return at, nil
}

func readBundle(folder string, at, size int64) ([]byte, error) {
	const width = 1 << tileHeight
	tile := tlog.Tile{H: tileHeight, L: -1, N: at / width, W: width}
	if size-at < width {
		tile.W = int(size - at)
	}
	path := strings.Replace(tile.Path(), "tile/8/data/", "tile/entries/", 1)
	return os.ReadFile(filepath.Join(folder, path))
}

// checkProof reads a C2SP tlog-proof, and checks the entry that it brings and the path of the statement below that.
func checkProof(folder string, tree tlog.Tree) error {
	text, err := os.ReadFile(filepath.Join(folder, "proof"))
	if err != nil {
		return err
	}
	head := strings.Split(strings.SplitN(string(text), "\n\n", 2)[0], "\n")
	if len(head) < 3 || head[0] != "c2sp.org/tlog-proof@v1" {
		return errors.New("not a tlog-proof")
	}
	extra, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(head[1], "extra "))
	if err != nil {
		return err
	}
	index, err := strconv.ParseInt(strings.TrimPrefix(head[2], "index "), 10, 64)
	if err != nil {
		return err
	}
	var proof tlog.RecordProof
	for _, line := range head[3:] {
		hash, err := tlog.ParseHash(line)
		if err != nil {
			return err
		}
		proof = append(proof, hash)
	}
	parts := bytes.SplitN(extra, []byte("\n"), 3)
	if len(parts) != 3 {
		return errors.New("no path in the proof")
	}
	if err := tlog.CheckRecord(proof, tree.N, tree.Hash, index, tlog.RecordHash(parts[0])); err != nil {
		return fmt.Errorf("entry of the proof: %w", err)
	}
	statement, err := os.ReadFile(filepath.Join(folder, "statement"))
	if err != nil {
		return err
	}
	place, err := checkStatement(statement, parts)
	if err != nil {
		return fmt.Errorf("statement: %w", err)
	}
	fmt.Printf("entry %d and statement %s by a tlog-proof\n", index, place)
	return nil
}

// checkStatement demands that the path leads from the statement to the root over all statements that the entry states.
func checkStatement(statement []byte, parts [][]byte) (string, error) {
	var entry struct {
		All struct {
			Count int64
			Root  string
		}
	}
	if err := json.Unmarshal(parts[0], &entry); err != nil {
		return "", err
	}
	position, err := strconv.ParseInt(string(parts[1]), 10, 64)
	if err != nil {
		return "", err
	}
	digits, err := hex.DecodeString(strings.TrimPrefix(entry.All.Root, "sha256:"))
	if err != nil || len(digits) != tlog.HashSize {
		return "", errors.New("not a root")
	}
	var path tlog.RecordProof
	for rest := parts[2]; len(rest) > 0; {
		if len(rest) < tlog.HashSize {
			return "", errors.New("not a path")
		}
		path = append(path, *(*tlog.Hash)(rest))
		rest = rest[tlog.HashSize:]
	}
	place := fmt.Sprintf("%d of %d", position, entry.All.Count)
	return place, tlog.CheckRecord(path, entry.All.Count, *(*tlog.Hash)(digits), position, tlog.RecordHash(statement))
}

// tiles reads C2SP tlog-tiles, whose paths do not name the height.
type tiles string

func (folder tiles) Height() int { return tileHeight }

func (folder tiles) SaveTiles([]tlog.Tile, [][]byte) {}

func (folder tiles) ReadTiles(wanted []tlog.Tile) ([][]byte, error) {
	data := make([][]byte, 0, len(wanted))
	for _, tile := range wanted {
		path := strings.Replace(tile.Path(), "tile/8/", "tile/", 1)
		content, err := os.ReadFile(filepath.Join(string(folder), path))
		if err != nil {
			return nil, err
		}
		data = append(data, content)
	}
	return data, nil
}

// cosigner verifies cosignatures as C2SP tlog-cosignature defines them, in the words of that text alone.
type cosigner struct {
	name string
	hash uint32
	key  ed25519.PublicKey
}

func newCosigner(vkey string) (*cosigner, error) {
	parts := strings.SplitN(vkey, "+", 3)
	if len(parts) != 3 {
		return nil, errors.New("not a verifier key")
	}
	key, err := base64.StdEncoding.DecodeString(parts[2])
	if err != nil || len(key) != 1+ed25519.PublicKeySize || key[0] != 4 {
		return nil, errors.New("not the key of a witness")
	}
	sum := sha256.Sum256(append([]byte(parts[0]+"\n"), key...))
	if fmt.Sprintf("%x", sum[:4]) != parts[1] {
		return nil, errors.New("not the hash of that key")
	}
	return &cosigner{parts[0], binary.BigEndian.Uint32(sum[:4]), key[1:]}, nil
}

func (c *cosigner) Name() string    { return c.name }
func (c *cosigner) KeyHash() uint32 { return c.hash }
func (c *cosigner) Verify(text, signature []byte) bool {
	if len(signature) != 8+ed25519.SignatureSize {
		return false
	}
	header := fmt.Sprintf("cosignature/v1\ntime %d\n", binary.BigEndian.Uint64(signature))
	return ed25519.Verify(c.key, append([]byte(header), text...), signature[8:])
}
