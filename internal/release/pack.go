package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"time"
)

func (f file) mode() fs.FileMode {
	if f.run {
		return 0o755
	}
	return 0o644
}

// tarred packs files as they are unpacked by tar: of one time and of no account.
func tarred(folder string, at time.Time, files []file) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(z)
	for _, f := range files {
		header := &tar.Header{Name: path.Join(folder, f.name), Size: int64(len(f.data)), Mode: int64(f.mode()),
			ModTime: at, Format: tar.FormatUSTAR}
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	err = errors.Join(w.Close(), z.Close())
	return b.Bytes(), err
}

// ofNoMachine removes from a list of CycloneDX the hashes of the program that made it, which are those
// of this machine.
func ofNoMachine(list []byte) ([]byte, error) {
	var all map[string]any
	if err := json.Unmarshal(list, &all); err != nil {
		return nil, err
	}
	metadata, _ := all["metadata"].(map[string]any)
	tools, _ := metadata["tools"].([]any)
	for _, tool := range tools {
		tool, _ := tool.(map[string]any)
		delete(tool, "hashes")
	}
	if len(tools) == 0 {
		return nil, errors.New("the list does not say what made it")
	}
	return json.MarshalIndent(all, "", "  ")
}

func zipped(folder string, at time.Time, files []file) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		header := &zip.FileHeader{Name: path.Join(folder, f.name), Method: zip.Deflate, Modified: at}
		header.SetMode(f.mode())
		to, err := w.CreateHeader(header)
		if err != nil {
			return nil, err
		}
		if _, err := to.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}
